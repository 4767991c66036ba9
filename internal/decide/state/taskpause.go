package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IsPaused reports whether a person paused the task and has not resumed it.
func (t *TaskState) IsPaused() bool { return t.Paused != nil && !t.Status.HasEnded() }

// WaitsForPausedTask reports whether the run waits for a paused task that could otherwise be
// worked on: the run does not end without it.
func (s *State) WaitsForPausedTask() bool {
	return slices.ContainsFunc(s.paused, func(t *TaskState) bool {
		if !t.IsPaused() || s.tasks[t.ID] != t { // it belongs to a plan that was rejected
			return false
		}
		_, blocked := s.BlockerOf(t)
		return !blocked || t.Status != nexus.Pending
	})
}

// OnlyPausedLeft reports whether the run does nothing because people paused all remaining
// tasks.
func (s *State) OnlyPausedLeft() bool {
	if !s.WaitsForPausedTask() || len(s.ActiveAttempts()) > 0 || s.CurrentLanding != nil || s.IsAddingTasks() || s.Judging != nil && s.Judging.Stage == Working {
		return false
	}
	return !slices.ContainsFunc(s.Tasks, func(t *TaskState) bool {
		return !t.IsPaused() && (t.IsUnderway() || t.Status == nexus.Boarding || s.IsReady(t) || s.IsSplitting(t.ID))
	})
}

// applyPause applies people's commands to a task's agent: pause, resume and interrupt.
func (s *State) applyPause(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.TaskPaused:
		t := s.tasks[f.Task]
		if t.Paused == nil {
			s.paused = append(s.paused, t)
		}
		t.Paused = &TaskPause{By: cmp.Or(f.By, "a person"), At: at}
	case nexus.TaskResumed:
		s.resumeTask(s.tasks[f.Task])
	case nexus.AgentTurnInterrupted:
		s.attempts[f.Attempt].Apply(f, at)
	default:
	}
}

// resumeTask lets a task continue, or start again.
func (s *State) resumeTask(t *TaskState) {
	t.Paused = nil
	s.paused = slices.DeleteFunc(s.paused, func(o *TaskState) bool { return o == t })
}

// TaskPause is the author and the time of a task's pause.
type TaskPause struct {
	By string
	At time.Time
}

// InterruptProblem returns why a task's agent cannot be interrupted, or "" if it can.
func (s *State) InterruptProblem(t *TaskState) string {
	a := t.CurrentAttempt()
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
