package exportcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/exportcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/importcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/journalcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, exportcmd.New, map[string]*exportcmd.Options{
		"abc f": {Run: "abc", To: "f"}, "f --run abc": {Run: "abc", To: "f"}, "f": {To: "f"}, "abc f --run abd": nil, "": nil, "a b c": nil,
	})
	clitest.CheckFlags(t, importcmd.New, map[string]*importcmd.Options{"f": {From: "f"}, "f --continue": {From: "f", Continue: true}, "": nil})
}

// TestTransfer writes a run to a file, which opens in a repository that has nothing to do with it:
// there it can be looked at.
func TestTransfer(t *testing.T) {
	exports := func(c *console.Console) *cobra.Command { return exportcmd.New(c, nil) }
	imports := func(c *console.Console) *cobra.Command { return importcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	base := strings.TrimSpace(gittest.RunGit(t, u.Dir, "rev-parse", "HEAD"))
	u.RecordFacts(clitest.RunID, nexus.GoalAccepted{Goal: nexus.Goal{Text: "Write"}, Base: base}, nexus.RunEnded{Status: nexus.StatusStopped})
	file := filepath.Join(t.TempDir(), "run.nexus")
	u.Expect(2, []string{`no run "nowhere"`, "nexus runs lists all"}, exports, "nowhere", file)
	u.ExpectMatch(0, []string{`^run 260101-000000-abc: \d+ events`}, exports, "abc", file)
	u.Expect(2, []string{"nothing is overwritten"}, exports, "abc", file)
	u.ExpectMatch(0, []string{`^run 260101-000000-abc, the latest$`, `^run 260101-000000-abc: \d+ events`}, exports, file+"2")
	u.ExpectMatch(0, []string{`^run 260101-000000-abc: \d+ events`, "!latest"}, exports, file+"3", "--run", "abc")

	other := clitest.NewUser(t, map[string]string{"b.txt": "another\n"})
	other.Expect(0, []string{"look at it: nexus ", "it does not continue here, and spends nothing"}, imports, file)
	other.Expect(0, []string{"sound"}, journalcmd.New, "verify")
	other.Expect(2, []string{"is here already"}, imports, file)
	other.Expect(2, nil, imports, filepath.Join(t.TempDir(), "nothing"))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.NewUser(t, nil).ExpectMatch(2, []string{"no whole file|is cut off"}, imports, file)
}
