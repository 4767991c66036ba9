package state_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// attempt plays facts of an attempt.
func attempt(id nexus.AttemptID, facts ...nexus.Fact) *state.AttemptState {
	a := &state.AttemptState{ID: id, Base: "b0"}
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
	e := nexus.GateEvidence{Gate: "test", State: s, Tree: "t" + tree}
	for range red {
		e.Findings = append(e.Findings, nexus.Finding{Test: "x"})
	}
	return []nexus.Fact{nexus.GateJudged{Evidence: e}, nexus.GatesVerdictGiven{Gate: "test", State: s, Tree: "t" + tree, Own: own}}
}

func green(tree string) []nexus.Fact { return verdict(tree, nexus.Pass, false, 0) }

func rejected(n int) nexus.ReviewerVerdictGiven {
	r := nexus.ReviewerVerdictGiven{Reviewed: true, SendsBack: true, Findings: []nexus.Finding{{Severity: nexus.Minor, Message: "m"}}}
	for range n {
		r.Findings = append(r.Findings, nexus.Finding{Severity: nexus.Major, Message: "m"})
	}
	return r
}

func TestBest(t *testing.T) {
	over := nexus.AttemptEnded{Outcome: nexus.GaveUp}
	suspect := nexus.TamperSuspected{Findings: []nexus.Finding{{Message: "a test is gone"}}}
	cases := map[string]struct {
		attempts []*state.AttemptState
		want     string // commit, empty for none
		reach    state.GateProgress
	}{
		"nothing was tried":    {},
		"nothing was written":  {attempts: []*state.AttemptState{attempt("T1.1", nexus.RoundStarted{Round: 1}, over)}},
		"green":                {[]*state.AttemptState{attempt("T1.1", append(round(1, "c1", green("c1")...), over)...)}, "c1", state.ReachedGreen},
		"a check that is odd":  {[]*state.AttemptState{attempt("T1.1", append(round(1, "c1", verdict("c1", nexus.Unverifiable, false, 0)...), over)...)}, "c1", state.ReachedUnclear},
		"its own tests fail":   {[]*state.AttemptState{attempt("T1.1", append(round(1, "c1", verdict("c1", nexus.Fail, true, 2)...), over)...)}, "c1", state.ReachedOwnTests},
		"it breaks others":     {attempts: []*state.AttemptState{attempt("T1.1", append(round(1, "c1", verdict("c1", nexus.Fail, false, 2)...), over)...)}},
		"it was never judged":  {attempts: []*state.AttemptState{attempt("T1.1", append(round(1, "c1"), over)...)}},
		"the machine broke":    {[]*state.AttemptState{attempt("T1.1", append(round(1, "c1"), nexus.AttemptInfrastructureFailed{Why: "no disk"})...)}, "c1", state.ReachedNoGate},
		"time was over":        {[]*state.AttemptState{attempt("T1.1", append(round(1, "c1"), nexus.AttemptEnded{Outcome: nexus.Exhausted})...)}, "c1", state.ReachedNoGate},
		"green before it":      {[]*state.AttemptState{attempt("T1.1", join(round(1, "c1", green("c1")...), round(2, "c2"), []nexus.Fact{nexus.AttemptInfrastructureFailed{}})...)}, "c1", state.ReachedGreen},
		"red after green":      {[]*state.AttemptState{attempt("T1.1", join(round(1, "c1", green("c1")...), round(2, "c2", verdict("c2", nexus.Fail, true, 1)...))...)}, "c1", state.ReachedGreen},
		"fewer red":            {[]*state.AttemptState{attempt("T1.1", join(round(1, "c1", verdict("c1", nexus.Fail, true, 1)...), round(2, "c2", verdict("c2", nexus.Fail, true, 3)...))...)}, "c1", state.ReachedOwnTests},
		"of equals the later":  {[]*state.AttemptState{attempt("T1.1", join(round(1, "c1", green("c1")...), round(2, "c2", green("c2")...))...)}, "c2", state.ReachedGreen},
		"of another attempt":   {[]*state.AttemptState{attempt("T1.1", round(1, "c1", green("c1")...)...), attempt("T1.2", round(1, "c2", verdict("c2", nexus.Fail, false, 1)...)...)}, "c1", state.ReachedGreen},
		"fewer findings":       {[]*state.AttemptState{attempt("T1.1", join(round(1, "c1", append(green("c1"), rejected(1))...), round(2, "c2", append(green("c2"), rejected(2))...))...)}, "c1", state.ReachedGreen},
		"mended since":         {[]*state.AttemptState{attempt("T1.1", join(round(1, "c1", append(green("c1"), rejected(1))...), round(2, "c2", green("c2")...))...)}, "c2", state.ReachedGreen},
		"read, of equals":      {[]*state.AttemptState{attempt("T1.1", join(round(1, "c1", append(green("c1"), nexus.VerifierVerdictGiven{Read: true})...), round(2, "c2", green("c2")...))...)}, "c1", state.ReachedGreen},
		"it touches its judge": {attempts: []*state.AttemptState{attempt("T1.1", round(1, "c1", append(green("c1"), suspect)...)...)}},
		"and rightly":          {[]*state.AttemptState{attempt("T1.1", round(1, "c1", append(green("c1"), suspect, nexus.VerifierVerdictGiven{Read: true})...)...)}, "c1", state.ReachedGreen},
		"and wrongly":          {attempts: []*state.AttemptState{attempt("T1.1", round(1, "c1", append(green("c1"), suspect, nexus.VerifierVerdictGiven{Read: true, Category: nexus.VerifierRejected})...)...)}},
	}
	for name, c := range cases {
		got, ok := state.BestTree(c.attempts)
		if got.At != c.want || ok != (c.want != "") || ok && got.Reach != c.reach {
			t.Errorf("%s: %+v, %v; want %q, %v", name, got, ok, c.want, c.reach)
		}
	}
}

