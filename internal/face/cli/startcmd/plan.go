package startcmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/export"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

func planCommand(a *console.Console) *cobra.Command {
	var o progress.RunCommandOptions
	var src goalSource
	var mermaid, dot, markdown, diff bool
	var run, to, why, edit string
	var out planOutput
	c := a.Command("plan GOAL | -f FILE | --plan FILE|DIR | --milestone NAME | --run RUN [--diff|--why REASON] [--edit] [--json|--markdown|--mermaid|--dot|--export FORMAT]", "turn a goal into tasks, or check a plan", func(ctx context.Context, args []string) error {
		if to != "" {
			var err error
			if out.export, _, err = foreign.ParseFormat(to, export.WritableFormats()); err != nil {
				return err
			}
		}
		switch {
		case diff && edit != "":
			return printEditedPlanDiff(ctx, a, run, edit)
		case diff:
			return printPlanChanges(ctx, a, run)
		case edit != "":
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "--edited is compared with the plan of a run",
				Hint: "Write nexus plan --run RUN --diff --edited FILE.",
			}
		}
		switch {
		case why != "":
			if err := replaceRefusedPlan(ctx, a, &o, run, why, args); err != nil {
				return err
			}
		case run != "":
			if err := loadRunPlan(ctx, a, &o, run, args); err != nil {
				return err
			}
		default:
			if err := readGoalAndPlan(ctx, a, &o, &src, args); err != nil {
				return err
			}
		}
		if err := planfile.SetTierAndStrategy(o.Plan, o.Goal); err != nil {
			return err
		}
		out.read = src.read
		out.form = planFormat(mermaid, dot, markdown)
		return printOrderPlan(ctx, a, o, out)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeInterrupted)
	c.Args = console.ArgCount(0, -1)
	sourceFlags(c, &src)
	c.Flags().StringVar(&run, "run", "", "print the tasks of this `RUN` as a plan, as it has them now")
	c.Flags().BoolVar(&diff, "diff", false, "with --run, print which plans people refused or edited, and what differs in the next one")
	c.Flags().StringVar(&edit, "edited", "",
		"with --run and --diff, print what is different in the plan in `FILE`, or which line of it is wrong; - is standard input")
	c.Flags().StringVar(&why, "why", "", "with --run, refuse the plan of that run for this `REASON`, and make another one")
	c.Flags().StringVar(&to, "export", "", "print the plan in this `FORMAT`, for another tool: "+nexus.JoinWords(export.WritableFormats()))
	for _, flag := range []string{"file", "plan", "format", "milestone"} {
		c.MarkFlagsMutuallyExclusive("run", flag)
	}
	c.Flags().BoolVar(&mermaid, "mermaid", false, "print the tasks as a Mermaid graph")
	c.Flags().BoolVar(&dot, "dot", false, "print the tasks as a Graphviz graph")
	c.Flags().BoolVar(&markdown, "markdown", false, "print the plan as Markdown, which --plan reads")
	c.Flags().BoolVar(&out.edit, "edit", false, "open the plan in $EDITOR before it is printed")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "mermaid", "dot", "markdown", "export")
	for _, flag := range []string{"mermaid", "dot", "markdown", "export", "edit", "why"} {
		c.MarkFlagsMutuallyExclusive("diff", flag)
	}
	preferFlags(c.Flags(), &o.Goal)
	a.SettingFlags(c, "parallel", "budget", "max-time", "model", "sandbox")
	return c
}

// planFormat returns the output form of a plan; empty: a table, or JSON.
func planFormat(mermaid, dot, markdown bool) string {
	switch {
	case mermaid:
		return "mermaid"
	case dot:
		return "dot"
	case markdown:
		return "markdown"
	}
	return ""
}

// printPlanChanges prints the changes of people to the plan of a run.
func printPlanChanges(ctx context.Context, a *console.Console, run string) error {
	if run == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--diff compares the plans of a run, and no run was named",
			Hint: "Name it with --run; nexus runs lists the runs.",
		}
	}
	return a.ReadRun(ctx, run, func(_ *app.Repository, _ journal.RecordedRun, s *state.State) error {
		said := view.PlanReactionOf(s)
		if said == nil {
			said = &view.PlanReactionView{By: s.Consent.By}
		}
		return a.Answer(said, func(style view.OutputStyle) string {
			return cmp.Or(strings.TrimPrefix(view.DrawPlanReaction(style, said), "\n"), "the plan was not refused or edited\n")
		})
	})
}

