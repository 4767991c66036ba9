package state

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// filled sets a value to something that is not zero.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(7, 0)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				filled(v.Field(i))
			}
		}
	default:
	}
}

// each gives a value with each of its fields set in turn, alone and with all others.
func each[T any](t *testing.T, begin T, check func(field string, v T)) {
	t.Helper()
	all := reflect.New(reflect.TypeFor[T]()).Elem()
	all.Set(reflect.ValueOf(begin))
	check("none", begin)
	for i := range all.NumField() {
		if !all.Type().Field(i).IsExported() {
			continue
		}
		one := reflect.New(all.Type()).Elem()
		one.Set(reflect.ValueOf(begin))
		filled(one.Field(i))
		check(all.Type().Field(i).Name, one.Interface().(T))
		filled(all.Field(i))
	}
	check("all", all.Interface().(T))
}

// TestSmallIsTheSame makes rounds, evidence and sessions small with each of their
// fields set: nothing may be lost, also of a field that is yet to come.
func TestSmallIsTheSame(t *testing.T) {
	same := func(what string, a *AttemptState) {
		t.Helper()
		want := *a
		newAttemptPacker().packAttempt(a)
		if a.Rounds != nil || a.Sessions != nil {
			t.Errorf("%s: it is as large as before", what)
		}
		got := a.UnpackedCopy()
		if diff := cmp.Diff(want.Rounds, got.Rounds); diff != "" {
			t.Errorf("%s of a round:\n%s", what, diff)
		}
		if !reflect.DeepEqual(want.Sessions, got.Sessions) {
			t.Errorf("%s of a session: %+v, want %+v", what, got.Sessions, want.Sessions)
		}
	}
	each(t, nexus.GateEvidence{}, func(field string, e nexus.GateEvidence) {
		same(field, &AttemptState{ID: "T1.1", Rounds: []*AttemptRound{{RoundStarted: nexus.RoundStarted{Attempt: "T1.1", Round: 1}, Evidence: []nexus.GateEvidence{e, {Gate: "test"}}}}})
	})
	each(t, AttemptRound{RoundStarted: nexus.RoundStarted{Attempt: "T1.1", Round: 1}}, func(field string, r AttemptRound) {
		same(field, &AttemptState{ID: "T1.1", Rounds: []*AttemptRound{&r}})
	})
	over := AgentSessionState{SessionStarted: nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1"}, Outcome: nexus.Accepted}
	each(t, over, func(field string, c AgentSessionState) {
		switch field {
		case "Messages", "Before", "Unheard", "Looked", "Tally", "Compact", "Memory", "all": // State.spare forgets these
			c.Messages, c.Before, c.Unheard, c.Looked, c.Tally, c.Compact, c.Memory = nil, 0, 0, nil, ToolCallTally{}, nexus.SessionCompacted{}, nil
		}
		same(field, &AttemptState{ID: "T1.1", Sessions: []*AgentSessionState{&c}})
	})
}

// both returns a state that keeps everything and one that only shows, and what applies facts to them.
func both(t *testing.T) (full, small *State, put func(facts ...nexus.Fact)) {
	t.Helper()
	full, small = NewState("r"), NewState("r").DiscardLandedDetails()
	seq := int64(0)
	return full, small, func(facts ...nexus.Fact) {
		t.Helper()
		for _, f := range facts {
			seq++
			for _, s := range []*State{full, small} {
				if err := s.Apply(nexus.Event{Seq: seq, Run: "r", At: time.Unix(seq, 0), Fact: f}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestSmallGrows books what comes after a landing on a session that is small.
func TestSmallGrows(t *testing.T) {
	full, small, put := both(t)
	put(
		nexus.GoalAccepted{Base: "b0", Limits: nexus.Limits{RunMoney: 10 * nexus.Dollar}}, nexus.RunStarted{}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "t"}}, nexus.PlanApproved{By: "policy"},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "b0"}, nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1", Role: nexus.Coder},
		nexus.RoundStarted{Attempt: "T1.1", Round: 1, Session: "T1.1/coder.1"}, nexus.BudgetReserved{ID: "c1", Task: "T1", Session: "T1.1/coder.1", Money: nexus.Dollar},
		nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted},
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t1"}},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1", Tree: "t1"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"}, nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Tree: "t1", Parent: "b0"},
	)
	a := small.AttemptByID("T1.1")
	if a.small == nil || a.LastRound() == nil || a.LastSession(nexus.Coder) == nil || a.CurrentSession() == nil || a.RoundAt(1) == nil || a.SessionByID("T1.1/coder.1") == nil {
		t.Fatalf("it is not small, or cannot be read: %+v", a)
	}
	n := 0
	for e := range a.GateEvidence(true) {
		n++
		if e.Gate != "test" || e.Tree != "t1" {
			t.Errorf("a gate said %+v", e)
		}
	}
	if n != 1 {
		t.Errorf("%d judgements, want 1", n)
	}
	put(nexus.BudgetSettled{ID: "c1", Money: nexus.Dollar / 2, Usage: nexus.Usage{Input: 10}})
	got, want := small.AttemptByID("T1.1").UnpackedCopy(), full.AttemptByID("T1.1")
	if got.Sessions[0].Spent != nexus.Dollar/2 || want.Sessions[0].Spent != nexus.Dollar/2 || got.SessionCost() != want.SessionCost() {
		t.Errorf("the session cost %s, want %s", got.Sessions[0].Spent, want.Sessions[0].Spent)
	}
	if diff := cmp.Diff(full.LandingProofs(), small.LandingProofs()); diff != "" {
		t.Error(diff)
	}
	put(nexus.RunRewound{To: 4, By: "ann"})
	if got, want := small.AttemptByID("T1.1").UnpackedCopy(), full.AttemptByID("T1.1"); !got.Undone || got.SessionCost() != want.SessionCost() {
		t.Errorf("after a rewind it cost %s, want %s", got.SessionCost(), want.SessionCost())
	}
}

// TestSmallKeepsBills books what comes after a landing on a session whose attempt heard something else before, and what
// was paid after the point that a run goes back to, in the middle of the session.
func TestSmallKeepsBills(t *testing.T) {
	const id = nexus.SessionID("T1.1/coder.1")
	call := func(name string) []nexus.Fact {
		return []nexus.Fact{
			nexus.BudgetReserved{ID: name, Task: "T1", Session: id, Money: nexus.Dollar}, nexus.BudgetSettled{ID: name, Money: nexus.Dollar / 4},
		}
	}
	for when, late := range map[string][]nexus.Fact{
		"after a late turn":            append([]nexus.Fact{nexus.ModelTurnRecorded{Session: id, Turn: 2, Message: "m"}}, call("c2")...),
		"after going back to its turn": {nexus.RunRewound{To: 8, By: "ann"}},
	} {
		full, small, put := both(t)
		put(
			nexus.GoalAccepted{Base: "b0", Limits: nexus.Limits{RunMoney: 10 * nexus.Dollar}}, nexus.RunStarted{}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "t"}}, nexus.PlanApproved{By: "policy"},
			nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "b0"}, nexus.SessionStarted{Session: id, Attempt: "T1.1", Role: nexus.Coder},
			nexus.RoundStarted{Attempt: "T1.1", Round: 1, Session: id}, nexus.ModelTurnRecorded{Session: id, Turn: 1, Message: "m"},
		)
		put(call("c1")...)
		put(
			nexus.SessionEnded{Session: id, Outcome: nexus.Accepted}, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1", Tree: "t1"},
			nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"}, nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Tree: "t1", Parent: "b0"},
		)
		put(late...)
		if got, want := small.AttemptByID("T1.1").SessionByID(id).Spent, full.AttemptByID("T1.1").SessionByID(id).Spent; got != want || want == 0 {
			t.Errorf("%s the session cost %s, want %s", when, got, want)
		}
	}
}

