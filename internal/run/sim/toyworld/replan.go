package toyworld

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
)

// decideReplan records the decision before a round, and returns the step that follows.
func (x *SimulatedWorker) decideReplan(ctx context.Context, step repair.RepairStep) (repair.RepairStep, error) {
	t := &x.View.Task
	seen := replan.WorkerTaskFacts{Worked: t.TimeCountedAgainstCap() + x.Now().Sub(x.a.ActiveSince()) - x.a.Rested, Divisible: x.View.Divisible}
	d, next := replan.DecideReplanStep(t, x.a, x.View.Limits, seen, step)
	if d == nil {
		return next, nil
	}
	t.Replans = append(slices.Clip(t.Replans), *d)
	return next, x.recordFacts(ctx, *d)
}
