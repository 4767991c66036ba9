package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// LandingUndo is the revert of landed changes.
type LandingUndo struct {
	Tries int                // number of reverts that were begun; it only grows
	Work  *AttemptState      // the last revert; nil before
	Asked *nexus.UndoStarted // the last request
	Last  nexus.Fact         // its result: [nexus.UndoLanded] or [nexus.UndoRefused]; nil while it is open
	Done  []nexus.UndoLanded
}

// IsOpen reports whether a revert is still to be done.
func (u *LandingUndo) IsOpen() bool { return u.Asked != nil && u.Last == nil }

// applyUndo applies facts about the revert of landed changes.
func (s *State) applyUndo(f nexus.Fact, at time.Time) {
	u := &s.Undo
	switch f := f.(type) {
	case nexus.UndoStarted:
		if s.attempts[f.Attempt] == nil {
			u.Work = &AttemptState{ID: f.Attempt, Base: f.Onto, Began: at, Active: at}
			s.attempts[f.Attempt] = u.Work
			u.Tries++
		}
		u.Work.Stage, u.Asked, u.Last = Working, &f, nil
	case nexus.UndoLanded:
		s.moveTip(f)
		for _, id := range f.Tasks {
			t := s.tasks[id]
			t.Status, t.Landed, t.Ended, t.Why = nexus.Skipped, nil, at, "undone by "+f.By
		}
		s.Landings = slices.DeleteFunc(s.Landings, func(l *CompletedLanding) bool { return slices.Contains(f.Tasks, l.Task) })
		u.Done = append(slices.Clip(u.Done), f)
		u.endUndo(f, at)
	case nexus.UndoRefused:
		u.endUndo(f, at)
	default:
	}
}

// moveTip moves the run's branch to the reverting commit: its tree must be judged and
// published again.
func (s *State) moveTip(f nexus.UndoLanded) {
	s.Tip, s.Result, s.Published = f.Commit, nil, nil
	s.TargetMerge.resetMerge()
}

func (u *LandingUndo) endUndo(f nexus.Fact, at time.Time) {
	u.Last = f
	u.Work.Stage, u.Work.Finished = Over, at
}

// checkUndo refuses a revert of changes that are not on the branch.
func (s *State) checkUndo(f nexus.Fact) error {
	switch f := f.(type) {
	case nexus.UndoStarted:
		return s.checkLanded(f.Tasks, f.Onto)
	case nexus.UndoLanded:
		return s.checkLanded(f.Tasks, f.Parent)
	default:
		return nil
	}
}
