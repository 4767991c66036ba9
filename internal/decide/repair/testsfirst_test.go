package repair_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// with folds facts into an attempt with a strategy.
func with(s nexus.WritingStrategy, facts ...nexus.Fact) *state.AttemptState {
	a := at(facts...)
	a.Strategy = s
	return a
}

func proved(p nexus.TestProofResult) []nexus.Fact {
	f := nexus.TestsRunWithoutWork{Attempt: "T1.1", Tree: "t", Proof: p}
	if p != nexus.ProofRed {
		f.Why = "they are " + string(p)
	}
	return []nexus.Fact{f}
}

func brokeStrictRules(files ...string) []nexus.Fact {
	return []nexus.Fact{nexus.RoleIsolationViolated{Attempt: "T1.1", Role: nexus.Tester, Files: files}}
}

func suspect() []nexus.Fact {
	return []nexus.Fact{nexus.TamperSuspected{Attempt: "T1.1", Tree: "t", Findings: []nexus.Finding{{Gate: "tamper", Message: "a test is gone"}}}}
}

func verified(c nexus.AttemptFailureCategory) []nexus.Fact {
	f := nexus.VerifierVerdictGiven{Attempt: "T1.1", Tree: "t", Read: true, Category: c, Why: "as seen"}
	if c != "" {
		f.Findings = []nexus.Finding{{Gate: "verify", Message: "mend it"}}
	}
	return []nexus.Fact{f}
}

