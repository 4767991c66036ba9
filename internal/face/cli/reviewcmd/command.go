package reviewcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/verdictformat"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

// Options are the options of the command. Those about a task's change show it if nothing else is
// asked for.
type Options struct {
	Console   *console.Console
	Args      []string // a task and the text of a comment, or a range of commits
	AboutTask bool     // a flag was given that is about a task

	Run      string // the run of the task; empty: the latest
	Comment  string // place that is commented
	Kind     string // of the comment
	Suggest  string // replacement of the commented lines
	Batch    string // file with comments
	Viewed   []string
	Unviewed []string
	Resolve  []string // comments
	Apply    []string // comments whose suggestion is applied
	Approve  bool
	Since    bool // only the changes since the person's last review
	All      bool // also the content of viewed and generated files
	Editor   bool // write comments in an editor
	Draft    bool // keep the comments until they are sent
	Send     bool // send all drafts
	Discard  []string

	Scope    checkcmd.ReviewScope // the change that models review
	Personas []string             // empty: those of the settings
	Format   string               // of the verdict
	Traffic  provider.TrafficRecordingOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = review
	}
	var command *cobra.Command
	command = c.Command("review [RANGE|TASK] [TEXT] [flags]", "review the change of a task, or let models review your change", func(ctx context.Context, args []string) (err error) {
		o.Args = args
		for _, name := range taskFlagNames() {
			o.AboutTask = o.AboutTask || command.Flags().Changed(name)
		}
		if o.Format, err = verdictformat.Parse(c, o.Format); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 2)
	o.addTaskFlags(command)
	fl := command.Flags()
	fl.StringVar(&o.Scope.Base, "base", "", "review the changes since the common ancestor with `REF`, committed or not")
	fl.BoolVar(&o.Scope.Staged, "staged", false, "review staged changes")
	fl.StringSliceVar(&o.Personas, "persona", nil, "review as these `PERSONAS` in parallel: correctness, security, tests, maintainability; review.personas if not given")
	fl.StringVar(&o.Format, "format", "text", "print the verdict as `SHAPE`: text, json, junit, sarif or github")
	progress.TrafficFlags(command, &o.Traffic)
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("format", "json")
	c.SettingFlags(command, "model", "max-turns", "budget", "sandbox")
	return command
}

// addTaskFlags adds the flags about a task's change.
func (o *Options) addTaskFlags(command *cobra.Command) {
	fl := command.Flags()
	fl.StringVar(&o.Comment, "comment", "",
		"comment on `PLACE` of a task's change: FILE:LINE, FILE:LINE-LINE, FILE, or . for all of it; then the text")
	fl.StringVar(&o.Kind, "kind", "", "`KIND` of the comment: must, should, question or praise; should if not given")
	fl.StringVar(&o.Suggest, "suggest", "",
		"the `TEXT` that the commented lines should be replaced by; with --approve or --apply it is not asked for")
	fl.StringVar(&o.Batch, "batch", "", "send the comments in `FILE`, as JSON; - is standard input")
	fl.StringSliceVar(&o.Viewed, "viewed", nil, "mark `FILE` as viewed; it is shown as unviewed again once it changes")
	fl.StringSliceVar(&o.Unviewed, "unviewed", nil, "mark `FILE` as not viewed")
	fl.StringSliceVar(&o.Resolve, "resolve", nil, "resolve the comment `ID`: an unresolved must keeps the change from landing")
	fl.StringSliceVar(&o.Apply, "apply", nil, "apply the suggestion of the comment `ID`, without an agent")
	fl.BoolVar(&o.Approve, "approve", false, "approve the change")
	fl.BoolVar(&o.Since, "since-last", false, "show only the changes since your last review")
	fl.BoolVar(&o.All, "all", false, "also show the content of viewed and generated files")
	fl.BoolVar(&o.Editor, "editor", false, "write comments into the change in $VISUAL or $EDITOR, in lines that begin with #>")
	fl.BoolVar(&o.Draft, "draft", false, "keep the comment, or those of --batch, until they are sent with --send")
	fl.BoolVar(&o.Send, "send", false, "send all drafts as one review")
	fl.StringSliceVar(&o.Discard, "discard", nil, "discard the draft `ID`")
	o.Console.RunFlag(command, &o.Run)
	command.MarkFlagsMutuallyExclusive("comment", "batch", "editor", "since-last")
	command.MarkFlagsMutuallyExclusive("draft", "send", "editor")
	for _, other := range []string{"resolve", "apply", "approve", "viewed", "unviewed", "discard"} {
		command.MarkFlagsMutuallyExclusive("draft", other)
	}
}

// taskFlagNames returns the flags that are about a task.
func taskFlagNames() []string {
	return []string{
		"comment", "kind", "suggest", "batch", "viewed", "unviewed", "resolve", "apply", "approve", "since-last",
		"all", "editor", "run", "draft", "send", "discard",
	}
}

// review lets a person review the change of a task, or models any other change.
func review(ctx context.Context, o *Options) error {
	if o.concernsTask(ctx) {
		return o.reviewTask(ctx)
	}
	if len(o.Args) > 1 {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(o.Args[0]) + " is not a task", Hint: "nexus status lists the tasks; a range is one argument."}
	}
	o.Scope.Range = console.FirstArg(o.Args)
	named := 0
	for _, set := range []bool{o.Scope.Range != "", o.Scope.Base != "", o.Scope.Staged} {
		if set {
			named++
		}
	}
	if named > 1 {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "give only one of a range, --base and --staged",
			Hint: "Each selects another change.",
		}
	}
	return reviewByModels(ctx, o)
}

// reviewByModels prints what the models find in a change.
func reviewByModels(ctx context.Context, o *Options) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	if len(o.Personas) > 0 {
		settings.Personas = o.Personas
	}
	r, err := checkcmd.ReviewChange(ctx, a, settings, o.Scope, o.Traffic)
	if err != nil {
		return err
	}
	v := verdict.CombineGateResults([]nexus.GateEvidence{r.AsEvidence()})
	if err := verdictformat.Write(a, o.Format, v, r); err != nil {
		return err
	}
	a.Say("%s, %s, %s", view.CountWithNoun(len(r.Readers), "reader"), view.CountWithNoun(len(r.Findings), "finding"), r.Spent)
	switch r.State {
	case nexus.Pass:
		return nil
	case nexus.Fail:
		return console.ExitError(console.CodeFailed)
	default:
		return console.ExitError(console.CodePerson)
	}
}
