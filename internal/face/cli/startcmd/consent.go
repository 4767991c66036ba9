package startcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// consent lets a person agree to the plan and to what it may cost before
// anything is done. Who is not on a terminal is asked for --yes only where
// the level of approval wants the plan to be agreed to.
func consent(ctx context.Context, a *console.Console, p *app.Place, o *progress.Order, ask bool) error {
	settings, _, err := a.Settings()
	if err != nil {
		return err
	}
	must := settings.Limits.Approval.Holds(nexus.ApproveAll)
	switch {
	case o.Yes, !must && (!ask || o.Headless):
		return nil
	case o.Headless || !a.Person():
		return &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: "approval=all requires a person to approve the plan, and nobody is there",
			Hint: "Make the plan first (nexus plan GOAL --json > plan.json) and read it, then use --plan plan.json --yes.",
		}
	}
	if o.Plan == nil {
		if err := progress.Decompose(ctx, a, p, o); err != nil {
			return err
		}
	}
	if err := a.Estimate(ctx, p, &o.Order); err != nil {
		return err
	}
	return talk(ctx, a, p, o)
}

// talk shows the goal and the plan until a person agrees to them or does not: the
// details, and what they are once they were edited. An edited plan that is not carried out is kept.
func talk(ctx context.Context, a *console.Console, p *app.Place, o *progress.Order) error {
	in, e := a.Keyboard(), edit{app: a}
	a.Ask(offer(a.Style(a.Err), o))
	for {
		answer, err := in.Line(ctx, "Start? [y/N], d for details, e to edit: ")
		if ctx.Err() != nil {
			return e.unstarted("interrupted before anything was done")
		}
		switch strings.ToLower(answer) {
		case "d", "details":
			a.Ask(planDetails(a.Style(a.Err), o.Goal.Text, *o.Plan))
		case "e", "edit":
			changed, err := e.open(o)
			if err == nil && changed {
				err = a.Estimate(ctx, p, &o.Order)
			}
			switch {
			case err != nil:
				a.Complain(err)
			case changed:
				a.Ask(offer(a.Style(a.Err), o))
			default:
				a.Say("the plan is as it was")
			}
		default:
			if nexus.Agrees(answer) && err == nil {
				return nil
			}
			return e.unstarted("not started: the plan was not approved") // what cannot be read is a no
		}
	}
}

// offer draws what a person is asked to agree to.
func offer(s view.Style, o *progress.Order) string {
	return drawGoal(s, o.Goal.Text) + drawPlan(s, *o.Plan, "")
}

// edited lets a person edit the order's plan until it can be used, or gives up.
func edited(ctx context.Context, a *console.Console, o *progress.Order) error {
	if !a.Person() {
		return &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: "--edit opens an editor, and nobody is at a terminal",
			Hint: "Write the plan to a file with --markdown, edit it, and give it to --plan.",
		}
	}
	in, e := a.Keyboard(), edit{app: a}
	for {
		_, err := e.open(o)
		if err == nil {
			return nil
		}
		a.Complain(err)
		answer, err := in.Line(ctx, "Edit it again? [Y/n]: ")
		if answer != "" && !nexus.Agrees(answer) || err != nil || ctx.Err() != nil {
			return e.unstarted("the plan was not changed")
		}
	}
}

// edit lets a person edit a plan. What does not pass the checks of a plan file
// is kept, and opened again the next time.
type edit struct {
	app   *console.Console
	draft []byte // refused; nil where there is none
	last  []byte // as the person left it last; nil where nothing was edited
}

// unstarted is why nothing was done. What the person wrote is kept in a file.
func (e *edit) unstarted(message string) error {
	hint := "Change the goal, or edit the plan: answer e, or save it with nexus plan GOAL --markdown > plan.md and use --plan plan.md."
	if e.last != nil {
		name, err := store(e.last)
		if err != nil {
			e.app.Complain(err)
		} else {
			hint = "Your edited plan is in " + name + ". Run it with: nexus run --plan " + name
		}
	}
	return &nexus.Error{Code: nexus.CodeNeedsPerson, Message: message, Hint: hint}
}

// open lets a person edit the order's plan, and reports whether it changed. A
// plan with an error leaves the order as it was.
func (e *edit) open(o *progress.Order) (changed bool, err error) {
	shown := *o.Plan
	was := plan.Markdown(shown)
	if e.draft == nil {
		e.draft = was
	}
	data, err := e.editor(e.draft)
	if err != nil {
		return false, err
	}
	e.draft = data
	if !bytes.Equal(data, was) {
		e.last = data
	}
	p, err := load(e.app, data)
	if err == nil {
		err = errors.Join(plan.CheckGoal(p.Goal), forbidden(e.app, p.Goal, &p), prefer(&p, o.Goal))
	}
	if err != nil {
		return false, err
	}
	e.draft = nil
	plan.Recall(&p, shown)
	o.Plan, o.Goal.Text = &p, p.Goal
	return !bytes.Equal(data, was), nil
}

// editor opens a text in the person's editor, and returns what it became.
func (e *edit) editor(text []byte) ([]byte, error) {
	file, err := store(text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file) }() // in the temporary directory
	name := cmp.Or(e.app.Env("VISUAL"), e.app.Env("EDITOR"), "vi")
	if err := console.Edit(name, file); err != nil {
		return nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "run the editor " + view.Quote(name), Cause: err, Hint: "Set EDITOR to an installed editor that waits until you are done, such as code --wait."}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read what was edited: %w", err)
	}
	return data, nil
}

// store writes a text to a new file in the temporary directory.
func store(text []byte) (name string, err error) {
	f, err := os.CreateTemp("", "nexus-plan-*.md")
	if err != nil {
		return "", fmt.Errorf("make a file for the plan: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write the plan to a file: %w", err)
	}
	return f.Name(), nil
}
