package schedule

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// settleTaskPause pauses or resumes one task.
func settleTaskPause(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	t := s.TaskByID(r.Task)
	switch {
	case t == nil:
		return no("there is no task %q", r.Task)
	case r.Verb == nexus.VerbResume && !t.IsPaused():
		return no("%s is not paused: it is %s", t.ID, s.StatusOf(t))
	case r.Verb == nexus.VerbResume:
		return yes(nexus.TaskResumed{Task: t.ID, By: requesterName(r)})
	case t.Status.HasEnded():
		return no("%s is %s", t.ID, t.Status)
	case t.IsPaused():
		return no("%s is already paused by %s", t.ID, t.Paused.By)
	case s.Drain != nil || s.IsDelivering():
		return no("the run is ending")
	case s.CurrentLanding != nil && s.CurrentLanding.Task == t.ID:
		return no("%s is landing", t.ID)
	case s.IsSplitting(t.ID):
		return no("%s is being split", t.ID)
	}
	return yes(nexus.TaskPaused{Task: t.ID, By: requesterName(r)})
}

// interruptTask interrupts the agent of a task. The person's text is delivered before its next
// turn.
func interruptTask(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	t := s.TaskByID(r.Task)
	if t == nil {
		return no("there is no task %q", r.Task)
	}
	if why := s.InterruptProblem(t); why != "" {
		return no("%s", why)
	}
	return yes(nexus.AgentTurnInterrupted{Attempt: t.CurrentAttempt().ID, By: requesterName(r)})
}

// pausedTaskNames names the tasks that people paused, for a person who wants the run to continue, or
// returns "".
func pausedTaskNames(s *state.State) string {
	var names []string
	for _, t := range s.Tasks {
		if t.IsPaused() {
			names = append(names, string(t.ID))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; %s is, and nexus resume %s lets it continue", names[0], names[0])
	}
	return fmt.Sprintf("; %s are, and nexus resume TASK lets one continue", strings.Join(names, ", "))
}
