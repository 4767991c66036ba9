package tellcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/tellcmd"
)

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return tellcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, command, "T1", "shorter")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(2, []string{`"T99"`, "T1, T2, T3, T4"}, command, "T99", "shorter")
	u.Expect(2, []string{"T2 has landed", "nothing left to do"}, command, "T2", "shorter")
	u.Expect(0, []string{"tell: kept for the next attempt at T1, which is failed", "nexus retry T1"}, command, "T1", "shorter")
	u.Expect(0, []string{`"granted": false`, `"run": "260101-000000-abc"`}, command, "T1", "shorter", "--run", "abc", "--json")
}
