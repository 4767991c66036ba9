package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSlowGroups holds that the groups of slow tests name directories that exist: a directory that
// was moved would change without its tests being run.
func TestSlowGroups(t *testing.T) {
	groups, err := filepath.Glob("../../.ci/slow/*")
	if err != nil || len(groups) == 0 {
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	for _, group := range groups {
		if strings.HasSuffix(group, ".passed") {
			continue
		}
		text, err := os.ReadFile(group)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			path := strings.TrimSpace(line)
			if _, err := os.Stat(filepath.Join("../..", path)); err != nil && !strings.HasPrefix(path, "#") {
				t.Errorf("%s: %v", group, err)
			}
		}
	}
}

// TestChanged holds that slow tests run when a file of their directories has another content, is
// new, is gone, or when nothing is known, and only then.
func TestChanged(t *testing.T) {
	script, err := os.ReadFile("../../.ci/changed")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // one of them is run
			t.Fatal(err)
		}
	}
	run := func(want int, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			t.Errorf("%v: %v, want exit code %d\n%s", args, err, want, out)
		}
	}
	const changed, same = 0, 1
	write(".ci/changed", string(script))
	write(".ci/slow/pages", "# a comment\nweb\n")
	write("web/a.txt", "a")
	write("other/b.txt", "b")
	run(0, "git", "init", "-q")
	run(0, "git", "add", ".")
	run(changed, ".ci/changed", "pages")                                      // it never passed
	run(0, "env", "NEXUS_REQUIRE_TOOLS=", ".ci/changed", "--passed", "pages") // tools might have been missing
	run(changed, ".ci/changed", "pages")
	run(0, "env", "NEXUS_REQUIRE_TOOLS=1", ".ci/changed", "--passed", "pages")
	run(same, ".ci/changed", "pages")
	write("other/b.txt", "c")
	run(same, ".ci/changed", "pages")
	write("web/a.txt", "b")
	run(changed, ".ci/changed", "pages")
	write("web/a.txt", "a")
	run(same, ".ci/changed", "pages")
	write("web/new.txt", "")
	run(changed, ".ci/changed", "pages")
	run(0, "git", "add", ".")
	run(changed, ".ci/changed", "pages")
	run(0, "git", "rm", "-qf", "web/new.txt")
	run(same, ".ci/changed", "pages")
	run(0, "rm", "web/a.txt")
	run(changed, ".ci/changed", "pages")
	run(2, ".ci/changed", "nothing") // neither: the slow tests of a group that cannot be read are run
}
