// Package plancmd implements the command "nexus plan".
package plancmd

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
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalinterview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalsource"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	exporting "github.com/nexus-ai-builder/nexus/internal/work/plan/export"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Source  goalsource.Source
	Run     string // whose plan, as a person names it; empty: that of the source
	Diff    bool   // print the changes of people to the plan of the run
	Edited  string // file with a plan that is compared with the run's; - is standard input; empty: none
	Why     string // the reason why a person refuses the plan of the run; empty: they do not
	Output  Output
	Command progress.RunCommandOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printPlan
	}
	const use = "plan GOAL | -f FILE | --plan FILE|DIR | --milestone NAME | --run RUN [--diff|--why REASON] [--edit] [--json|--markdown|--mermaid|--dot|--export FORMAT]"
	var mermaid, dot, markdown bool
	var export string
	command := c.Command(use, "turn a goal into tasks, or check a plan", func(ctx context.Context, args []string) (err error) {
		o.Source.SetWords(args)
		o.Output.Form = planForm(mermaid, dot, markdown)
		if export != "" {
			if o.Output.Export, _, err = foreign.ParseFormat(export, exporting.WritableFormats()); err != nil {
				return err
			}
		}
		if err := o.check(); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeInterrupted)
	command.Args = console.ArgCount(0, -1)
	o.Source.Flags(command)
	f := command.Flags()
	f.StringVar(&o.Run, "run", "", "print the tasks of this `RUN` as a plan, as it has them now")
	f.BoolVar(&o.Diff, "diff", false, "with --run, print which plans people refused or edited, and what differs in the next one")
	f.StringVar(&o.Edited, "edited", "",
		"with --run and --diff, print what is different in the plan in `FILE`, or which line of it is wrong; - is standard input")
	f.StringVar(&o.Why, "why", "", "with --run, refuse the plan of that run for this `REASON`, and make another one")
	f.StringVar(&export, "export", "", "print the plan in this `FORMAT`, for another tool: "+nexus.JoinWords(exporting.WritableFormats()))
	f.BoolVar(&mermaid, "mermaid", false, "print the tasks as a Mermaid graph")
	f.BoolVar(&dot, "dot", false, "print the tasks as a Graphviz graph")
	f.BoolVar(&markdown, "markdown", false, "print the plan as Markdown, which --plan reads")
	f.BoolVar(&o.Output.Edit, "edit", false, "open the plan in $EDITOR before it is printed")
	c.JSONFlag(command)
	excludeFlags(command)
	goalsource.TierFlags(f, &o.Command.Goal)
	c.SettingFlags(command, "parallel", "budget", "max-time", "model", "sandbox")
	return command
}

// excludeFlags makes flags exclude each other.
func excludeFlags(c *cobra.Command) {
	for _, flag := range []string{"file", "plan", "format", "milestone"} {
		c.MarkFlagsMutuallyExclusive("run", flag)
	}
	c.MarkFlagsMutuallyExclusive("json", "mermaid", "dot", "markdown", "export")
	for _, flag := range []string{"mermaid", "dot", "markdown", "export", "edit", "why"} {
		c.MarkFlagsMutuallyExclusive("diff", flag)
	}
}

