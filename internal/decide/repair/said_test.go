package repair_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// weighs is a round whose work a verifier judged: with findings it refused it.
func weighs(findings ...nexus.Finding) []nexus.Fact {
	f := nexus.VerifierVerdictGiven{Read: true, Findings: findings, Why: "no"}
	if len(findings) > 0 {
		f.Category = nexus.VerifierRejected
	}
	return []nexus.Fact{nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"}, f}
}

// TestWhatStandsInTheEnd is what the judges named last, and nothing where they
// agreed or nobody could be read.
func TestWhatStandsInTheEnd(t *testing.T) {
	f, g := nexus.Finding{File: "a.go", Message: "it leaks"}, nexus.Finding{File: "b.go", Message: "it waits"}
	first, second := wroteWith(1, nexus.Coder, nexus.Accepted), wroteWith(2, nexus.Coder, nexus.Accepted)
	fine := []nexus.Fact{nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"}, nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Findings: []nexus.Finding{g}}}
	unread := []nexus.Fact{nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"}, nexus.VerifierVerdictGiven{Findings: []nexus.Finding{g}}, nexus.ReviewerVerdictGiven{SendsBack: true, Findings: []nexus.Finding{g}}}
	for name, c := range map[string]struct {
		facts    []nexus.Fact
		review   []nexus.Finding
		verifier []nexus.Finding
	}{
		"nothing yet":        {first, nil, nil},
		"sent back":          {join(first, gateEvidence(f)), []nexus.Finding{f}, nil},
		"and not judged yet": {join(first, gateEvidence(f), second), []nexus.Finding{f}, nil},
		"and then agreed to": {join(first, gateEvidence(f), second, fine), nil, nil},
		"agreed to at last":  {join(first, fine, second, gateEvidence(f)), []nexus.Finding{f}, nil},
		"and then not read":  {join(first, gateEvidence(f), second, unread), []nexus.Finding{f}, nil},
		"refused":            {join(first, weighs(f)), nil, []nexus.Finding{f}},
		"and not read since": {join(first, weighs(f), second, unread), nil, []nexus.Finding{f}},
		"and then let pass":  {join(first, weighs(f), second, weighs()), nil, nil},
	} {
		a := strict(c.facts...)
		for cause, want := range map[string][]nexus.Finding{repair.ReviewCause: c.review, repair.VerifyGate: c.verifier} {
			if got := repair.StandingFindings(a, cause); !slices.Equal(got, want) {
				t.Errorf("%s, by %s: %v", name, cause, got)
			}
		}
	}
}

// TestAnswersAreOfTheirFinding: what an author answers to a finding of the last
// judges, and why it disputed one before they named it again.
func TestAnswersAreOfTheirFinding(t *testing.T) {
	f := nexus.Finding{File: "a.go", Line: 3, Severity: nexus.Major, Message: "the second line is missing"}
	moved, g := f, nexus.Finding{File: "b.go", Severity: nexus.Major, Message: "it leaks"}
	moved.Line, moved.Message = 9, "still, the second line is missing"
	disputed := nexus.FindingAnswer{Finding: 1, Status: nexus.Contested, Why: "one is asked for"}
	fixed := nexus.FindingAnswer{Finding: 2, Status: nexus.Fixed}
	all := nexus.FindingAnswer{Status: nexus.Contested, Why: "all of it is right"}
	first := wroteWith(1, nexus.Coder, nexus.Accepted)
	a := strict(join(first, gateEvidence(f, g), wroteWith(2, nexus.Coder, nexus.Accepted, disputed, fixed))...)
	for message, c := range map[string]struct {
		f    nexus.Finding
		want []repair.WriterFindingAnswer
	}{
		"the first":  {f, []repair.WriterFindingAnswer{{Role: nexus.Coder, FindingAnswer: disputed}}},
		"the second": {g, []repair.WriterFindingAnswer{{Role: nexus.Coder, FindingAnswer: fixed}}},
		"no such":    {moved, nil},
	} {
		if diff := cmp.Diff(c.want, repair.AnswersToFinding(a, repair.ReviewCause, c.f)); diff != "" {
			t.Errorf("%s: %s", message, diff)
		}
	}
	if got := repair.AnswersToFinding(strict(first...), repair.ReviewCause, f); got != nil {
		t.Errorf("nobody judged: %v", got)
	}
	for name, c := range map[string]struct {
		facts []nexus.Fact
		of    nexus.Finding
		want  string
	}{
		"named again":          {join(first, gateEvidence(f, g), wroteWith(2, nexus.Coder, nexus.Accepted, disputed, fixed), gateEvidence(moved)), moved, "one is asked for"},
		"in other words":       {join(first, gateEvidence(g, f), wroteWith(2, nexus.Coder, nexus.Accepted, all), gateEvidence(moved)), moved, "all of it is right"},
		"which was not before": {join(first, gateEvidence(g), wroteWith(2, nexus.Coder, nexus.Accepted, all), gateEvidence(f)), f, ""},
		"nothing was answered": {join(first, gateEvidence(f), wroteWith(2, nexus.Coder, nexus.Accepted), gateEvidence(f)), f, ""},
		"not named again":      {join(first, gateEvidence(f), wroteWith(2, nexus.Coder, nexus.Accepted, disputed)), f, ""},
	} {
		if got := repair.LastObjection(strict(c.facts...), repair.ReviewCause, c.of); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestBothSidesOfADispute are named where an attempt ends by it.
func TestBothSidesOfADispute(t *testing.T) {
	f := nexus.Finding{File: "a.go", Severity: nexus.Major, Message: "the second line is missing."}
	no := nexus.FindingAnswer{Finding: 1, Status: nexus.Contested, Why: "one is asked for"}
	fix := func(n int) []nexus.Fact {
		all := wroteWith(n, nexus.Coder, nexus.Accepted, no)
		r := all[0].(nexus.RoundStarted)
		r.Cause = repair.VerifyGate
		all[0] = r
		return all
	}
	l := limits()
	l.ReviewRounds, l.Rounds = 0, 0
	a := strict(join(wroteWith(1, nexus.Coder, nexus.Accepted), weighs(f), fix(2), weighs(f), fix(3), weighs(f))...)
	step := repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.TDDStrict}}, a, l, repair.AttemptTreeFacts{Tested: true})
	want := "the author and the verifier disagreed twice. The verifier: the second line is missing. The author: one is asked for"
	if step.Category != nexus.Disputed || step.Why != want {
		t.Errorf("%+v", step)
	}
	// What the reviewer's machinery adds late is nobody's to fix.
	late := nexus.Finding{Gate: repair.ReviewCause, Code: "late", File: "c.go", Message: "also"}
	ofGate, coded := late, late
	ofGate.Gate, coded.Code = "lint", "early"
	a = strict(join(wroteWith(1, nexus.Coder, nexus.Accepted), gateEvidence(f, late, ofGate, coded))...)
	step = repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.TDDStrict}}, a, l, repair.AttemptTreeFacts{Tested: true})
	a.Apply(nexus.RoundStarted{Round: 2, Role: nexus.Coder, Cause: repair.ReviewCause}, a.Began)
	if got := repair.WriterFindings(a, 1); step.Role != nexus.Coder || !slices.Equal(got, []nexus.Finding{f, ofGate, coded}) {
		t.Errorf("%s is told %v", step.Role, got)
	}
}

