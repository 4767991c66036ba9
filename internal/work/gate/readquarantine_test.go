package gate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

const record = "[[test]]\ntest = \"a\"\nreason = \"the clock\"\nsince = \"2026-01-01\"\nuntil = \"2026-02-01\"\n"

// TestTheRecordOfACommit is that of the commit, whatever lies in the directory,
// and one that cannot be read protects nothing.
func TestTheRecordOfACommit(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	commit := func(files map[string]string, link bool) string {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(dir, ".nexus")); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, dir, files)
		if link {
			if err := errors.Join(os.Mkdir(filepath.Join(dir, ".nexus"), 0o700), os.Symlink("../list", filepath.Join(dir, flaky.QuarantineFile))); err != nil {
				t.Fatal(err)
			}
		}
		gittest.RunGit(t, dir, "add", "-A")
		gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
		return gittest.RunGit(t, dir, "rev-parse", "HEAD")
	}
	none := commit(map[string]string{"list": record}, false)
	link := commit(nil, true)
	broken := commit(map[string]string{flaky.QuarantineFile: "[[test]\n"}, false)
	one := commit(map[string]string{flaky.QuarantineFile: record}, false)
	same := commit(map[string]string{flaky.QuarantineFile: record, "b": "b\n"}, false)
	if err := os.Chmod(filepath.Join(dir, flaky.QuarantineFile), 0o755); err != nil {
		t.Fatal(err)
	}
	gittest.WriteFiles(t, dir, map[string]string{"c": "c\n"})
	gittest.RunGit(t, dir, "add", "-A")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "x")
	program := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	repo, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for rev, c := range map[string]struct {
		entries int
		fails   bool
	}{none: {0, false}, link: {0, true}, broken: {0, true}, one: {1, false}, same: {1, false}, program: {1, false}, strings.Repeat("1", 40): {0, true}} {
		if list, err := gate.ReadQuarantineAt(t.Context(), repo, rev); len(list) != c.entries || (err != nil) != c.fails {
			t.Errorf("%s: %+v, %v; want %+v", gittest.RunGit(t, dir, "log", "-1", "--stat", rev), list, err, c)
		}
	}
	for pair, want := range map[[2]string]bool{{none, one}: true, {one, same}: false, {one, broken}: true, {same, none}: true, {none, none}: false} {
		if got, err := gate.QuarantineChanged(t.Context(), repo, pair[0], pair[1]); got != want || err != nil {
			t.Errorf("from %s to %s it changed: %v, %v", pair[0], pair[1], got, err)
		}
	}
	for _, pair := range [][2]string{{strings.Repeat("1", 40), one}, {one, strings.Repeat("1", 40)}} {
		if _, err := gate.QuarantineChanged(t.Context(), repo, pair[0], pair[1]); err == nil {
			t.Errorf("whether it changed from %s to %s is known", pair[0], pair[1])
		}
	}
}

