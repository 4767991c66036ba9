package state_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// attempt plays facts of an attempt.
func attempt(id nexus.AttemptID, facts ...nexus.Fact) *state.Attempt {
	a := &state.Attempt{ID: id, Base: "b0"}
	for _, f := range facts {
		a.Apply(f, time.Time{})
	}
	return a
}

// round is one that came to a commit and what is found of it.
func round(n int, commit string, found ...nexus.Fact) []nexus.Fact {
	return append([]nexus.Fact{nexus.RoundStarted{Round: n, Role: nexus.Coder}, nexus.TreeSnapshotted{Commit: commit, Tree: "t" + commit}}, found...)
}

func join(parts ...[]nexus.Fact) []nexus.Fact {
	var all []nexus.Fact
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func verdict(tree string, s nexus.GateState, own bool, red int) []nexus.Fact {
	e := nexus.Evidence{Gate: "test", State: s, Tree: "t" + tree}
	for range red {
		e.Findings = append(e.Findings, nexus.Finding{Test: "x"})
	}
	return []nexus.Fact{nexus.GateJudged{Evidence: e}, nexus.VerdictGiven{Gate: "test", State: s, Tree: "t" + tree, Own: own}}
}

func green(tree string) []nexus.Fact { return verdict(tree, nexus.Pass, false, 0) }

func rejected(n int) nexus.ReviewGiven {
	r := nexus.ReviewGiven{Reviewed: true, SendsBack: true, Findings: []nexus.Finding{{Severity: nexus.Minor, Message: "m"}}}
	for range n {
		r.Findings = append(r.Findings, nexus.Finding{Severity: nexus.Major, Message: "m"})
	}
	return r
}

func TestBest(t *testing.T) {
	over := nexus.AttemptEnded{Outcome: nexus.GaveUp}
	suspect := nexus.TamperSuspected{Findings: []nexus.Finding{{Message: "a test is gone"}}}
	cases := map[string]struct {
		attempts []*state.Attempt
		want     string // commit, empty for none
		reach    state.Reach
	}{
		"nothing was tried":    {},
		"nothing was written":  {attempts: []*state.Attempt{attempt("T1.1", nexus.RoundStarted{Round: 1}, over)}},
		"green":                {[]*state.Attempt{attempt("T1.1", append(round(1, "c1", green("c1")...), over)...)}, "c1", state.ReachedGreen},
		"a check that is odd":  {[]*state.Attempt{attempt("T1.1", append(round(1, "c1", verdict("c1", nexus.Unverifiable, false, 0)...), over)...)}, "c1", state.ReachedUnclear},
		"its own tests fail":   {[]*state.Attempt{attempt("T1.1", append(round(1, "c1", verdict("c1", nexus.Fail, true, 2)...), over)...)}, "c1", state.ReachedOwnTests},
		"it breaks others":     {attempts: []*state.Attempt{attempt("T1.1", append(round(1, "c1", verdict("c1", nexus.Fail, false, 2)...), over)...)}},
		"it was never judged":  {attempts: []*state.Attempt{attempt("T1.1", append(round(1, "c1"), over)...)}},
		"the machine broke":    {[]*state.Attempt{attempt("T1.1", append(round(1, "c1"), nexus.AttemptBroken{Why: "no disk"})...)}, "c1", state.ReachedNoGate},
		"time was over":        {[]*state.Attempt{attempt("T1.1", append(round(1, "c1"), nexus.AttemptEnded{Outcome: nexus.Exhausted})...)}, "c1", state.ReachedNoGate},
		"green before it":      {[]*state.Attempt{attempt("T1.1", join(round(1, "c1", green("c1")...), round(2, "c2"), []nexus.Fact{nexus.AttemptBroken{}})...)}, "c1", state.ReachedGreen},
		"red after green":      {[]*state.Attempt{attempt("T1.1", join(round(1, "c1", green("c1")...), round(2, "c2", verdict("c2", nexus.Fail, true, 1)...))...)}, "c1", state.ReachedGreen},
		"fewer red":            {[]*state.Attempt{attempt("T1.1", join(round(1, "c1", verdict("c1", nexus.Fail, true, 1)...), round(2, "c2", verdict("c2", nexus.Fail, true, 3)...))...)}, "c1", state.ReachedOwnTests},
		"of equals the later":  {[]*state.Attempt{attempt("T1.1", join(round(1, "c1", green("c1")...), round(2, "c2", green("c2")...))...)}, "c2", state.ReachedGreen},
		"of another attempt":   {[]*state.Attempt{attempt("T1.1", round(1, "c1", green("c1")...)...), attempt("T1.2", round(1, "c2", verdict("c2", nexus.Fail, false, 1)...)...)}, "c1", state.ReachedGreen},
		"fewer findings":       {[]*state.Attempt{attempt("T1.1", join(round(1, "c1", append(green("c1"), rejected(1))...), round(2, "c2", append(green("c2"), rejected(2))...))...)}, "c1", state.ReachedGreen},
		"mended since":         {[]*state.Attempt{attempt("T1.1", join(round(1, "c1", append(green("c1"), rejected(1))...), round(2, "c2", green("c2")...))...)}, "c2", state.ReachedGreen},
		"read, of equals":      {[]*state.Attempt{attempt("T1.1", join(round(1, "c1", append(green("c1"), nexus.WorkVerified{Read: true})...), round(2, "c2", green("c2")...))...)}, "c1", state.ReachedGreen},
		"it touches its judge": {attempts: []*state.Attempt{attempt("T1.1", round(1, "c1", append(green("c1"), suspect)...)...)}},
		"and rightly":          {[]*state.Attempt{attempt("T1.1", round(1, "c1", append(green("c1"), suspect, nexus.WorkVerified{Read: true})...)...)}, "c1", state.ReachedGreen},
		"and wrongly":          {attempts: []*state.Attempt{attempt("T1.1", round(1, "c1", append(green("c1"), suspect, nexus.WorkVerified{Read: true, Category: nexus.VerifierRejected})...)...)}},
	}
	for name, c := range cases {
		got, ok := state.BestTree(c.attempts)
		if got.At != c.want || ok != (c.want != "") || ok && got.Reach != c.reach {
			t.Errorf("%s: %+v, %v; want %q, %v", name, got, ok, c.want, c.reach)
		}
	}
}

func TestFailed(t *testing.T) {
	ended := func(o nexus.Outcome, c nexus.Category, found ...nexus.Fact) *state.Attempt {
		return attempt("T1.1", append(round(1, "c1", found...), nexus.AttemptEnded{Outcome: o, Category: c, Why: "so"})...)
	}
	cases := map[state.Cause][]*state.Attempt{
		state.CauseCheck:      {ended(nexus.Unverified, "", verdict("c1", nexus.Unverifiable, false, 0)...), ended(nexus.Unverified, "", green("c1")...)},
		state.CauseMachine:    {attempt("T1.1", nexus.AttemptBroken{}), ended(nexus.Inapplicable, ""), attempt("T1.1", nexus.AttemptLost{})},
		state.CauseTests:      {ended(nexus.NoProgress, nexus.TestsFailing, nexus.TestsProved{Proof: nexus.ProofBroken}), ended(nexus.NoProgress, nexus.IsolationViolation), ended(nexus.Unverified, "", nexus.TestsProved{Proof: nexus.ProofGreen})},
		state.CauseJudge:      {ended(nexus.Unverified, "", append(green("c1"), nexus.ReviewGiven{})...), ended(nexus.Unverified, nexus.VerifierRejected)},
		state.CauseIdea:       {ended(nexus.NoProgress, nexus.TestsFailing, verdict("c1", nexus.Fail, true, 1)...), ended(nexus.Exhausted, "", append(green("c1"), rejected(1))...)},
		state.CauseUnfinished: {ended(nexus.Exhausted, ""), ended(nexus.GaveUp, nexus.SessionFailure)},
		state.CauseBlocked:    {ended(nexus.GaveUp, "")},
		state.CauseDispute:    {ended(nexus.GaveUp, nexus.Disputed)},
		state.CauseConflict:   {ended(nexus.Conflicted, "")},
		state.CauseTrain:      {ended(nexus.Accepted, "")},
		state.CauseNothing:    {attempt("T1.1", nexus.AttemptEnded{Outcome: nexus.Unverified, Why: state.Unchanged})},
	}
	for want, all := range cases {
		for i, a := range all {
			if got := state.CauseOf(a); got != want {
				t.Errorf("%s %d: %s", want, i, got)
			}
		}
	}
}
