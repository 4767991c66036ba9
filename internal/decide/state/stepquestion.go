package state

import (
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// stepMark starts the mark of the question whether a task may begin.
const stepMark = "step:"

// StepQuestionMark returns the mark of the question whether a task may begin.
func StepQuestionMark(id nexus.TaskID) string { return stepMark + string(id) }

// StepQuestion returns the question whether a task may begin, or nil if it was not asked.
func (s *State) StepQuestion(id nexus.TaskID) *RunQuestion {
	for _, q := range slices.Backward(s.Questions) {
		if q.Trigger == nexus.StepTrigger && q.Mark == StepQuestionMark(id) {
			return q
		}
	}
	return nil
}

// TaskOfStepQuestion returns the task whose start a question is about, or nil for other questions.
func (s *State) TaskOfStepQuestion(q *RunQuestion) *TaskState {
	if q.Trigger != nexus.StepTrigger {
		return nil
	}
	return s.tasks[nexus.TaskID(strings.TrimPrefix(q.Mark, stepMark))]
}

// OpenStepQuestion returns the question that the whole run waits for: whether its next task
// may begin. It is nil while other work is in progress.
func (s *State) OpenStepQuestion() *RunQuestion {
	if !s.Limits.Step {
		return nil
	}
	for _, q := range slices.Backward(s.Questions) {
		if q.Trigger == nexus.StepTrigger && q.By == "" {
			if t := s.TaskOfStepQuestion(q); t != nil && t.Status == nexus.Pending {
				return q
			}
		}
	}
	return nil
}

// HasWorkUnderway reports whether, in a run that works task by task, some work is in progress
// or must be done before the next task begins: an attempt, a landing, a planner, a split.
func (s *State) HasWorkUnderway() bool {
	if s.CurrentLanding != nil || len(s.Queue) > 0 || s.Judging != nil && s.Judging.Stage == Working || s.IsAddingTasks() {
		return true
	}
	return slices.ContainsFunc(s.Tasks, (*TaskState).IsUnderway) ||
		slices.ContainsFunc(s.Splits.All, func(e *TaskSplitState) bool { return s.IsSplitting(e.Task) })
}

// waitsForPerson reports whether the whole run waits until a person lets its next task begin
// or resumes paused tasks.
func (s *State) waitsForPerson() bool {
	q := s.OpenStepQuestion()
	return (q != nil && !q.Left || s.HasOpenLandingQuestion()) && !s.HasWorkUnderway() || s.OnlyPausedLeft()
}

// updateClockForPerson stops the run's clock while the whole run waits for a person, and
// starts it again after that. A pause and a recovery stop the clock themselves.
func (s *State) updateClockForPerson(was bool, at time.Time) {
	switch is := s.waitsForPerson(); {
	case s.Status != nexus.StatusExecuting:
	case is:
		s.stopClock(at)
	case was:
		s.resumeClock(at)
	}
}
