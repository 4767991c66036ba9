package toolreport

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// red runs the check of a finding where files are, and reports whether it fails.
func red(t *testing.T, check string, files map[string]string) bool {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", check)
	cmd.Dir = dir
	return cmd.Run() != nil
}

// samples are what package managers print, as they do, and files that name what they are about.
func samples() map[string][3]string {
	return map[string][3]string{
		"package-lock.json": {
			"npm warn old lockfile\n{\n  \"left-pad\": {\n    \"wanted\": \"1.0.0\",\n    \"latest\": \"1.3.0\"\n  },\n  \"same\": {\"current\": \"2.0.0\", \"latest\": \"2.0.0\"},\n  \"two\": [{\"current\": \"1.0.0\"}]\n}\n",
			"{\"packages\": {\n  \"node_modules/left-pad\": {\n    \"version\": \"1.0.0\",\n    \"resolved\": \"x\"}}}", "left-pad 1.0.0 1.3.0",
		},
		"pnpm-lock.yaml": {`{"vite":{"current":"5.0.0","latest":"6.1.0","wanted":"5.0.0"}}`, "packages:\n\n  vite@5.0.0:\n    x: y\n", "vite 5.0.0 6.1.0"},
		"go.mod": {
			"go: downloading x\n{\n\t\"Path\": \"example.com/m\",\n\t\"Main\": true\n}\n{\n\t\"Path\": \"example.com/a\",\n\t\"Version\": \"v1.2.0\",\n\t\"Update\": {\"Path\": \"example.com/a\", \"Version\": \"v1.4.1\"}\n}\n{\"Path\": \"example.com/b\", \"Version\": \"v1.0.0\", \"Indirect\": true, \"Update\": {\"Version\": \"v2.0.0\"}}\n",
			"module m\n\nrequire example.com/a v1.2.0\n", "example.com/a v1.2.0 v1.4.1",
		},
		"Cargo.lock": {
			"    Updating crates.io index\n     Locking 2 packages to latest compatible versions\n    Updating bitflags v1.3.1 -> v1.3.2\n      Adding new v1.0.0\n",
			"[[package]]\nname = \"bitflags\"\nversion = \"1.3.1\"\n", "bitflags 1.3.1 1.3.2",
		},
		"requirements.txt": {
			`[{"name": "Requests", "version": "2.0.0", "latest_version": "2.32.0", "latest_filetype": "wheel"}, {"name": "pip", "version": "1", "latest_version": "2"}]`,
			"requests==2.0.0\n", "Requests 2.0.0 2.32.0",
		},
		"Gemfile.lock":  {"\nrack (newest 3.1.0, installed 2.0.1, requested ~> 2.0)\n", "GEM\n  specs:\n    rack (2.0.1)\n", "rack 2.0.1 3.1.0"},
		"composer.lock": {"Info: x\n{\n \"locked\": [{\"name\": \"a/b\", \"version\": \"1.0.0\", \"latest\": \"1.1.0\"}]}", "{\"packages\": [{\n  \"name\": \"a/b\",\n  \"version\": \"1.0.0\"}]}", "a/b 1.0.0 1.1.0"},
	}
}

// TestOutdated reads what package managers list, and its check is red as long as the file names what is there.
func TestOutdated(t *testing.T) {
	for _, l := range OutdatedPackageListers() {
		s, ok := samples()[l.File]
		if !ok {
			t.Errorf("nobody tried %s", l.File)
			continue
		}
		all := l.Read(s[0], s[1])
		var got []string
		for _, o := range all {
			got = append(got, fmt.Sprint(o.Name, " ", o.Has, " ", o.Newest))
		}
		if diff := cmp.Diff(s[2], strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", l.File, diff)
			continue
		}
		check := "! { " + l.Still("sub dir/"+l.File, all[0]) + "; }"
		if !red(t, check, map[string]string{"sub dir/" + l.File: s[1]}) {
			t.Errorf("%s: %s is not red", l.File, check)
		}
		if red(t, check, map[string]string{"sub dir/" + l.File: strings.ReplaceAll(s[1], all[0].Has, all[0].Newest)}) {
			t.Errorf("%s: %s stays red", l.File, check)
		}
		if red(t, check, map[string]string{"sub dir/" + l.File: strings.ReplaceAll(s[1], all[0].Has, all[0].Has+"1")}) {
			t.Errorf("%s: %s stays red with a version that begins alike", l.File, check)
		}
	}
}

