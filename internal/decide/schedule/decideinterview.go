package schedule

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// decideInterview asks people about the goal until it is clear. No worker runs while a question
// waits, so the process that asked may be gone when it is answered.
func decideInterview(s *state.State, now time.Time) []nexus.Fact {
	if isWorking(s.Planning) {
		return nil
	}
	switch step := s.Interview.NextStep(s.Alone); step.Do {
	case clarify.Talk:
		if p := s.Planning; p != nil && isLostTooOften(s, p) {
			return factList(nexus.RunEnded{Status: nexus.StatusFailed, Why: fmt.Sprintf("the interview was interrupted %d times", p.Losses)})
		}
		attempt := nexus.AttemptID(fmt.Sprintf("interview.%d", s.Interview.Tries+1))
		return factList(nexus.InterviewRoundStarted{Attempt: attempt, Round: step.Round})
	case clarify.Ask:
		return factList(withDeadline(s, s.Interview.QuestionFact(step.Question, s.NextQuestionID(), humaninput.InterviewTrigger), now))
	case clarify.State:
		return step.Facts
	case clarify.Wait:
		return repeatQuestion(s, now)
	case clarify.Pause:
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: s.Interview.OpenQuestionID() + " waits for an answer: continue with nexus interview --resume " + string(s.Run)})
	case clarify.Fail:
		to := nexus.StatusFailed
		if s.Interview.Outcome == nexus.Refused {
			to = nexus.StatusLimit
		}
		return factList(nexus.RunEnded{Status: to, Why: "the interview failed: " + s.Interview.Failed})
	case clarify.Over:
	}
	return factList(nexus.RunEnded{Status: nexus.StatusDone, Why: "the interview is over"})
}

// withDeadline sets the deadline of a question.
func withDeadline(s *state.State, q nexus.QuestionAsked, now time.Time) nexus.QuestionAsked {
	switch {
	case s.Alone:
		q.Deadline = now
	case s.Patience > 0:
		q.Deadline = now.Add(s.Patience)
	}
	return q
}

// repeatQuestion asks a question again if a person postponed it, or if the process that asked it is
// gone: the time to answer starts again.
func repeatQuestion(s *state.State, now time.Time) []nexus.Fact {
	q := s.QuestionByID(s.Interview.OpenQuestionID())
	if q == nil || q.By != "" {
		return nil
	}
	if again := withDeadline(s, q.QuestionAsked, now); q.Left || q.Deadline.IsZero() && !again.Deadline.IsZero() {
		return factList(again)
	}
	return nil
}

// isHoldAnswer reports whether an answer leaves an interview question open: the person
// continues another day.
func isHoldAnswer(s *state.State, q *state.RunQuestion, text string) bool {
	return q.Attempt != "" && q.Attempt == s.Interview.Attempt && q.Trigger == humaninput.InterviewTrigger && clarify.ParseAnswerCommand(text) == clarify.Hold
}
