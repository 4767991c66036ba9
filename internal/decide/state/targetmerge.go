package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TargetMerge is the merge of the landed commits onto a target that has moved in the
// meantime.
type TargetMerge struct {
	Asked   *nexus.LandingAsked  // a person's request; nil if only the goal asks for it
	Moved   *nexus.TargetMoved   // last known move of the target; nil if it has not moved
	Merged  *nexus.LandingMerged // the last merge; nil before
	Refused string               // why it is not merged; empty while it may be
	Work    *Attempt             // the sessions that merge; nil before
	Tries   int                  // number of such attempts; it only grows
}

// NeedsMerge reports whether the target moved and the landed commits are still to be merged
// onto it.
func (h *TargetMerge) NeedsMerge() bool {
	return h.Moved != nil && h.Refused == "" && (h.Merged == nil || h.Merged.Onto != h.Moved.Commit)
}

// applyTargetMerge applies facts about the merge onto the target.
func (s *State) applyTargetMerge(f nexus.Fact, at time.Time) {
	h := &s.TargetMerge
	switch f := f.(type) {
	case nexus.LandingAsked:
		h.Asked, s.Goal.Land, s.Goal.Target = &f, true, f.Target
		h.Moved, h.Merged, h.Refused = nil, nil, ""
	case nexus.TargetMoved:
		h.Moved = &f
	case nexus.LandingSought:
		if s.attempts[f.Attempt] == nil {
			h.Work = &Attempt{ID: f.Attempt, Base: f.Onto, Began: at, Active: at}
			s.attempts[f.Attempt] = h.Work
			h.Tries++
		}
		h.Work.Stage = Working
	case nexus.LandingMerged:
		h.Merged = &f
		h.endMerge(at)
	case nexus.LandingRefused:
		h.Refused = f.Why
		h.endMerge(at)
	default:
	}
}

func (h *TargetMerge) endMerge(at time.Time) {
	if h.Work != nil {
		h.Work.Stage, h.Work.Finished = Over, at
	}
}

// resetMerge forgets the target's position, because the run is reopened.
func (h *TargetMerge) resetMerge() {
	h.Moved, h.Merged, h.Refused = nil, nil, ""
	if h.Work != nil {
		h.Work.Losses = 0
	}
}
