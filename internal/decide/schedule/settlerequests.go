package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// settleRequest carries out a request, or refuses it with a reason.
func settleRequest(s *state.State, r state.PendingRequest) []nexus.Fact {
	no := func(format string, args ...any) []nexus.Fact {
		return factList(nexus.RequestSettled{Seq: r.Seq, Why: fmt.Sprintf(format, args...)})
	}
	yes := func(fs ...nexus.Fact) []nexus.Fact {
		return append(fs, nexus.RequestSettled{Seq: r.Seq, Granted: true})
	}
	by := requesterName(r)
	switch r.Verb {
	case nexus.VerbPause, nexus.VerbResume, nexus.VerbStop:
		if r.Task != "" && r.Verb != nexus.VerbStop {
			return settleTaskPause(s, r, no, yes)
		}
		return settleRunRequest(s, r, no, yes)
	case nexus.VerbAmend:
		return amendPlan(s, r, no, yes)
	case nexus.VerbAnswer:
		return applyAnswer(s, r, no, yes)
	case nexus.VerbApprove, nexus.VerbReject:
		if _, ok := accept.FindCriterion(s, r.ID); ok {
			return yes() // the request itself is the whole effect
		}
		return no("nothing waits for approval")
	case nexus.VerbRevise:
		if _, ok := accept.FindCriterion(s, r.ID); !ok || r.Text == "" {
			return no("%q is not a criterion that can be changed", r.ID)
		}
		task, n, _ := accept.ParseID(r.ID)
		return yes(nexus.CriterionRevised{Task: task, Number: n, Criterion: nexus.Criterion{Text: r.Text, Check: r.Check}, By: by})
	case nexus.VerbLand:
		return yes(nexus.TargetLandingRequested{Target: r.ID, By: by})
	case nexus.VerbCheckpoint:
		return makeNamedCheckpoint(s, r, no, yes)
	case nexus.VerbUndo:
		return requestUndo(s, r, no, yes)
	case nexus.VerbAdd:
		return settleAddRequest(s, r, no, yes)
	case nexus.VerbReview:
		return settlePersonReview(s, r, no, yes)
	case nexus.VerbInterrupt:
		return interruptTask(s, r, no, yes)
	case nexus.VerbSkip, nexus.VerbRetry, nexus.VerbTell:
		if r.Verb == nexus.VerbSkip && r.Item != "" {
			return withdrawAddition(s, r, no, yes)
		}
		t := s.TaskByID(r.Task)
		if t == nil {
			return no("there is no task %q", r.Task)
		}
		return settleTaskRequest(s, t, r, no, yes)
	}
	return no("unknown request %q", r.Verb)
}

// settleRunRequest pauses, resumes or ends the run.
func settleRunRequest(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	switch {
	case r.Verb == nexus.VerbResume && s.Status != nexus.StatusPaused:
		return no("the run is not paused%s", pausedTaskNames(s))
	case r.Verb == nexus.VerbResume:
		return yes(nexus.RunResumed{})
	case s.Drain != nil, r.Verb == nexus.VerbPause && s.Status == nexus.StatusPaused:
		return no("the run is already %s", endingState(s))
	case r.Verb == nexus.VerbPause:
		return yes(nexus.RunPaused{Why: "asked by " + requesterName(r) + r.ReasonSuffix()})
	}
	return yes(nexus.RunDrainStarted{To: nexus.StatusStopped, Why: "stopped by " + requesterName(r) + r.ReasonSuffix()})
}

// applyAnswer applies a person's answer to an open question. A task that was parked without it
// continues.
func applyAnswer(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	if r.Plan != nil {
		return amendPlan(s, r, no, yes)
	}
	q := s.QuestionByID(r.ID)
	if q == nil || q.By != "" {
		return no("no open question has the id %q", r.ID)
	}
	if isHoldAnswer(s, q, r.Text) {
		return yes(nexus.QuestionExpired{ID: q.ID})
	}
	if s.TaskOfStepQuestion(q) != nil && nexus.ParseNextTaskDecision(r.Text).Unclear {
		return no("answer yes, skip or stop; to send its agent a message, begin with tell:")
	}
	by := cmp.Or(r.By, "a person")
	consequences, unfit := landingAnswerFacts(s, q, r)
	if unfit != "" {
		return no("%s", unfit)
	}
	fs := factList(nexus.QuestionAnswered{ID: q.ID, Text: r.Text, By: by, Why: r.Why})
	fs = append(append(fs, stepAnswerFacts(s, q, r)...), consequences...)
	if t := s.AskingTask(q); q.Left && t != nil && slices.Contains(s.OpenQuestions(), q) {
		fs = append(fs, nexus.TaskRetried{Task: t.ID, By: by})
	}
	return yes(fs...)
}

// requesterName returns the author of a request.
func requesterName(r state.PendingRequest) string { return cmp.Or(r.By, "a person") }

func endingState(s *state.State) string {
	if s.Drain != nil {
		return "ending"
	}
	return string(s.Status)
}

func settleTaskRequest(
	s *state.State, t *state.TaskState, r state.PendingRequest,
	no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact,
) []nexus.Fact {
	by := cmp.Or(r.By, "a person")
	aboard := s.CurrentLanding != nil && s.CurrentLanding.Task == t.ID
	switch {
	case t.Status == nexus.Landed:
		return no("%s has landed", t.ID)
	case t.Status == nexus.Split:
		return no("%s is %s", t.ID, t.Why)
	case r.Verb == nexus.VerbTell && t.Status == nexus.Skipped:
		return no("%s is %s: no agent works on it", t.ID, t.Status)
	case r.Verb == nexus.VerbTell:
		return yes()
	case aboard:
		return no("%s is landing", t.ID)
	case r.Verb == nexus.VerbSkip && t.Status == nexus.Skipped:
		return no("%s is already skipped", t.ID)
	case r.Verb == nexus.VerbRetry && (s.Drain != nil || s.IsDelivering()):
		return no("the run is ending: retry %s when it has ended", t.ID)
	case r.Verb == nexus.VerbSkip:
		return yes(nexus.TaskSkipped{Task: t.ID, By: by})
	case !t.Status.HasEnded():
		return no("%s is %s: only a task that ended can be retried", t.ID, s.StatusOf(t))
	case t.CurrentAttempt() != nil && t.CurrentAttempt().Stage == state.Working:
		return no("%s has not stopped yet", t.ID)
	}
	if why := RoundProblem(s, t, r.Attempt, r.Round); why != "" {
		return no("%s", why)
	}
	return yes(nexus.TaskRetried{Task: t.ID, By: by, Attempt: r.Attempt, Round: r.Round, Fresh: r.Fresh})
}

// RoundProblem returns why the next attempt at a task cannot start from a round, from 1, of
// an earlier one, or "". Round 0 means that none is requested.
func RoundProblem(s *state.State, t *state.TaskState, id nexus.AttemptID, round int) string {
	if id == "" && round == 0 {
		return ""
	}
	a := s.AttemptByID(id)
	if a == nil || a.Task != t.ID {
		return fmt.Sprintf("%s has no attempt %q", t.ID, id)
	}
	if a.RoundAt(round) == nil {
		return fmt.Sprintf("%s has no round %d, only %d", a.ID, round, len(a.Rounds))
	}
	return ""
}
