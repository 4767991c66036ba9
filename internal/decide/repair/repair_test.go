package repair_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	coder  nexus.SessionID = "T1.1/coder.1"
	tester nexus.SessionID = "T1.1/tester.1"
)

// at folds facts into an attempt at T1.
func at(facts ...nexus.Fact) *state.AttemptState {
	a := &state.AttemptState{ID: "T1.1", Task: "T1", Tier: nexus.Fast, Strategy: nexus.TestAfter}
	for _, f := range facts {
		a.Apply(f, time.Time{})
	}
	return a
}

// wrote is a round in which a session said that it is done.
func wrote(n int, s nexus.SessionID, cause string) []nexus.Fact {
	role := nexus.Coder
	if s == tester {
		role = nexus.Tester
	}
	return []nexus.Fact{
		nexus.RoundStarted{Attempt: "T1.1", Round: n, Role: role, Cause: cause, Session: s},
		nexus.SessionStarted{Session: s, Attempt: "T1.1", Role: role},
		nexus.PromptSent{Session: s, Message: "m"},
		nexus.SessionEnded{Session: s, Outcome: nexus.Accepted},
	}
}

// isRed is a verdict with findings of those messages.
func isRed(gate, tree string, messages ...string) []nexus.Fact {
	e := nexus.GateEvidence{Gate: gate, Tree: tree, State: nexus.Fail}
	for _, m := range messages {
		e.Findings = append(e.Findings, nexus.Finding{Gate: gate, Message: m})
	}
	return []nexus.Fact{
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "first", Tree: tree, State: nexus.Pass}},
		nexus.GateJudged{Attempt: "T1.1", Evidence: e},
		nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: tree, Gate: gate, State: nexus.Fail, Why: "it is red"},
	}
}

func judgeFindings(s nexus.GateState, gate string) []nexus.Fact {
	return []nexus.Fact{nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: "t", State: s, Gate: gate, Why: "so"}}
}

func review(r nexus.ReviewerVerdictGiven) []nexus.Fact { return []nexus.Fact{r} }

