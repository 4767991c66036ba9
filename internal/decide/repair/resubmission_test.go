package repair_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// submitted is a round that comes to a tree, with answers to what it is about.
func submitted(n int, cause, tree string, answers ...nexus.FindingAnswer) []nexus.Fact {
	return []nexus.Fact{
		nexus.RoundStarted{Attempt: "T1.1", Round: n, Role: nexus.Coder, Cause: cause, Session: coder},
		nexus.SessionStarted{Session: coder, Attempt: "T1.1", Role: nexus.Coder},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "c" + tree, Tree: tree},
		nexus.SessionEnded{Session: coder, Outcome: nexus.Accepted, Answers: answers},
	}
}

// gates is what they say about a tree.
func gates(s nexus.GateState, tree string) []nexus.Fact {
	return []nexus.Fact{
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "test", Tree: tree, State: s, Why: "so"}},
		nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: tree, Gate: "test", State: s, Why: "so"},
	}
}

// TestResubmitted ends an attempt at once that submits a tree that was refused,
// unless it says to a judge who reads why that is right.
func TestResubmitted(t *testing.T) {
	rejected := nexus.ReviewerVerdictGiven{Reviewed: true, Summary: "it races", SendsBack: true, Findings: []nexus.Finding{{Gate: "review", Message: "it races", Severity: nexus.Major}}}
	approved := nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Summary: "good"}
	refused := nexus.VerifierVerdictGiven{Read: true, Category: nexus.VerifierRejected, Why: "half of it", Findings: []nexus.Finding{{Gate: "verify", Message: "half of it"}}}
	disputed := nexus.FindingAnswer{Finding: 1, Status: nexus.Contested, Why: "it holds a lock"}
	redCheck := nexus.CriterionTestsFound{Attempt: "T1.1", Tree: "t", Checks: []nexus.CriterionTest{{Number: 1, Command: "sh x.sh", Red: true, Why: "it fails"}}}
	no := func(by, why string) string {
		return "end no-progress resubmitted: the tree that " + by + " refused was submitted again: " + why
	}
	for name, c := range map[string]struct {
		facts [][]nexus.Fact
		of    repair.AttemptTreeFacts
		want  string
	}{
		"a gate refused it":              {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Fail, "t"), submitted(2, "test", "t")}, repair.AttemptTreeFacts{}, no("gate test", "so")},
		"another tree is judged":         {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Fail, "t"), submitted(2, "test", "u")}, repair.AttemptTreeFacts{}, "judge"},
		"an older one is none":           {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Fail, "t"), submitted(2, "test", "u"), gates(nexus.Fail, "u"), submitted(3, "test", "t")}, repair.AttemptTreeFacts{}, no("gate test", "so")},
		"what took too long is judged":   {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Timeout, "t"), submitted(2, "test", "t")}, repair.AttemptTreeFacts{}, "judge"},
		"a gate could not tell":          {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.NotRun, "t"), submitted(2, "test", "t")}, repair.AttemptTreeFacts{}, "end unverified: gate test: not-run: so"},
		"a review refused it":            {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), {rejected}, submitted(2, "review", "t")}, repair.AttemptTreeFacts{}, no("the review", "it races")},
		"the review is told why":         {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), {rejected}, submitted(2, "review", "t", disputed)}, repair.AttemptTreeFacts{}, "judge"},
		"a dispute without a reason":     {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), {rejected}, submitted(2, "review", "t", nexus.FindingAnswer{Finding: 1, Status: nexus.Contested})}, repair.AttemptTreeFacts{}, no("the review", "it races")},
		"a gate is told nothing":         {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Fail, "t"), submitted(2, "test", "t", disputed)}, repair.AttemptTreeFacts{}, no("gate test", "so")},
		"the verifier refused it":        {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), {refused}, submitted(2, "verify", "t")}, repair.AttemptTreeFacts{}, "end no-progress verifier-rejected: the tree that the verifier refused was submitted again: half of it"},
		"it was approved":                {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), {approved}, submitted(2, "person", "t")}, repair.AttemptTreeFacts{}, "judge"},
		"a check of a criterion fails":   {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), {redCheck}, submitted(2, "accept: sh x.sh", "t")}, repair.AttemptTreeFacts{}, no("gate accept: sh x.sh", "criterion 1 is not met: it fails")},
		"nothing shows a criterion":      {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), submitted(2, "unshown", "t")}, repair.AttemptTreeFacts{Unshown: "T1/AC-1 is unknown"}, "end unverified: T1/AC-1 is unknown"},
		"an earlier attempt came to it":  {[][]nexus.Fact{submitted(1, "", "t")}, repair.AttemptTreeFacts{Refused: repair.TreeObjection{By: "test", Why: "so", Outcome: nexus.NoProgress}}, no("gate test", "so")},
		"this one knows it better":       {[][]nexus.Fact{submitted(1, "", "t"), gates(nexus.Pass, "t"), {approved}, submitted(2, "person", "t")}, repair.AttemptTreeFacts{Refused: repair.TreeObjection{By: "test", Why: "so", Outcome: nexus.NoProgress}}, "judge"},
		"the landing refused the merged": {[][]nexus.Fact{handed(), submitted(2, "train", "m")}, repair.AttemptTreeFacts{}, no("the landing", "red once merged")},
		"the landing refused another":    {[][]nexus.Fact{handed(), submitted(2, "train", "u")}, repair.AttemptTreeFacts{}, "judge"},
	} {
		step := repair.NextRepairStep(&state.TaskState{}, at(join(c.facts...)...), nexus.Limits{Same: 9, ReviewRounds: 9}, c.of)
		got := strings.Join(strings.Fields(fmt.Sprint(step.Move, " ", step.Outcome, " ", step.Category)), " ")
		if step.Why != "" {
			got += ": " + step.Why
		}
		if got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

// handed is work that was accepted and that the landing hands back.
func handed() []nexus.Fact {
	return join(submitted(1, "", "t"), gates(nexus.Pass, "t"), []nexus.Fact{
		nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true},
		nexus.AttemptEnded{Outcome: nexus.Accepted},
		nexus.LandingRejected{Findings: []nexus.Finding{{Message: "they collide"}}, Why: "red once merged", Onto: "b1", Tree: "m"},
		nexus.AttemptResumed{Base: "b1", Tree: "m"},
	})
}

