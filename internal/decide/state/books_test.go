package state_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestTreeOfARound counts what is red of its tree, each gate as it was judged last, and
// what judges want fixed.
func TestTreeOfARound(t *testing.T) {
	e := func(gate, tree string, s nexus.GateState, findings, failed int) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: gate, Tree: tree, State: s, Findings: make([]nexus.Finding, findings), Counts: nexus.TestCounts{Failed: failed}}
	}
	red, green := &nexus.GatesVerdictGiven{Gate: "test", State: nexus.Fail, Tree: "t"}, &nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"}
	two := make([]nexus.Finding, 2)
	for name, c := range map[string]struct {
		round     state.AttemptRound
		red, read int
	}{
		"not judged":           {state.AttemptRound{Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 3, 0)}}, 0, 0},
		"findings":             {state.AttemptRound{Verdict: red, Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 3, 0), e("lint", "t", nexus.Fail, 2, 0)}}, 5, 0},
		"no more than red":     {state.AttemptRound{Verdict: red, Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 0, 0)}}, 1, 0},
		"tests that failed":    {state.AttemptRound{Verdict: red, Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 1, 4)}}, 4, 0},
		"judged again":         {state.AttemptRound{Verdict: red, Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 3, 0), e("test", "t", nexus.Fail, 1, 0)}}, 1, 0},
		"and is green":         {state.AttemptRound{Verdict: green, Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 3, 0), e("test", "t", nexus.Pass, 0, 0)}}, 0, 0},
		"of another tree":      {state.AttemptRound{Verdict: red, Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 3, 0), e("test", "u", nexus.Fail, 1, 0)}}, 3, 0},
		"verified":             {state.AttemptRound{Verdict: green, Verified: &nexus.VerifierVerdictGiven{Read: true}}, 0, 1},
		"not read":             {state.AttemptRound{Verdict: green, Verified: &nexus.VerifierVerdictGiven{Findings: two}}, 0, 0},
		"refused":              {state.AttemptRound{Verdict: green, Verified: &nexus.VerifierVerdictGiven{Read: true, Category: nexus.VerifierRejected, Findings: two}}, 2, 0},
		"refused, and red":     {state.AttemptRound{Verdict: red, Evidence: []nexus.GateEvidence{e("test", "t", nexus.Fail, 3, 0)}, Verified: &nexus.VerifierVerdictGiven{Read: true, Category: nexus.VerifierRejected, Findings: two}}, 5, 0},
		"reviewed":             {state.AttemptRound{Verdict: green, Reviews: []nexus.ReviewerVerdictGiven{{Reviewed: true, Findings: two}}}, 0, 3},
		"not reviewed":         {state.AttemptRound{Verdict: green, Reviews: []nexus.ReviewerVerdictGiven{{SendsBack: true, Findings: two}}}, 0, 0},
		"sent back":            {state.AttemptRound{Verdict: green, Verified: &nexus.VerifierVerdictGiven{Read: true}, Reviews: []nexus.ReviewerVerdictGiven{rejected(2)}}, 2, 2},
		"sent back, then fine": {state.AttemptRound{Verdict: green, Reviews: []nexus.ReviewerVerdictGiven{rejected(2), {Reviewed: true}}}, 0, 3},
	} {
		a := &state.AttemptState{ID: "T1.1", Rounds: []*state.AttemptRound{&c.round}}
		if got := state.RatedRoundTree(a, &c.round); got.Red != c.red || got.Read != c.read {
			t.Errorf("%s: %d red, read %d", name, got.Red, got.Read)
		}
	}
}

