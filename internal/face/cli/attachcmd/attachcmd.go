// Package attachcmd implements the command "nexus attach".
package attachcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	JSONL   bool   // every event as a line of JSON instead of a report
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = attachToRun
	}
	const use, short = "attach [RUN] [--json|--jsonl]", "show a run of another process, and answer its questions"
	command := c.Command(use, short, func(ctx context.Context, args []string) (err error) {
		if o.Run, err = console.NamedRun(o.Run, args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson,
		console.CodeInterrupted)
	command.Args = console.ArgCount(0, 1)
	command.Flags().BoolVar(&o.JSONL, "jsonl", false, "print every event as a line of JSON instead of a report")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("json", "jsonl")
	return command
}

// attachToRun shows the run, or its report if it has ended.
func attachToRun(ctx context.Context, o *Options) error {
	c, how := o.Console, progress.RunCommandOptions{JSONL: o.JSONL}
	p, err := c.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := c.FindRunToWatch(ctx, p, o.Run)
	if err != nil {
		return err
	}
	if r.Holder != nil {
		how.Agree = planconsent.NewDialog(c, p)
		return progress.AttachToRun(ctx, c, p, r, how)
	}
	s, err := p.Replay(ctx, r.ID)
	if err != nil {
		return err
	}
	if !s.Status.HasEnded() {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s is not in progress: there is nothing to attach to", r.ID),
			Hint: fmt.Sprintf("Continue it with nexus resume %s, or nexus resume %s --detach.", r.ID, r.ID),
		}
	}
	return progress.ReportUnconducted(ctx, c, p, r, s, how)
}