// printEditedPlanDiff prints the differences if a plan in a file were approved instead of a run's plan. The
// plan must pass the checks of every plan file.
func printEditedPlanDiff(ctx context.Context, a *console.Console, run, file string) error {
	if run == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--edited is compared with the plan of a run, and no run was named",
			Hint: "Name it with --run; nexus runs lists the runs.",
		}
	}
	return a.ReadRun(ctx, run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		now, err := planfile.ReadReplacement(a, file, s)
		if err != nil {
			return err
		}
		was := app.PlanOfRun(s)
		answer := struct {
			Run     nexus.RunID           `json:"run"`
			Goal    string                `json:"goal,omitempty"` // if it differs
			Changes []plandiff.TaskChange `json:"changes"`
		}{Run: r.ID, Changes: append([]plandiff.TaskChange{}, plandiff.DiffTasks(was.Tasks, now.Tasks)...)}
		if now.Goal != was.Goal {
			answer.Goal = now.Goal
		}
		return a.Answer(answer, func(style view.OutputStyle) string {
			text := planview.DrawChanges(style, was.Tasks, now.Tasks)
			if answer.Goal != "" {
				text = style.Wrap("the goal is now: "+view.EscapeForTerminal(answer.Goal), "  ") + "\n" + text
			}
			return text
		})
	})
}

// printOrderPlan prints the plan of an order, and makes it first if there is none.
func printOrderPlan(ctx context.Context, a *console.Console, o progress.RunCommandOptions, out planOutput) error {
	if o.Plan != nil {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil { // a plan can be shown anywhere
			return printPlan(ctx, a, nil, o, out)
		}
		defer p.Close()
		return printPlan(ctx, a, p, o, out)
	}
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := clarifyGoal(ctx, a, p, &o); err != nil {
		return err
	}
	return printNewPlan(ctx, a, p, o, out)
}

// planOutput selects how a plan is printed.
type planOutput struct {
	edit   bool                  // a person may edit it before
	form   string                // mermaid, dot or markdown; empty: a table, or JSON
	export foreign.PlanFormat    // format of another tool; empty: the own format
	read   *foreign.ImportedPlan // result of reading another tool's file; nil: own format
}

// loadRunPlan fills in the existing plan of a run.
func loadRunPlan(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, run string, args []string) error {
	if len(args) > 0 {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and --run were given", Hint: "Give one of them."}
	}
	return a.ReadRun(ctx, run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		p := app.PlanOfRun(s)
		if len(p.Tasks) == 0 {
			return &nexus.Error{
				Code: nexus.CodeNotFound, Message: "run " + string(r.ID) + " has no plan",
				Hint: "nexus status shows its state.",
			}
		}
		o.Goal.Text, o.Plan = p.Goal, &p
		return nil
	})
}

// replaceRefusedPlan fills in the goal of a run whose plan a person refused, so that another plan is made.
func replaceRefusedPlan(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, run, why string, args []string) error {
	switch {
	case run == "":
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--why refuses the plan of a run, and no run was named",
			Hint: "Name it with --run; nexus runs lists the runs.",
		}
	case len(args) > 0:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "both a goal and --run were given", Hint: "Give one of them; the run has a goal.",
		}
	}
	return a.ReadRun(ctx, run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		p := app.PlanOfRun(s)
		if p.Run == "" || len(p.Tasks) == 0 {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "run " + string(r.ID) + " was not made by nexus plan",
				Hint: "A run that asks about its plan takes a reason with nexus reject QUESTION --why REASON.",
			}
		}
		goal := s.Goal.Goal
		goal.Tier, goal.Strategy = cmp.Or(o.Goal.Tier, goal.Tier), cmp.Or(o.Goal.Strategy, goal.Strategy)
		o.Goal, o.Spent = goal, app.PlanningCost(s)
		o.Refused = append(slices.Clone(s.Consent.Drafts), state.UnapprovedPlan{
			Goal: p.Goal, Tasks: p.Tasks, Assumed: p.Assumptions, Foreseen: p.Foreseen, Why: why, By: a.UserName(),
		})
		return forbiddenphrases.Check(a, p.Goal, nil)
	})
}