func TestFailed(t *testing.T) {
	ended := func(o nexus.Outcome, c nexus.AttemptFailureCategory, found ...nexus.Fact) *state.AttemptState {
		return attempt("T1.1", append(round(1, "c1", found...), nexus.AttemptEnded{Outcome: o, Category: c, Why: "so"})...)
	}
	cases := map[state.AttemptFailureCause][]*state.AttemptState{
		state.CauseCheck:      {ended(nexus.Unverified, "", verdict("c1", nexus.Unverifiable, false, 0)...), ended(nexus.Unverified, "", green("c1")...)},
		state.CauseMachine:    {attempt("T1.1", nexus.AttemptInfrastructureFailed{}), ended(nexus.Inapplicable, ""), attempt("T1.1", nexus.AttemptLost{})},
		state.CauseTests:      {ended(nexus.NoProgress, nexus.TestsFailing, nexus.TestsRunWithoutWork{Proof: nexus.ProofBroken}), ended(nexus.NoProgress, nexus.IsolationViolation), ended(nexus.Unverified, "", nexus.TestsRunWithoutWork{Proof: nexus.ProofGreen})},
		state.CauseJudge:      {ended(nexus.Unverified, "", append(green("c1"), nexus.ReviewerVerdictGiven{})...), ended(nexus.Unverified, nexus.VerifierRejected)},
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
			if got := state.FailureCauseOf(a); got != want {
				t.Errorf("%s %d: %s", want, i, got)
			}
		}
	}
}

