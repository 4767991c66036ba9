package state_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestAskedWhatAModelSaid tells a task that a model rated from one that it left
// out, and from one that it was never asked about.
func TestAskedWhatAModelSaid(t *testing.T) {
	s := executing(t)
	if r, asked := s.ComplexityAnswer("T1"); r != nil || asked {
		t.Errorf("before: %+v, %v", r, asked)
	}
	next(t, s, nexus.ComplexityRatingStarted{Attempt: "route.1", Tasks: []nexus.TaskID{"T1", "T2"}})
	if r, asked := s.ComplexityAnswer("T2"); r != nil || !asked {
		t.Errorf("asked: %+v, %v", r, asked)
	}
	next(t, s, nexus.ComplexityRatingEnded{Attempt: "route.1", Routes: []nexus.ComplexityRating{{Task: "T1", Why: "many files"}}})
	if r, asked := s.ComplexityAnswer("T1"); r == nil || r.Why != "many files" || !asked {
		t.Errorf("said: %+v, %v", r, asked)
	}
	if r, asked := s.ComplexityAnswer("T2"); r != nil || !asked {
		t.Errorf("left out: %+v, %v", r, asked)
	}
}

// TestWhatShowsACriterion asks for criteria that the task has, has with another
// text by now, and does not have.
func TestWhatShowsACriterion(t *testing.T) {
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "it works", Check: "test"}, {Text: "it is fast", Check: "test"}}}
	of := state.CriterionFingerprint(task, 1)
	s := state.TaskState{Task: task}
	if _, fresh := s.WrittenCheck(1); fresh {
		t.Error("a check without an attempt")
	}
	s.Attempts = []*state.AttemptState{{
		ID:      "T1.1",
		Checks:  nexus.CriterionTestsFound{Checks: []nexus.CriterionTest{{Number: 1, Of: of, Test: "TestWorks"}, {Number: 2, Of: "what it said before", Test: "TestFast"}, {Number: 3}}},
		Weighed: nexus.CriteriaEvidenceRecorded{Criteria: []nexus.CriterionGateEvidence{{Number: 1, Of: of, Why: "red before"}, {Number: 2, Of: "what it said before", Why: "slow"}, {Number: 3}}},
	}}
	for n, want := range map[int]struct {
		test, why string
		fresh     bool
	}{
		0: {},
		1: {"TestWorks", "red before", true},
		2: {"TestFast", "slow", false},
		3: {},
	} {
		check, fresh := s.WrittenCheck(n)
		shown, same := s.CriterionEvidence(n)
		if check.Test != want.test || fresh != want.fresh || shown.Why != want.why || same != want.fresh {
			t.Errorf("criterion %d: check %+v (%v), shown by %+v (%v)", n, check, fresh, shown, same)
		}
	}
}

// TestSessionsBesideEachOther joins what two clones of an attempt did at the same
// time: one session continues, one is new, and the longer rest counts, once.
func TestSessionsBesideEachOther(t *testing.T) {
	at := time.Unix(100, 0)
	a := &state.AttemptState{ID: "T1.1"}
	a.Apply(nexus.SessionStarted{Session: "T1.1/reviewer.1", Attempt: "T1.1", Role: nexus.Reviewer, Model: "m/r"}, at)
	one, two := a.Clone(), a.Clone()
	one.Apply(nexus.ModelTurnRecorded{Session: "T1.1/reviewer.1", Turn: 1, Message: "b1"}, at)
	one.Apply(nexus.ModelCallDelayed{Session: "T1.1/reviewer.1", Wait: 5 * time.Second}, at)
	two.Apply(nexus.SessionStarted{Session: "T1.1/verifier.1", Attempt: "T1.1", Role: nexus.Verifier, Model: "m/v"}, at)
	two.Apply(nexus.QuotaExhausted{Session: "T1.1/verifier.1", Account: "m", Until: at.Add(3 * time.Second)}, at)
	two.Network = append(two.Network, nexus.NetworkRequestsRecorded{Call: "c1"})
	a.JoinSession(one, "T1.1/reviewer.1", 0)
	a.JoinSession(two, "T1.1/verifier.1", 0)
	a.JoinSession(two, "T1.1/nobody.1", 0)
	if len(a.Sessions) != 2 || a.Sessions[0].Turns != 1 || a.ModelOf(nexus.Verifier) != "m/v" || a.ModelOf(nexus.Merger) != "" || !a.Moved {
		t.Errorf("%+v", flat(a))
	}
	if a.Rested != 5*time.Second || len(a.Network) != 1 {
		t.Errorf("rested %s, network %v", a.Rested, a.Network)
	}
	if two.Rested != 3*time.Second || two.SessionByID("T1.1/verifier.1").Doing != "waits for m, which is out of quota" {
		t.Errorf("rested %s, and %s", two.Rested, two.SessionByID("T1.1/verifier.1").Doing)
	}
}

