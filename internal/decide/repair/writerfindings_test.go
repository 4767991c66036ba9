package repair_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func strict(facts ...nexus.Fact) *state.AttemptState {
	a := &state.AttemptState{ID: "T1.1", Strategy: nexus.TDDStrict}
	for _, f := range facts {
		a.Apply(f, time.Time{})
	}
	return a
}

// wroteWith is a round that fixes what a review said, with answers.
func wroteWith(n int, role nexus.Role, o nexus.Outcome, answers ...nexus.FindingAnswer) []nexus.Fact {
	id := nexus.SessionID(role)
	cause := repair.ReviewCause
	if n == 1 {
		cause = ""
	}
	return []nexus.Fact{
		nexus.RoundStarted{Round: n, Role: role, Cause: cause, Session: id},
		nexus.SessionStarted{Session: id, Role: role},
		nexus.SessionEnded{Session: id, Outcome: o, Why: "it lacks a test", Answers: answers},
	}
}

func gateEvidence(findings ...nexus.Finding) []nexus.Fact {
	return []nexus.Fact{
		nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"},
		nexus.VerifierVerdictGiven{Read: true},
		nexus.ReviewerVerdictGiven{Reviewed: true, SendsBack: true, Findings: findings, Summary: "no"},
	}
}

func TestFindingsGoToWhoMayFixThem(t *testing.T) {
	onTest := nexus.Finding{File: "a_test.go", Severity: nexus.Major, Message: "no test of zero"}
	byWord := nexus.Finding{File: "a.go", Severity: nexus.Major, Category: "Tests", Message: "nothing tests it"}
	onCode := nexus.Finding{File: "a.go", Severity: nexus.Major, Message: "it leaks"}
	minor := nexus.Finding{File: "a_test.go", Severity: nexus.Minor, Message: "a name"}
	first := wroteWith(1, nexus.Coder, nexus.Accepted)
	foreign := nexus.FindingAnswer{Finding: 1, Status: nexus.NotMine, Why: "it is a test"}
	cases := map[string]struct {
		a    *state.AttemptState
		role nexus.Role // empty: nobody writes
		told []nexus.Finding
	}{
		"all of tests":            {strict(join(first, gateEvidence(onTest, byWord))...), nexus.Tester, []nexus.Finding{onTest, byWord}},
		"some":                    {strict(join(first, gateEvidence(onCode, onTest))...), nexus.Tester, []nexus.Finding{onTest}},
		"none":                    {strict(join(first, gateEvidence(onCode))...), nexus.Coder, []nexus.Finding{onCode}},
		"none that must be fixed": {strict(join(first, gateEvidence(onCode, minor))...), nexus.Coder, []nexus.Finding{onCode}},
		"then the coder": {
			strict(join(first, gateEvidence(onCode, onTest), wroteWith(2, nexus.Tester, nexus.Accepted), gateEvidence()[:1])...), nexus.Coder, []nexus.Finding{onCode},
		},
		"the coder says that one is not its own": {
			strict(join(first, gateEvidence(onCode), wroteWith(2, nexus.Coder, nexus.Accepted, foreign))...), nexus.Tester, []nexus.Finding{onCode},
		},
		"it is blocked": {strict(join(first, gateEvidence(onCode), wroteWith(2, nexus.Coder, nexus.GaveUp))...), nexus.Tester, []nexus.Finding{onCode}},
		"and the tester goes on": {
			strict(join(first, gateEvidence(onCode, minor), wroteWith(2, nexus.Coder, nexus.GaveUp), wroteWith(3, nexus.Tester, nexus.Stopped))...), nexus.Tester, []nexus.Finding{onCode, minor},
		},
		"a tester was asked already": {
			strict(join(first, gateEvidence(onCode, onTest), wroteWith(2, nexus.Tester, nexus.Accepted), gateEvidence()[:1], wroteWith(3, nexus.Coder, nexus.Accepted, foreign))...), "", nil,
		},
	}
	for name, c := range cases {
		task := &state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.TDDStrict}}
		step := repair.NextRepairStep(task, c.a, limits(), repair.AttemptTreeFacts{Tested: true})
		if step.Role != c.role || cmp.Diff(c.told, step.Findings) != "" {
			t.Errorf("%s: %s %s: %v", name, step.Move, step.Role, step.Findings)
		}
	}
}

