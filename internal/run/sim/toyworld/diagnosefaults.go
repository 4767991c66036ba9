package toyworld

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// judgingGates returns the names of the gates that check a tree with these criteria, each once.
func judgingGates(criteria []nexus.Criterion) []string {
	all := []string{"build", "test"}
	for _, c := range criteria {
		if gate, _ := accept.GateOfCriterion(c); !slices.Contains(all, gate) {
			all = append(all, gate)
		}
	}
	return all
}

// IsCriterionMet reports whether a task's criterion is met by a commit.
func (w *SimulatedWorld) IsCriterionMet(rev string, task nexus.TaskID) bool {
	return !w.treeAt(rev).IsBroken(string(task))
}

// diagnoseFaults finds out why criteria are not met: by inspection, or by asking.
func (x *SimulatedWorker) diagnoseFaults(ctx context.Context, f nexus.CriterionDiagnosisStarted) ([]nexus.Fact, error) {
	if err := x.waitFor(ctx, time.Minute); err != nil {
		return nil, err
	}
	if asks := x.drawIndex(2) == 0; asks || len(x.a.Sessions) > 0 {
		if _, err := x.askRole(ctx, nexus.Verifier); err != nil {
			return nil, err
		}
	}
	found := nexus.CriterionFaultsFound{Attempt: x.a.ID, Faults: slices.Clone(f.Faults)}
	for i := range found.Faults {
		found.Faults[i].Kind = []nexus.CriterionFaultLocation{nexus.FaultInSource, nexus.FaultInTest, nexus.FaultInBoth}[x.drawIndex(3)]
		found.Faults[i].Why = "as it looks"
	}
	return []nexus.Fact{found}, x.injectFault()
}

// askRole asks a role, once, and returns how its session ended.
func (x *SimulatedWorker) askRole(ctx context.Context, role nexus.Role) (nexus.Outcome, error) {
	id := nexus.SessionID(fmt.Sprintf("%s/%s.1", x.a.ID, role))
	old := x.a.SessionByID(id)
	if old != nil && old.Over {
		return old.Outcome, nil
	}
	why := ""
	if old == nil || len(old.Messages) == 0 {
		why = "brief"
	}
	return x.haveConversation(ctx, role, id, why)
}
