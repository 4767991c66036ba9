package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func completionCommand(a *console.Console) *cobra.Command {
	var c *cobra.Command
	c = a.Command("completion bash|zsh|fish|powershell", "print the completion script for a shell", func(_ context.Context, args []string) error {
		root := c.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(a.Out, true)
		case "zsh":
			return root.GenZshCompletion(a.Out)
		case "fish":
			return root.GenFishCompletion(a.Out, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(a.Out)
		default:
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no completion for " + view.Quote(args[0]),
				Hint: "Name bash, zsh, fish or powershell.",
			}
		}
	}, console.CodeOK, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	return c
}
