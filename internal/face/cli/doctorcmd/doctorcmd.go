// Package doctorcmd implements the command "nexus doctor".
package doctorcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/doctor"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Light   bool   // only checks that answer at once, without the network
	Fix     bool   // repair problems
	Yes     bool   // repair without asking, also if that removes something
	Plan    string // plan file whose tasks are checked too; empty: none
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = checkPrerequisites
	}
	command := c.Command("doctor [--light] [--strict] [--fix [--yes]] [flags]", "check everything that a run needs",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	f := command.Flags()
	f.BoolVar(&o.Fix, "fix", false, "fix problems: remove what dead processes left, and make the state private")
	f.BoolVarP(&o.Yes, "yes", "y", false, "with --fix, fix without asking, even if that removes something")
	f.BoolVar(&o.Light, "light", false, "make only the quick checks: start no program in the sandbox, ask no provider")
	f.StringVar(&o.Plan, "plan", "", "also check the tasks of this plan `FILE`: their sizes, needs and criteria")
	c.SettingFlags(command, "strict", "skip", "sandbox", "target")
	c.JSONFlag(command)
	return command
}

// checkPrerequisites checks what a run needs, and fails if something prevents one.
func checkPrerequisites(ctx context.Context, o *Options) error {
	q := doctor.Options{Light: o.Light, Fix: o.Fix, Yes: o.Yes, Trust: app.CheckTrust}
	if o.Plan != "" {
		q.Plan = func() error { return planfile.Check(o.Console, o.Plan) }
	}
	r, err := doctor.CheckAll(ctx, o.Console, q)
	if err != nil {
		return err
	}
	if err := o.Console.Answer(r, r.Draw); err != nil {
		return err
	}
	if !r.OK {
		return console.ExitError(console.CodeFailed)
	}
	return nil
}
