// Package verifycmd implements the command "nexus verify".
package verifycmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	List    bool   // print a checklist without asking
	From    string // file with an edited checklist; - is standard input
	Plan    string // file for a plan that fixes the problems; empty: standard output
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = judgeByHand
	}
	const short = "check the criteria that only a person can judge, and sign them off"
	command := c.Command("verify [RUN] [flags]", short, func(ctx context.Context, args []string) (err error) {
		if o.Run, err = console.NamedRun(o.Run, args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodePerson)
	command.Args = console.ArgCount(0, 1)
	f := command.Flags()
	f.BoolVar(&o.List, "checklist", false, "print the open criteria as Markdown, without asking")
	f.StringVar(&o.From, "from", "", "read the answers from the edited checklist in `FILE`; - is standard input")
	f.StringVar(&o.Plan, "plan", "", "write a plan that fixes the problems to `FILE`, for nexus run --plan; standard output if not given")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("checklist", "from")
	command.MarkFlagsMutuallyExclusive("checklist", "json")
	return command
}
