// Package helpcmd implements the command "nexus help", which is the same as --help of another
// command.
package helpcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Root    *cobra.Command
	Path    []string // of the command to describe; "all" lists all; empty: the root
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printHelp
	}
	var command *cobra.Command
	command = c.Command("help [COMMAND... | all]", "print help for a command, or list all",
		func(ctx context.Context, args []string) error {
			o.Root, o.Path = command.Root(), args
			return run(ctx, o)
		}, console.CodeOK, console.CodeUsage)
	command.Args = console.ArgCount(0, -1)
	command.Hidden = true
	return command
}

// printHelp prints the help page of the command, or the list of all.
func printHelp(_ context.Context, o *Options) error {
	if slices.Equal(o.Path, []string{"all"}) {
		return o.Console.Print(console.CommandList(o.Root, o.Console.Style(o.Console.Out)))
	}
	command, rest, err := o.Root.Find(o.Path)
	if err != nil || len(rest) > 0 {
		return app.NotFoundError("command", strings.Join(o.Path, " "), "nexus help all lists them.")
	}
	return command.Help()
}