// TestTestsFirst walks through the ways of an attempt whose tests come first.
func TestTestsFirst(t *testing.T) {
	strict, lite, simple := nexus.TDDStrict, nexus.TDDLite, nexus.TDDSimple
	first := wrote(1, tester, "")
	red := join(first, proved(nexus.ProofRed))
	done := join(red, wrote(2, coder, ""))
	green := join(done, judgeFindings(nexus.Pass, ""))
	tested := repair.AttemptTreeFacts{Tested: true}
	again := func(n int, p nexus.TestProofResult) []nexus.Fact {
		all := join(first, proved(p))
		for i := 2; i <= n; i++ {
			all = join(all, wrote(i, tester, "proof"), proved(p))
		}
		return all
	}
	mend := repair.RepairStep{Move: repair.Write, Role: nexus.Tester, Cause: "proof"}
	mending := func(why string) repair.RepairStep { s := mend; s.Why = why; return s }
	for name, c := range map[string]struct {
		a     *state.AttemptState
		facts repair.AttemptTreeFacts
		want  repair.RepairStep
	}{
		"the tester writes first":            {a: with(strict), want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester}},
		"in the lite strategy too":           {a: with(lite), want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester}},
		"in the simple one the coder does":   {a: with(simple), want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder}},
		"tests of an earlier try are proved": {a: with(lite), facts: tested, want: repair.RepairStep{Move: repair.Prove}},
		"and the coder begins":               {a: with(lite, proved(nexus.ProofRed)...), facts: tested, want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder}},
		"or they are mended":                 {a: with(lite, proved(nexus.ProofGreen)...), facts: tested, want: mending("they are green")},
		"a tester that is cut off goes on":   {a: with(strict, first[:2]...), want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester, Resume: true}},
		"what was written is proved":         {a: with(strict, first...), facts: tested, want: repair.RepairStep{Move: repair.Prove}},
		"red, and the coder writes":          {a: with(strict, red...), facts: tested, want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder}},
		"green tests are mended":             {a: with(strict, again(1, nexus.ProofGreen)...), facts: tested, want: mending("they are green")},
		"green three times":                  {a: with(strict, again(3, nexus.ProofGreen)...), facts: tested, want: repair.RepairStep{Move: repair.End, Outcome: nexus.Unverified, Why: "they are green, 3 times: the work may be there already"}},
		"broken tests are mended":            {a: with(strict, again(2, nexus.ProofBroken)...), facts: tested, want: mending("they are broken")},
		"broken three times":                 {a: with(strict, again(3, nexus.ProofBroken)...), facts: tested, want: repair.RepairStep{Move: repair.End, Outcome: nexus.NoProgress, Category: nexus.TestsFailing, Why: "they are broken, 3 times"}},
		"no test is asked for once more":     {a: with(strict, again(1, nexus.ProofNone)...), want: mending("they are none")},
		"no test twice":                      {a: with(strict, again(2, nexus.ProofNone)...), want: repair.RepairStep{Move: repair.End, Outcome: nexus.NoProgress, Category: nexus.GreenfieldNoTests, Why: "they are none"}},
		"tests that cannot be run":           {a: with(strict, again(1, nexus.ProofUnsure)...), facts: tested, want: repair.RepairStep{Move: repair.End, Outcome: nexus.Inapplicable, Why: "they are unsure"}},
		"a tester that touched code": {
			a: with(strict, join(first, brokeStrictRules("a.go", "b.go"))...), facts: tested,
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.NoProgress, Category: nexus.IsolationViolation, Why: "the tester changed more than tests, and that was undone: a.go, b.go"},
		},
		"in the lite strategy nobody minds": {a: with(lite, join(first, brokeStrictRules("a.go"))...), facts: tested, want: repair.RepairStep{Move: repair.Prove}},
		"a tester that cannot without code": {
			a:    with(strict, append(first[:3:3], nexus.SessionEnded{Session: tester, Outcome: nexus.GaveUp, Why: "no stub"})...),
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.GaveUp, Category: nexus.IsolationViolation, Why: "no stub"},
		},
		"a tester that lacks what only a person can give": {
			a:    with(strict, append(first[:3:3], nexus.SessionEnded{Session: tester, Outcome: nexus.GaveUp, Why: "no key", Needs: nexus.NeedsPerson})...),
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.GaveUp, Category: nexus.PersonNeeded, Why: "no key"},
		},
		"a session that crashed": {
			a:    with(strict, append(first[:3:3], nexus.SessionEnded{Session: tester, Outcome: nexus.Exhausted, Why: "60 turns"})...),
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.Exhausted, Category: nexus.SessionFailure, Why: "60 turns"},
		},
		"the gates judge the work":     {a: with(strict, done...), facts: tested, want: repair.RepairStep{Move: repair.Judge}},
		"green, and the verifier sees": {a: with(strict, green...), facts: tested, want: repair.RepairStep{Move: repair.Verify}},
		"verified, and it is reviewed": {a: with(strict, join(green, verified(""))...), facts: tested, want: repair.RepairStep{Move: repair.Review}},
		"no verdict, and the gates decide": {
			a: with(strict, append(green, nexus.VerifierVerdictGiven{Attempt: "T1.1", Tree: "t", Why: "no verdict"})...), facts: tested, want: repair.RepairStep{Move: repair.Review},
		},
		"what the verifier names is mended": {
			a: with(strict, join(green, verified(nexus.VerifierRejected))...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "verify", Findings: []nexus.Finding{{Gate: "verify", Message: "mend it"}}, Why: "as seen"},
		},
		"and then said again if need be": {
			a: with(strict, join(green, verified(nexus.VerifierRejected), wrote(3, coder, "verify")[:1])...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Resume: true, Cause: "verify", Findings: []nexus.Finding{{Gate: "verify", Message: "mend it"}}, Why: "as seen"},
		},
		"verified anew after that": {
			a: with(strict, join(green, verified(nexus.VerifierRejected), wrote(3, coder, "verify"), judgeFindings(nexus.Pass, ""))...), facts: tested, want: repair.RepairStep{Move: repair.Verify},
		},
		"the verifier says no for good": {
			a: with(strict, join(green, verified(nexus.VerifierRejected), wrote(3, coder, "verify"), judgeFindings(nexus.Pass, ""), verified(nexus.VerifierRejected))...), facts: tested,
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.Exhausted, Category: nexus.VerifierRejected, Why: "rejected by the verifier 2 times: as seen"},
		},
		"simple: green, and proved without the work": {a: with(simple, join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""))...), facts: tested, want: repair.RepairStep{Move: repair.Prove}},
		"simple: proved, and reviewed": {
			a: with(simple, join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""), proved(nexus.ProofRed))...), facts: tested, want: repair.RepairStep{Move: repair.Review},
		},
		"simple: tests that prove nothing": {
			a: with(simple, join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""), proved(nexus.ProofGreen))...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "proof", Why: "they are green"},
		},
		"code first, and a test is gone: the verifier sees": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), suspect(), judgeFindings(nexus.Pass, ""))...), facts: tested, want: repair.RepairStep{Move: repair.Verify},
		},
		"and where no gate is needed": {
			a: with(nexus.NoTest, join(wrote(1, coder, ""), suspect(), judgeFindings(nexus.NotRun, ""))...), want: repair.RepairStep{Move: repair.Verify},
		},
		"the verifier finds that right": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), suspect(), judgeFindings(nexus.Pass, ""), verified(""))...), facts: tested, want: repair.RepairStep{Move: repair.Review},
		},
		"the verifier does not": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), suspect(), judgeFindings(nexus.Pass, ""), verified(nexus.VerifierRejected))...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "verify", Findings: []nexus.Finding{{Gate: "verify", Message: "mend it"}}, Why: "as seen"},
		},
		"nobody says whether it is right": {
			a: with(nexus.TestAfter, append(join(wrote(1, coder, ""), suspect(), judgeFindings(nexus.Pass, "")), nexus.VerifierVerdictGiven{Attempt: "T1.1", Tree: "t", Why: "no verdict"})...), facts: tested,
			want: repair.RepairStep{Move: repair.End, Outcome: nexus.Unverified, Category: nexus.VerifierRejected, Why: "it changes its own tests or gates, and no verifier approved that: no verdict"},
		},
		"red, and it is mended first": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), suspect(), judgeFindings(nexus.Fail, "test"))...), facts: tested,
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "test", Why: "so"},
		},
		"green, and checks of criteria are tried": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""))...), facts: repair.AttemptTreeFacts{Tested: true, Claimed: true}, want: repair.RepairStep{Move: repair.Check},
		},
		"after three sessions too": {a: with(strict, green...), facts: repair.AttemptTreeFacts{Tested: true, Claimed: true}, want: repair.RepairStep{Move: repair.Check}},
		"red, and nothing is tried": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), judgeFindings(nexus.Fail, "test"))...), facts: repair.AttemptTreeFacts{Tested: true, Claimed: true},
			want: repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "test", Why: "so"},
		},
		"a criterion is to get a check": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""))...), facts: repair.AttemptTreeFacts{Tested: true, Unchecked: true}, want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester, Cause: "criteria"},
		},
		"and a tester is asked once": {
			a: with(nexus.TestAfter, join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""), wrote(2, tester, ""), judgeFindings(nexus.Pass, ""))...), facts: repair.AttemptTreeFacts{Tested: true, Unchecked: true}, want: repair.RepairStep{Move: repair.Review},
		},
		"simple: no test": {a: with(simple, join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""))...), want: repair.RepairStep{Move: repair.Write, Role: nexus.Tester}},
	} {
		t.Run(name, func(t *testing.T) {
			task := &state.TaskState{Task: nexus.Task{ID: "T1"}}
			limits := nexus.Limits{Rounds: 50, Same: 3, ReviewRounds: 2, MajorsBlock: 1}
			if diff := cmp.Diff(c.want, repair.NextRepairStep(task, c.a, limits, c.facts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRefusedBefore holds that work on a task that a verifier refused reaches a
// reviewer only with a verifier's consent, whatever the strategy of the attempt
// and whoever refused it in which attempt.
func TestRefusedBefore(t *testing.T) {
	green := join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""))
	unread := []nexus.Fact{nexus.VerifierVerdictGiven{Attempt: "T1.2", Tree: "t", Why: "no verdict"}}
	for _, way := range []nexus.WritingStrategy{nexus.TestAfter, nexus.NoTest} {
		for name, c := range map[string]struct {
			facts []nexus.Fact
			want  repair.RepairStep
		}{
			"nobody looked":      {green, repair.RepairStep{Move: repair.Verify}},
			"a verifier agrees":  {join(green, verified("")), repair.RepairStep{Move: repair.Review}},
			"a verifier refuses": {join(green, verified(nexus.VerifierRejected)), repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: "verify", Findings: []nexus.Finding{{Gate: "verify", Message: "mend it"}}, Why: "as seen"}},
			"no verdict": {join(green, unread), repair.RepairStep{
				Move: repair.End, Outcome: nexus.Unverified, Category: nexus.VerifierRejected,
				Why: "a verifier rejected the work, and none has approved it since: no verdict",
			}},
			"it agreed to an earlier round": {
				join(green, verified(""), wrote(2, coder, "review"), judgeFindings(nexus.Pass, "")), repair.RepairStep{Move: repair.Review},
			},
		} {
			task := &state.TaskState{Task: nexus.Task{ID: "T1"}, Refused: []state.VerifierRejection{{Attempt: "T1.1", Why: "the key is fixed"}}}
			got := repair.NextRepairStep(task, with(way, c.facts...), nexus.Limits{}, repair.AttemptTreeFacts{Tested: true})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %s: -want +got\n%s", way, name, diff)
			}
		}
	}
}
