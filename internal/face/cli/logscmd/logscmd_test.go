package logscmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/logscmd"
)

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return logscmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, command)
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, []string{"run 260101-000000-abc, the latest", "T1", "T4"}, command)
	u.Expect(0, []string{"T1", "!T4"}, command, "T1")
	u.Expect(0, []string{`"kind":"train.landed"`}, command, "T2", "--jsonl")
	u.Expect(2, []string{`"T99"`, "The tasks of run"}, command, "T99")
}
