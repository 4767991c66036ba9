package work

import (
	"bufio"
	"context"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/draft"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/wire"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
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
	a.Ask(draft.Draw(a.Style(a.Err), *o.Plan, "") + "Start? [y/N] ")
	answer, _ := bufio.NewReader(a.In).ReadString('\n') // what cannot be read is a no
	if nexus.Agrees(answer) {
		return nil
	}
	return &nexus.Error{Code: nexus.CodeNeedsPerson, Message: "not started: the plan was not agreed to", Hint: "Change the goal, or edit the plan (nexus plan GOAL --json > plan.json) and run it with --plan."}
}
