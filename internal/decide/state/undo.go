package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Undo is how what landed is reverted.
type Undo struct {
	Tries int               // times that was begun; it only grows
	Work  *Attempt          // the last time; nil before
	Asked *nexus.UndoSought // the last time
	Last  nexus.Fact        // what came of it: [nexus.UndoLanded] or [nexus.UndoRefused]; nil while it is open
	Done  []nexus.UndoLanded
}

// Open reports whether something is to be reverted yet.
func (u *Undo) Open() bool { return u.Asked != nil && u.Last == nil }

// applyUndo folds how what landed is reverted.
func (s *State) applyUndo(f nexus.Fact, at time.Time) {
	u := &s.Undo
	switch f := f.(type) {
	case nexus.UndoSought:
		if s.attempts[f.Attempt] == nil {
			u.Work = &Attempt{ID: f.Attempt, Base: f.Onto, Began: at, Active: at}
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
		s.Landings = slices.DeleteFunc(s.Landings, func(l *Landing) bool { return slices.Contains(f.Tasks, l.Task) })
		u.Done = append(slices.Clip(u.Done), f)
		u.over(f, at)
	case nexus.UndoRefused:
		u.over(f, at)
	default:
	}
}

// moveTip moves the run's branch to what was made of it: the last tree is to be judged and
// published again.
func (s *State) moveTip(f nexus.UndoLanded) {
	s.Tip, s.Result, s.Published = f.Commit, nil, nil
	s.TargetMerge.reset()
}

func (u *Undo) over(f nexus.Fact, at time.Time) {
	u.Last = f
	u.Work.Stage, u.Work.Finished = Over, at
}

// admitUndo refuses what reverts nothing that is there.
func (s *State) admitUndo(f nexus.Fact) error {
	switch f := f.(type) {
	case nexus.UndoSought:
		return s.checkLanded(f.Tasks, f.Onto)
	case nexus.UndoLanded:
		return s.checkLanded(f.Tasks, f.Parent)
	default:
		return nil
	}
}
