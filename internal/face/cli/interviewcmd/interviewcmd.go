// Package interviewcmd implements the command "nexus interview".
package interviewcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalinterview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// specDir is the directory of specs, below the root of the repository.
const specDir = ".nexus/specs"

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Goal    string // the words
	File    string // with requirements; - is standard input
	Resume  bool   // continue an interview, or write its spec again
	Run     string // to continue, as a person names it; empty: the last interview
	Name    string // of the spec; empty: from its title
	Command progress.RunCommandOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = interview
	}
	const use, short = "interview [GOAL] [-f FILE] | --resume [RUN] [flags]", "ask about a goal until it is clear, and write a spec"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		if err := o.setWords(args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, -1)
	f := command.Flags()
	f.StringVarP(&o.File, "file", "f", "", "also read requirements from `FILE`, such as notes; - is standard input")
	f.BoolVar(&o.Resume, "resume", false, "continue the interview of RUN, by default the last one, or write its spec again")
	f.StringVar(&o.Run, "run", "", "the `RUN` to continue; it needs no --resume")
	f.StringVar(&o.Name, "name", "", "`NAME` of the spec in "+specDir+"; by default from its title")
	f.BoolVar(&o.Command.Headless, "headless", false, "ask no questions: the default of each becomes an assumption")
	f.BoolVarP(&o.Command.Yes, "yes", "y", false, "ask no questions, and replace a spec of the same name")
	progress.TrafficFlags(command, &o.Command.Traffic)
	c.JSONFlag(command)
	c.SettingFlags(command, "model", "budget", "sandbox")
	return command
}

// setWords sets what the words of the command line are: the goal, or the run to continue.
func (o *Options) setWords(args []string) (err error) {
	words := strings.TrimSpace(strings.Join(args, " "))
	switch {
	case !o.Resume && o.Run == "":
		o.Goal = words
		return nil
	case !o.Resume && words != "":
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and --run were given", Hint: "Give one of them; the run has a goal."}
	case o.File != "":
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--resume continues with the goal of its run",
			Hint: "Leave out --file, or --resume.",
		}
	}
	o.Resume = true
	o.Run, err = console.NamedRun(o.Run, []string{words})
	return err
}

// interview asks about the goal, and writes the spec.
func interview(ctx context.Context, o *Options) error {
	a := o.Console
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	if o.Resume {
		o.Command.Run, err = findInterview(ctx, p, o.Run)
	} else {
		err = goalinterview.ReadGoal(ctx, a, &o.Command, o.Goal, o.File)
	}
	if err != nil {
		return err
	}
	s, err := conductInterview(ctx, a, p, &o.Command)
	if s == nil || err != nil && s.Status != nexus.StatusWaiting {
		return err
	}
	return errors.Join(err, saveInterviewSpec(ctx, a, p, s, o.Name, o.Command.Yes, o.Command.Headless))
}

// findInterview returns the named interview, the last one without a name.
func findInterview(ctx context.Context, p *app.Repository, name string) (nexus.RunID, error) {
	if name != "" {
		r, err := p.FindRun(ctx, name)
		if err != nil {
			return "", err
		}
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return "", err
		}
		if s.Goal.Goal.Mode != nexus.Interview {
			return "", &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "run " + string(r.ID) + " is not an interview",
				Hint: "Continue it with nexus resume " + string(r.ID) + ".",
			}
		}
		return r.ID, nil
	}
	all, err := p.Runs(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range slices.Backward(all) {
		if s, err := p.Replay(ctx, r.ID); err == nil && s.Goal.Goal.Mode == nexus.Interview {
			return r.ID, nil
		}
	}
	return "", &nexus.Error{
		Code: nexus.CodeNotFound, Message: "this repository has no interview yet",
		Hint: "Start one with nexus interview GOAL.",
	}
}

// conductInterview conducts the interview, or returns the finished one.
func conductInterview(ctx context.Context, a *console.Console, p *app.Repository, o *progress.RunCommandOptions) (*state.State, error) {
	if o.Run != "" {
		s, err := p.Replay(ctx, o.Run)
		if err != nil || s.Status == nexus.StatusDone {
			return s, err
		}
	}
	asking := *o
	asking.Headless = o.Headless || o.Yes
	return progress.ConductInterview(ctx, a, p, &asking)
}

// interviewResult is the JSON output of nexus interview.
type interviewResult struct {
	Run          nexus.RunID                   `json:"run"`
	Status       nexus.RunStatus               `json:"status"`
	File         string                        `json:"file,omitzero"` // file of the spec; empty: not written
	Clear        bool                          `json:"clear"`         // no question was needed
	Depth        string                        `json:"depth"`
	Requirements []nexus.Requirement           `json:"requirements"`
	Candidates   []nexus.Requirement           `json:"candidates"`
	Assumptions  []clarify.InterviewAssumption `json:"assumptions"`
	Corrections  []clarify.SpecCorrection      `json:"corrections"`
	Exchanges    []clarify.InterviewExchange   `json:"questions"`
	Gaps         []string                      `json:"gaps"`
	Statistics   clarify.InterviewStatistics   `json:"statistics"`
	Spent        nexus.Money                   `json:"spent"`
	Spec         spec.Spec                     `json:"spec"`
}

