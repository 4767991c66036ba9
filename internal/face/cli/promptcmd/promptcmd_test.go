package promptcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/promptcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func command(c *console.Console) *cobra.Command { return promptcmd.New(c, nil) }

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, promptcmd.New, map[string]*promptcmd.Options{
		"T3":                           {Name: "T3"},
		"T3 --role tester --run abc":   {Name: "T3", Role: nexus.Tester, Run: "abc"},
		"T3.1/coder.1 --json":          {Name: "T3.1/coder.1"},
		"T3.1/coder.1 --role tester":   nil,
		"":                             nil,
		"T3 T4":                        nil,
		"T3 --run=":                    nil,
		"T3.1/coder.1 --run abc --raw": nil,
	})
}

func TestOutput(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Env["ANTHROPIC_API_KEY"] = "never used"
	u.Expect(2, []string{"no runs yet"}, command, "T1")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, []string{"T3.1/coder.1  toy/coder", "repair", "!system"}, command, "T3.1/coder.1")
	u.Expect(0, []string{`"session": "T2.1/coder.1"`, `"why": "brief"`}, command, "T2.1/coder.1", "--run", "abc", "--json")
	u.Expect(2, []string{`there is no session "T9.1/coder.1"`}, command, "T9.1/coder.1")
	u.Expect(2, []string{"nothing would be sent for T2 now: it is landed"}, command, "T2")
	u.Expect(2, []string{"nothing would be sent for T2 now"}, command, "T2.1") // the task of the attempt
	u.Expect(2, []string{"no such task or attempt", "T1, T2, T3, T4"}, command, "T9")
	u.Expect(2, []string{"has no task or attempt"}, command, string(clitest.RunID))
	u.Expect(2, []string{`no run "xyz"`}, command, "T1", "--run", "xyz")
	u.Expect(2, []string{`there is no tree "c15"`}, command, "T1") // the tape is of no repository
}
