package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestACriterionThatDidNotRunIsNotMet checks that a criterion whose test is
// not there sends the work back, whatever else is green, and in every kind of
// task.
func TestACriterionThatDidNotRunIsNotMet(t *testing.T) {
	name := nexus.AcceptGate + "go test -run TestNotWritten ./..."
	for _, kind := range []nexus.TaskKind{nexus.CodeTask, nexus.DocsTask, nexus.TestTask} {
		task := nexus.Task{ID: "T1", Kind: kind, Strategy: nexus.TestAfter}
		v := repair.CombineVerdict("T1.1", task, "t", []nexus.GateEvidence{
			{Gate: "build", State: nexus.Pass, Tree: "t"},
			{Gate: "test", State: nexus.Pass, Tree: "t"},
			{Gate: name, State: nexus.NotRun, Tree: "t", Why: "no tests to run"},
		})
		if v.State != nexus.NotRun || v.Gate != name {
			t.Errorf("%s: %+v", kind, v)
		}
		a := &state.AttemptState{
			ID: "T1.1", Strategy: nexus.TestAfter,
			Rounds:   []*state.AttemptRound{{RoundStarted: nexus.RoundStarted{Role: nexus.Coder, Session: "T1.1/coder.1"}, Verdict: &v}},
			Sessions: []*state.AgentSessionState{{SessionStarted: nexus.SessionStarted{Session: "T1.1/coder.1", Role: nexus.Coder}, Over: true, Outcome: nexus.Accepted}},
		}
		s := repair.NextRepairStep(&state.TaskState{Task: task}, a, nexus.Limits{Same: 3}, repair.AttemptTreeFacts{Tested: true})
		if s.Move != repair.Write || s.Cause != name || s.Why != "no tests to run" {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// TestAPackageThatCannotRunIsNoGateOfOthers lets the tests of a package that could
// not run on the base either decide only where no others passed, or a criterion
// rests on them.
func TestAPackageThatCannotRunIsNoGateOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		check, tests string
		state        nexus.GateState // of the gate tests
		want         nexus.GateState
	}{
		"others passed":       {"test", "test", nexus.Pass, nexus.Pass},
		"a criterion":         {"test-docs", "test", nexus.Pass, nexus.NotRun},
		"nothing else":        {"build", "lint", nexus.Pass, nexus.NotRun},
		"others are red":      {"test", "test", nexus.Fail, nexus.Fail},
		"another one passed":  {"build", "test-web", nexus.Pass, nexus.Pass},
		"of another tree yet": {"build", "test elsewhere", nexus.Pass, nexus.NotRun},
	} {
		tree, gate := "t", c.tests
		if gate == "test elsewhere" {
			tree, gate = "u", "test"
		}
		v := repair.CombineVerdict("T1.1", nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "it works", Check: c.check}}}, "t", []nexus.GateEvidence{
			{Gate: "build", State: nexus.Pass, Tree: "t"}, {Gate: gate, State: c.state, Tree: tree}, {Gate: "test-docs", State: nexus.NotRun, Tree: "t"},
		})
		if v.State != c.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestAGateThatIsLeftOutDecidesNothing keeps the tests of a package that the change
// cannot break from deciding, whatever else passed, but makes no pass of them.
func TestAGateThatIsLeftOutDecidesNothing(t *testing.T) {
	apart := nexus.GateEvidence{Gate: "test-b", State: nexus.NotRun, Tree: "t", Apart: true, Why: "package b does not need what changed: a"}
	for name, c := range map[string]struct {
		others []nexus.GateEvidence
		want   nexus.GateState
	}{
		"a build passed": {[]nexus.GateEvidence{{Gate: "build", State: nexus.Pass, Tree: "t"}}, nexus.Pass},
		"tests passed":   {[]nexus.GateEvidence{{Gate: "test-a", State: nexus.Pass, Tree: "t"}}, nexus.Pass},
		"one is red":     {[]nexus.GateEvidence{{Gate: "lint", State: nexus.Fail, Tree: "t"}}, nexus.Fail},
		"nothing else":   {nil, nexus.NotRun},
	} {
		v := repair.CombineVerdict("T1.1", nexus.Task{ID: "T1"}, "t", append(c.others, apart))
		if v.State != c.want || v.Gate == apart.Gate {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestTheLastFailure is that of the last round that was judged, and none where
// that was green.
func TestTheLastFailure(t *testing.T) {
	none, other := &state.AttemptRound{}, nexus.Finding{Gate: "lint", File: "a.go", Message: "no"}
	red := &state.AttemptRound{Verdict: &nexus.GatesVerdictGiven{State: nexus.Fail, Gate: "lint"}, Evidence: []nexus.GateEvidence{{Gate: "lint", State: nexus.Fail, Findings: []nexus.Finding{other}}}}
	green := &state.AttemptRound{Verdict: &nexus.GatesVerdictGiven{State: nexus.Pass}}
	want := repair.FailureSignature("lint", []nexus.Finding{other})
	for name, c := range map[string]struct {
		rounds []*state.AttemptRound
		want   string
	}{
		"nothing yet": {nil, ""}, "not judged": {[]*state.AttemptRound{none}, ""}, "red": {[]*state.AttemptRound{red}, want},
		"red, then not judged": {[]*state.AttemptRound{green, red, none}, want}, "green": {[]*state.AttemptRound{red, green}, ""}, "green, then not judged": {[]*state.AttemptRound{red, green, none}, ""},
	} {
		if got := repair.LastSignature(&state.AttemptState{Rounds: c.rounds}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := repair.CountStoppingFindings(red); got != 1 {
		t.Errorf("%d findings", got)
	}
}