func join(parts ...[]nexus.Fact) []nexus.Fact {
	var all []nexus.Fact
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// TestNext walks through the ways of an attempt.
func TestNext(t *testing.T) {
	first := wrote(1, coder, "")
	passed := join(first, judgeFindings(nexus.Pass, ""))
	finding := nexus.Finding{Message: "no", Severity: nexus.Major}
	rejected := nexus.ReviewerVerdictGiven{Reviewed: true, Summary: "not so", Findings: []nexus.Finding{finding}}
	tested := repair.AttemptTreeFacts{Tested: true}
	for name, c := range map[string]struct {
		task  nexus.Task
		a     *state.AttemptState
		facts repair.AttemptTreeFacts
		want  repair.RepairStep
	}{
		"at first the coder writes":        {a: at(), want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder}},
		"a test task begins with tests":    {task: nexus.Task{Kind: nexus.TestTask}, a: at(), want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester}},
		"a round without a session":        {a: at(first[:1]...), want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Resume: true}},
		"a session that is not over":       {a: at(first[:3]...), want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Resume: true}},
		"the gates judge what was written": {a: at(first...), want: repair.RepairStep{Move: repair.Judge}},
		"what a session that gave up leaves is judged": {
			a:    at(append(first[:3:3], nexus.SessionEnded{Session: coder, Outcome: nexus.GaveUp, Why: "cannot"})...),
			want: repair.RepairStep{Move: repair.Judge},
		},
		"then it is over": {
			a:    at(append(first[:3:3], nexus.SessionEnded{Session: coder, Outcome: nexus.GaveUp, Why: "cannot"}, nexus.GatesVerdictGiven{State: nexus.Pass})...),
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.GaveUp, Why: "cannot"},
		},
		"what was judged is not judged again": {
			a:    at(join([]nexus.Fact{nexus.TreeSnapshotted{Tree: "t"}}, first, isRed("test", "t", "no"), wrote(2, coder, "test")[:3], []nexus.Fact{nexus.SessionEnded{Session: coder, Outcome: nexus.GaveUp, Why: "cannot"}})...),
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.GaveUp, Why: "cannot"},
		},
		"what changed since is": {
			a:    at(join(first, isRed("test", "t", "no"), wrote(2, coder, "test")[:3], []nexus.Fact{nexus.TreeSnapshotted{Tree: "u"}, nexus.SessionEnded{Session: coder, Outcome: nexus.GaveUp, Why: "cannot"}})...),
			want: repair.RepairStep{Move: repair.Judge},
		},
		"a session that gave up and changed nothing ends it": {
			facts: repair.AttemptTreeFacts{Untouched: true},
			a:     at(append(first[:3:3], nexus.SessionEnded{Session: coder, Outcome: nexus.GaveUp, Why: "cannot"})...),
			want:  repair.RepairStep{Move: repair.End, Outcome: nexus.GaveUp, Why: "cannot"},
		},
		"it lacks what only a person can give": {
			facts: repair.AttemptTreeFacts{Untouched: true},
			a:     at(append(first[:3:3], nexus.SessionEnded{Session: coder, Outcome: nexus.GaveUp, Why: "no key", Needs: nexus.NeedsPerson})...),
			want:  repair.RepairStep{Move: repair.End, Outcome: nexus.GaveUp, Category: nexus.PersonNeeded, Why: "no key"},
		},
		"a session that money stopped goes on": {
			a:    at(append(first[:3:3], nexus.SessionEnded{Session: coder, Outcome: nexus.Refused})...),
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Resume: true},
		},
		"a session that was stopped goes on": {
			a:    at(append(first[:3:3], nexus.SessionEnded{Session: coder, Outcome: nexus.Stopped})...),
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Resume: true},
		},
		"green without a test wants one":  {a: at(passed...), want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester}},
		"green with a test is reviewed":   {a: at(passed...), facts: tested, want: repair.RepairStep{Move: repair.Review}},
		"docs need no test":               {task: nexus.Task{Kind: nexus.DocsTask}, a: at(passed...), want: repair.RepairStep{Move: repair.Review}},
		"the tester is asked once":        {a: at(join(passed, wrote(2, tester, ""), judgeFindings(nexus.Pass, ""))...), want: repair.RepairStep{Move: repair.Review}},
		"no tests ran: the tester writes": {a: at(join(first, judgeFindings(nexus.NotRun, "test"))...), want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester}},
		"no gate ran":                     {a: at(join(first, judgeFindings(nexus.NotRun, "build"))...), want: repair.RepairStep{Move: repair.End, Outcome: nexus.Unverified, Why: "gate build: not-run: so"}},
		"no gate ran on docs":             {task: nexus.Task{Kind: nexus.DocsTask}, a: at(join(first, judgeFindings(nexus.NotRun, ""))...), want: repair.RepairStep{Move: repair.Review}},
		"a gate that nobody understands":  {a: at(join(first, judgeFindings(nexus.Unverifiable, "lint"))...), want: repair.RepairStep{Move: repair.End, Outcome: nexus.Unverified, Why: "gate lint: unverifiable: so"}},
		"a broken environment":            {a: at(join(first, judgeFindings(nexus.Environmental, "build"))...), want: repair.RepairStep{Move: repair.End, Outcome: nexus.Inapplicable, Why: "gate build: environmental: so"}},
		"the zero verdict is no pass":     {a: at(join(first, judgeFindings("", ""))...), facts: tested, want: repair.RepairStep{Move: repair.End, Outcome: nexus.Unverified, Why: "the gates gave no result"}},
		"a timeout is repaired":           {a: at(join(first, judgeFindings(nexus.Timeout, "test"))...), want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "test", Why: "so"}},
		"red goes to the coder": {
			a:    at(join(first, isRed("vet", "t1", "unused x"))...),
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "vet", Findings: []nexus.Finding{{Gate: "vet", Message: "unused x"}}, Why: "it is red"},
		},
		"red tests of the tester go to the coder": {
			a:    at(join(passed, wrote(2, tester, ""), isRed("test", "t2", "TestX"))...),
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "test", Findings: []nexus.Finding{{Gate: "test", Message: "TestX"}}, Why: "it is red"},
		},
		"approved is accepted": {a: at(join(passed, review(nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Summary: "good"}))...), facts: tested, want: repair.RepairStep{Move: repair.End, Outcome: nexus.Accepted, Why: "good"}},
		"approved with a critical finding is not": {
			a: at(join(passed, review(nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Findings: []nexus.Finding{{Message: "leak", Severity: nexus.Critical}}}))...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "review", Findings: []nexus.Finding{{Message: "leak", Severity: nexus.Critical}}},
		},
		"rejected goes to the coder": {
			a: at(join(passed, review(rejected))...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "review", Findings: []nexus.Finding{finding}, Why: "not so"},
		},
		"rejected for a nit alone is accepted": {
			a: at(join(passed, review(nexus.ReviewerVerdictGiven{Reviewed: true, Summary: "hm", Findings: []nexus.Finding{{Message: "name", Severity: nexus.Minor}}}))...), facts: tested,
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.Accepted, Why: "hm"},
		},
		"rejected without a finding": {
			a: at(join(passed, review(nexus.ReviewerVerdictGiven{Reviewed: true, Summary: "hm"}))...), facts: tested,
			want: repair.RepairStep{Move: repair.Review},
		},
		"not reviewed is asked again": {a: at(join(passed, review(nexus.ReviewerVerdictGiven{Approved: true}))...), facts: tested, want: repair.RepairStep{Move: repair.Review}},
		"not reviewed twice is no approval": {
			a: at(join(passed, review(nexus.ReviewerVerdictGiven{Approved: true}), review(nexus.ReviewerVerdictGiven{Approved: true, Summary: "unread"}))...), facts: tested,
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.Unverified, Why: "not reviewed: unread"},
		},
		"the second rejection is the last": {
			a: at(join(passed, review(rejected), wrote(2, coder, "review"), judgeFindings(nexus.Pass, ""), review(rejected))...), facts: tested,
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.Exhausted, Why: "rejected by review 2 times: not so"},
		},
		"a new round is reviewed anew": {
			a: at(join(passed, review(rejected), wrote(2, coder, "review"), judgeFindings(nexus.Pass, ""))...), facts: tested, want: repair.RepairStep{Move: repair.Review},
		},
		"handed back by the train": {
			a: at(join(passed, review(nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true}), []nexus.Fact{
				nexus.AttemptEnded{Outcome: nexus.Accepted}, nexus.LandingRejected{Findings: []nexus.Finding{finding}, Why: "red once merged", Tree: "m"}, nexus.AttemptResumed{Tree: "m"},
			})...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "train", Findings: []nexus.Finding{finding}, Why: "red once merged"},
		},
		"handed back without a word": {
			a: at(join(passed, review(nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true}), []nexus.Fact{
				nexus.AttemptEnded{Outcome: nexus.Accepted}, nexus.LandingRejected{Tree: "m"}, nexus.AttemptResumed{Tree: "m"},
			})...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "train", Why: "the merged tree is red"},
		},
	} {
		task := &state.TaskState{Task: c.task}
		got := repair.NextRepairStep(task, c.a, nexus.Limits{Same: 3, ReviewRounds: 2, Rounds: 9}, c.facts)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestRounds counts the rounds of earlier attempts, of this one before and
// after the task was copied, and not those that a person forgave.
func TestRounds(t *testing.T) {
	a := at(join(wrote(1, coder, ""), isRed("vet", "t1", "x"))...)
	for _, c := range []struct {
		task state.TaskState
		over bool
	}{
		{state.TaskState{}, false},                                       // 1 of 3
		{state.TaskState{Rounds: 1}, false},                              // 2 of 3: one earlier
		{state.TaskState{Rounds: 2}, true},                               // 3 of 3
		{state.TaskState{Rounds: 2, RoundsOf: 1}, false},                 // the copy knows of this round
		{state.TaskState{Rounds: 3, RoundsOf: 1}, true},                  // 3 of 3
		{state.TaskState{Rounds: 9, RoundsOf: 1, MercyRounds: 7}, false}, // 2 of 3 since the retry
	} {
		step := repair.NextRepairStep(&c.task, a, nexus.Limits{Rounds: 3, Same: 9}, repair.AttemptTreeFacts{})
		if over := step.Move == repair.End && step.Outcome == nexus.Exhausted; over != c.over {
			t.Errorf("%d rounds, %d of this attempt: %+v", c.task.Rounds, c.task.RoundsOf, step)
		}
	}
	green := at(join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""))...)
	step := repair.NextRepairStep(&state.TaskState{}, green, nexus.Limits{Rounds: 1}, repair.AttemptTreeFacts{Tested: true, Unchecked: true})
	if step.Move != repair.Review {
		t.Errorf("no round is left for checks of criteria, and the work is green: %+v", step)
	}
}

