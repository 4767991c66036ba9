package local

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// judgeLandedCriteria runs every command that checks a criterion of a landed task on the last tree: a task
// that landed later may have broken an earlier result. All commands run even if some fail, and
// the gates that they depend on run once for all.
func (m *LocalExecutor) judgeLandedCriteria(ctx context.Context, c worker.TreeJudgeRequest, v state.WorkerView, evidence []nexus.GateEvidence, d worker.AttemptFactRecorder) ([]nexus.GateEvidence, error) {
	done := map[string]bool{}
	c.Task, c.Each = nexus.Task{}, true
	for _, t := range v.Landed {
		criteria := t.Criteria
		if i := slices.IndexFunc(v.Tasks, func(o nexus.Task) bool { return o.ID == t.ID }); i >= 0 {
			criteria = slices.Concat(criteria, v.Tasks[i].Criteria) // a check that came with its work does not replace its own
		}
		for _, criterion := range criteria {
			if gate, command := accept.GateOfCriterion(criterion); command && !done[gate] {
				done[gate] = true
				c.Task.Criteria = append(c.Task.Criteria, criterion)
			}
		}
	}
	if len(done) == 0 {
		return evidence, nil
	}
	all, err := m.Worker.Judge.RunGates(ctx, c, d)
	for _, e := range all {
		if done[e.Gate] {
			evidence = append(evidence, e)
		}
	}
	return evidence, err
}