// printNewPlan prints a plan for the order's goal, and makes it first if necessary.
func printNewPlan(ctx context.Context, a *console.Console, p *app.Repository, o progress.RunCommandOptions, out planOutput) error {
	if o.Plan == nil {
		if err := progress.MakePlan(ctx, a, p, &o); err != nil {
			return err
		}
	}
	return printPlan(ctx, a, p, o, out)
}

// printPlanNotes prints, on standard error, the parts below a plan: standard output has only the
// table, for a program.
func printPlanNotes(a *console.Console, o progress.RunCommandOptions) {
	style := a.Style(a.Err)
	for _, text := range append(planview.NotesBelow(style, *o.Plan),
		view.DrawSharedSessions(style, o.Lanes), planview.DrawSteps(style, o.Steps), view.DrawTriedChecks(style, accept.TriedChecks(o.Plan.Tasks)),
	) {
		if text != "" {
			a.Say("%s", strings.TrimSuffix(text, "\n"))
		}
	}
}

// printPlan prints the order's plan, which a person may edit before. Without a repository there are
// no earlier runs to estimate from.
func printPlan(ctx context.Context, a *console.Console, p *app.Repository, o progress.RunCommandOptions, out planOutput) error {
	if out.edit {
		if err := planconsent.EditPlan(ctx, a, &o); err != nil {
			return err
		}
	}
	if out.export != "" {
		data, remarks, err := export.WritePlan(*o.Plan, out.export)
		if err != nil {
			return err
		}
		sayRemarks(a, remarks)
		return a.Print(planview.SafeFileText(a.Style(a.Out), string(data)))
	}
	if err := a.EstimatePlan(ctx, p, &o.RunOptions); err != nil {
		return err
	}
	if a.Style(a.Out).Plain && out.form == "" && !a.JSON {
		printPlanNotes(a, o)
	}
	repo, err := planfile.WorkTreePackages(a)
	if err != nil {
		return err
	}
	spans := plan.PackageRisks(*o.Plan, repo)
	for _, r := range spans {
		a.Say("risk: %s: %s: %s", r.Task, r.Text, r.Mitigation)
	}
	answer := struct {
		nexus.Plan

		Risks  []planrisk.IdentifiedPlanRisk    `json:"risks,omitempty"`
		Lanes  []nexus.SharedSessionGroupFormed `json:"lanes,omitempty"` // groups of tasks that would share a session
		Steps  []app.PlannedPipelineStep        `json:"pipeline,omitempty"`
		Import *foreign.ImportedPlan            `json:"import,omitempty"`
	}{*o.Plan, slices.Concat(planrisk.PlanRisks(*o.Plan), spans), o.Lanes, o.Steps, out.read}
	if err := a.Answer(answer, func(s view.OutputStyle) string {
		text := planview.Draw(s, *o.Plan, out.form)
		if out.form == "" && !s.Plain {
			text += view.DrawSharedSessions(s, o.Lanes) + planview.DrawSteps(s, o.Steps)
		}
		return text
	}); err != nil {
		return err
	}
	if out.form == "" && !a.JSON && o.Plan.Run != "" {
		a.Say("%s", nextStepsText(a.Style(a.Err), o.Plan.Run))
	}
	return nil
}

// nextStepsText describes the next steps for a plan that a run has only made.
func nextStepsText(s view.OutputStyle, run nexus.RunID) string {
	of := "nexus plan --run " + string(run)
	text := "next:\n" + view.DrawTable(view.OutputStyle{Width: s.Width, ASCII: s.ASCII}, nil, [][]string{
		{"  " + of + " --markdown", "briefs, criteria and checks"},
		{"  " + of + ` --why "..."`, "refuse it: the planner makes another one for your reason"},
		{"  " + of + " --markdown >plan.md", "edit it, then"},
		{"  nexus run --plan plan.md", "carry it out"},
	})
	return strings.TrimSuffix(text, "\n")
}