func TestStuck(t *testing.T) {
	rounds := func(parts ...[]nexus.Fact) *state.AttemptState {
		var all []nexus.Fact
		for i, p := range parts {
			all = append(all, wrote(i+1, coder, "")...)
			all = append(all, p...)
		}
		return at(all...)
	}
	for name, c := range map[string]struct {
		a    *state.AttemptState
		want string
	}{
		"twice is not thrice":     {rounds(isRed("test", "a", "x"), isRed("test", "b", "x")), ""},
		"the same failure":        {rounds(isRed("test", "a", "x 1"), isRed("test", "b", "x 2"), isRed("test", "c", "x 3")), "the same test failure 3 times"},
		"in any order":            {rounds(isRed("test", "a", "x"), isRed("vet", "b", "y"), isRed("test", "c", "x"), isRed("test", "d", "x")), "the same test failure 3 times"},
		"another gate is another": {rounds(isRed("test", "a", "x"), isRed("test", "b", "x"), isRed("vet", "c", "x")), ""},
		"the same tree":           {rounds(isRed("test", "a", "x"), isRed("test", "a", "y"), isRed("vet", "a", "z")), "the same tree 3 times"},
		"growing": {
			rounds(isRed("test", "a", "a"), isRed("test", "b", "a", "b"), isRed("test", "c", "a", "b", "c"), isRed("test", "d", "a", "b", "c", "d")),
			"findings of test grew 3 times in a row",
		},
		"growing with a pause": {
			rounds(isRed("test", "a", "a"), isRed("test", "b", "a", "b"), isRed("test", "c", "c"), isRed("test", "d", "a", "d"), isRed("test", "e", "a", "b", "c")), "",
		},
		"growing of another gate": {
			rounds(isRed("test", "a", "a"), isRed("vet", "b", "a", "b"), isRed("test", "c", "a", "b", "c"), isRed("vet", "d", "a", "b", "c", "d")), "",
		},
		"a build that never works": {
			rounds(isRed("build", "a", "a"), isRed("build-web", "b", "b"), isRed("build", "c", "c"), isRed("build", "d", "d"), isRed("build", "e", "e")),
			"the build failed 5 times in a row",
		},
		"a build that works meanwhile": {
			rounds(isRed("build", "a", "a"), isRed("build", "b", "b"), isRed("test", "c", "c"), isRed("build", "d", "d"), isRed("build", "e", "e"), isRed("build", "f", "f")), "",
		},
	} {
		if got := repair.StuckReason(c.a, 3); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if c.want != "" {
			if step := repair.NextRepairStep(&state.TaskState{}, c.a, nexus.Limits{Same: 3}, repair.AttemptTreeFacts{}); step.Outcome != nexus.NoProgress || step.Why != c.want {
				t.Errorf("%s: %+v", name, step)
			}
		}
		if got := repair.StuckReason(c.a, 0); got != "" {
			t.Errorf("%s: without a limit it is %q", name, got)
		}
	}
}

