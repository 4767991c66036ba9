// Package workaddition reads additional work from a command line: for a run, or for the backlog.
package workaddition

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// Addition is additional work as given on a command line.
type Addition struct {
	Text, Check, Priority, Kind string
	Files, Needs                []string
}

// AddFlags adds the flags of every command that accepts an addition.
func (w *Addition) AddFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&w.Files, "files", nil, "`PATHS` that it is about, from the root of the repository")
	f.StringVar(&w.Kind, "type", "", "`KIND` of work: code, test or docs; the default is code")
	f.StringVar(&w.Priority, "priority", "", "priority, a `WORD`: critical, high, medium, low or trivial")
	f.StringVar(&w.Check, "check", "", "gate or `COMMAND` that passes when it is done")
}

// Read fills in the text, and refuses a text that cannot be a task.
func (w *Addition) Read(_ context.Context, a *console.Console, file string, args []string) error {
	text := strings.TrimSpace(strings.Join(args, " "))
	if file != "" {
		if text != "" {
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a text and --file were given", Hint: "Give one of them."}
		}
		data, err := a.ReadInput(file)
		if err != nil {
			return err
		}
		text = strings.TrimSpace(string(data))
	}
	if text == "" && w.Text == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the text is empty",
			Hint: `Describe the work, such as "describe the flags in README.md".`,
		}
	}
	if text != "" {
		w.Text = text
	}
	return w.Validate(a)
}

// Validate refuses work that cannot be a task, and completes its fields.
func (w *Addition) Validate(a *console.Console) error {
	if err := plan.CheckGoal(w.Text); err != nil {
		return err
	}
	if w.Priority != "" {
		p, ok := nexus.ParsePriority(w.Priority)
		if !ok {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "unknown priority " + view.QuoteForTerminal(w.Priority),
				Hint: "Use one of " + nexus.JoinWords(nexus.Priorities()) + ".",
			}
		}
		w.Priority = string(p)
	}
	if w.Kind != "" && !slices.Contains([]string{"code", "test", "docs"}, w.Kind) {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "unknown type " + view.QuoteForTerminal(w.Kind), Hint: "Use code, test or docs."}
	}
	for i, f := range w.Files {
		clean := path.Clean(strings.TrimPrefix(f, "./"))
		if clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || path.IsAbs(clean) || strings.Contains(clean, `\`) {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(f) + " is not a path within the repository",
				Hint: "Give paths from the root of the repository, with slashes.",
			}
		}
		w.Files[i] = clean
	}
	task := w.asTask()
	task.ID = "T1"
	p := nexus.Plan{Version: plan.Version, Goal: w.Text, Tasks: []nexus.Task{task}}
	return forbiddenphrases.Check(a, w.Text, &p)
}

// asTask returns the addition as a single task.
func (w *Addition) asTask() nexus.Task {
	t := plan.SingleTaskPlan(w.Text, w.Check).Tasks[0]
	t.ID, t.Files, t.Priority, t.Kind = "", w.Files, nexus.Priority(w.Priority), nexus.TaskKind(w.Kind)
	for _, id := range w.Needs {
		t.Needs = append(t.Needs, nexus.TaskID(strings.TrimSpace(id)))
	}
	return t
}

// AddRequest returns the request for a run to do it; item is the backlog item, if there is one.
func (w *Addition) AddRequest(item string) nexus.Request {
	p := nexus.Plan{Version: plan.Version, Goal: w.Text, Tasks: []nexus.Task{w.asTask()}}
	return nexus.Request{Verb: nexus.VerbAdd, Item: item, Plan: &p}
}

// BacklogItem returns it as a waiting item of the backlog.
func (w *Addition) BacklogItem(by string, now time.Time) backlogitem.BacklogItem {
	title, rest, _ := strings.Cut(w.Text, "\n")
	if title = strings.Join(strings.Fields(strings.TrimLeft(title, "# ")), " "); len(title) > 100 {
		title, rest = sanitize.TruncateText(title, 97), w.Text
	}
	return backlogitem.BacklogItem{
		Title: title, Text: strings.TrimSpace(rest), State: backlogitem.Waiting, Priority: nexus.Priority(w.Priority), Kind: nexus.TaskKind(w.Kind),
		Files: w.Files, Check: w.Check, Added: now.Format(time.DateOnly), By: strings.Join(strings.Fields(by), " "),
	}
}

// OfItem returns the addition of a backlog item.
func OfItem(i backlogitem.BacklogItem) Addition {
	return Addition{Text: i.GoalText(), Check: i.Check, Priority: string(i.Priority), Kind: string(i.Kind), Files: i.Files}
}
