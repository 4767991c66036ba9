package journalcmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/journalcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, journalcmd.NewVerify, map[string]*journalcmd.VerifyOptions{"": {}, "abc": nil})
	clitest.CheckFlags(t, journalcmd.NewShow, map[string]*journalcmd.ShowOptions{"abc": {Run: "abc"}, "--run abc": {Run: "abc"}, "": {}, "a b": nil, "abc --run abd": nil})
	clitest.CheckFlags(t, journalcmd.NewBackup, map[string]*journalcmd.BackupOptions{"../copy": {Dir: "../copy"}, "": nil})
	clitest.CheckFlags(t, journalcmd.NewRestore, map[string]*journalcmd.RestoreOptions{"../copy": {Dir: "../copy"}, "": nil})
	clitest.CheckFlags(t, journalcmd.NewRepair, map[string]*journalcmd.RepairOptions{"": {}, "now": nil})
	clitest.CheckFlags(t, journalcmd.NewExport, map[string]*journalcmd.ExportOptions{
		"": {}, "abc --to f": {Run: "abc", To: "f"}, "--run abc --to f": {Run: "abc", To: "f"}, "a b": nil, "abc --run abd": nil,
	})
	clitest.CheckFlags(t, journalcmd.NewImport, map[string]*journalcmd.ImportOptions{"f": {From: "f"}, "": nil, "f --continue": nil})
}

// goal is the text of the recorded run's goal, which the journal has in plain.
const goal = "a goal that is easy to find"

func newUser(t *testing.T) *clitest.User {
	t.Helper()
	u := clitest.NewUser(t, nil)
	base := strings.TrimSpace(gittest.RunGit(t, u.Dir, "rev-parse", "HEAD"))
	u.RecordFacts(clitest.RunID, nexus.GoalAccepted{Goal: nexus.Goal{Text: goal}, Base: base}, nexus.RunEnded{Status: nexus.StatusStopped})
	return u
}

// TestPrint verifies and prints the journal of a recorded run.
func TestPrint(t *testing.T) {
	u := clitest.NewUser(t, nil)
	for _, command := range []string{"verify", "repair", "export"} {
		u.Expect(2, []string{"no runs yet"}, journalcmd.New, command)
	}
	u = newUser(t)
	u.ExpectMatch(0, []string{`^sound: 2 events, all unchanged; the last has the hash [0-9a-f]{64}`}, journalcmd.New, "verify")
	u.ExpectMatch(0, []string{`"sound": true`, `"events": 2`, `"head": "[0-9a-f]{64}"`}, journalcmd.New, "verify", "--json")
	u.Expect(0, []string{"run.ended", "goal.accepted", goal}, journalcmd.New, "show", "abc")
	u.Expect(0, []string{"run 260101-000000-abc, the latest", goal}, journalcmd.New, "show")
	u.Expect(0, []string{goal, "!latest"}, journalcmd.New, "show", "--run", "abc")
	u.Expect(2, []string{`no run "xyz"`}, journalcmd.New, "show", "xyz")
	u.RecordFacts("260102-000000-def", nexus.GoalAccepted{Goal: nexus.Goal{Text: "another"}})
	for run, want := range map[string]int{"": 3, "abc": 2, "def": 1} {
		u.Expect(0, []string{`"kind":"goal.accepted"`}, journalcmd.New, append([]string{"export"}, strings.Fields(run)...)...)
		if n := strings.Count(u.Out, "\n"); n != want {
			t.Errorf("%d events of the run %q, want %d:\n%s", n, run, want, u.Out)
		}
	}
}

// TestCopy backs a journal up and restores it where it is lost, but not from a damaged backup.
func TestCopy(t *testing.T) {
	u := newUser(t)
	copied := filepath.Join(t.TempDir(), "copy")
	u.Expect(0, []string{"the journal with 2 events is at " + copied}, journalcmd.New, "backup", copied)
	u.Expect(2, []string{"create the backup's directory", "does not exist yet"}, journalcmd.New, "backup", copied)
	u.Expect(0, []string{"sound: 2 events; nothing was changed"}, journalcmd.New, "repair")
	u.Expect(2, []string{"there is no backup in"}, journalcmd.New, "restore", t.TempDir())
	path := journalPath(t, u)
	for _, rest := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(path + rest); err != nil {
			t.Fatal(err)
		}
	}
	u.Expect(0, []string{`"path": `, `"events": 2`, "!aside"}, journalcmd.New, "restore", copied, "--json")
	u.Expect(0, []string{"sound"}, journalcmd.New, "verify")
	u.Expect(0, []string{"the journal that was here is kept at"}, journalcmd.New, "restore", copied)
	spoil(t, filepath.Join(copied, "journal.db"))
	u.Expect(1, []string{"the backup is damaged", "Nothing was changed"}, journalcmd.New, "restore", copied)
	u.Expect(0, []string{"sound"}, journalcmd.New, "verify")
}

// TestDamage finds a changed event, and keeps those before it.
func TestDamage(t *testing.T) {
	u := newUser(t)
	u.RecordFacts("260102-000000-def", nexus.GoalAccepted{Goal: nexus.Goal{Text: "another"}})
	spoil(t, journalPath(t, u))
	u.ExpectMatch(1, []string{"at event 1: ", "the first 0 events are good"}, journalcmd.New, "verify")
	u.Expect(1, []string{`"sound": false`, `"damage": `, `"seq": 1`}, journalcmd.New, "verify", "--json")
	u.Expect(1, []string{"the journal is damaged", "Run nexus journal repair"}, journalcmd.New, "backup", filepath.Join(t.TempDir(), "copy"))
	u.Expect(0, []string{"the damage: ", "lost of run 260101-000000-abc: 2 events, 1 to 2", "lost of run 260102-000000-def: 1 event", "is kept at"}, journalcmd.New, "repair")
	u.ExpectMatch(0, []string{"^sound"}, journalcmd.New, "verify")
}

// journalPath returns the only journal of the user.
func journalPath(t *testing.T, u *clitest.User) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(u.Home, ".local/state/nexus/*/journal.db"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

// spoil changes a letter of the goal in a journal's file.
func spoil(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.ReplaceAll(data, []byte(goal), []byte(strings.Replace(goal, "easy", "hard", 1)))
	if bytes.Equal(changed, data) {
		t.Fatalf("%s has no %q", path, goal)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}
