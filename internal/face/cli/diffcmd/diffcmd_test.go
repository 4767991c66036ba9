package diffcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/diffcmd"
)

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return diffcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, command, "T1")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(2, []string{`"T99"`, "The tasks of run"}, command, "T99")
	u.Expect(2, []string{"has no task or attempt"}, command, "abc")
}