// FuzzOutdated holds that no output breaks what reads it.
func FuzzOutdated(f *testing.F) {
	for _, s := range samples() {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, printed, text string) {
		for _, l := range OutdatedPackageListers() {
			for _, o := range l.Read(printed, text) {
				if o.Name == "" || o.Has == "" || o.Newest == "" || o.Has == o.Newest {
					t.Errorf("%+v", o)
				}
			}
		}
	})
}

// TestTimes reads how long tests took.
func TestTimes(t *testing.T) {
	tap := "TAP version 13\n# Subtest: sums\n    # Subtest: waits\n    ok 1 - waits\n      ---\n      duration_ms: 6001.5\n      ...\n    1..1\nok 1 - sums\n  ---\n  duration_ms: 6003\n  type: 'suite'\n  ...\nok 2 - quick # SKIP\n  ---\n  duration_ms: 1\n"
	if diff := cmp.Diff([]TestDuration{{"waits", 6.0015}, {"quick", 0.001}}, parseNodeTestDurations(tap)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]TestDuration{{"waits", 6}}, parseNodeTestDurations("\u2714 waits (6000ms)\n")); diff != "" {
		t.Error(diff)
	}
	pytest := "=== slowest 20 durations ===\n5.00s call     tests/test_a.py::test_wait[a b]\n0.50s setup    tests/test_a.py::test_wait[a b]\n0.01s call     tests/test_a.py::test_x\n"
	if diff := cmp.Diff([]TestDuration{{"tests/test_a.py::test_wait[a b]", 5.5}, {"tests/test_a.py::test_x", 0.01}}, parsePytestDurations(pytest)); diff != "" {
		t.Error(diff)
	}
}

func FuzzTimes(f *testing.F) {
	f.Add("ok 1 - a\n  duration_ms: 3\n1.0s call x::y\n\u2714 b (3ms)\n")
	f.Fuzz(func(t *testing.T, printed string) {
		for _, all := range [][]TestDuration{parseNodeTestDurations(printed), parsePytestDurations(printed)} {
			for _, one := range all {
				if one.Name == "" || one.Seconds < 0 {
					t.Errorf("%+v", one)
				}
			}
		}
	})
}

// TestOfLCOV holds what the check of a file's coverage says of a report: of a share of it, and of lines.
func TestOfLCOV(t *testing.T) {
	report := "TN:\nSF:src/other.js\nDA:1,1\nend_of_record\nSF:/w/src/a.js\nDA:1,4\nDA:2,0\nDA:3,1\nend_of_record\nSF:src/ba.js\nDA:1,0\n"
	for _, c := range []struct {
		of     FileCoverageTarget
		report string
		want   bool // red
	}{
		{FileCoverageTarget{Percent: 66}, report, false},
		{FileCoverageTarget{Percent: 67}, report, true},
		{FileCoverageTarget{Texts: []string{"one('a')"}}, report, false},
		{FileCoverageTarget{Texts: []string{"two()"}}, report, true},
		{FileCoverageTarget{Texts: []string{"one('a')", "two()"}}, report, true},
		{FileCoverageTarget{Texts: []string{"gone()"}}, report, false},
		{FileCoverageTarget{Texts: []string{"one('a')"}}, "SF:src/ba.js\nDA:1,1\n", true}, // of which it says nothing
		{FileCoverageTarget{Texts: []string{"one('a')"}}, "", true},
	} {
		c.of.File = "src/a.js"
		check := c.of.coverageCheckCommand("-F'[:,]' ", "src/a.js", lcovShare, lcovLines, "l")
		if red(t, check, map[string]string{"l": c.report, "src/a.js": "one('a')\ntwo()\nthree()\n"}) != c.want {
			t.Errorf("%+v: %v: %s", c.of, !c.want, check)
		}
	}
}
