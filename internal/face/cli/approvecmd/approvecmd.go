// Package approvecmd implements the command "nexus approve".
package approvecmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	ID      string // of a question, or of a criterion such as T1/AC-2
	Reason  string // why the criterion need not be met
	Edited  bool   // the plan in Plan replaces the plan that the run asks about
	Plan    string // file of that plan; - is standard input
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = approve
	}
	var command *cobra.Command
	command = c.Command("approve ID [--why TEXT] [--plan FILE] [--run RUN] [--json]",
		"approve a plan or an agent's command, or waive a criterion",
		func(ctx context.Context, args []string) error {
			o.ID, o.Edited = args[0], command.Flags().Changed("plan")
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().StringVar(&o.Reason, "why", "", "reason, as `TEXT`, why a criterion such as T1/AC-2 need not be met")
	command.Flags().StringVar(&o.Plan, "plan", "", "approve the plan in `FILE`, as Markdown or JSON, "+
		"in place of the plan that the run asks about; - is standard input")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// approve approves what the ID names.
func approve(ctx context.Context, o *Options) error {
	_, _, criterion := accept.ParseID(o.ID)
	switch {
	case o.Edited:
		return approveEditedPlan(ctx, o)
	case criterion:
		return waiveCriterion(ctx, o)
	}
	return runrequest.Send(ctx, o.Console, o.Run, nexus.Request{Verb: nexus.VerbAnswer, ID: o.ID, Text: "yes"})
}

// approveEditedPlan approves a plan that a person edited, instead of the plan in a question. It must
// pass the checks of every plan file.
func approveEditedPlan(ctx context.Context, o *Options) error {
	return o.Console.ChangeSubject(ctx, o.Run, "", func(p *app.Repository, s app.RunSubject) error {
		if q := s.State.QuestionByID(o.ID); q != nil && q.Trigger != nexus.PlanTrigger {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: o.ID + " does not ask about a plan",
				Hint: "Approve it without --plan. nexus status shows what it asks.",
			}
		}
		edited, err := planfile.ReadReplacement(o.Console, o.Plan, s.State)
		if err != nil {
			return err
		}
		return runrequest.SendTo(ctx, o.Console, p, s, nexus.Request{Verb: nexus.VerbAnswer, ID: o.ID, Text: "yes", Plan: edited})
	})
}

// waiveCriterion records in the journal that a person waives a criterion.
func waiveCriterion(ctx context.Context, o *Options) error {
	return o.Console.ChangeSubject(ctx, o.Run, "", func(p *app.Repository, s app.RunSubject) error {
		if _, ok := accept.FindCriterion(s.State, o.ID); !ok {
			return app.NotFoundError("criterion", o.ID, "nexus status --evidence lists them.")
		}
		if strings.TrimSpace(o.Reason) == "" {
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "waiving a criterion requires a reason", Hint: "Give one with --why."}
		}
		e, err := p.Journal.Ask(ctx, s.ID, nexus.Request{Verb: nexus.VerbApprove, ID: o.ID, Text: o.Reason, By: o.Console.UserName()})
		if err != nil {
			return err
		}
		return o.Console.Answer(runrequest.Result{Run: s.ID, Seq: e.Seq, Held: s.Holder != nil}, func(view.OutputStyle) string {
			return "waived: " + view.EscapeForTerminal(o.ID) + "\n"
		})
	})
}
