package runscmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/startcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func answerCommand(a *console.Console) *cobra.Command {
	return requestCommand(a, "answer ID TEXT [--run RUN] [--json]", "answer an agent's question", 2, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbAnswer, ID: args[0], Text: args[1]}
	})
}

func approveCommand(a *console.Console) *cobra.Command {
	var why, file string
	const use = "approve ID [--why TEXT] [--plan FILE] [--run RUN] [--json]"
	c := requestCommand(a, use, "approve a plan or a command that an agent asks about, or waive a criterion", 1, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbAnswer, ID: args[0], Text: "yes"}
	})
	c.Flags().StringVar(&why, "why", "", "reason, as `TEXT`, why a criterion such as T1/AC-2 need not be met")
	c.Flags().StringVar(&file, "plan", "", "approve the plan in `FILE`, as Markdown or JSON, "+
		"in place of the plan that the run asks about; - is standard input")
	answer := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		run, err := c.Flags().GetString("run")
		if err != nil {
			return err
		}
		_, _, criterion := accept.ParseID(args[0])
		switch {
		case c.Flags().Changed("plan"):
			return approvePlan(c.Context(), a, run, args[0], file)
		case !criterion:
			return answer(c, args)
		}
		return waiveCriterion(c.Context(), a, run, args[0], why)
	}
	return c
}

// approvePlan approves a plan that a person edited, instead of the plan in a question. It must
// pass the checks of every plan file.
func approvePlan(ctx context.Context, a *console.Console, run, id, file string) error {
	return withRun(ctx, a, run, func(p *app.Repository, r journal.RecordedRun) error {
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return err
		}
		if q := s.QuestionByID(id); q != nil && q.Trigger != nexus.PlanTrigger {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: id + " does not ask about a plan",
				Hint: "Approve it without --plan. nexus status shows what it asks.",
			}
		}
		edited, err := startcmd.ReadReplacementPlan(a, file, s)
		if err != nil {
			return err
		}
		return makeRequest(ctx, a, p, r, nexus.Request{Verb: nexus.VerbAnswer, ID: id, Text: "yes", Plan: edited})
	})
}

func rejectCommand(a *console.Console) *cobra.Command {
	var why string
	const use = "reject ID [--why TEXT] [--run RUN] [--json]"
	c := requestCommand(a, use, "refuse a plan, or a command that an agent asks about", 1, func(args []string) nexus.Request {
		text := "no"
		if why = strings.TrimSpace(why); why != "" {
			text += ": " + why
		}
		return nexus.Request{Verb: nexus.VerbAnswer, ID: args[0], Text: text}
	})
	c.Flags().StringVar(&why, "why", "", "reason, as `TEXT`, for the agent; for a plan, what should be different: another plan is made")
	return c
}
