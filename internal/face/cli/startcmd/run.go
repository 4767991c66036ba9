package startcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/backlogrun"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/precheck"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/trustcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

func runCommand(a *console.Console) *cobra.Command {
	var o progress.RunCommandOptions
	var src goalSource
	var dry, waiting bool
	var g newProject
	const use = "run GOAL | -f FILE | --plan FILE|DIR | --finding NAME | --milestone NAME | --backlog [flags]"
	c := a.Command(use, "work on a goal: plan, code, check, land", func(ctx context.Context, args []string) error {
		if err := o.Check(); err != nil {
			return err
		}
		if how, err := o.BackgroundStarter(a, dry); err != nil {
			return err
		} else if how != nil {
			return startDetached(ctx, a, o, how)
		}
		if done, err := progress.RunInChildProcess(a); done {
			return err
		}
		if waiting {
			return backlogrun.RunAll(ctx, a, &o, args)
		}
		if err := readGoalAndPlan(ctx, a, &o, &src, args); err != nil {
			return err
		}
		if err := planfile.SetTierAndStrategy(o.Plan, o.Goal); err != nil {
			return err
		}
		p, err := a.OpenRepository(ctx, app.CreateAccess)
		if from, ok := emptyProjectDir(ctx, a, &o, p, err, dry); ok {
			return g.startProject(ctx, a, from, &o)
		}
		if err != nil {
			return err
		}
		defer p.Close()
		if err := prepareRun(ctx, a, p, &o); err != nil {
			return err
		}
		if dry {
			return printNewPlan(ctx, a, p, o, planOutput{read: src.read})
		}
		if err := planconsent.Set(a, p, &o, a.HasPerson() || progress.NeedsPlanConsent(a)); err != nil {
			return err
		}
		return progress.RunAndShow(ctx, a, p, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	c.Args = console.ArgCount(0, -1)
	sourceFlags(c, &src)
	findingFlag(c, &src)
	c.Flags().BoolVar(&src.comment, "comment", false, "keep one comment with the status of the run on the issue that the goal comes from")
	f := c.Flags()
	f.BoolVar(&waiting, "backlog", false, "work on the waiting items of the backlog, in their order")
	c.MarkFlagsMutuallyExclusive("file", "plan", "finding", "backlog", "milestone")
	c.MarkFlagsMutuallyExclusive("comment", "backlog")
	f.BoolVarP(&dry, "dry-run", "n", false, "make or check the plan and print it, without running it")
	c.MarkFlagsMutuallyExclusive("dry-run", "backlog")
	genesisFlags(c, &g)
	preferFlags(f, &o.Goal)
	a.SettingFlags(c, "preset", "approval", "step", "parallel", "budget", "max-time", "model", "sandbox", "target", "land", "strict",
		"skip", "status-file")
	progress.StartFlags(c, &o)
	progress.OrderFlags(a, c, &o)
	progress.DetachFlag(c, &o)
	progress.WatchFlag(c, &o)
	c.MarkFlagsMutuallyExclusive("detach", "dry-run")
	return c
}

// prepareRun does the steps before a run: it asks a person about untrusted agents, checks whether
// the run can start, and asks the user about open points of the goal.
func prepareRun(ctx context.Context, a *console.Console, p *app.Repository, o *progress.RunCommandOptions) error {
	if err := askTrust(ctx, a, o); err != nil {
		return err
	}
	if err := precheck.Check(ctx, a, p, o); err != nil {
		return err
	}
	return clarifyGoal(ctx, a, p, o)
}

// startDetached starts a run in the background. It asks the person about untrusted agents first.
func startDetached(ctx context.Context, a *console.Console, o progress.RunCommandOptions, how func(context.Context, *console.Console, progress.RunCommandOptions) error) error {
	if err := askTrust(ctx, a, &o); err != nil {
		return err
	}
	return how(ctx, a, o)
}

func askTrust(ctx context.Context, a *console.Console, o *progress.RunCommandOptions) error {
	if o.Headless {
		return nil
	}
	return trustcmd.AskTrust(ctx, a)
}

// goalSource describes where a goal or plan is read from.
type goalSource struct {
	file, plan, finding string
	milestone           string // of the roadmap: the goal is what it lacks

	format  string                // of a plan; empty: detected
	comment bool                  // the issue of the goal receives a comment with the run's status
	task    bool                  // a file is the text of a task, whatever it looks like
	read    *foreign.ImportedPlan // result of importing another tool's plan; filled in by read
}

func sourceFlags(c *cobra.Command, src *goalSource) {
	c.Flags().StringVarP(&src.file, "file", "f", "", "read the goal, or a plan, from `FILE`; - is standard input")
	c.Flags().StringVar(&src.plan, "plan", "", "read the tasks from this plan `FILE` or folder, also of another tool (docs/plan.md)")
	c.Flags().StringVar(&src.format, "format", "", "read the plan as this `FORMAT`: "+nexus.JoinWords(foreign.SupportedFormats()))
	c.Flags().StringVar(&src.milestone, "milestone", "", "work on what the milestone with this `NAME` or number of the roadmap lacks; next is the first that is not tagged")
	c.MarkFlagsMutuallyExclusive("file", "plan", "milestone")
}

func findingFlag(c *cobra.Command, src *goalSource) {
	c.Flags().StringVar(&src.finding, "finding", "", "work on the finding `ID` that nexus discover lists")
}

// fillFromFinding fills in the goal and the plan from a plugin's finding.
func fillFromFinding(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, name string) error {
	f, err := checkcmd.RecheckFinding(ctx, a, name)
	if err != nil {
		return err
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	data, err := json.Marshal(f.PlanForFinding(settings.Limits.Size.Minutes))
	if err != nil {
		return err
	}
	found, err := planfile.Load(a, data)
	if err != nil {
		return err
	}
	found.Tasks[0].Criteria[0].Red = true // its check fails now, which a file cannot state
	o.Plan, o.Goal.Text = &found, f.Title
	return nil
}

// readGoalAndPlan fills in the goal, and the plan if there is one.
func readGoalAndPlan(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, src *goalSource, args []string) error {
	text := strings.TrimSpace(strings.Join(args, " "))
	typed := text != ""
	o.Goal.Mode = nexus.Evolution
	text, err := goalText(ctx, a, o, src, text)
	if err != nil {
		return err
	}
	fetched := false
	if o.Plan == nil && src.finding == "" {
		goal, ok, err := fetchGoal(ctx, a, o, src, text, typed)
		if err != nil {
			return err
		}
		if fetched = ok; ok {
			text = goal
		}
	}
	if src.comment && !o.Goal.Comment {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--comment needs an issue as the goal",
			Hint: "Give the address of an issue of GitHub or GitLab as the goal.",
		}
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	if !fetched { // a stranger's text cannot select a command of the repository
		if text, err = a.ExpandSlashCommand(settings, text); err != nil {
			return err
		}
	}
	o.Goal.Text = text
	if err := cmp.Or(plan.CheckGoal(text), specError(o, src, text)); err != nil {
		return err
	}
	return forbiddenphrases.Check(a, text, o.Plan)
}

// goalText returns the text of the goal: the words of the command line, or what they or a flag name. It fills in
// the plan if a flag names one.
func goalText(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, src *goalSource, words string) (string, error) {
	for _, flag := range []struct{ name, value string }{{"--finding", src.finding}, {"--file", src.file}, {"--milestone", src.milestone}} {
		if flag.value != "" && words != "" {
			return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and " + flag.name + " were given", Hint: "Give one of them."}
		}
	}
	switch {
	case src.finding != "":
		err := fillFromFinding(ctx, a, o, src.finding)
		return o.Goal.Text, err
	case src.milestone != "":
		return speccmd.MissingGoal(ctx, a, src.milestone)
	case isFile(words):
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the goal is the name of a file: " + view.QuoteForTerminal(words),
			Hint: "Read the goal or plan from it with -f " + words + ", or say what to do with the file.",
		}
	case src.plan != "" || src.file != "":
		read, err := readFile(ctx, a, o, src)
		return cmp.Or(words, read), err
	case src.format != "":
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--format was given without a plan",
			Hint: "Name the file or folder of the plan with --plan.",
		}
	default:
		return words, nil
	}
}

// specError returns the problems of a goal that is meant as a spec.
func specError(o *progress.RunCommandOptions, src *goalSource, text string) error {
	if o.Plan != nil || src.task || !spec.LooksLikeSpec(text) {
		return nil
	}
	return speccmd.Check("in the goal", []byte(text))
}

// isFile reports whether a goal is just the name of an existing file.
func isFile(goal string) bool {
	if goal == "" || strings.ContainsFunc(goal, unicode.IsSpace) {
		return false
	}
	info, err := os.Stat(goal)
	return err == nil && info.Mode().IsRegular()
}

func preferFlags(f *pflag.FlagSet, g *nexus.Goal) {
	f.StringVar((*string)(&g.Tier), "tier", "", "start tasks at this `TIER`: fast, balanced or strong")
	f.StringVar((*string)(&g.Strategy), "strategy", "", "use this `STRATEGY` for tasks: "+nexus.JoinWords(nexus.Strategies()))
}
