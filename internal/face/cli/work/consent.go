package work

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/draft"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/wire"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// consent lets a person agree to the plan and to what it may cost before
// anything is done. Who is not on a terminal is asked for --yes only where
// the level of approval wants the plan to be agreed to.
func consent(ctx context.Context, a *frame.App, p *frame.Place, o *wire.Order, ask bool) error {
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
			Code: nexus.CodeNeedsPerson, Message: "approval=all wants a person to agree to the plan, and nobody is there",
			Hint: "Read it first (nexus plan GOAL --json > plan.json), then run --plan plan.json with --yes.",
		}
	}
	if o.Plan == nil {
		if err := wire.Decompose(ctx, a, p, o); err != nil {
			return err
		}
	}
	if err := wire.Estimate(ctx, a, p, o); err != nil {
		return err
	}
	return talk(ctx, a, p, o)
}

// talk shows the plan until a person agrees to it or does not: its details, and
// what it is once it was edited.
func talk(ctx context.Context, a *frame.App, p *frame.Place, o *wire.Order) error {
	in := bufio.NewReader(a.In)
	e := edit{app: a}
	a.Ask(draft.Draw(a.Style(a.Err), *o.Plan, ""))
	for {
		a.Ask("Start? [y/N], d for details, e to edit: ")
		answer, _ := in.ReadString('\n') // what cannot be read is a no
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "d", "details":
			a.Ask(draft.Details(a.Style(a.Err), *o.Plan))
		case "e", "edit":
			changed, err := e.open(o)
			if err == nil && changed {
				err = wire.Estimate(ctx, a, p, o)
			}
			switch {
			case err != nil:
				a.Complain(err)
			case changed:
				a.Ask(draft.Draw(a.Style(a.Err), *o.Plan, ""))
			default:
				a.Say("the plan is as it was")
			}
		default:
			if nexus.Agrees(answer) {
				return nil
			}
			return &nexus.Error{Code: nexus.CodeNeedsPerson, Message: "not started: the plan was not agreed to", Hint: "Change the goal, or edit the plan: e at the question, or nexus plan GOAL --json > plan.json, then --plan plan.json."}
		}
	}
}

// edit lets a person edit a plan. What does not pass the checks of a plan file
// is kept, and opened again the next time.
type edit struct {
	app   *frame.App
	draft []byte // refused; nil where there is none
}

// open lets a person edit the order's plan, and reports whether it changed. A
// plan with an error leaves the order as it was.
func (e *edit) open(o *wire.Order) (changed bool, err error) {
	shown := *o.Plan
	shown.Estimate = nil
	was, err := json.MarshalIndent(shown, "", "  ")
	if err != nil {
		return false, fmt.Errorf("write the plan to edit it: %w", err)
	}
	if e.draft == nil {
		e.draft = append(was, '\n')
	}
	data, err := e.editor(e.draft)
	if err != nil {
		return false, err
	}
	e.draft = data
	p, err := load(e.app, data)
	if err == nil {
		err = errors.Join(plan.CheckGoal(p.Goal), forbidden(e.app, p.Goal, &p), prefer(&p, o.Goal))
	}
	if err != nil {
		return false, err
	}
	e.draft = nil
	o.Plan, o.Goal.Text = &p, p.Goal
	return !bytes.Equal(bytes.TrimSpace(data), was), nil
}

// editor opens a text in the person's editor, and returns what it became.
func (e *edit) editor(text []byte) ([]byte, error) {
	f, err := os.CreateTemp("", "nexus-plan-*.json")
	if err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // in the temporary directory
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("write the file to edit: %w", err)
	}
	name := cmp.Or(e.app.Env("VISUAL"), e.app.Env("EDITOR"), "vi")
	if err := frame.Edit(name, f.Name()); err != nil {
		return nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "run the editor " + view.Quote(name), Cause: err, Hint: "Set EDITOR to one that is installed; it must not return before you are done (code --wait)."}
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, fmt.Errorf("read what was edited: %w", err)
	}
	return data, nil
}
