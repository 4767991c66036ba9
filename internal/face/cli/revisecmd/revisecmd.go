// Package revisecmd implements the command "nexus revise".
package revisecmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console   *console.Console
	Run       string // as a person names it; empty: the default run
	Criterion string // such as T1/AC-2
	Text      string // new text of the criterion
	Check     string // gate or command that checks it; empty: a tester writes a check, or a person decides
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = reviseCriterion
	}
	command := c.Command("revise CRITERION TEXT [--check COMMAND] [--run RUN] [--json]", "replace the text of a criterion",
		func(ctx context.Context, args []string) error {
			o.Criterion, o.Text, o.Check = args[0], strings.TrimSpace(args[1]), strings.TrimSpace(o.Check)
			if o.Text == "" {
				return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "the criterion's new text is empty", Hint: "Give its new text."}
			}
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(2, 2)
	command.Flags().StringVar(&o.Check, "check", "", "gate or `COMMAND` that checks it; without one, a tester writes a check or a person decides")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// reviseCriterion requests the new text for the criterion.
func reviseCriterion(ctx context.Context, o *Options) error {
	return o.Console.ChangeSubject(ctx, o.Run, "", func(p *app.Repository, s app.RunSubject) error {
		if _, ok := accept.FindCriterion(s.State, o.Criterion); !ok {
			return app.NotFoundError("criterion", o.Criterion, "nexus status --evidence lists them.")
		}
		if err := shell.CheckSyntax(o.Check); o.Check != "" && err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "the check cannot be read by sh: " + err.Error(),
				Hint: "Give one command line.", Cause: err,
			}
		}
		e, err := p.Journal.Ask(ctx, s.ID, nexus.Request{
			Verb: nexus.VerbRevise, ID: o.Criterion, Text: o.Text, Check: o.Check, By: o.Console.UserName(),
		})
		if err != nil {
			return err
		}
		return o.Console.Answer(runrequest.Result{Run: s.ID, Seq: e.Seq, Held: s.Holder != nil}, func(view.OutputStyle) string {
			return "revised: " + view.EscapeForTerminal(o.Criterion) + "\n"
		})
	})
}