func TestSignature(t *testing.T) {
	sign := func(fs ...nexus.Finding) string { return repair.FailureSignature("test", fs) }
	a := nexus.Finding{File: "a.go", Line: 3, Message: "got 12, want 0x7f8a at 0xc000123"}
	for name, c := range map[string]struct {
		x, y string
		same bool
	}{
		"numbers and lines":    {sign(a), sign(nexus.Finding{File: "a.go", Line: 9, Message: "Got 7,  want 0x7f8b at 0xc000999"}), true},
		"order and repeats":    {sign(a, nexus.Finding{Message: "b"}), sign(nexus.Finding{Message: "b"}, a, a), true},
		"another file":         {sign(a), sign(nexus.Finding{File: "b.go", Message: a.Message}), false},
		"another class":        {sign(a), sign(nexus.Finding{File: "a.go", Code: "SA1", Message: a.Message}), false},
		"another test":         {sign(nexus.Finding{Test: "TestA"}), sign(nexus.Finding{Test: "TestB"}), false},
		"one more":             {sign(a), sign(a, nexus.Finding{Message: "b"}), false},
		"fields do not run on": {sign(nexus.Finding{Code: "ab", Message: "c"}), sign(nexus.Finding{Code: "a", Message: "bc"}), false},
	} {
		if (c.x == c.y) != c.same {
			t.Errorf("%s: %s and %s", name, c.x, c.y)
		}
	}
}