// TestAnotherChance: an attempt that waits for the train's answer continues, unless that is what failed.
func TestAnotherChance(t *testing.T) {
	for name, c := range map[string]struct {
		failed bool
		retry  nexus.TaskRetried
		stage  state.AttemptStage
		mercy  int
	}{
		"parked":           {false, nexus.TaskRetried{Task: "T1"}, state.Waiting, 0},
		"failed":           {true, nexus.TaskRetried{Task: "T1"}, state.Over, 1},
		"anew":             {false, nexus.TaskRetried{Task: "T1", Fresh: true}, state.Over, 1},
		"from a round":     {false, nexus.TaskRetried{Task: "T1", Round: 1}, state.Over, 1},
		"failed, and anew": {true, nexus.TaskRetried{Task: "T1", Fresh: true}, state.Over, 1},
	} {
		s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"})...)
		folds(t, s, accepted("T1", "T1.1", "c0", "w1")...)
		folds(t, s, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"}, nexus.LandingRejected{Task: "T1", Attempt: "T1.1", Why: "red", Onto: "c0", Tree: "m"},
			nexus.TaskParked{Task: "T1", Why: "x", Failed: c.failed}, c.retry)
		t1, a := s.TaskByID("T1"), s.AttemptByID("T1.1")
		if a.Stage != c.stage || t1.Mercy != c.mercy || t1.Status != nexus.Pending || t1.Why != "" || t1.Retried != 1 {
			t.Errorf("%s: %s, mercy %d: %+v", name, a.Stage, t1.Mercy, t1)
		}
	}
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"})...)
	folds(t, s, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"}, nexus.RoundStarted{Attempt: "T1.1", Round: 1, Session: "T1.1/coder.1"},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "w1", Tree: "t1", Fixed: "gofmt"}, nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "w2", Tree: "t2"},
		nexus.GatesVerdictGiven{Attempt: "T1.1", State: nexus.Pass, Tree: "t2"})
	t1, a := s.TaskByID("T1"), s.AttemptByID("T1.1")
	if r := a.LastRound(); r.Fixed.Commit != "w1" || r.Commit != "w2" || t1.Status != nexus.Reviewing {
		t.Errorf("%+v, %s", r, t1.Status)
	}
	if w := s.Alerts.WorkerHeartbeats(); len(w) != 1 || w[0].ID != "T1.1" {
		t.Errorf("%+v work", w)
	}
	folds(t, s, nexus.AttemptLost{Attempt: "T1.1"}, nexus.AttemptResumed{Attempt: "T1.1", Base: "c0"})
	if t1.Status != nexus.Running {
		t.Errorf("it continues, and is %s", t1.Status)
	}
	next(t, s, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Exhausted})
	if t1.TimeCountedAgainstCap() == 0 {
		t.Error("no time counts")
	}
	next(t, s, nexus.ReplanDecided{Task: "T1"})
	if t1.TimeCountedAgainstCap() == 0 || len(t1.CountedReplans()) != 1 {
		t.Error("time that was worked does not count")
	}
	next(t, s, nexus.ReplanDecided{Task: "T1", Anew: true})
	if t1.TimeCountedAgainstCap() != 0 {
		t.Errorf("%s count though it begins anew", t1.TimeCountedAgainstCap())
	}
}

// TestTheTimeOfACallIsItsOwn: what a person took before a call that was not heard of to its end
// is not left out of the next one, and another maker's agent begins its counts again.
func TestTheTimeOfACallIsItsOwn(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	a := &state.AttemptState{ID: "T1.1"}
	for i, f := range []nexus.Fact{
		nexus.SessionStarted{Session: "s", Attempt: "T1.1"}, nexus.ToolCallStarted{Session: "s", Call: "c", Tool: "ask"}, nexus.ToolCallEnded{Session: "s", Call: "c", Duration: 5 * time.Second},
	} {
		a.Apply(f, at(int64(i)))
	}
	a.Apply(nexus.BudgetReserved{ID: "R1", Session: "s"}, at(10))
	a.Apply(nexus.BudgetSettled{ID: "R1"}, at(17))
	c := a.SessionByID("s")
	if c.Elapsed != 7*time.Second {
		t.Errorf("it took %s", c.Elapsed)
	}
	a.Apply(nexus.AgentConversationOpened{Session: "s", ID: "x"}, at(20))
	a.Apply(nexus.AgentProgramEnded{Session: "s", Fault: "died"}, at(21))
	a.Apply(nexus.AgentConversationOpened{Session: "s", ID: "x"}, at(22))
	if c.Closed.Fault != "died" {
		t.Error("the same conversation begins its counts again")
	}
	a.Apply(nexus.AgentConversationOpened{Session: "s", ID: "y"}, at(23))
	if c.Closed.Fault != "" || c.Opened.ID != "y" {
		t.Errorf("%+v", c.Closed)
	}
}