// TestTreeRefusedBefore finds the last judgement of a tree in earlier attempts.
func TestTreeRefusedBefore(t *testing.T) {
	past := func(base string, facts ...[]nexus.Fact) *state.AttemptState {
		a := &state.AttemptState{ID: "T1.1", Base: base, Strategy: nexus.TestAfter}
		for _, f := range join(facts...) {
			a.Apply(f, time.Time{})
		}
		return a
	}
	red, green := past("b", submitted(1, "", "t"), gates(nexus.Fail, "t")), past("b", submitted(1, "", "t"), gates(nexus.Pass, "t"))
	for name, c := range map[string]struct {
		past []*state.AttemptState
		tree string
		want string
	}{
		"refused":                  {[]*state.AttemptState{red}, "t", "test"},
		"another tree":             {[]*state.AttemptState{red}, "u", ""},
		"no tree":                  {[]*state.AttemptState{red}, "", ""},
		"another base":             {[]*state.AttemptState{past("c", submitted(1, "", "t"), gates(nexus.Fail, "t"))}, "t", ""},
		"it passed later":          {[]*state.AttemptState{red, green}, "t", ""},
		"it was refused later":     {[]*state.AttemptState{green, red}, "t", "test"},
		"the last one is of other": {[]*state.AttemptState{red, past("b", submitted(1, "", "u"), gates(nexus.Pass, "u"))}, "t", "test"},
	} {
		if got := repair.FindEarlierRefusal(c.past, "b", c.tree); got.By != c.want {
			t.Errorf("%s: by %q, want %q", name, got.By, c.want)
		}
	}
}

