package speccmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/specify"
)

// written is what came of the command.
type written struct {
	Name    string      `json:"name,omitzero"`
	File    string      `json:"file,omitzero"` // relative to the repository; empty: none was written
	Depth   spec.Depth  `json:"depth"`
	Reasons []string    `json:"reasons"`           // why it goes so deep
	Reports []string    `json:"reports,omitempty"` // files of the research
	Money   nexus.Money `json:"money"`
	Spec    *spec.Spec  `json:"spec,omitempty"`
	Warning string      `json:"warning,omitzero"` // why it is not as deep as it was to be
}

// order is what a person wants of the command.
type order struct {
	goal, name, depth string
	research, force   bool
	traffic           provider.Traffic
}

func specCommand(a *console.Console) *cobra.Command {
	var o order
	var file string
	const use = "spec GOAL | -f FILE [--depth quick|standard|deep] [--name NAME] [--research] [--json]"
	c := a.Command(use, "write a spec of a goal, to edit and to plan from", func(ctx context.Context, args []string) (err error) {
		o.goal = strings.TrimSpace(strings.Join(args, " "))
		switch {
		case file != "" && o.goal != "":
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and --file were given", Hint: "Give one of them."}
		case file != "":
			data, err := os.ReadFile(file)
			if err != nil {
				return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the goal", Cause: err, Hint: "Name a file that can be read."}
			}
			o.goal = strings.TrimSpace(string(data))
		}
		w, err := write(ctx, a, o)
		if err != nil {
			return err
		}
		return a.Answer(w, func(s view.Style) string { return drawWritten(s, w) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeInterrupted)
	c.Args = console.Takes(0, -1)
	f := c.Flags()
	f.StringVarP(&file, "file", "f", "", "read the goal from `FILE`")
	f.StringVar(&o.depth, "depth", "", "`DEPTH` of the spec, whatever the goal looks like: quick (none), standard, deep (criticizes itself)")
	f.StringVar(&o.name, "name", "", "`NAME` of the spec; the first words of the goal if not given")
	f.BoolVar(&o.research, "research", false, "let a researcher report on domain, stack and pitfalls first")
	f.BoolVar(&o.force, "force", false, "replace a spec of the same name")
	a.JSONFlag(c)
	a.SettingFlags(c, "model", "budget", "sandbox")
	return c
}

// write writes the spec of an order.
func write(ctx context.Context, a *console.Console, o order) (written, error) {
	settings, _, err := a.Settings()
	if err == nil {
		err = plan.CheckGoal(o.goal)
	}
	if err != nil {
		return written{}, err
	}
	dir, err := a.WorkDir()
	if err != nil {
		return written{}, err
	}
	top := app.Top(dir)
	w := written{}
	if w.Depth, w.Reasons, err = depth(ctx, a, o); err != nil || w.Depth == spec.Quick {
		return w, err
	}
	if w.Name = o.name; w.Name == "" {
		w.Name = spec.Name(o.goal)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(w.Name) || strings.HasSuffix(w.Name, ".md") {
		return w, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the name %s cannot name a file", view.Quote(w.Name)),
			Hint: "Use letters, digits, dots, - and _, at most 64, without .md.",
		}
	}
	w.File = filepath.ToSlash(filepath.Join(Folder, w.Name+".md"))
	if _, err := os.Lstat(filepath.Join(top, w.File)); err == nil && !o.force {
		return w, &nexus.Error{Code: nexus.CodeInvalidInput, Message: w.File + " exists", Hint: "Use another --name, or replace it with --force."}
	}
	if err := a.Walled(!a.Person()); err != nil {
		return w, err
	}
	return w, ask(ctx, a, settings, o, top, &w)
}

// ask lets agents do the work, and keeps what they submit.
func ask(ctx context.Context, a *console.Console, settings config.Config, o order, top string, w *written) error {
	one := func(ctx context.Context, q specify.Question) (json.RawMessage, error) {
		a.Say("%s", q.Session)
		said, err := submitted(ctx, a, settings, o, q)
		w.Money += said.Money
		settings.Limits.RunMoney = max(settings.Limits.RunMoney-said.Money, 0) // one budget for all of them
		if err != nil {
			return nil, err
		}
		if said.Outcome != nexus.Accepted {
			return nil, ended(said)
		}
		return said.Handin, nil
	}
	var reports []specify.Report
	var err error
	if o.research {
		if reports, err = specify.Research(ctx, o.goal, one); err != nil {
			return err
		}
		for _, r := range reports {
			name := filepath.ToSlash(filepath.Join(Folder, w.Name, "research-"+r.Topic+".md"))
			if err := Keep(top, name, []byte(r.Text+"\n")); err != nil {
				return err
			}
			w.Reports = append(w.Reports, name)
		}
	}
	s, warning, err := specify.Write(ctx, o.goal, w.Depth, reports, one)
	if len(s.Requirements) == 0 {
		return err
	}
	if w.Spec, w.Depth, w.Warning = &s, s.Depth, warning; warning != "" {
		a.Say("warning: %s", view.Clean(warning))
	}
	return cmp.Or(err, Keep(top, w.File, spec.Markdown(s)))
}

// submitted has one session.
func submitted(ctx context.Context, a *console.Console, settings config.Config, o order, q specify.Question) (app.Reply, error) {
	s, ctx, err := a.OpenAdhoc(ctx, settings, q.Role, o.traffic, nil)
	if err != nil {
		return app.Reply{}, err
	}
	defer s.Close(ctx)
	return s.Ask(ctx, app.Message{Session: q.Session, Text: q.Text, Handin: q.Handin})
}

// ended says why a session ended without a submission.
func ended(said app.Reply) error {
	code := nexus.CodeNothingProposed
	switch said.Outcome {
	case nexus.Exhausted:
		code = nexus.CodeLimit
	case nexus.Refused:
		code = nexus.CodeBudget
	default:
	}
	return &nexus.Error{
		Code: code, Message: "no spec: " + string(said.Outcome) + ": " + said.Why,
		Hint: "Nothing of the spec was written. Try again with a higher limit or another model.",
	}
}

// depth says how deep the spec goes, and why.
func depth(ctx context.Context, a *console.Console, o order) (spec.Depth, []string, error) {
	switch d := spec.Depth(o.depth); d {
	case spec.Quick, spec.Standard, spec.Deep:
		return d, []string{"--depth " + o.depth}, nil
	case "":
	default:
		message := "unknown depth " + view.Quote(o.depth)
		return "", nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: "Use quick, standard or deep."}
	}
	files := 0
	if p, err := a.Open(ctx, app.Reads); err == nil {
		if names, err := p.Repo.Run(ctx, "ls-files", "-z"); err == nil { // else it is as if there were none
			files = strings.Count(names, "\x00")
		}
		p.Close()
	}
	d, why := spec.Assess(o.goal, files)
	return d, why, nil
}

// Keep writes a file below the root of the repository, and follows no link out of it.
func Keep(top, name string, data []byte) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return unwritten(name, err)
	}
	defer func() { _ = root.Close() }()
	err = root.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		tmp := name + ".tmp"
		err = errors.Join(root.WriteFile(tmp, data, 0o644), root.Rename(tmp, name))
	}
	if err != nil {
		return unwritten(name, err)
	}
	return nil
}

func unwritten(name string, err error) error {
	return &nexus.Error{Code: nexus.CodeStorage, Message: "write " + name, Cause: err, Hint: "Make the folder writable, and try again."}
}

// drawWritten says what came of the command, and what to do next.
func drawWritten(s view.Style, w written) string {
	why := strings.Join(w.Reasons, "; ")
	if w.File == "" {
		return s.Wrap("no spec is needed: "+view.Clean(why)+". Run the goal with nexus run, or write a spec with --depth standard.", "") + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.Bold(w.File))
	b.WriteString(s.Wrap(fmt.Sprintf("%s, as %s; %s", w.Depth, view.Clean(why), w.Money), "  ") + "\n")
	later := len(w.Spec.Requirements) - len(w.Spec.Now())
	b.WriteString(s.Wrap(fmt.Sprintf("%s, %d of them later or not at all; acceptance criteria: %d",
		view.Count(len(w.Spec.Requirements), "requirement"), later, len(w.Spec.Criteria)), "  ") + "\n")
	for _, r := range w.Reports {
		b.WriteString("  " + r + "\n")
	}
	b.WriteString(s.Wrap("Edit it, then: nexus plan -f "+w.File, "") + "\n")
	return b.String()
}