// TestTheRecordOfADirectory is a plain file in it, and leads nowhere.
func TestTheRecordOfADirectory(t *testing.T) {
	aside := t.TempDir()
	gittest.WriteFiles(t, aside, map[string]string{"list": record})
	for name, c := range map[string]struct {
		put     func(file string) error
		entries int
		fails   bool
	}{
		"none":        {func(string) error { return nil }, 0, false},
		"a file":      {func(file string) error { return os.WriteFile(file, []byte(record), 0o600) }, 1, false},
		"a link":      {func(file string) error { return os.Symlink(filepath.Join(aside, "list"), file) }, 0, true},
		"a directory": {func(file string) error { return os.Mkdir(file, 0o700) }, 0, true},
		"too long":    {func(file string) error { return os.WriteFile(file, []byte(record+strings.Repeat("#\n", 1<<20)), 0o600) }, 0, true},
		"broken":      {func(file string) error { return os.WriteFile(file, []byte("[["), 0o600) }, 0, true},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, flaky.QuarantineFile)
		if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), c.put(file)); err != nil {
			t.Fatal(err)
		}
		list, err := gate.ReadQuarantineIn(dir)
		if len(list) != c.entries || (err != nil) != c.fails {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		text, err := gate.ReadQuarantine(dir)
		if c.entries == 1 && string(text) != record || name != "broken" && (err != nil) != c.fails {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := gate.ReadQuarantineIn(filepath.Join(aside, "none")); err == nil {
		t.Error("a directory that is not there has a record")
	}
	if _, err := gate.ReadQuarantineIn(filepath.Join(aside, "list")); err == nil {
		t.Error("a file has a record")
	}
}

// TestTestsIn looks for the name of a test where tests may be.
func TestTestsIn(t *testing.T) {
	tree := files(t, map[string]string{"m_test.go": "func TestAdd(t *testing.T) {}", "m.go": "func TestSub() {}", "tests/test_x.py": "def test_div(): pass", "src/lib.rs": "fn mul() {}", "docs/notes.md": "test_pow"})
	there := gate.TestLookupIn(tree.Dir)
	for test, want := range map[string]bool{
		"example.org/m.TestAdd": true, "example.org/m.TestAdd/deep/er": true, "example.org/m.TestSub": false, "tests/test_x.py::test_div[1]": true,
		"tests.test_x.test_div": true, "test_pow": false, "tests::mul": true, "tests::pow": false,
	} {
		if got := there(test); got != want {
			t.Errorf("%s is there: %v", test, got)
		}
	}
}

// TestFailuresInQuarantine do not count, where nothing else fails and something
// passed, and no criterion wants the test.
func TestFailuresInQuarantine(t *testing.T) {
	day, err := time.Parse(time.DateOnly, "2026-01-15")
	if err != nil {
		t.Fatal(err)
	}
	list, err := flaky.ParseQuarantine([]byte(record))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		says   string
		build  bool // the gate runs no tests
		day    time.Time
		wanted []string
		state  nexus.GateState
		why    string
	}{
		"it alone":               {says: "1..2\nnot ok 1 - a\nok 2 - b\n", day: day, state: nexus.Pass, why: "in quarantine: a"},
		"another, too":           {says: "1..2\nnot ok 1 - a\nnot ok 2 - b\n", day: day, state: nexus.Fail},
		"nothing passed":         {says: "1..1\nnot ok 1 - a\n", day: day, state: nexus.NotRun, why: "no test passed; in quarantine: a"},
		"its time is over":       {says: "1..2\nnot ok 1 - a\nok 2 - b\n", day: day.AddDate(0, 2, 0), state: nexus.Fail},
		"a criterion wants it":   {says: "1..2\nnot ok 1 - a\nok 2 - b\n", day: day, wanted: []string{"test a passes"}, state: nexus.Fail},
		"a gate without tests":   {says: "1..2\nnot ok 1 - a\nok 2 - b\n", build: true, day: day, state: nexus.Fail},
		"more failed than named": {says: "1..3\nnot ok 1 - a\nok 2 - b\nnot ok 3 - a\n", day: day, state: nexus.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runner(t, sandbox.ModeOff)
			r.Quarantine, r.Wanted = flaky.DatedQuarantine{List: list, Day: flaky.DayOf(c.day)}, c.wanted
			g := gate.QualityGate{Name: "test", Args: []string{"sh", "-c", "cat says; exit 1"}, Format: "tap", Tests: !c.build}
			e, err := r.JudgeAgainstBase(t.Context(), files(t, map[string]string{"says": c.says}), g)
			if err != nil || e.State != c.state || !strings.Contains(e.Why, c.why) {
				t.Errorf("%s, %q, %+v, %v", e.State, e.Why, e.Findings, err)
			}
			if e.State == nexus.Pass && (len(e.Flaky) != 1 || e.Flaky[0].Quarantine == "") {
				t.Errorf("%+v", e.Flaky)
			}
		})
	}
}