// TestReady tells what is judged before anybody writes: what its author submitted,
// no reader sent back, and a person did something about if it was red.
func TestReady(t *testing.T) {
	session := nexus.SessionID("T1.1/coder.1")
	submitted := func(o nexus.Outcome, found ...nexus.Fact) []nexus.Fact {
		return append([]nexus.Fact{
			nexus.RoundStarted{Attempt: "T1.1", Round: 1, Role: nexus.Coder, Session: session},
			nexus.SessionStarted{Session: session, Attempt: "T1.1", Role: nexus.Coder},
			nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "c1", Tree: "tc1"},
			nexus.SessionEnded{Session: session, Outcome: o},
		}, found...)
	}
	of := func(s nexus.GateState) []nexus.Fact {
		return []nexus.Fact{
			nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "test", State: s, Tree: "tc1"}},
			nexus.GatesVerdictGiven{Attempt: "T1.1", Gate: "test", State: s, Tree: "tc1", Own: true},
		}
	}
	retry := nexus.TaskRetried{Task: "T1"}
	started := func(f nexus.AttemptStarted) nexus.AttemptStarted {
		f.Attempt, f.Task, f.From, f.Round, f.Tree = "T1.2", "T1", "T1.1", 1, "tc1"
		return f
	}
	ended := nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Unverified, Why: "so"}
	parked := nexus.TaskParked{Task: "T1", Why: "so"}
	tell := nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "paint it blue"}}
	rejects := nexus.ReviewerVerdictGiven{Attempt: "T1.1", Reviewed: true, SendsBack: true, Findings: []nexus.Finding{{Message: "m"}}}
	for name, c := range map[string]struct {
		work  []nexus.Fact
		after []nexus.Fact
		next  nexus.AttemptStarted
		want  bool
	}{
		"it passes":                       {submitted(nexus.Accepted, of(nexus.Pass)...), nil, nexus.AttemptStarted{}, true},
		"a gate could not tell":           {submitted(nexus.Accepted, of(nexus.Unverifiable)...), nil, nexus.AttemptStarted{}, true},
		"it is red":                       {submitted(nexus.Accepted, of(nexus.Fail)...), nil, nexus.AttemptStarted{}, false},
		"it is red, and a person retries": {submitted(nexus.Accepted, of(nexus.Fail)...), []nexus.Fact{parked, retry}, nexus.AttemptStarted{}, true},
		"it is red, on a new base":        {submitted(nexus.Accepted, of(nexus.Fail)...), nil, nexus.AttemptStarted{Since: "b0"}, true},
		"nobody submitted it":             {submitted(nexus.Exhausted, of(nexus.Pass)...), nil, nexus.AttemptStarted{}, false},
		"its author gave up":              {submitted(nexus.GaveUp, of(nexus.Pass)...), []nexus.Fact{parked, retry}, nexus.AttemptStarted{}, false},
		"its author gave up on red":       {submitted(nexus.GaveUp, of(nexus.Fail)...), []nexus.Fact{parked, retry}, nexus.AttemptStarted{}, true},
		"nobody judged it":                {submitted(nexus.Accepted), nil, nexus.AttemptStarted{}, false},
		"a reviewer sent it back":         {submitted(nexus.Accepted, append(of(nexus.Pass), rejects)...), []nexus.Fact{parked, retry}, nexus.AttemptStarted{}, false},
		"a person said something":         {submitted(nexus.Accepted, of(nexus.Pass)...), []nexus.Fact{tell}, nexus.AttemptStarted{}, false},
	} {
		s := state.NewState("r")
		all := join([]nexus.Fact{
			nexus.GoalAccepted{Base: "b1"},
			nexus.RunStarted{},
			nexus.PlanProposed{Tasks: 1},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
			nexus.PlanApproved{},
			nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "b1"},
		}, c.work, []nexus.Fact{ended}, c.after, []nexus.Fact{started(c.next)})
		for _, f := range all {
			if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", Fact: f}); err != nil {
				t.Fatalf("%s: %T: %v", name, f, err)
			}
		}
		if got := s.WorkerView("T1").Kept; got.Ready != c.want || got.At != "c1" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestAuthor is whose work an attempt is, also where nobody wrote in it.
func TestAuthor(t *testing.T) {
	coder := func(id nexus.AttemptID) nexus.Fact {
		return nexus.SessionStarted{Session: nexus.SessionID(id + "/coder.1"), Attempt: id, Role: nexus.Coder}
	}
	first, second, third := attempt("T1.1", coder("T1.1")), attempt("T1.2"), attempt("T1.3")
	second.From, third.From = "T1.1", "T1.2"
	v := state.WorkerView{Past: []*state.AttemptState{first, second, third}}
	for _, a := range v.Past {
		if s := v.AuthorSession(a); s == nil || s.Session != "T1.1/coder.1" {
			t.Errorf("%s: %+v", a.ID, s)
		}
	}
	if s := v.AuthorSession(attempt("T1.4")); s != nil {
		t.Errorf("it starts from nothing: %+v", s)
	}
	if s := v.AuthorSession(attempt("T1.5", coder("T1.5"))); s == nil || s.Session != "T1.5/coder.1" {
		t.Errorf("its own: %+v", s)
	}
}
