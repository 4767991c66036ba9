package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// startNextStep starts the next task of a run that works task by task, after a person's approval. A
// task that has begun continues without a question. While other work is in progress, nothing
// begins, and an unanswered question does not end the run.
func startNextStep(s *state.State, now time.Time) []nexus.Fact {
	if s.HasWorkUnderway() || hasUnfinishedWork(s) && s.OpenStepQuestion() == nil {
		return nil
	}
	ready := startCandidates(s)
	slices.SortStableFunc(ready, func(a, b *state.TaskState) int { return stepRank(s, a) - stepRank(s, b) })
	if len(ready) == 0 {
		return nil
	}
	t := ready[0]
	q := s.StepQuestion(t.ID)
	switch {
	case !t.Began.IsZero():
		return factList(nextAttempt(s, t))
	case q == nil:
		return factList(askToStartTask(s, t, s.NextQuestionID(), now))
	case q.By != "":
		return factList(nextAttempt(s, t))
	case s.Alone && !q.Left:
		return factList(nexus.QuestionExpired{ID: q.ID})
	case q.Left && q.Anew && !s.Alone:
		return factList(askToStartTask(s, t, q.ID, now))
	case q.Left:
		why := fmt.Sprintf("%s waits for your permission to start, see %s; %s", t.ID, q.ID, unlandedSummary(s, nil))
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: why})
	}
	return nil
}

// stepRank orders tasks that can start: first those that have begun, then the one of the
// open question, then the others.
func stepRank(s *state.State, t *state.TaskState) int {
	switch {
	case !t.Began.IsZero():
		return 0
	case s.StepQuestion(t.ID) != nil:
		return 1
	default:
		return 2
	}
}

// askToStartTask asks whether a task may begin.
func askToStartTask(s *state.State, t *state.TaskState, id string, now time.Time) nexus.QuestionAsked {
	c := s.CountTasksByStatus()
	text := fmt.Sprintf("may %s begin? %s (%d of %d tasks landed). Answer yes, skip, stop, or a message for its agent",
		t.ID, sanitize.TruncateText(t.Title, mostChange), c[nexus.Landed], len(s.Tasks)-c[nexus.Split])
	return nexus.QuestionAsked{
		ID: id, Text: text, Fallback: nexus.Unapproved, Trigger: nexus.StepTrigger, Mark: state.StepQuestionMark(t.ID), Deadline: questionDeadline(s, now),
	}
}

// questionDeadline returns the deadline of a question of the run itself.
func questionDeadline(s *state.State, now time.Time) time.Time {
	switch {
	case s.Alone:
		return now
	case s.Patience > 0:
		return now.Add(s.Patience)
	default:
		return time.Time{}
	}
}

// stepAnswerFacts returns the further facts that follow from the answer whether a task may
// begin.
func stepAnswerFacts(s *state.State, q *state.RunQuestion, r state.PendingRequest) []nexus.Fact {
	t, said := s.TaskOfStepQuestion(q), nexus.ParseNextTaskDecision(r.Text)
	switch {
	case t == nil || t.Status.HasEnded():
		return nil
	case said.Skip:
		return factList(nexus.TaskSkipped{Task: t.ID, By: requesterName(r)})
	case said.Stop && s.Drain == nil:
		return factList(nexus.RunDrainStarted{To: nexus.StatusStopped, Why: "stopped by " + requesterName(r)})
	}
	return nil
}