// TestNoTreeIsJudgedTwice holds that however the author of an attempt writes, no
// tree that gates found red is judged again.
func TestNoTreeIsJudgedTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := at()
		judged := map[string]int{}
		for n := 1; n < 9; n++ {
			if step := repair.NextRepairStep(&state.TaskState{}, a, nexus.Limits{}, repair.AttemptTreeFacts{Tested: true}); step.Move != repair.Write {
				return
			}
			tree := rapid.SampledFrom([]string{"t", "u", "v"}).Draw(t, "tree")
			apply := func(facts []nexus.Fact) {
				for _, f := range facts {
					a.Apply(f, time.Time{})
				}
			}
			cause := ""
			if n > 1 {
				cause = "test"
			}
			var answers []nexus.FindingAnswer
			if rapid.Bool().Draw(t, "disputes") {
				answers = []nexus.FindingAnswer{{Finding: 1, Status: nexus.Contested, Why: "no"}}
			}
			apply(submitted(n, cause, tree, answers...))
			if step := repair.NextRepairStep(&state.TaskState{}, a, nexus.Limits{}, repair.AttemptTreeFacts{Tested: true}); step.Move != repair.Judge {
				if judged[tree] == 0 {
					t.Fatalf("round %d: %s was never judged: %+v", n, tree, step)
				}
				return
			}
			if judged[tree]++; judged[tree] > 1 {
				t.Fatalf("round %d: %s is judged again", n, tree)
			}
			apply(gates(nexus.Fail, tree))
		}
	})
}

// TestUnclear tells the author once that a gate could not tell, where that may
// be its work's fault.
func TestUnclear(t *testing.T) {
	evidence := func(e nexus.GateEvidence) []nexus.Fact {
		e.Gate, e.Tree = "test", "t"
		return []nexus.Fact{nexus.GateJudged{Attempt: "T1.1", Evidence: e}, nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: "t", Gate: "test", State: e.State, Why: "all skipped"}}
	}
	skipped := evidence(nexus.GateEvidence{State: nexus.Unverifiable})
	told := string(repair.Write) + " test"
	for name, c := range map[string]struct {
		facts [][]nexus.Fact
		of    repair.AttemptTreeFacts
		want  string
	}{
		"its tests say nothing": {[][]nexus.Fact{submitted(1, "", "t"), skipped}, repair.AttemptTreeFacts{Tested: true}, told},
		"its tests did not run": {[][]nexus.Fact{submitted(1, "", "t"), evidence(nexus.GateEvidence{State: nexus.NotRun})}, repair.AttemptTreeFacts{Tested: true}, told},
		"they are flaky":        {[][]nexus.Fact{submitted(1, "", "t"), evidence(nexus.GateEvidence{State: nexus.Flaky})}, repair.AttemptTreeFacts{Tested: true}, told},
		"it was told":           {[][]nexus.Fact{submitted(1, "", "u"), skipped, submitted(2, "test", "t"), skipped}, repair.AttemptTreeFacts{Tested: true}, "end "},
		"as on the base":        {[][]nexus.Fact{submitted(1, "", "t"), skipped}, repair.AttemptTreeFacts{Tested: true, Before: true}, "end "},
		"it hangs on the base":  {[][]nexus.Fact{submitted(1, "", "t"), evidence(nexus.GateEvidence{State: nexus.Unverifiable, Hangs: true})}, repair.AttemptTreeFacts{Tested: true}, "end "},
		"weighed by the base":   {[][]nexus.Fact{submitted(1, "", "t"), evidence(nexus.GateEvidence{State: nexus.Unverifiable, Base: "b"})}, repair.AttemptTreeFacts{Tested: true}, "end "},
	} {
		step := repair.NextRepairStep(&state.TaskState{}, at(join(c.facts...)...), nexus.Limits{Same: 9}, c.of)
		if got := string(step.Move) + " " + step.Cause; got != c.want || step.Move == repair.End && step.Outcome != nexus.Unverified {
			t.Errorf("%s: %+v", name, step)
		}
	}
	given := join(submitted(1, "", "t"), []nexus.Fact{
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: nexus.AcceptGate + "make x", Tree: "t", State: nexus.Unverifiable}},
		nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: "t", Gate: nexus.AcceptGate + "make x", State: nexus.Unverifiable},
	})
	if step := repair.NextRepairStep(&state.TaskState{}, at(given...), nexus.Limits{Same: 9}, repair.AttemptTreeFacts{Tested: true}); step.Outcome != nexus.Unverified {
		t.Errorf("the command of a criterion is not the author's to change: %+v", step)
	}
	full := at(join(submitted(1, "", "t"), skipped)...)
	if step := repair.NextRepairStep(&state.TaskState{}, full, nexus.Limits{Rounds: 1}, repair.AttemptTreeFacts{Tested: true}); step.Outcome != nexus.Unverified {
		t.Errorf("no round is left: %+v", step)
	}
}
