package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// step starts the next task of a run that works task by task, after a person's approval. A
// task that has begun continues without a question. While other work is in progress, nothing
// begins, and an unanswered question does not end the run.
func step(s *state.State, now time.Time) []nexus.Fact {
	if s.HasWorkUnderway() || busy(s) && s.OpenStepQuestion() == nil {
		return nil
	}
	ready := candidates(s)
	slices.SortStableFunc(ready, func(a, b *state.Task) int { return stepOrder(s, a) - stepOrder(s, b) })
	if len(ready) == 0 {
		return nil
	}
	t := ready[0]
	q := s.StepQuestion(t.ID)
	switch {
	case !t.Began.IsZero():
		return facts(nextAttempt(s, t))
	case q == nil:
		return facts(askStep(s, t, s.NextQuestion(), now))
	case q.By != "":
		return facts(nextAttempt(s, t))
	case s.Alone && !q.Left:
		return facts(nexus.QuestionLeft{ID: q.ID})
	case q.Left && q.Anew && !s.Alone:
		return facts(askStep(s, t, q.ID, now))
	case q.Left:
		why := fmt.Sprintf("%s waits for your permission to start, see %s; %s", t.ID, q.ID, summary(s, nil))
		return facts(nexus.RunEnded{Status: nexus.StatusWaiting, Why: why})
	}
	return nil
}

// stepOrder orders tasks that can start: first those that have begun, then the one of the
// open question, then the others.
func stepOrder(s *state.State, t *state.Task) int {
	switch {
	case !t.Began.IsZero():
		return 0
	case s.StepQuestion(t.ID) != nil:
		return 1
	default:
		return 2
	}
}

// askStep asks whether a task may begin.
func askStep(s *state.State, t *state.Task, id string, now time.Time) nexus.QuestionAsked {
	c := s.Counts()
	text := fmt.Sprintf("may %s begin? %s (%d of %d tasks landed). Answer yes, skip, stop, or a message for its agent",
		t.ID, sanitize.Cut(t.Title, mostChange), c[nexus.Landed], len(s.Tasks)-c[nexus.Split])
	return nexus.QuestionAsked{
		ID: id, Text: text, Fallback: nexus.Unapproved, Trigger: nexus.StepTrigger, Mark: state.StepMark(t.ID), Deadline: questionDeadline(s, now),
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
func stepAnswerFacts(s *state.State, q *state.Question, r state.Request) []nexus.Fact {
	t, said := s.StepTask(q), nexus.ReadStep(r.Text)
	switch {
	case t == nil || t.Status.Ended():
		return nil
	case said.Skip:
		return facts(nexus.TaskSkipped{Task: t.ID, By: person(r)})
	case said.Stop && s.Drain == nil:
		return facts(nexus.RunDrained{To: nexus.StatusStopped, Why: "stopped by " + person(r)})
	}
	return nil
}
