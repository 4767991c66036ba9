package state_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestPausedTask: the run rests where nothing but what people paused is left, its clock
// stands still meanwhile, and it continues where they say so.
func TestPausedTask(t *testing.T) {
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2", Needs: []nexus.TaskID{"T1"}}, nexus.Task{ID: "T3"})...)
	holds := func(when string, withholds, resting bool) {
		t.Helper()
		if s.WaitsForPausedTask() != withholds || s.OnlyPausedLeft() != resting {
			t.Errorf("%s: withholds %v, rests %v", when, s.WaitsForPausedTask(), s.OnlyPausedLeft())
		}
	}
	holds("before", false, false)
	next(t, s, nexus.TaskPaused{Task: "T1"})
	if p := s.TaskByID("T1").Paused; p == nil || p.By != "a person" || p.At.IsZero() || !s.TaskByID("T1").IsPaused() || s.LandingHoldReason(s.TaskByID("T1"), &state.AttemptState{}) != "paused by a person" {
		t.Errorf("%+v", p)
	}
	holds("another task is ready", true, false)
	next(t, s, nexus.TaskPaused{Task: "T1", By: "ada"})
	next(t, s, nexus.AttemptStarted{Attempt: "T3.1", Task: "T3", Base: "c0"})
	holds("another task is worked on", true, false)
	next(t, s, nexus.AttemptEnded{Attempt: "T3.1", Outcome: nexus.Accepted, Commit: "w"})
	next(t, s, nexus.LandingQueued{Task: "T3", Attempt: "T3.1"})
	holds("another task boards", true, false)
	next(t, s, nexus.LandingStarted{Task: "T3", Attempt: "T3.1", Onto: "c0"})
	holds("another task lands", true, false)
	next(t, s, nexus.LandingCompleted{Task: "T3", Attempt: "T3.1", Commit: "c1", Parent: "c0"})
	holds("it is all that is left", true, true)
	rests := s.Updated
	if s.WorkedTime(rests.Add(time.Hour)) != s.WorkedTime(rests) {
		t.Error("the run's clock runs")
	}
	next(t, s, nexus.TaskResumed{Task: "T1"})
	holds("it continues", false, false)
	if s.TaskByID("T1").Paused != nil || s.WorkedTime(s.Updated.Add(time.Hour)) != s.WorkedTime(s.Updated)+time.Hour {
		t.Error("the run's clock stands still")
	}
	next(t, s, nexus.TaskPaused{Task: "T2", By: "ada"})
	holds("what waits for another one is paused", true, false)
	next(t, s, nexus.TaskParked{Task: "T1", Why: "x"})
	holds("what it needs was parked", false, false)
	next(t, s, nexus.TaskRetried{Task: "T1"})
	next(t, s, nexus.TaskSkipped{Task: "T2"})
	holds("it was skipped", false, false)
	next(t, s, nexus.TaskPaused{Task: "T1", By: "ada"})
	next(t, s, nexus.TaskRetried{Task: "T1"})
	if s.TaskByID("T1").Paused != nil {
		t.Error("who gets another chance is still paused")
	}
	holds("it got another chance", false, false)
}

