package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TargetMerge is the merge of the landed commits onto a target that has moved in the
// meantime.
type TargetMerge struct {
	Asked   *nexus.TargetLandingRequested // a person's request; nil if only the goal asks for it
	Moved   *nexus.TargetBranchMoved      // last known move of the target; nil if it has not moved
	Merged  *nexus.TargetMergeCommitted   // the last merge; nil before
	Refused string                        // why it is not merged; empty while it may be
	Work    *AttemptState                 // the sessions that merge; nil before
	Tries   int                           // number of such attempts; it only grows
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
	case nexus.TargetLandingRequested:
		h.Asked, s.Goal.Land, s.Goal.Target = &f, true, f.Target
		h.Moved, h.Merged, h.Refused = nil, nil, ""
	case nexus.TargetBranchMoved:
		h.Moved = &f
	case nexus.TargetMergeStarted:
		if s.attempts[f.Attempt] == nil {
			h.Work = &AttemptState{ID: f.Attempt, Base: f.Onto, Began: at, Active: at}
			s.attempts[f.Attempt] = h.Work
			h.Tries++
		}
		h.Work.Stage = Working
	case nexus.TargetMergeCommitted:
		h.Merged = &f
		h.endMerge(at)
	case nexus.TargetMergeRefused:
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