func TestBlocks(t *testing.T) {
	of := func(all ...nexus.Severity) nexus.ReviewerVerdictGiven {
		var r nexus.ReviewerVerdictGiven
		for _, s := range all {
			r.Findings = append(r.Findings, nexus.Finding{Severity: s})
		}
		return r
	}
	for _, c := range []struct {
		r      nexus.ReviewerVerdictGiven
		majors int
		want   bool
	}{
		{of(), 0, false},
		{of(nexus.Minor, nexus.Suggestion, nexus.Minor), 1, false},
		{of(nexus.Major), 0, true},
		{of(nexus.Major), 1, true},
		{of(""), 1, true},
		{of(nexus.Major), 2, false},
		{of(nexus.Major, ""), 2, true},
		{of(nexus.Critical), 99, true},
	} {
		if got := repair.IsBlocking(c.r, c.majors); got != c.want {
			t.Errorf("%+v with %d: %v", c.r.Findings, c.majors, got)
		}
	}
}

func TestSum(t *testing.T) {
	e := func(gate string, s nexus.GateState) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: gate, Tree: "t", State: s}
	}
	hung := func(gate string, s nexus.GateState) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: gate, Tree: "t", State: s, Hangs: true, Base: "b"}
	}
	for name, c := range map[string]struct {
		task     nexus.Task
		evidence []nexus.GateEvidence
		state    nexus.GateState
		gate     string
	}{
		"nothing ran":             {state: nexus.NotRun},
		"another tree":            {evidence: []nexus.GateEvidence{{Gate: "test", Tree: "other", State: nexus.Pass}}, state: nexus.NotRun},
		"all pass":                {evidence: []nexus.GateEvidence{e("build", nexus.Pass), e("test", nexus.Pass)}, state: nexus.Pass, gate: "build"},
		"one is red":              {evidence: []nexus.GateEvidence{e("build", nexus.Pass), e("test", nexus.Fail)}, state: nexus.Fail, gate: "test"},
		"no tests for code":       {evidence: []nexus.GateEvidence{e("build", nexus.Pass), e("test", nexus.NotRun)}, state: nexus.NotRun, gate: "test"},
		"no tests for docs":       {task: nexus.Task{Kind: nexus.DocsTask}, evidence: []nexus.GateEvidence{e("build", nexus.Pass), e("test", nexus.NotRun)}, state: nexus.Pass, gate: "build"},
		"a criterion rests on it": {task: nexus.Task{Criteria: []nexus.Criterion{{Check: "lint"}}}, evidence: []nexus.GateEvidence{e("test", nexus.Pass), e("lint", nexus.NotRun)}, state: nexus.NotRun, gate: "lint"},
		"a step did not run":      {task: nexus.Task{Kind: nexus.DocsTask}, evidence: []nexus.GateEvidence{e("test", nexus.Pass), e("pipeline-docs", nexus.NotRun)}, state: nexus.Fail, gate: "pipeline-docs"},
		"nothing rests on it":     {evidence: []nexus.GateEvidence{e("test", nexus.Pass), e("lint", nexus.NotRun)}, state: nexus.Pass, gate: "test"},
		"red before unknown":      {evidence: []nexus.GateEvidence{e("lint", nexus.Unverifiable), e("test", nexus.Fail)}, state: nexus.Fail, gate: "test"},
		"it hangs as before, and nothing else judges":             {evidence: []nexus.GateEvidence{e("build", nexus.Pass), hung("test", nexus.Timeout)}, state: nexus.Unverifiable, gate: "test"},
		"it hangs as before, and some of its tests did not run":   {evidence: []nexus.GateEvidence{e("build", nexus.Pass), e("related", nexus.NotRun), hung("test", nexus.Timeout)}, state: nexus.Unverifiable, gate: "test"},
		"it hangs as before, and some of its tests pass":          {evidence: []nexus.GateEvidence{e("build", nexus.Pass), e("related", nexus.Pass), hung("test", nexus.Timeout)}, state: nexus.Pass, gate: "build"},
		"it hangs as before, and some of another tree's pass":     {evidence: []nexus.GateEvidence{e("build", nexus.Pass), {Gate: "related", State: nexus.Pass, Tree: "other"}, hung("test", nexus.Timeout)}, state: nexus.Unverifiable, gate: "test"},
		"it does not exit as before, and a criterion passes":      {evidence: []nexus.GateEvidence{hung("test-api", nexus.Environmental), e(nexus.AcceptGate+"x", nexus.Pass)}, state: nexus.Pass, gate: nexus.AcceptGate + "x"},
		"it hangs as before, and a criterion rests on it":         {task: nexus.Task{Criteria: []nexus.Criterion{{Check: "test"}}}, evidence: []nexus.GateEvidence{e("related", nexus.Pass), hung("test", nexus.Timeout)}, state: nexus.Unverifiable, gate: "test"},
		"it does not exit as before, and a criterion rests on it": {task: nexus.Task{Criteria: []nexus.Criterion{{Check: "test"}}}, evidence: []nexus.GateEvidence{e("related", nexus.Pass), hung("test", nexus.Environmental)}, state: nexus.Pass, gate: "related"},
		"it does not exit as before, and nothing else judges":     {task: nexus.Task{Criteria: []nexus.Criterion{{Check: "test"}}}, evidence: []nexus.GateEvidence{e("build", nexus.Pass), hung("test", nexus.Environmental)}, state: nexus.Unverifiable, gate: "test"},
		"it hangs as before, and something is red":                {evidence: []nexus.GateEvidence{e("related", nexus.Pass), hung("test", nexus.Timeout), e(nexus.AcceptGate+"x", nexus.Fail)}, state: nexus.Fail, gate: nexus.AcceptGate + "x"},
		"it hangs, and did not before":                            {evidence: []nexus.GateEvidence{e("related", nexus.Pass), e("test", nexus.Timeout)}, state: nexus.Timeout, gate: "test"},
		"an unknown state is worse":                               {evidence: []nexus.GateEvidence{e("test", nexus.Pass), e("lint", "odd")}, state: "odd", gate: "lint"},
	} {
		got := repair.CombineVerdict("T1.1", c.task, "t", c.evidence)
		if got.State != c.state || got.Gate != c.gate || got.Tree != "t" || got.Attempt != "T1.1" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestResumeGivesTheSameStep lets an attempt take any way there is, and its
// process die after each fact. The next process is given the same step; a
// round that had begun continues, with what its agent is to be told.
func TestResumeGivesTheSameStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := with(rapid.SampledFrom(append(nexus.Strategies(), nexus.TestAfter)).Draw(t, "strategy"))
		task := &state.TaskState{Task: nexus.Task{ID: "T1", Kind: rapid.SampledFrom([]nexus.TaskKind{"", nexus.TestTask, nexus.DocsTask}).Draw(t, "kind")}}
		limits := nexus.Limits{Rounds: 12, Same: rapid.IntRange(2, 3).Draw(t, "same"), ReviewRounds: 3, MajorsBlock: 1}
		facts := repair.AttemptTreeFacts{Tested: rapid.Bool().Draw(t, "tested")}
		now := func(live *state.AttemptState) repair.RepairStep {
			step := repair.NextRepairStep(task, live, limits, facts)
			if diff := cmp.Diff(step, repair.NextRepairStep(task, live.Clone(), limits, facts)); diff != "" {
				t.Fatalf("a resumed attempt takes another step:\n%s", diff)
			}
			return step
		}
		for n := 0; ; n++ {
			step := now(a)
			if n > 60 {
				t.Fatal("the attempt does not end")
			}
			switch step.Move {
			case repair.Apply:
				t.Fatal("nobody suggested a change")
			case repair.End:
				if step.Outcome == "" || step.Outcome != nexus.Accepted && step.Why == "" {
					t.Fatalf("it ends and does not say how: %+v", step)
				}
				if step.Outcome != nexus.Accepted || rapid.Bool().Draw(t, "lands") {
					return
				}
				a.Apply(nexus.AttemptEnded{Outcome: nexus.Accepted}, time.Time{})
				a.Apply(nexus.LandingRejected{Why: "red once merged", Findings: []nexus.Finding{{Message: "x"}}}, time.Time{})
				a.Apply(nexus.AttemptResumed{}, time.Time{})
			case repair.Write:
				begin(t, a, step, now)
			case repair.Judge:
				s := rapid.SampledFrom([]nexus.GateState{nexus.Pass, nexus.Fail, nexus.Fail, nexus.Timeout, nexus.NotRun}).Draw(t, "state")
				e := nexus.GateEvidence{Gate: "test", Tree: fmt.Sprint(n), State: s, Findings: []nexus.Finding{{Message: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "message")}}}
				a.Apply(nexus.GateJudged{Evidence: e}, time.Time{})
				a.Apply(nexus.GatesVerdictGiven{State: s, Gate: "test", Tree: e.Tree, Why: "so"}, time.Time{})
			case repair.Check, repair.Forgo, repair.Afresh, repair.Reproduce, repair.Regate: // nobody claims, reports or retries anything here
				t.Fatal("checks are tried that nobody named")
			case repair.Prove:
				p := rapid.SampledFrom([]nexus.TestProofResult{nexus.ProofRed, nexus.ProofRed, nexus.ProofGreen, nexus.ProofBroken, nexus.ProofNone}).Draw(t, "proof")
				a.Apply(proved(p)[0], time.Time{})
			case repair.Verify:
				a.Apply(verified(rapid.SampledFrom([]nexus.AttemptFailureCategory{"", nexus.VerifierRejected}).Draw(t, "category"))[0], time.Time{})
			case repair.Review:
				ok := rapid.Bool().Draw(t, "approved")
				r := nexus.ReviewerVerdictGiven{Reviewed: rapid.IntRange(0, 3).Draw(t, "reviewed") > 0, Approved: ok, Summary: "as seen"}
				if !ok {
					r.Findings = []nexus.Finding{{Message: "no"}}
				}
				a.Apply(r, time.Time{})
			}
		}
	})
}

