// Package planconsent asks a person at the terminal for consent to a plan, and lets them edit it.
package planconsent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// Set determines who agrees to the plan before it starts: the user who passed --yes; a
// person who is asked, if one is at a terminal or the approval level requires it; otherwise no
// consent is needed.
func Set(a *console.Console, p *app.Repository, o *progress.RunCommandOptions, ask bool) error {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	switch {
	case o.Yes:
		o.Consent.Given = a.UserName()
	case settings.Limits.Approval.NeedsApproval(nexus.ApproveAll), ask && !o.Headless:
		o.Consent.Wanted = true
	}
	o.Agree = NewDialog(a, p)
	return nil
}

// NewDialog returns the dialog that asks a person at the terminal for consent to a plan.
func NewDialog(a *console.Console, p *app.Repository) progress.ConsentDialog {
	return &consentDialog{planEditor: planEditor{app: a}, place: p}
}

// consentDialog implements [progress.ConsentDialog].
type consentDialog struct {
	planEditor

	place *app.Repository
}

// Offer implements [progress.ConsentDialog]. The estimate is that of every face, with the budget of the run
// and not that of this terminal's settings. If nothing can be estimated, the plan is shown without one.
func (g *consentDialog) Offer(ctx context.Context, s *state.State) string {
	p, style := app.PlanOfRun(s), g.app.Style(g.app.Err)
	if p.Estimate = projection.PlanEstimate(s); p.Estimate == nil {
		if err := g.app.EstimatePlan(ctx, g.place, &app.RunOptions{Plan: &p}); err != nil {
			g.app.ReportError(err)
		}
	}
	if p.Estimate != nil {
		p.Estimate.Most = projection.WorstCost(s)
	}
	text := planview.DrawOffer(style, p)
	if n := len(s.Consent.Drafts); n > 0 {
		text += "\n" + style.Bold("compared with the plan before") + "\n" + planview.DrawChanges(style, s.PlanVersion(n-1), p.Tasks)
	}
	return text
}

// Details implements [progress.ConsentDialog].
func (g *consentDialog) Details(s *state.State) string {
	return planview.DrawDetails(g.app.Style(g.app.Err), s.Goal.Goal.Text, app.PlanOfRun(s))
}

// Edit implements [progress.ConsentDialog].
func (g *consentDialog) Edit(s *state.State) (*nexus.Plan, error) {
	var o progress.RunCommandOptions
	p := app.PlanOfRun(s)
	o.Plan, o.Goal = &p, s.Goal.Goal
	changed, err := g.editPlan(&o)
	if err != nil || !changed {
		return nil, err
	}
	g.last = nil // it is in the journal now
	return o.Plan, nil
}

// Close implements [progress.ConsentDialog].
func (g *consentDialog) Close() string {
	if g.last == nil {
		return ""
	}
	name, err := writeTempPlan(g.last)
	if err != nil {
		g.app.ReportError(err)
		return ""
	}
	return "Your edited plan, which was not used, is in " + name + ". Correct it, and run it with: nexus run --plan " + name
}

// EditPlan lets a person edit the plan until it is valid or they give up.
func EditPlan(ctx context.Context, a *console.Console, o *progress.RunCommandOptions) error {
	if !a.HasPerson() {
		return &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: "--edit opens an editor, but there is no terminal",
			Hint: "Write the plan to a file with --markdown, edit it, and give it to --plan.",
		}
	}
	in, e := a.Keyboard(), planEditor{app: a}
	for {
		_, err := e.editPlan(o)
		if err == nil {
			return nil
		}
		a.ReportError(err)
		answer, err := in.AskLine(ctx, "Edit it again? [Y/n]: ")
		if answer != "" && !nexus.IsYes(answer) || err != nil || ctx.Err() != nil {
			return e.notStartedError("the plan was not changed")
		}
	}
}

// planEditor lets a person edit a plan. A version that fails the checks of a plan file is kept, and
// opened again the next time.
type planEditor struct {
	app   *console.Console
	draft []byte // refused version; nil if there is none
	last  []byte // last edited version; nil if nothing was edited
}

// notStartedError returns the error that nothing was done. It saves the edited text in a file.
func (e *planEditor) notStartedError(message string) error {
	hint := "Change the goal, or edit the plan: answer e, or save it with nexus plan GOAL --markdown > plan.md and use --plan plan.md."
	if e.last != nil {
		name, err := writeTempPlan(e.last)
		if err != nil {
			e.app.ReportError(err)
		} else {
			hint = "Your edited plan is in " + name + ". Run it with: nexus run --plan " + name
		}
	}
	return &nexus.Error{Code: nexus.CodeNeedsPerson, Message: message, Hint: hint}
}

// editPlan lets a person edit the plan, and reports whether it changed. A plan with an error
// leaves the options unchanged.
func (e *planEditor) editPlan(o *progress.RunCommandOptions) (changed bool, err error) {
	shown := *o.Plan
	was := plan.FormatMarkdown(shown)
	if e.draft == nil {
		e.draft = was
	}
	data, err := e.openInEditor(e.draft)
	if err != nil {
		return false, err
	}
	e.draft = data
	if !bytes.Equal(data, was) {
		e.last = data
	}
	p, err := planfile.LoadReplacement(e.app, data, shown, o.Goal, "")
	if err != nil {
		return false, err
	}
	e.draft = nil
	o.Plan, o.Goal.Text = p, p.Goal
	return !bytes.Equal(data, was), nil
}

// openInEditor opens a text in the person's editor, and returns the edited text.
func (e *planEditor) openInEditor(text []byte) ([]byte, error) {
	file, err := writeTempPlan(text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file) }() // in the temporary directory
	name := cmp.Or(e.app.Env("VISUAL"), e.app.Env("EDITOR"), "vi")
	if err := console.OpenEditor(name, file); err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "run the editor " + view.QuoteForTerminal(name), Cause: err,
			Hint: "Set EDITOR to an installed editor that waits until you are done, such as code --wait.",
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read what was edited: %w", err)
	}
	return data, nil
}

// writeTempPlan writes a text to a new file in the temporary directory.
func writeTempPlan(text []byte) (name string, err error) {
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