// TestSmallSaysWhatTheLastRoundSaid: the judgements of the last round alone, or of all, the first few of
// them, and the same of an attempt that is not small.
func TestSmallSaysWhatTheLastRoundSaid(t *testing.T) {
	full, small, put := both(t)
	gate := func(name, why string) nexus.Fact {
		return nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: name, State: nexus.Pass, Tree: "t1", Why: why}}
	}
	put(
		nexus.GoalAccepted{Base: "b0", Limits: nexus.Limits{RunMoney: 10 * nexus.Dollar}}, nexus.RunStarted{}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "t"}}, nexus.PlanApproved{By: "policy"},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "b0"},
		nexus.RoundStarted{Attempt: "T1.1", Round: 1, Session: "T1.1/coder.1"}, gate("build", ""), gate("test", "x"),
		nexus.RoleIsolationViolated{Attempt: "T1.1", Files: []string{"a"}},
		nexus.RoundStarted{Attempt: "T1.1", Round: 2, Session: "T1.1/coder.1"}, gate("lint", ""), gate("e2e", "y"), gate("cover", ""),
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1", Tree: "t1"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"}, nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Tree: "t1", Parent: "b0"},
	)
	if small.AttemptByID("T1.1").small == nil || full.AttemptByID("T1.1").small != nil {
		t.Fatal("one is small, and the other is not")
	}
	for _, s := range []*State{full, small} {
		a := s.AttemptByID("T1.1")
		for _, c := range []struct {
			last bool
			most int
			want string
		}{
			{true, 9, "lint e2e cover "}, {true, 1, "lint "}, {true, 2, "lint e2e "}, {false, 9, "build test lint e2e cover "}, {false, 1, "build "}, {false, 2, "build test "}, {false, 3, "build test lint "},
		} {
			got, n := "", 0
			for e := range a.GateEvidence(c.last) {
				got += e.Gate + " "
				if n++; n == c.most {
					break
				}
			}
			if got != c.want {
				t.Errorf("%d of the last round %v: %q, want %q", c.most, c.last, got, c.want)
			}
		}
	}
	if _, known := small.KnownEvidence("t1", "lint"); known {
		t.Error("who only shows keeps evidence to be used again")
	}
	if small.AttemptByID("T1.1-merge") != nil || full.AttemptByID("T1.1-merge") == nil {
		t.Error("a merger that had nothing to do is kept, or one is gone")
	}
	then, err := small.StateAt(5)
	if err != nil || then.shelf == nil || then.AttemptByID("T1.1") == nil {
		t.Errorf("before: %v", err)
	}
	if then, err = full.StateAt(5); err != nil || then.shelf != nil {
		t.Errorf("before, with all: %v", err)
	}
}
