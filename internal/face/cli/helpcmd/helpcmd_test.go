package helpcmd_test

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/helpcmd"
)

func TestHelp(t *testing.T) {
	o, err := clitest.ParseOptions(t, helpcmd.New, "journal", "verify")
	if err != nil || !slices.Equal(o.Path, []string{"journal", "verify"}) || o.Root == nil {
		t.Errorf("%+v, %v", o, err)
	}
	command := func(c *console.Console) *cobra.Command { return helpcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"Usage:\n  nexus"}, command)
	u.Expect(0, []string{"Everyday commands:", "nexus help COMMAND describes a command."}, command, "all")
	u.Expect(2, []string{`there is no command "nonsense"`, "nexus help all lists them"}, command, "nonsense")
}