// begin has a round, and asks for the step after each of its facts.
func begin(t *rapid.T, a *state.AttemptState, step repair.RepairStep, now func(*state.AttemptState) repair.RepairStep) {
	id := nexus.SessionID("T1.1/" + string(step.Role) + ".1")
	round := []nexus.Fact{nexus.RoundStarted{Role: step.Role, Cause: step.Cause, Session: id}}
	if a.SessionByID(id) == nil {
		round = append(round, nexus.SessionStarted{Session: id, Role: step.Role})
	}
	round = append(round, nexus.PromptSent{Session: id, Message: "m"}, nexus.ModelTurnRecorded{Session: id, Turn: 1, Message: "m"})
	want := step
	want.Resume, want.Outcome = true, ""
	for _, f := range round {
		a.Apply(f, time.Time{})
		if diff := cmp.Diff(want, now(a)); diff != "" {
			t.Fatalf("after %s the round goes on differently:\n%s", nexus.FactKind(f), diff)
		}
		if prompted := a.LastRound().Prompted; prompted != (strings.HasPrefix(nexus.FactKind(f), "prompt") || strings.HasPrefix(nexus.FactKind(f), "turn")) {
			t.Fatalf("after %s it is prompted: %v", nexus.FactKind(f), prompted)
		}
	}
	o := rapid.SampledFrom([]nexus.Outcome{nexus.Accepted, nexus.Accepted, nexus.Accepted, nexus.Exhausted, nexus.Refused}).Draw(t, "outcome")
	a.Apply(nexus.SessionEnded{Session: id, Outcome: o, Why: "so"}, time.Time{})
	if o == nexus.Refused {
		if diff := cmp.Diff(want, now(a)); diff != "" {
			t.Fatalf("with money the round goes on differently:\n%s", diff)
		}
		a.Apply(nexus.SessionEnded{Session: id, Outcome: nexus.Accepted}, time.Time{})
	}
}
