package toyworld

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// makeAddedTasks makes tasks of an addition, or reports that it cannot.
func (x *SimulatedWorker) makeAddedTasks(ctx context.Context, f nexus.AdditionPlanningStarted) ([]nexus.Fact, error) {
	outcome, err := x.askRole(ctx, nexus.Planner)
	switch {
	case err != nil:
		return nil, err
	case outcome != nexus.Accepted || x.drawIndex(4) == 0:
		return []nexus.Fact{nexus.AdditionPlanningFailed{Request: f.Request, Attempt: f.Attempt, Why: "it makes no sense"}}, x.injectFault()
	}
	proposed := nexus.AdditionTasksProposed{Attempt: f.Attempt}
	for i := range 1 + x.drawIndex(3) {
		t := x.View.Added
		t.ID, t.Needs = nexus.TaskID(fmt.Sprintf("T%d", i+1)), nil
		if i > 0 {
			t.Needs = []nexus.TaskID{proposed.Tasks[i-1].ID}
		}
		proposed.Tasks = append(proposed.Tasks, t)
	}
	return []nexus.Fact{proposed}, x.injectFault()
}
