package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IsPaused reports whether a person paused the task and has not let it continue.
func (t *Task) IsPaused() bool { return t.Paused != nil && !t.Status.Ended() }

// WaitsForPausedTask reports whether the run waits for a task that a person paused and that
// could be worked on otherwise: it does not end without it.
func (s *State) WaitsForPausedTask() bool {
	return slices.ContainsFunc(s.paused, func(t *Task) bool {
		if !t.IsPaused() || s.tasks[t.ID] != t { // it is of a plan that was set aside
			return false
		}
		_, blocked := s.Blocker(t)
		return !blocked || t.Status != nexus.Pending
	})
}

// OnlyPausedLeft reports whether nothing is done in the run because people paused what is left.
func (s *State) OnlyPausedLeft() bool {
	if !s.WaitsForPausedTask() || len(s.Active()) > 0 || s.CurrentLanding != nil || s.IsAddingTasks() || s.Judging != nil && s.Judging.Stage == Working {
		return false
	}
	return !slices.ContainsFunc(s.Tasks, func(t *Task) bool {
		return !t.IsPaused() && (t.Underway() || t.Status == nexus.Boarding || s.Ready(t) || s.Splitting(t.ID))
	})
}

// applyHold folds what people do with the agent of a task: it is paused, continues, or
// is cut off.
func (s *State) applyHold(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.TaskPaused:
		t := s.tasks[f.Task]
		if t.Paused == nil {
			s.paused = append(s.paused, t)
		}
		t.Paused = &Pause{By: cmp.Or(f.By, "a person"), At: at}
	case nexus.TaskResumed:
		s.unpause(s.tasks[f.Task])
	case nexus.AttemptInterrupted:
		s.attempts[f.Attempt].Apply(f, at)
	default:
	}
}

// unpause lets a task continue, or begin anew.
func (s *State) unpause(t *Task) {
	t.Paused = nil
	s.paused = slices.DeleteFunc(s.paused, func(o *Task) bool { return o == t })
}

// Pause says who paused a task, and when.
type Pause struct {
	By string
	At time.Time
}

// InterruptProblem returns why nobody can cut off what the agent of a task does; empty where
// somebody can.
func (s *State) InterruptProblem(t *Task) string {
	a := t.Current()
	switch {
	case s.CurrentLanding != nil && s.CurrentLanding.Task == t.ID:
		return string(t.ID) + " is landing"
	case a == nil || a.Stage != Working:
		return "no agent works on " + string(t.ID) + " now: it is " + string(s.StatusOf(t))
	case len(a.asks) > 0:
		return "the agent of " + string(t.ID) + " waits for an answer to " + a.asks[0]
	}
	for _, g := range s.Gating {
		if g.Attempt == a.ID {
			return "the gate " + g.Gate + " judges " + string(t.ID) + " now, and no agent works"
		}
	}
	if c := a.CurrentSession(); c == nil || c.Over {
		return "no agent of " + string(t.ID) + " is at a turn now"
	}
	return ""
}