// TestCloserFromTheTenthRoundOn, over all attempts that count.
func TestCloserFromTheTenthRoundOn(t *testing.T) {
	for name, c := range map[string]struct {
		rounds, of, mercy, now int
		want                   int
	}{
		"the ninth":               {rounds: 9, of: 2, now: 2, want: 0},
		"the tenth":               {rounds: 10, of: 2, now: 2, want: 10},
		"begun since":             {rounds: 9, of: 2, now: 3, want: 10},
		"two begun since":         {rounds: 9, of: 1, now: 3, want: 11},
		"after another chance":    {rounds: 15, of: 2, now: 2, mercy: 6, want: 0},
		"fewer than it knows of ": {rounds: 10, of: 3, now: 1, want: 10},
	} {
		task := &state.TaskState{Rounds: c.rounds, RoundsOf: c.of, MercyRounds: c.mercy}
		if got := repair.RoundNeedingDetail(task, &state.AttemptState{Rounds: make([]*state.AttemptRound, c.now)}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestWhatBlocksIsSaid names what agents said stands in the way, and what of it only
// a person can take away.
func TestWhatBlocksIsSaid(t *testing.T) {
	gave := func(c nexus.AttemptFailureCategory) *state.AttemptState {
		return &state.AttemptState{ID: "T1.1", Outcome: nexus.GaveUp, Category: c, Why: "there is no API key"}
	}
	asked := &nexus.ReplanRequested{Reason: "two readings", Blockers: []string{"the owner must decide"}}
	for name, c := range map[string]struct {
		a    *state.AttemptState
		ask  *nexus.ReplanRequested
		want string
	}{
		"it gave up":           {gave(""), nil, "there is no API key"},
		"it needs a person":    {gave(nexus.PersonNeeded), nil, "there is no API key!"},
		"it wants a plan":      {&state.AttemptState{ID: "T1.1", Outcome: nexus.Exhausted, Why: "time"}, asked, "two readings, the owner must decide!"},
		"both":                 {gave(nexus.PersonNeeded), asked, "there is no API key!, two readings, the owner must decide!"},
		"it ended another way": {&state.AttemptState{ID: "T1.1", Outcome: nexus.Exhausted, Category: nexus.PersonNeeded, Why: "time"}, nil, ""},
	} {
		task := &state.TaskState{Task: nexus.Task{ID: "T1"}, Status: nexus.Running, Attempts: []*state.AttemptState{c.a}, Replan: c.ask}
		r := repair.AssessTask(state.NewState("r"), task)
		var got []string
		for _, b := range r.Blockers {
			text := b.Text
			if b.Person {
				text += "!"
			}
			got = append(got, text)
			if !strings.Contains(r.SummaryLine(), string(b.Kind)+": "+b.Text) {
				t.Errorf("%s: %s", name, r.SummaryLine())
			}
		}
		if text := strings.Join(got, ", "); text != c.want || !strings.Contains(r.SummaryLine(), "next: "+string(r.Next)) {
			t.Errorf("%s: %s: %s", name, text, r.SummaryLine())
		}
	}
}

// TestWhyTheGatesFailIsCounted where the gate that decides does not say it.
func TestWhyTheGatesFailIsCounted(t *testing.T) {
	one := nexus.Finding{Message: "x"}
	for want, e := range map[string]nexus.GateEvidence{
		"0 findings": {Gate: "lint", State: nexus.Fail, Tree: "t"},
		"1 finding":  {Gate: "lint", State: nexus.Fail, Tree: "t", Findings: []nexus.Finding{one}},
		"2 findings": {Gate: "lint", State: nexus.Fail, Tree: "t", Findings: []nexus.Finding{one, one}},
		"it broke":   {Gate: "lint", State: nexus.Fail, Tree: "t", Findings: []nexus.Finding{one}, Why: "it broke"},
		"":           {Gate: "lint", State: nexus.Pass, Tree: "t", Findings: []nexus.Finding{one}},
	} {
		if v := repair.CombineVerdict("T1.1", nexus.Task{ID: "T1"}, "t", []nexus.GateEvidence{e}); v.Why != want {
			t.Errorf("%q, want %q", v.Why, want)
		}
	}
	for state, over := range map[nexus.GateState]nexus.GateState{
		nexus.Environmental: nexus.Flaky, nexus.MissingAsset: nexus.Unverifiable, nexus.Flaky: nexus.Pass, nexus.Timeout: nexus.Environmental, nexus.Fail: nexus.Exceeded,
	} {
		v := repair.CombineVerdict("T1.1", nexus.Task{ID: "T1"}, "t", []nexus.GateEvidence{{Gate: "a", State: over, Tree: "t"}, {Gate: "b", State: state, Tree: "t"}, {Gate: "c", State: over, Tree: "t"}})
		if v.State != state || v.Gate != "b" {
			t.Errorf("%s beside %s: %+v", state, over, v)
		}
	}
}

// TestWhatRunsProve of tests that do not end, use too much, or cannot be loaded.
func TestWhatRunsProve(t *testing.T) {
	files := []string{"test_a.py"}
	load := nexus.Finding{File: "test_a.py", Message: "No module named 'shop'"}
	old := nexus.Finding{File: "test_a.py", Test: "x.TestOld", Message: "got 1"}
	again := old
	again.Message, again.File = "got 2", "elsewhere.py"
	for name, c := range map[string]struct {
		before, now nexus.GateEvidence
		want        nexus.TestProofResult
		why         string
	}{
		"no end":           {now: nexus.GateEvidence{Gate: "test", State: nexus.Timeout, Why: "1m is over"}, want: nexus.ProofBroken, why: "1m is over"},
		"too much":         {now: nexus.GateEvidence{Gate: "test", State: nexus.Exceeded}, want: nexus.ProofBroken, why: "the tests use too much"},
		"cannot be loaded": {now: nexus.GateEvidence{Gate: "test", State: nexus.NotRun, Findings: []nexus.Finding{load}}, want: nexus.ProofRed},
		"nor before":       {nexus.GateEvidence{Gate: "test", Findings: []nexus.Finding{load}}, nexus.GateEvidence{Gate: "test", State: nexus.NotRun, Findings: []nexus.Finding{load}}, nexus.ProofGreen, ""},
		"red before":       {nexus.GateEvidence{Gate: "test", Findings: []nexus.Finding{old}}, nexus.GateEvidence{Gate: "test", State: nexus.Fail, Findings: []nexus.Finding{again}}, nexus.ProofGreen, ""},
		"in another gate":  {nexus.GateEvidence{Gate: "e2e", Findings: []nexus.Finding{old}}, nexus.GateEvidence{Gate: "test", State: nexus.Fail, Findings: []nexus.Finding{old}}, nexus.ProofRed, ""},
		"something else was": {
			nexus.GateEvidence{Gate: "test", Findings: []nexus.Finding{{File: "a.py", Message: "no"}}},
			nexus.GateEvidence{Gate: "test", State: nexus.NotRun, Findings: []nexus.Finding{load}},
			nexus.ProofRed, "",
		},
	} {
		p := repair.ProveTests(files, []nexus.GateEvidence{c.before}, []nexus.GateEvidence{c.now})
		if p.Proof != c.want || c.why != "" && (len(p.Findings) != 1 || p.Findings[0].Message != c.why || p.Findings[0].Gate != "test") {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestSuggestionsComeFirst: what a person suggested is done without an agent, judged, and
// then the author is told the rest.
func TestSuggestionsComeFirst(t *testing.T) {
	task := &state.TaskState{Task: nexus.Task{ID: "T1"}}
	next := func(a *state.AttemptState) repair.RepairStep {
		return repair.NextRepairStep(task, a, limits(), repair.AttemptTreeFacts{Tested: true})
	}
	a := strict(wroteWith(1, nexus.Coder, nexus.Accepted)...)
	a.Apply(nexus.WorkReturnedToAuthor{Why: "c1, c2", Tell: true, Apply: []nexus.ReviewComment{{ID: "c1"}}}, a.Began)
	if s := next(a); s.Move != repair.Apply || s.Cause != nexus.ApplyCause || s.Why != "c1, c2" {
		t.Errorf("first: %+v", s)
	}
	a.Apply(nexus.SuggestionsApplied{Applied: []string{"c1"}}, a.Began)
	if s := next(a); s.Move != repair.Write || s.Role != nexus.Coder || s.Cause != nexus.PersonCause || s.Why != "c1, c2" {
		t.Errorf("then: %+v", s)
	}
	told := strict(wroteWith(1, nexus.Coder, nexus.Accepted)...)
	told.Apply(nexus.WorkReturnedToAuthor{Why: "c2", Tell: true}, a.Began)
	if s := next(told); s.Move != repair.Write || s.Cause != nexus.PersonCause {
		t.Errorf("nothing was suggested: %+v", s)
	}
	alone := strict(wroteWith(1, nexus.Coder, nexus.Accepted)...)
	alone.Strategy = nexus.TestAfter
	alone.Apply(nexus.RoundStarted{Round: 2, Role: nexus.Reviser, Cause: nexus.ApplyCause}, a.Began)
	if s := next(alone); s.Move != repair.Judge {
		t.Errorf("not judged: %+v", s)
	}
	alone.Apply(nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t2"}, a.Began)
	if s := next(alone); s.Move != repair.Review {
		t.Errorf("green: %+v", s)
	}
	alone.Apply(nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Summary: "good"}, a.Began)
	if s := next(alone); s.Move != repair.End || s.Outcome != nexus.Accepted {
		t.Errorf("approved: %+v", s)
	}
}

// TestABlockedRoundSaysWhy when it continues.
func TestABlockedRoundSaysWhy(t *testing.T) {
	a := strict(wroteWith(1, nexus.Coder, nexus.GaveUp)...)
	a.Apply(nexus.RoundStarted{Round: 2, Role: nexus.Tester, Cause: repair.BlockedCause, Session: "tester"}, a.Began)
	task := &state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.TDDStrict}}
	if s := repair.NextRepairStep(task, a, limits(), repair.AttemptTreeFacts{Tested: true}); !s.Resume || s.Role != nexus.Tester || s.Why != "it lacks a test" {
		t.Errorf("%+v", s)
	}
}