// TestTheTimeOfACall counts the time of the session's own call, and not until
// that of another one is settled.
func TestTheTimeOfACall(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	a := &state.AttemptState{ID: "T1.1"}
	a.Apply(nexus.SessionStarted{Session: "s", Attempt: "T1.1"}, at(0))
	a.Apply(nexus.BudgetReserved{ID: "R1", Session: "s"}, at(10))
	a.Apply(nexus.BudgetSettled{ID: "R2"}, at(12))
	if what, since := a.Sessions[0].CurrentStep(); what != "model" || !since.Equal(at(10)) || a.Sessions[0].Elapsed != 0 {
		t.Errorf("it waits for %q since %s, after %s", what, since, a.Sessions[0].Elapsed)
	}
	a.Apply(nexus.BudgetSettled{ID: "R1"}, at(17))
	if what, _ := a.Sessions[0].CurrentStep(); what != "" || a.Sessions[0].Elapsed != 7*time.Second {
		t.Errorf("it waits for %q, after %s", what, a.Sessions[0].Elapsed)
	}
	a.Apply(nexus.BudgetSettled{}, at(30))
	a.Apply(nexus.ModelTurnRecorded{Session: "s", Turn: 1, Stop: "tools"}, at(31))
	if what, since := a.Sessions[0].CurrentStep(); what != "tools" || !since.Equal(at(31)) {
		t.Errorf("it waits for %q since %s", what, since)
	}
	// A process that died in a call took its step with it.
	a.Apply(nexus.AttemptLost{Attempt: "T1.1"}, at(40))
	a.Apply(nexus.BudgetSettled{ID: "R3"}, at(90))
	if a.Sessions[0].Elapsed != 7*time.Second {
		t.Errorf("%s after the process died", a.Sessions[0].Elapsed)
	}
}

// TestTimeOnATask adds the attempt that is under way to those that are over.
func TestTimeOnATask(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.PlanApproved{}, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"})
	began := s.Updated
	if got := s.TaskWorkTime(s.TaskByID("T1"), began.Add(time.Minute)); got != time.Minute {
		t.Errorf("worked %s", got)
	}
	next(t, s, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.NoProgress})
	if got := s.TaskWorkTime(s.TaskByID("T1"), began.Add(time.Hour)); got != time.Second {
		t.Errorf("worked %s once it is over", got)
	}
	if got := s.TaskWorkTime(&state.TaskState{Worked: time.Hour}, began); got != time.Hour {
		t.Errorf("worked %s without an attempt", got)
	}
}

// TestReachInWords holds that each reach is told apart in words.
func TestReachInWords(t *testing.T) {
	words := map[string]state.GateProgress{}
	for r := state.GateProgress(1); r <= state.ReachedGreen; r++ {
		if other, ok := words[r.String()]; ok || r.String() == "" {
			t.Errorf("%d and %d are %q", r, other, r)
		}
		words[r.String()] = r
	}
}

// TestWhatIsToBeFixedYet of the tree that an attempt starts from is what was said
// last about it: by the reviewer who sent it back, else by the verifier, else by
// the gate that decided.
func TestWhatIsToBeFixedYet(t *testing.T) {
	find := func(of string) []nexus.Finding { return []nexus.Finding{{Gate: of, Message: "by the " + of}} }
	sent := nexus.ReviewerVerdictGiven{Reviewed: true, SendsBack: true, Findings: find("reviewer")}
	fine := nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Findings: find("reviewer")}
	no := &nexus.VerifierVerdictGiven{Read: true, Category: "incomplete", Findings: find("verifier")}
	yes := &nexus.VerifierVerdictGiven{Read: true, Findings: find("verifier")}
	red, green := &nexus.GatesVerdictGiven{State: nexus.Fail, Gate: "lint"}, &nexus.GatesVerdictGiven{State: nexus.Pass, Gate: "lint"}
	said := []nexus.GateEvidence{{Gate: "test", Findings: find("test")}, {Gate: "lint", Findings: find("lint")}}
	for name, c := range map[string]struct {
		round state.AttemptRound
		want  string
	}{
		"sent back":                      {state.AttemptRound{Reviews: []nexus.ReviewerVerdictGiven{fine, sent}, Verified: no, Verdict: red}, "by the reviewer"},
		"sent back, and then not":        {state.AttemptRound{Reviews: []nexus.ReviewerVerdictGiven{sent, fine}, Verified: no, Verdict: red}, "by the verifier"},
		"verified, and red":              {state.AttemptRound{Verified: yes, Verdict: red}, "by the lint"},
		"red":                            {state.AttemptRound{Verdict: red}, "by the lint"},
		"green, with remarks of no gate": {state.AttemptRound{Verdict: green}, ""},
		"nobody looked":                  {state.AttemptRound{}, ""},
	} {
		s := fold(t, nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.PlanApproved{},
			nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"})
		c.round.Round, c.round.Evidence, c.round.Commit = 1, said, "s1"
		s.AttemptByID("T1.1").Rounds = []*state.AttemptRound{&c.round}
		next(t, s, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.NoProgress, Why: "no"})
		next(t, s, nexus.AttemptStarted{Attempt: "T1.2", Task: "T1", Base: "c0", From: "T1.1", Round: 1})
		kept := s.WorkerView("T1").Kept
		var got string
		for _, f := range kept.Open {
			got += f.Message
		}
		if kept.Attempt != "T1.1" || kept.Round != 1 || got != c.want {
			t.Errorf("%s: %+v", name, kept)
		}
	}
}
