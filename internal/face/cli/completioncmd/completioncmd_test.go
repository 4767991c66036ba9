package completioncmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/completioncmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

func TestCompletion(t *testing.T) {
	o, err := clitest.ParseOptions(t, completioncmd.New, "zsh")
	if err != nil || o.Shell != "zsh" || o.Root == nil || o.Root.Name() != "nexus" {
		t.Errorf("%+v, %v", o, err)
	}
	clitest.CheckFlags(t, completioncmd.New, map[string]*completioncmd.Options{"": nil, "bash zsh": nil})
	command := func(c *console.Console) *cobra.Command { return completioncmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	for shell, want := range map[string]string{"bash": "__start_nexus", "zsh": "#compdef nexus", "fish": "complete -c nexus", "powershell": "Register-ArgumentCompleter"} {
		u.Expect(0, []string{want}, command, shell)
	}
	u.Expect(2, []string{`no completion for "tcsh"`, "Name bash, zsh, fish or powershell"}, command, "tcsh")
}
