package local

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// accept lets every command that shows a criterion of a task that landed judge
// the last tree: a task that landed later may have undone what one before had
// shown. None keeps another from being judged, and what they need of the gates
// before them is made once for all.
func (m *Machine) accept(ctx context.Context, c worker.JudgeRequest, v state.View, evidence []nexus.Evidence, d worker.Desk) ([]nexus.Evidence, error) {
	done := map[string]bool{}
	c.Task, c.Each = nexus.Task{}, true
	for _, t := range v.Landed {
		criteria := t.Criteria
		if i := slices.IndexFunc(v.Tasks, func(o nexus.Task) bool { return o.ID == t.ID }); i >= 0 {
			criteria = slices.Concat(criteria, v.Tasks[i].Criteria) // a check that came with its work does not replace its own
		}
		for _, criterion := range criteria {
			if gate, command := accept.Gate(criterion); command && !done[gate] {
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