// saveInterviewSpec writes the spec of an interview, and prints it.
func saveInterviewSpec(ctx context.Context, a *console.Console, p *app.Repository, s *state.State, name string, yes, headless bool) error {
	i := &s.Interview
	made := i.BuildSpec()
	text := spec.FormatMarkdown(made)
	t := interviewResult{
		Run: s.Run, Status: s.Status, Clear: i.Clear, Depth: i.QuestionDepth(), Requirements: nonNilSlice(i.Requirements), Candidates: nonNilSlice(i.Candidates),
		Assumptions: nonNilSlice(i.Assumptions), Corrections: nonNilSlice(i.Corrections), Exchanges: nonNilSlice(i.Exchanges), Gaps: nonNilSlice(i.UnexploredAreas()), Statistics: i.CountStatistics(), Spent: s.Ledger.SpentMoney(), Spec: made,
	}
	var err error
	if s.Status == nexus.StatusDone {
		t.File, err = writeSpecFile(ctx, a, p, made, text, name, yes, headless)
		sayCorrected(a, i)
		goalinterview.SayUnconfirmedAssumptions(a, i)
	}
	if t.File != "" {
		a.Say("wrote %s", t.File)
		err = goalinterview.AddLaterToBacklog(ctx, a, p, s)
	}
	return errors.Join(a.Answer(t, func(view.OutputStyle) string { return view.EscapeLinesForTerminal(string(text)) }), err)
}

// nonNilSlice returns a slice that is never null in JSON.
func nonNilSlice[T any](all []T) []T { return append([]T{}, all...) }

// sayCorrected prints the corrections of people to the spec, and their results.
func sayCorrected(a *console.Console, i *clarify.InterviewState) {
	for _, c := range i.Corrections {
		for _, l := range c.SummaryLines() {
			a.Say("%s", view.EscapeForTerminal(l))
		}
	}
}

// writeSpecFile writes a spec to its file. An existing spec with another text is replaced only if the
// user agrees.
func writeSpecFile(ctx context.Context, a *console.Console, p *app.Repository, made spec.Spec, text []byte, name string, yes, headless bool) (string, error) {
	if name = cmp.Or(strings.TrimSuffix(name, ".md"), titleSlug(made.Title)); name != titleSlug(name) {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(name) + " is not a valid name of a spec",
			Hint: "Use letters, digits and hyphens, such as " + titleSlug(name) + ".",
		}
	}
	rel := specDir + "/" + name + ".md"
	root, err := os.OpenRoot(p.Repo.Work) // a link in the repository leads nowhere else
	if err != nil {
		return "", &nexus.Error{Code: nexus.CodeStorage, Message: "open the repository", Cause: err, Hint: "Make the directory readable."}
	}
	defer func() { _ = root.Close() }()
	old, err := root.ReadFile(rel)
	switch {
	case err == nil && bytes.Equal(old, text):
		return rel, nil
	case err == nil && !yes:
		if err := confirmReplace(ctx, a, rel, headless); err != nil {
			return "", err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", &nexus.Error{Code: nexus.CodeStorage, Message: "read " + rel, Cause: err, Hint: "Choose another name with --name."}
	}
	if err = root.MkdirAll(specDir, 0o755); err == nil {
		err = errors.Join(root.WriteFile(rel+".tmp", text, 0o644), root.Rename(rel+".tmp", rel))
	}
	if err != nil {
		return "", &nexus.Error{
			Code: nexus.CodeStorage, Message: "write " + rel, Cause: err,
			Hint: "Make the directory writable. The interview is kept: nexus interview --resume writes its spec again.",
		}
	}
	return rel, nil
}

// confirmReplace asks whether a spec may be replaced.
func confirmReplace(ctx context.Context, a *console.Console, rel string, headless bool) error {
	if !headless && a.HasPerson() {
		answer, err := a.Keyboard().AskLine(ctx, rel+" exists with other content. Replace it? [y/N]: ")
		if err == nil && nexus.IsYes(answer) {
			return nil
		}
	}
	return &nexus.Error{
		Code: nexus.CodeNeedsPerson, Message: rel + " exists and was not replaced",
		Hint: "The interview is kept: write its spec with nexus interview --resume RUN --name OTHER, or replace the old one with --yes.",
	}
}

// titleSlug turns a title into a file name.
func titleSlug(title string) string {
	name := strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
	if len(name) > 48 {
		name = strings.Trim(name[:48], "-")
	}
	return cmp.Or(name, "spec")
}
