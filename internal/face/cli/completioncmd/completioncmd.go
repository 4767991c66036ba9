// Package completioncmd implements the command "nexus completion".
package completioncmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Root    *cobra.Command // the command that the script completes
	Shell   string
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printScript
	}
	var command *cobra.Command
	command = c.Command("completion bash|zsh|fish|powershell", "print the completion script for a shell",
		func(ctx context.Context, args []string) error {
			o.Root, o.Shell = command.Root(), args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	return command
}

// printScript prints the completion script of a shell.
func printScript(_ context.Context, o *Options) error {
	switch out := o.Console.Out; o.Shell {
	case "bash":
		return o.Root.GenBashCompletionV2(out, true)
	case "zsh":
		return o.Root.GenZshCompletion(out)
	case "fish":
		return o.Root.GenFishCompletion(out, true)
	case "powershell":
		return o.Root.GenPowerShellCompletionWithDesc(out)
	default:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no completion for " + view.QuoteForTerminal(o.Shell),
			Hint: "Name bash, zsh, fish or powershell.",
		}
	}
}
