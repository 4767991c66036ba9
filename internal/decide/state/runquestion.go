package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunQuestion is a question to a person.
type RunQuestion struct {
	nexus.QuestionAsked
	At     time.Time // when it was first asked
	Answer string
	By     string // empty while open
	Left   bool   // it was not answered in time, and is still open
	Anew   bool   // another process continued the run since it was asked
}

// AsksToPublish reports whether it asks whether the landed commits may be published.
func (q *RunQuestion) AsksToPublish() bool {
	switch q.Trigger {
	case nexus.PlanTrigger, nexus.AddTrigger, nexus.StepTrigger, nexus.ChangeTrigger:
		return false
	default:
		return q.Attempt == ""
	}
}

// applyQuestion applies facts about questions to people. A repeated question is the same one
// with another deadline.
func (s *State) applyQuestion(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.QuestionAsked:
		if a := s.attempts[f.Attempt]; a != nil && a.Stage == Working {
			a.PauseForQuestion(f.ID, at)
		}
		if q := s.QuestionByID(f.ID); q != nil && q.By == "" {
			q.QuestionAsked, q.Left, q.Anew = f, false, false
			return
		}
		s.Questions = append(s.Questions, &RunQuestion{QuestionAsked: f, At: at})
	case nexus.QuestionExpired:
		if q := s.QuestionByID(f.ID); q != nil && q.By == "" {
			q.Left = true
			s.resumeAttemptClock(q, at)
		}
	case nexus.QuestionAnswered:
		for _, q := range s.Questions {
			if q.ID == f.ID && q.By == "" {
				q.Answer, q.By = f.Text, f.By
				s.resumeAttemptClock(q, at)
				s.recordTaskGuidance(q)
			}
		}
	default:
	}
}

// recordTaskGuidance records a person's answer about a task.
func (s *State) recordTaskGuidance(q *RunQuestion) {
	if t, tell := s.TaskOfStepQuestion(q), nexus.ParseNextTaskDecision(q.Answer).Tell; t != nil && tell != "" {
		t.Said = append(slices.Clip(t.Said), DeliveredGuidance{Text: tell})
	}
	if t := s.AskingTask(q); t != nil && q.By != "fallback" && q.By != "auto" {
		t.Said = append(slices.Clip(t.Said), DeliveredGuidance{About: q.Text, Text: q.Answer})
	}
}

// resumeAttemptClock starts the clock of the attempt that asked.
func (s *State) resumeAttemptClock(q *RunQuestion, at time.Time) {
	if a := s.attempts[q.Attempt]; a != nil {
		a.ResumeAfterAnswer(q.ID, at)
	}
}

// QuestionByID returns the question with this ID, or nil if there is none.
func (s *State) QuestionByID(id string) *RunQuestion {
	for _, q := range s.Questions {
		if q.ID == id || q.Mark == id && id != "" {
			return q
		}
	}
	return nil
}

// NextQuestionID returns the ID of the next question. It differs from the IDs of questions
// about the goal before the run, which people have seen.
func (s *State) NextQuestionID() string {
	return fmt.Sprintf("q%d", s.Goal.Asked+len(s.Questions)+1)
}

// OpenQuestions returns the questions whose answer would have an effect: they are open, and
// the asking task or attempt waits for it, or was parked without it.
func (s *State) OpenQuestions() []*RunQuestion {
	var all []*RunQuestion
	for _, q := range s.Questions {
		if q.By == "" && s.needsAnswer(q) {
			all = append(all, q)
		}
	}
	return all
}

// needsAnswer reports whether an answer to an open question would have an effect.
func (s *State) needsAnswer(q *RunQuestion) bool {
	if q.Attempt != "" && q.Attempt == s.Interview.Attempt {
		return q.ID == s.Interview.OpenQuestionID()
	}
	if s.Status.HasEnded() && !q.Left {
		return false
	}
	if q.Trigger == nexus.PlanTrigger {
		return q.ID == s.Consent.Question && !s.Planned
	}
	if q.Trigger == nexus.AddTrigger {
		a := s.additionOfAttempt(nexus.AttemptID(q.Mark))
		return a != nil && a.Question == q.ID && !a.IsDone()
	}
	if q.Trigger == nexus.StepTrigger {
		t := s.TaskOfStepQuestion(q)
		return s.Limits.Step && t != nil && t.Status == nexus.Pending
	}
	if q.Trigger == nexus.ChangeTrigger {
		t := s.TaskOfLandingQuestion(q)
		return t != nil && !t.Status.HasEnded() && t.CurrentAttempt().Outcome == nexus.Accepted
	}
	if q.AsksToPublish() {
		return s.Published == nil || s.Published.Branch == ""
	}
	t := s.AskingTask(q)
	if t == nil {
		return !q.Left
	}
	if q.Left {
		a := t.CurrentAttempt()
		return t.Status == nexus.Parked && a != nil && a.ID == nexus.AttemptID(strings.TrimSuffix(string(q.Attempt), mergeSuffix))
	}
	return !t.Status.HasEnded()
}

// AskingTask returns the task whose attempt or landing asked a question, or nil for questions
// about the plan and the result.
func (s *State) AskingTask(q *RunQuestion) *TaskState {
	a := s.attempts[nexus.AttemptID(strings.TrimSuffix(string(q.Attempt), mergeSuffix))]
	if a == nil {
		return nil
	}
	return s.tasks[a.Task]
}

// IsDeliveryOnly reports whether the run was reopened only to publish and merge the landed
// commits.
func (s *State) IsDeliveryOnly() bool { return s.deliver }
