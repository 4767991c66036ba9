package speccmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// specResult is the result of the command.
type specResult struct {
	Run     nexus.RunID    `json:"run,omitzero"`
	Name    string         `json:"name,omitzero"`
	File    string         `json:"file,omitzero"` // relative to the repository; empty: not written
	Depth   spec.SpecDepth `json:"depth"`
	Reasons []string       `json:"reasons"`           // reasons for the depth
	Reports []string       `json:"reports,omitempty"` // files of the research
	Money   nexus.Money    `json:"money"`
	Spec    *spec.Spec     `json:"spec,omitempty"`
	Warning string         `json:"warning,omitzero"` // why it is less deep than requested
}

// writeSpec writes the spec of a goal, or continues a run that writes one.
func writeSpec(ctx context.Context, o *Options) (specResult, error) {
	a := o.Console
	goal := nexus.Goal{Text: o.Goal, Mode: nexus.Specify, Depth: string(o.Depth), Research: o.Research}
	var run nexus.RunID
	switch {
	case o.Resume:
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil {
			return specResult{}, err
		}
		taken, err := findSpecRun(ctx, p, o.Goal)
		p.Close()
		if err != nil {
			return specResult{}, err
		}
		goal, run = taken.Goal.Goal, taken.Run
	case o.File != "":
		data, err := os.ReadFile(o.File)
		if err != nil {
			return specResult{}, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the goal", Cause: err, Hint: "Name a file that can be read."}
		}
		goal.Text = strings.TrimSpace(string(data))
	}
	w, err := resolveSpecFile(ctx, o, goal)
	if err != nil || w.File == "" {
		return w, err
	}
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return w, err
	}
	defer p.Close()
	options := progress.RunCommandOptions{RunOptions: app.RunOptions{
		Goal: nexus.Goal{Text: goal.Text, Mode: nexus.Specify, Depth: string(w.Depth), Research: goal.Research}, Run: run,
	}}
	err = runSpecWriter(ctx, a, p, options, &w, o.Force)
	return w, err
}

// resolveSpecFile determines the file of a spec, and its depth.
func resolveSpecFile(ctx context.Context, o *Options, goal nexus.Goal) (specResult, error) {
	if err := plan.CheckGoal(goal.Text); err != nil {
		return specResult{}, err
	}
	dir, err := o.Console.WorkDir()
	if err != nil {
		return specResult{}, err
	}
	w := specResult{}
	if w.Depth, w.Reasons = specDepth(ctx, o.Console, goal); w.Depth == spec.Quick {
		return w, nil
	}
	if w.Name = o.Name; w.Name == "" {
		w.Name = spec.SpecFileName(goal.Text)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(w.Name) || strings.HasSuffix(w.Name, ".md") {
		return w, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the name %s cannot name a file", view.QuoteForTerminal(w.Name)),
			Hint: "Use letters, digits, dots, - and _, at most 64, without .md.",
		}
	}
	w.File = filepath.ToSlash(filepath.Join(Folder, w.Name+".md"))
	if _, err := os.Lstat(filepath.Join(app.WorkTreeRoot(dir), w.File)); err == nil && !o.Force {
		return w, &nexus.Error{Code: nexus.CodeInvalidInput, Message: w.File + " exists", Hint: "Use another --name, or replace it with --force."}
	}
	return w, o.Console.CheckSandbox(!o.Console.HasPerson())
}

// runSpecWriter lets agents write the spec, or continues the run that writes it, and stores the result. A
// file that another person wrote in the meantime is replaced only with force.
func runSpecWriter(ctx context.Context, a *console.Console, p *app.Repository, o progress.RunCommandOptions, w *specResult, force bool) error {
	var s *state.State
	var err error
	if o.Run != "" {
		if s, err = p.Replay(ctx, o.Run); err != nil {
			return err
		}
	}
	if s == nil || !s.Status.HasEnded() {
		if s, err = progress.WriteSpec(ctx, a, p, &o); s == nil {
			return err
		}
	}
	w.Run, w.Money = s.Run, s.Ledger.SpentMoney()
	blobs, storing := p.OpenBlobStore()
	if storing != nil {
		return storing
	}
	for _, r := range specReports(s) {
		text, err := blobs.Get(r.Text)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(filepath.Join(Folder, w.Name, "research-"+r.Topic+".md"))
		if err := WriteRepoFile(p.Repo.Work, name, append(text, '\n')); err != nil {
			return err
		}
		w.Reports = append(w.Reports, name)
	}
	if s.Spec.Written == nil {
		return unwrittenSpec(s, err)
	}
	text, err := blobs.Get(s.Spec.Written.Spec)
	if err != nil {
		return err
	}
	made, _ := spec.ReadSpec(text)
	if w.Spec, w.Depth, w.Warning = &made, made.Depth, s.Spec.Written.Warning; w.Warning != "" {
		a.Say("warning: %s", view.EscapeForTerminal(w.Warning))
	}
	if _, err := os.Lstat(filepath.Join(p.Repo.Work, w.File)); err == nil && !force {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: w.File + " was written meanwhile",
			Hint: fmt.Sprintf("The result of the run is kept: nexus spec --resume %s --name OTHER writes it to another file, "+
				"or --force replaces the file.", s.Run),
		}
	}
	return WriteRepoFile(p.Repo.Work, w.File, text)
}