// TestInterruption says why nobody can cut off what an agent does.
func TestInterruption(t *testing.T) {
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2"})...)
	t1 := s.TaskByID("T1")
	for _, c := range []struct {
		fact nexus.Fact
		want string
	}{
		{nexus.PlanningStarted{Attempt: "plan.2"}, "no agent works on T1 now: it is pending"},
		{nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Base: "c0"}, "no agent works on T1 now: it is pending"},
		{nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"}, "no agent of T1 is at a turn now"},
		{nexus.SessionStarted{Attempt: "T1.1", Session: "T1.1/coder.1", Role: nexus.Coder}, ""},
		{nexus.GateStarted{Attempt: "T2.1", Gate: "lint"}, ""},
		{nexus.GateStarted{Attempt: "T1.1", Gate: "test"}, "the gate test judges T1 now, and no agent works"},
		{nexus.QuestionAsked{ID: "q1", Attempt: "T1.1", Text: "?"}, "the agent of T1 waits for an answer to q1"},
		{nexus.QuestionAnswered{ID: "q1", Text: "yes", By: "ada"}, "the gate test judges T1 now, and no agent works"},
		{nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "test"}}, ""},
		{nexus.AgentTurnInterrupted{Attempt: "T1.1", By: "ada"}, ""},
		{nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted}, "no agent of T1 is at a turn now"},
		{nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "w"}, "no agent works on T1 now: it is running"},
		{nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}, "no agent works on T1 now: it is boarding"},
		{nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"}, "T1 is landing"},
	} {
		next(t, s, c.fact)
		if got := s.InterruptProblem(t1); got != c.want {
			t.Errorf("after %s: %q, want %q", nexus.FactKind(c.fact), got, c.want)
		}
	}
	if a := t1.CurrentAttempt(); !a.Cut || !a.Leaves {
		t.Errorf("its agent was cut off, and does not know: %+v", a)
	}
	if got := s.InterruptProblem(s.TaskByID("T2")); got != "the gate lint judges T2 now, and no agent works" {
		t.Error(got)
	}
}

// TestStepByStep: a run that works task by task waits for a person before each.
func TestStepByStep(t *testing.T) {
	s := fold(t, planned(nexus.Limits{Step: true}, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2"})...)
	if s.StepQuestion("T1") != nil || s.OpenStepQuestion() != nil {
		t.Error("nobody was asked yet")
	}
	next(t, s, nexus.QuestionAsked{ID: "q1", Trigger: nexus.StepTrigger, Mark: state.StepQuestionMark("T1"), Text: "T1?"})
	next(t, s, nexus.QuestionAsked{ID: "q2", Trigger: nexus.PlanTrigger, Mark: state.StepQuestionMark("T2"), Text: "T2?"})
	q := s.QuestionByID("q1")
	if s.StepQuestion("T1") != q || s.StepQuestion("T2") != nil || s.OpenStepQuestion() != q || s.TaskOfStepQuestion(q) != s.TaskByID("T1") || s.TaskOfStepQuestion(s.QuestionByID("q2")) != nil || q.AsksToPublish() {
		t.Errorf("%+v", s.OpenStepQuestion())
	}
	if asks := s.OpenQuestions(); len(asks) != 1 || asks[0] != q {
		t.Errorf("%d questions matter", len(asks))
	}
	if s.WorkedTime(s.Updated.Add(time.Hour)) != s.WorkedTime(s.Updated) {
		t.Error("the clock runs while the run waits")
	}
	next(t, s, nexus.QuestionAnswered{ID: "q1", Text: "yes, mind the gap", By: "ada"})
	if said := s.TaskByID("T1").Said; s.OpenStepQuestion() != nil || len(said) != 1 || said[0].Text != "mind the gap" || len(s.OpenQuestions()) != 0 {
		t.Errorf("%+v, waits for %+v", said, s.OpenStepQuestion())
	}
	if s.WorkedTime(s.Updated.Add(time.Hour)) != s.WorkedTime(s.Updated)+time.Hour || s.HasWorkUnderway() {
		t.Error("the clock stands still, or something works")
	}
	next(t, s, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"})
	next(t, s, nexus.QuestionAsked{ID: "q3", Trigger: nexus.StepTrigger, Mark: state.StepQuestionMark("T2"), Text: "T2?"})
	if !s.HasWorkUnderway() || s.WorkedTime(s.Updated.Add(time.Hour)) == s.WorkedTime(s.Updated) {
		t.Error("the clock stands still while an attempt works")
	}
	next(t, s, nexus.TaskSkipped{Task: "T2"})
	if s.OpenStepQuestion() != nil || len(s.OpenQuestions()) != 0 {
		t.Error("it waits for a task that was skipped")
	}
	s.Limits.Step = false
	next(t, s, nexus.TaskRetried{Task: "T2"})
	if s.OpenStepQuestion() != nil || len(s.OpenQuestions()) != 0 {
		t.Error("it waits though nobody wants to be asked")
	}
}
