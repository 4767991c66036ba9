// Package goalsource reads the goal of a command line, and the plan if there is one: from the words, a
// file, an issue, a finding, a milestone or the plan of another tool.
package goalsource

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// Source says where the goal or the plan of a command line is read from.
type Source struct {
	Text                string // the words of the command line
	File, Plan, Finding string
	Milestone           string // of the roadmap: the goal is what it lacks

	Format   string                // of a plan; empty: detected
	Comment  bool                  // the issue of the goal receives a comment with the run's status
	Task     bool                  // a file is the text of a task, whatever it looks like
	Imported *foreign.ImportedPlan // result of importing another tool's plan; filled in by Read
}

// SetWords sets the text to the words of the command line.
func (src *Source) SetWords(args []string) { src.Text = strings.TrimSpace(strings.Join(args, " ")) }

// Flags adds the flags of commands that take a goal or a plan.
func (src *Source) Flags(c *cobra.Command) {
	c.Flags().StringVarP(&src.File, "file", "f", "", "read the goal, or a plan, from `FILE`; - is standard input")
	c.Flags().StringVar(&src.Plan, "plan", "", "read the tasks from this plan `FILE` or folder, also of another tool (docs/plan.md)")
	c.Flags().StringVar(&src.Format, "format", "", "read the plan as this `FORMAT`: "+nexus.JoinWords(foreign.SupportedFormats()))
	c.Flags().StringVar(&src.Milestone, "milestone", "", "work on what the milestone with this `NAME` or number of the roadmap lacks; next is the first that is not tagged")
	c.MarkFlagsMutuallyExclusive("file", "plan", "milestone")
}

// FindingFlag adds the flag of commands that take a finding.
func (src *Source) FindingFlag(c *cobra.Command) {
	c.Flags().StringVar(&src.Finding, "finding", "", "work on the finding `ID` that nexus discover lists")
}

// TierFlags adds the flags that choose the tier and the strategy of a goal's tasks.
func TierFlags(f *pflag.FlagSet, g *nexus.Goal) {
	f.StringVar((*string)(&g.Tier), "tier", "", "start tasks at this `TIER`: fast, balanced or strong")
	f.StringVar((*string)(&g.Strategy), "strategy", "", "use this `STRATEGY` for tasks: "+nexus.JoinWords(nexus.Strategies()))
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

// Read fills in the goal, and the plan if there is one.
func (src *Source) Read(ctx context.Context, a *console.Console, o *progress.RunCommandOptions) error {
	typed := src.Text != ""
	o.Goal.Mode = nexus.Evolution
	text, err := src.goalText(ctx, a, o)
	if err != nil {
		return err
	}
	fetched := false
	if o.Plan == nil && src.Finding == "" {
		goal, ok, err := src.fetchGoal(ctx, a, o, text, typed)
		if err != nil {
			return err
		}
		if fetched = ok; ok {
			text = goal
		}
	}
	if src.Comment && !o.Goal.Comment {
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
	if err := cmp.Or(plan.CheckGoal(text), src.specError(o, text)); err != nil {
		return err
	}
	return forbiddenphrases.Check(a, text, o.Plan)
}

// goalText returns the text of the goal: the words of the command line, or what they or a flag name. It fills in
// the plan if a flag names one.
func (src *Source) goalText(ctx context.Context, a *console.Console, o *progress.RunCommandOptions) (string, error) {
	words := src.Text
	for _, flag := range []struct{ name, value string }{{"--finding", src.Finding}, {"--file", src.File}, {"--milestone", src.Milestone}} {
		if flag.value != "" && words != "" {
			return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and " + flag.name + " were given", Hint: "Give one of them."}
		}
	}
	switch {
	case src.Finding != "":
		err := fillFromFinding(ctx, a, o, src.Finding)
		return o.Goal.Text, err
	case src.Milestone != "":
		return speccmd.MissingGoal(ctx, a, src.Milestone)
	case isFile(words):
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the goal is the name of a file: " + view.QuoteForTerminal(words),
			Hint: "Read the goal or plan from it with -f " + words + ", or say what to do with the file.",
		}
	case src.Plan != "" || src.File != "":
		read, err := src.readFile(ctx, a, o)
		return cmp.Or(words, read), err
	case src.Format != "":
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--format was given without a plan",
			Hint: "Name the file or folder of the plan with --plan.",
		}
	default:
		return words, nil
	}
}

// specError returns the problems of a goal that is meant as a spec.
func (src *Source) specError(o *progress.RunCommandOptions, text string) error {
	if o.Plan != nil || src.Task || !spec.LooksLikeSpec(text) {
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