func TestWhatIsDisputedTwiceAndStandsIsForPeople(t *testing.T) {
	f := nexus.Finding{File: "a.go", Line: 3, Severity: nexus.Major, Message: "the second line is missing"}
	moved := f
	moved.Line, moved.Message = 40, "still, the second line is missing"
	other := nexus.Finding{File: "a.go", Severity: nexus.Major, Message: "it leaks"}
	no := nexus.FindingAnswer{Finding: 1, Status: nexus.Contested, Why: "one is asked for"}
	first := wroteWith(1, nexus.Coder, nexus.Accepted)
	coder := func(n int, answers ...nexus.FindingAnswer) []nexus.Fact {
		return wroteWith(n, nexus.Coder, nexus.Accepted, answers...)
	}
	cases := map[string]struct {
		facts []nexus.Fact
		stood int
	}{
		"nobody disputes":      {join(first, gateEvidence(f), coder(2), gateEvidence(f), coder(3), gateEvidence(f)), 0},
		"disputed":             {join(first, gateEvidence(f), coder(2, no)), 0},
		"it stands":            {join(first, gateEvidence(f), coder(2, no), gateEvidence(moved)), 1},
		"it stands twice":      {join(first, gateEvidence(f), coder(2, no), gateEvidence(moved), coder(3, no), gateEvidence(f)), 2},
		"without a reason":     {join(first, gateEvidence(f), coder(2, nexus.FindingAnswer{Finding: 1, Status: nexus.Contested}), gateEvidence(f)), 0},
		"of another":           {join(first, gateEvidence(f, other), coder(2, nexus.FindingAnswer{Finding: 2, Status: nexus.Contested, Why: "no"}), gateEvidence(f)), 0},
		"of all":               {join(first, gateEvidence(other, f), coder(2, nexus.FindingAnswer{Status: nexus.Contested, Why: "no"}), gateEvidence(f)), 1},
		"dropped, and another": {join(first, gateEvidence(f), coder(2, no), gateEvidence(other)), 0},
	}
	for name, c := range cases {
		a := strict(c.facts...)
		last := f
		if r := a.LastRound().Reviews; len(r) > 0 {
			last = r[0].Findings[0]
		}
		if got := repair.CountUpheldDisputes(a, repair.ReviewCause, last); got != c.stood {
			t.Errorf("%s: it stood %d times, want %d", name, got, c.stood)
		}
		l := limits()
		l.ReviewRounds = 0
		step := repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.TDDStrict}}, a, l, repair.AttemptTreeFacts{Tested: true})
		if ends := step.Category == nexus.Disputed; ends != (c.stood > 1) {
			t.Errorf("%s: %+v", name, step)
		}
	}
}

func TestAnAttemptStartsAfreshWhereItsTestsShowNothing(t *testing.T) {
	cases := map[string]struct {
		facts  repair.AttemptTreeFacts
		proof  nexus.TestProofResult
		from   nexus.AttemptID
		afresh bool
	}{
		"it has no tests":       {repair.AttemptTreeFacts{}, "", "T1.0", true},
		"they are not seen yet": {repair.AttemptTreeFacts{Tested: true}, "", "T1.0", false},
		"they are red":          {repair.AttemptTreeFacts{Tested: true}, nexus.ProofRed, "T1.0", false},
		"they are green":        {repair.AttemptTreeFacts{Tested: true}, nexus.ProofGreen, "T1.0", true},
		"of tests alone":        {repair.AttemptTreeFacts{Tested: true}, nexus.ProofGreen, "", false},
	}
	for name, c := range cases {
		a := strict()
		a.From, a.Start = c.from, "c1"
		if c.proof != "" {
			a.Apply(nexus.TestsRunWithoutWork{Proof: c.proof}, time.Time{})
		}
		step := repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.TDDStrict}}, a, limits(), c.facts)
		if afresh := step.Move == repair.Afresh; afresh != c.afresh || afresh && step.Why == "" {
			t.Errorf("%s: %+v", name, step)
		}
	}
}