// planForm returns the output form of a plan; empty: a table, or JSON.
func planForm(mermaid, dot, markdown bool) string {
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

// check returns an error if options do not fit each other.
func (o *Options) check() error {
	wrong := func(message, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	const nameIt = "Name it with --run; nexus runs lists the runs."
	switch {
	case o.Edited != "" && !o.Diff:
		return wrong("--edited is compared with the plan of a run", "Write nexus plan --run RUN --diff --edited FILE.")
	case o.Edited != "" && o.Run == "":
		return wrong("--edited is compared with the plan of a run, and no run was named", nameIt)
	case o.Diff && o.Run == "":
		return wrong("--diff compares the plans of a run, and no run was named", nameIt)
	case o.Why != "" && o.Run == "":
		return wrong("--why refuses the plan of a run, and no run was named", nameIt)
	case o.Run != "" && o.Source.Text != "":
		return wrong("both a goal and --run were given", "Give one of them; the run has a goal.")
	}
	return nil
}

// printPlan prints the plan, and makes it first if there is none.
func printPlan(ctx context.Context, o *Options) error {
	var err error
	switch {
	case o.Edited != "":
		return printEditedPlanDiff(ctx, o)
	case o.Diff:
		return printPlanChanges(ctx, o)
	case o.Why != "":
		err = replaceRefusedPlan(ctx, o)
	case o.Run != "":
		err = loadRunPlan(ctx, o)
	default:
		err = o.Source.Read(ctx, o.Console, &o.Command)
	}
	if err != nil {
		return err
	}
	if err := planfile.SetTierAndStrategy(o.Command.Plan, o.Command.Goal); err != nil {
		return err
	}
	o.Output.Imported = o.Source.Imported
	return makeAndPrintPlan(ctx, o.Console, o.Command, o.Output)
}

// printPlanChanges prints the changes of people to the plan of a run.
func printPlanChanges(ctx context.Context, o *Options) error {
	return o.Console.ReadRun(ctx, o.Run, func(_ *app.Repository, _ journal.RecordedRun, s *state.State) error {
		said := view.PlanReactionOf(s)
		if said == nil {
			said = &view.PlanReactionView{By: s.Consent.By}
		}
		return o.Console.Answer(said, func(style view.OutputStyle) string {
			return cmp.Or(strings.TrimPrefix(view.DrawPlanReaction(style, said), "\n"), "the plan was not refused or edited\n")
		})
	})
}

// printEditedPlanDiff prints the differences if a plan in a file were approved instead of a run's plan. The
// plan must pass the checks of every plan file.
func printEditedPlanDiff(ctx context.Context, o *Options) error {
	return o.Console.ReadRun(ctx, o.Run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		now, err := planfile.ReadReplacement(o.Console, o.Edited, s)
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
		return o.Console.Answer(answer, func(style view.OutputStyle) string {
			text := planview.DrawChanges(style, was.Tasks, now.Tasks)
			if answer.Goal != "" {
				text = style.Wrap("the goal is now: "+view.EscapeForTerminal(answer.Goal), "  ") + "\n" + text
			}
			return text
		})
	})
}

// makeAndPrintPlan prints the plan of the options, and makes it first if there is none.
func makeAndPrintPlan(ctx context.Context, a *console.Console, o progress.RunCommandOptions, out Output) error {
	if o.Plan != nil {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil { // a plan can be shown anywhere
			return printMadePlan(ctx, a, nil, o, out)
		}
		defer p.Close()
		return printMadePlan(ctx, a, p, o, out)
	}
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := goalinterview.Clarify(ctx, a, p, &o); err != nil {
		return err
	}
	return PrintNew(ctx, a, p, o, out)
}

// Output selects how a plan is printed.
type Output struct {
	Edit     bool                  // a person may edit it before
	Form     string                // mermaid, dot or markdown; empty: a table, or JSON
	Export   foreign.PlanFormat    // format of another tool; empty: the own format
	Imported *foreign.ImportedPlan // result of reading another tool's file; nil: own format
}

// loadRunPlan fills in the existing plan of a run.
func loadRunPlan(ctx context.Context, o *Options) error {
	return o.Console.ReadRun(ctx, o.Run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		p := app.PlanOfRun(s)
		if len(p.Tasks) == 0 {
			return &nexus.Error{
				Code: nexus.CodeNotFound, Message: "run " + string(r.ID) + " has no plan",
				Hint: "nexus status shows its state.",
			}
		}
		o.Command.Goal.Text, o.Command.Plan = p.Goal, &p
		return nil
	})
}

// replaceRefusedPlan fills in the goal of a run whose plan a person refused, so that another plan is made.
func replaceRefusedPlan(ctx context.Context, o *Options) error {
	return o.Console.ReadRun(ctx, o.Run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		p := app.PlanOfRun(s)
		if p.Run == "" || len(p.Tasks) == 0 {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "run " + string(r.ID) + " was not made by nexus plan",
				Hint: "A run that asks about its plan takes a reason with nexus reject QUESTION --why REASON.",
			}
		}
		goal := s.Goal.Goal
		command := &o.Command
		goal.Tier, goal.Strategy = cmp.Or(command.Goal.Tier, goal.Tier), cmp.Or(command.Goal.Strategy, goal.Strategy)
		command.Goal, command.Spent = goal, app.PlanningCost(s)
		command.Refused = append(slices.Clone(s.Consent.Drafts), state.UnapprovedPlan{
			Goal: p.Goal, Tasks: p.Tasks, Assumed: p.Assumptions, Foreseen: p.Foreseen, Why: o.Why, By: o.Console.UserName(),
		})
		return forbiddenphrases.Check(o.Console, p.Goal, nil)
	})
}

// PrintNew prints a plan for the goal, and makes it first if necessary.
func PrintNew(ctx context.Context, a *console.Console, p *app.Repository, o progress.RunCommandOptions, out Output) error {
	if o.Plan == nil {
		if err := progress.MakePlan(ctx, a, p, &o); err != nil {
			return err
		}
	}
	return printMadePlan(ctx, a, p, o, out)
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

// printMadePlan prints the plan, which a person may edit before. Without a repository there are
// no earlier runs to estimate from.
func printMadePlan(ctx context.Context, a *console.Console, p *app.Repository, o progress.RunCommandOptions, out Output) error {
	if out.Edit {
		if err := planconsent.EditPlan(ctx, a, &o); err != nil {
			return err
		}
	}
	if out.Export != "" {
		data, remarks, err := exporting.WritePlan(*o.Plan, out.Export)
		if err != nil {
			return err
		}
		planview.SayRemarks(a, remarks)
		return a.Print(planview.SafeFileText(a.Style(a.Out), string(data)))
	}
	if err := a.EstimatePlan(ctx, p, &o.RunOptions); err != nil {
		return err
	}
	if a.Style(a.Out).Plain && out.Form == "" && !a.JSON {
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
	}{*o.Plan, slices.Concat(planrisk.PlanRisks(*o.Plan), spans), o.Lanes, o.Steps, out.Imported}
	if err := a.Answer(answer, func(s view.OutputStyle) string {
		text := planview.Draw(s, *o.Plan, out.Form)
		if out.Form == "" && !s.Plain {
			text += view.DrawSharedSessions(s, o.Lanes) + planview.DrawSteps(s, o.Steps)
		}
		return text
	}); err != nil {
		return err
	}
	if out.Form == "" && !a.JSON && o.Plan.Run != "" {
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