func specReports(s *state.State) []nexus.ResearcherReport {
	switch {
	case s.Spec.Written != nil:
		return s.Spec.Written.Reports
	case s.Spec.Failed != nil:
		return s.Spec.Failed.Reports
	default:
		return nil
	}
}

// unwrittenSpec returns the reason why a run wrote no spec.
func unwrittenSpec(s *state.State, err error) error {
	if f := s.Spec.Failed; f != nil {
		return &nexus.Error{
			Code: cmp.Or(f.Code, nexus.CodeNothingProposed), Message: "no spec: " + f.Why,
			Hint: "Nothing of the spec was written. Try again with a higher limit or another model.",
		}
	}
	if err == nil {
		err = &nexus.Error{
			Code: nexus.CodeNothingProposed, Message: "no spec: " + s.Why,
			Hint: "nexus logs " + string(s.Run) + " shows what happened.",
		}
	}
	return err
}

// findSpecRun returns the named run that writes a spec, the last one without a name.
func findSpecRun(ctx context.Context, p *app.Repository, name string) (*state.State, error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if name != "" {
		r, err := p.FindRun(ctx, name)
		if err != nil {
			return nil, err
		}
		all = []journal.RecordedRun{r}
	}
	for _, r := range slices.Backward(all) {
		if s, err := p.Replay(ctx, r.ID); err == nil && s.Goal.Goal.Mode == nexus.Specify {
			return s, nil
		}
	}
	return nil, app.NotFoundError("run that writes a spec", cmp.Or(name, "here"), "Start one with nexus spec GOAL.")
}

// specDepth returns the depth of the spec, with the reasons.
func specDepth(ctx context.Context, a *console.Console, goal nexus.Goal) (spec.SpecDepth, []string) {
	if goal.Depth != "" {
		return spec.SpecDepth(goal.Depth), []string{"--depth " + goal.Depth}
	}
	files := 0
	if p, err := a.OpenRepository(ctx, app.ReadAccess); err == nil {
		if names, err := p.Repo.Run(ctx, "ls-files", "-z"); err == nil { // else it is as if there were none
			files = strings.Count(names, "\x00")
		}
		p.Close()
	}
	return spec.AssessDepth(goal.Text, files)
}

// WriteRepoFile writes a file below the root of the repository, and follows no link out of it.
func WriteRepoFile(top, name string, data []byte) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return writeError(name, err)
	}
	defer func() { _ = root.Close() }()
	err = root.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		tmp := name + ".tmp"
		err = errors.Join(root.WriteFile(tmp, data, 0o644), root.Rename(tmp, name))
	}
	if err != nil {
		return writeError(name, err)
	}
	return nil
}

func writeError(name string, err error) error {
	return &nexus.Error{Code: nexus.CodeStorage, Message: "write " + name, Cause: err, Hint: "Make the folder writable, and try again."}
}

// drawWritten draws the result of the command and the next step.
func drawWritten(s view.OutputStyle, w specResult) string {
	why := strings.Join(w.Reasons, "; ")
	if w.File == "" {
		return s.Wrap("no spec is needed: "+view.EscapeForTerminal(why)+". Run the goal with nexus run, or write a spec with --depth standard.", "") + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.Bold(w.File))
	b.WriteString(s.Wrap(fmt.Sprintf("%s, as %s; %s", w.Depth, view.EscapeForTerminal(why), w.Money), "  ") + "\n")
	later := len(w.Spec.Requirements) - len(w.Spec.FirstVersionRequirements())
	b.WriteString(s.Wrap(fmt.Sprintf("%s, %d of them later or not at all; acceptance criteria: %d",
		view.CountWithNoun(len(w.Spec.Requirements), "requirement"), later, len(w.Spec.Criteria)), "  ") + "\n")
	for _, r := range w.Reports {
		b.WriteString("  " + r + "\n")
	}
	b.WriteString(s.Wrap("Edit it, then: nexus plan -f "+w.File, "") + "\n")
	return b.String()
}