// TestChecksAnew takes the check that a task wrote again last for a criterion as it reads.
func TestChecksAnew(t *testing.T) {
	stale := func(task, of string) nexus.CriterionFault {
		return nexus.CriterionFault{Criterion: "T1/AC-1", Task: task, Kind: nexus.FaultStale, Signature: of}
	}
	other := stale("FIX-3", "old")
	other.Kind = "source"
	elsewhere := stale("FIX-4", "old")
	elsewhere.Criterion = "T2/AC-1"
	for name, c := range map[string]struct {
		faults []nexus.CriterionFault
		want   string
	}{
		"none":            {nil, ""},
		"one":             {[]nexus.CriterionFault{stale("FIX-1", "old")}, "FIX-1"},
		"the last":        {[]nexus.CriterionFault{stale("FIX-1", "old"), stale("FIX-2", "old")}, "FIX-2"},
		"of what it says": {[]nexus.CriterionFault{stale("FIX-1", "old"), stale("FIX-2", "older")}, "FIX-1"},
		"of other faults": {[]nexus.CriterionFault{stale("FIX-1", "old"), other, elsewhere}, "FIX-1"},
		"what landed":     {[]nexus.CriterionFault{stale("FIX-1", "old"), stale("FIX-9", "old")}, "FIX-1"},
	} {
		b := state.CriterionFixHistory{All: c.faults}
		got, ok := b.RewrittenCheck("T1/AC-1", "old", func(task string) (nexus.CriterionTest, bool) {
			return nexus.CriterionTest{Test: task}, task != "FIX-9"
		})
		if got.Test != c.want || ok != (c.want != "") {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

// TestBooks of what a run is asked: tasks by status, gates by name, accounts, and who is free to begin.
func TestBooks(t *testing.T) {
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2", Needs: []nexus.TaskID{"T1"}}, nexus.Task{ID: "T3", Wants: []nexus.TaskID{"T1"}}, nexus.Task{ID: "T4", Wants: []nexus.TaskID{"T3"}})...)
	if s.IsReady(s.TaskByID("T3")) || s.IsReady(s.TaskByID("T2")) || !s.IsReady(s.TaskByID("T1")) {
		t.Error("what it wants may still land")
	}
	next(t, s, nexus.TaskSkipped{Task: "T1"})
	if !s.IsReady(s.TaskByID("T3")) || s.IsReady(s.TaskByID("T2")) || s.IsReady(s.TaskByID("T4")) {
		t.Error("what it wants will not land")
	}
	if c := s.CountTasksByStatus(); len(c) != 3 || c[nexus.Skipped] != 1 || c[nexus.Blocked] != 1 || c[nexus.Pending] != 2 {
		t.Errorf("%v", c)
	}
	gates := []string{"f", "b", "e", "a", "d", "c"}
	for _, gate := range gates {
		next(t, s, nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: gate, State: nexus.Pass, Tree: "t", Duration: time.Second}})
	}
	slices.Sort(gates)
	if got := s.TimedGates(); !slices.Equal(got, gates) {
		t.Errorf("%q", got)
	}
	if e, known := s.KnownEvidence("t", "a"); !known || e.Gate != "a" {
		t.Errorf("%+v, %v", e, known)
	}
	until := eventtapetest.TapeStartTime().Add(time.Hour)
	folds(t, s, nexus.QuotaNearlyExhausted{Account: "p", Until: until, Used: 95, Window: "5h"}, nexus.QuotaExhausted{Account: "q", Until: until, Why: "full"})
	if held, ok := s.AccountClosedToNewSessions("p/m"); !ok || held.Why != "95% of its 5h limit is used" {
		t.Errorf("%+v", held)
	}
	if _, ok := s.PausedAccountFor("p/m"); ok {
		t.Error("who works with a held account waits")
	}
	if p, ok := s.PausedAccountFor("q/m"); !ok || p.Why != "full" {
		t.Errorf("%+v", p)
	}
	if _, ok := s.AccountClosedToNewSessions("q/m"); ok {
		t.Error("an account without quota is held")
	}
	if err := s.CheckFacts(nexus.TaskPlanned{Task: nexus.Task{ID: "T8"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T9"}}); err != nil {
		t.Error(err)
	}
	loop := fold(t, planned(nexus.Limits{})[:3]...)
	folds(t, loop, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Needs: []nexus.TaskID{"T2"}}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Needs: []nexus.TaskID{"T1"}}})
	refused(t, loop, nexus.PlanApproved{}, "T1")
	spec := fold(t, nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Specify}, Base: "c0"}, nexus.RunStarted{}, nexus.SpecWritingStarted{Attempt: "spec.1"})
	if a := spec.Planning; a == nil || a.ID != "spec.1" || a.Stage != state.Working || spec.AttemptByID("spec.1") != a {
		t.Errorf("%+v", a)
	}
	talk := fold(t, nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Interview}, Base: "c0"}, nexus.RunStarted{}, nexus.InterviewRoundStarted{Attempt: "interview.1", Round: 1})
	if talk.Interview.Attempt != "interview.1" {
		t.Errorf("%+v", talk.Interview)
	}
}

// TestTheClockWaitsForThePlan, and for nothing else that is answered meanwhile.
func TestTheClockWaitsForThePlan(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.QuestionAsked{ID: "q1", Text: "?"}, nexus.QuestionAsked{ID: "q2", Trigger: nexus.PlanTrigger})
	runs := func() bool { return s.WorkedTime(s.Updated.Add(time.Hour)) != s.WorkedTime(s.Updated) }
	if runs() {
		t.Error("it runs while the plan waits")
	}
	next(t, s, nexus.QuestionAnswered{ID: "q1", Text: "x", By: "ada"})
	if runs() {
		t.Error("it runs as something else was answered")
	}
	next(t, s, nexus.QuestionAnswered{ID: "q2", Text: "yes", By: "ada"})
	if !runs() {
		t.Error("it stands still though the plan was approved")
	}
}

// TestAfterABrokenPast says that it cannot tell what happened since.
func TestAfterABrokenPast(t *testing.T) {
	events, broken := wentBack()[:16], errors.New("the disk is gone")
	s := state.NewState("r").ReadPastFrom(func(yield func(nexus.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		yield(nexus.Event{}, broken)
	})
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if a, err := view.EventsSince(s, 11); !errors.Is(err, broken) {
		t.Errorf("%+v, %v", a, err)
	}
}
