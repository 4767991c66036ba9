package answercmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/answercmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return answercmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, command, "q1", "yes")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(2, []string{`there is no question "q99"`, "No question is open in run 260101-000000-abc"}, command, "q99", "yes")
}
