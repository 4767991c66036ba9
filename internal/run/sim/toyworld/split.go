package toyworld

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// splitTask divides a task, or reports that it cannot.
func (x *SimulatedWorker) splitTask(ctx context.Context, f nexus.TaskSplitStarted) ([]nexus.Fact, error) {
	outcome, err := x.askRole(ctx, nexus.Planner)
	switch {
	case err != nil:
		return nil, err
	case outcome != nexus.Accepted || x.drawIndex(4) == 0:
		return []nexus.Fact{nexus.TaskSplitFailed{Attempt: f.Attempt, Task: f.Task, Why: "no cut helps"}}, x.injectFault()
	}
	whole, split := x.View.Task.Task, nexus.TaskSplitCompleted{Attempt: f.Attempt, Task: f.Task}
	var facts []nexus.Fact
	for i := range x.View.Limits.Parts {
		t := whole
		t.ID, t.Depth = nexus.TaskID(fmt.Sprintf("%s-%d", whole.ID, i+1)), whole.Depth+1
		if i > 0 {
			t.Needs = split.Parts[i-1:]
		}
		split.Parts = append(split.Parts, t.ID)
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	return append(facts, split), x.injectFault()
}
