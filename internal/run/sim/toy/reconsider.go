package toy

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
)

// reconsider records the decision before a round, and returns the step that follows.
func (x *Actor) reconsider(ctx context.Context, step repair.Step) (repair.Step, error) {
	t := &x.View.Task
	seen := replan.WorkerFacts{Worked: t.CountedTime() + x.Now().Sub(x.a.Resumed()) - x.a.Rested, Divisible: x.View.Divisible}
	d, next := replan.Next(t, x.a, x.View.Limits, seen, step)
	if d == nil {
		return next, nil
	}
	t.Replans = append(slices.Clip(t.Replans), *d)
	return next, x.record(ctx, *d)
}
