package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TargetMerge is how what landed on the run's branch gets onto a target that moved
// in the meantime.
type TargetMerge struct {
	Asked   *nexus.LandingAsked  // a person wants it there; nil where only the goal does
	Moved   *nexus.TargetMoved   // where the target was found last; nil while it is where it was
	Merged  *nexus.LandingMerged // what was merged last; nil before
	Refused string               // why it is not merged; empty while it may be
	Work    *Attempt             // the sessions that merge; nil before
	Tries   int                  // times that was begun; it only grows
}

// NeedsMerge reports whether the target moved and what landed is still to be
// merged onto it.
func (h *TargetMerge) NeedsMerge() bool {
	return h.Moved != nil && h.Refused == "" && (h.Merged == nil || h.Merged.Onto != h.Moved.Commit)
}

// applyTargetMerge folds how what landed gets onto the target.
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
		h.over(at)
	case nexus.LandingRefused:
		h.Refused = f.Why
		h.over(at)
	default:
	}
}

func (h *TargetMerge) over(at time.Time) {
	if h.Work != nil {
		h.Work.Stage, h.Work.Finished = Over, at
	}
}

// reset forgets where the target was: the run is taken up again.
func (h *TargetMerge) reset() {
	h.Moved, h.Merged, h.Refused = nil, nil, ""
	if h.Work != nil {
		h.Work.Losses = 0
	}
}
