package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Spare makes the state forget what only whoever conducts the run needs, once a
// task has landed: what was said in its sessions and which evidence may be used
// again. It returns the state. A run can be shown from such a state, and not
// continued.
func (s *State) Spare() *State {
	s.sparing = true
	return s
}

// spare forgets what nobody looks at any more after a fact.
func (s *State) spare(f nexus.Fact) {
	landed, ok := f.(nexus.TrainLanded)
	if !ok || !s.sparing {
		return
	}
	if m := s.attempts[MergeID(landed.Attempt)]; m != nil && len(m.Sessions) == 0 {
		delete(s.attempts, m.ID)
	}
	for _, a := range s.tasks[landed.Task].Attempts {
		for _, r := range a.Rounds {
			for _, e := range r.Evidence {
				delete(s.evidence, evidenceKey{e.Tree, e.Gate})
			}
			r.Evidence = slices.Clone(r.Evidence)
		}
		for _, c := range a.Sessions {
			c.Messages, c.Looked, c.Memory, c.Compact, c.Before, c.Unheard = nil, nil, nil, nexus.SessionCompacted{}, 0, 0
		}
	}
}
