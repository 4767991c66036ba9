package attempthistory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// old is an attempt that is over, with what happened in it.
func old(id nexus.AttemptID, o nexus.Outcome, facts ...nexus.Fact) *state.AttemptState {
	a := &state.AttemptState{ID: id, Tier: nexus.Fast, Base: "b0"}
	a.Apply(nexus.SessionStarted{Session: nexus.SessionID(id + "/coder.1"), Role: nexus.Coder}, time.Time{})
	for _, f := range append(facts, nexus.AttemptEnded{Outcome: o, Why: "it ended"}) {
		a.Apply(f, time.Time{})
	}
	return a
}

// round is one that came to a tree and was submitted.
func round(id nexus.AttemptID, n int, tree string, found ...nexus.Fact) []nexus.Fact {
	s := nexus.SessionID(id + "/coder.1")
	return append([]nexus.Fact{
		nexus.RoundStarted{Round: n, Role: nexus.Coder, Session: s},
		nexus.TreeSnapshotted{Commit: "c" + tree, Tree: tree},
		nexus.SessionEnded{Session: s, Outcome: nexus.Accepted, Result: "said " + tree},
	}, found...)
}

// red is what a gate says after others passed.
func red(tree, gate string, passed int, messages ...string) []nexus.Fact {
	e := nexus.GateEvidence{Gate: gate, State: nexus.Fail, Tree: tree}
	for i, m := range messages {
		e.Findings = append(e.Findings, nexus.Finding{Gate: gate, File: "a.go", Line: 3 + i + len(tree), Message: m})
	}
	var facts []nexus.Fact
	for i := range passed {
		facts = append(facts, nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: fmt.Sprint("g", i), State: nexus.Pass, Tree: tree}})
	}
	return append(facts, nexus.GateJudged{Evidence: e}, nexus.GatesVerdictGiven{Tree: tree, State: nexus.Fail, Gate: gate, Why: "1 finding"})
}

func green(tree string) []nexus.Fact {
	return []nexus.Fact{nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "g0", State: nexus.Pass, Tree: tree}}, nexus.GatesVerdictGiven{Tree: tree, State: nexus.Pass}}
}

func rejected(messages ...string) nexus.Fact {
	v := nexus.ReviewerVerdictGiven{Reviewed: true, SendsBack: true, Summary: "no"}
	for _, m := range messages {
		v.Findings = append(v.Findings, nexus.Finding{Gate: "review", File: "a.go", Line: 1, Severity: nexus.Major, Message: m})
	}
	return v
}

func facts(parts ...any) []nexus.Fact {
	var all []nexus.Fact
	for _, p := range parts {
		switch p := p.(type) {
		case nexus.Fact:
			all = append(all, p)
		case []nexus.Fact:
			all = append(all, p...)
		}
	}
	return all
}

// brief is an account in few words.
func brief(a attempthistory.AttemptsSummary) string {
	var b strings.Builder
	for _, t := range a.Attempts {
		fmt.Fprintf(&b, "%s %s, %d rounds, %s..%s, by %s, held %d, revised %v\n", t.ID, t.Fault, t.Rounds, t.From, t.To, t.Author.Result, t.Held, t.Revised)
	}
	for _, d := range a.DeadEnds {
		fmt.Fprintf(&b, "dead end %s %s:", d.Gate, d.Finding.Message)
		for _, t := range d.Tries {
			fmt.Fprintf(&b, " %s/%d %s", t.Attempt, t.Round, t.Author.Result)
		}
		b.WriteByte('\n')
	}
	if l := a.Last; l.From != "" {
		fmt.Fprintf(&b, "last %s %s/%d %q%s:", l.From, l.Attempt, l.Round, l.Why, l.Output)
		for _, f := range l.Findings {
			b.WriteString(" " + f.Message)
		}
		b.WriteByte('\n')
	}
	for _, s := range a.OpenFindings {
		fmt.Fprintf(&b, "stood %s %s: %s, objection %q\n", s.Attempt, s.Cause, s.Finding.Message, s.Objection)
	}
	for _, s := range a.Said {
		fmt.Fprintf(&b, "said %q %s\n", s.About, s.Text)
	}
	if c := a.Closest; c.At != "" {
		fmt.Fprintf(&b, "closest %s: %d met, %d passed, %d red\n", c.At, c.Met, c.Passed, c.Red)
	}
	return b.String()
}

func TestAccount(t *testing.T) {
	verify := func(category nexus.AttemptFailureCategory, message string) nexus.Fact {
		return nexus.VerifierVerdictGiven{Read: true, Category: category, Why: "half", Findings: []nexus.Finding{{Gate: "verify", Message: message}}}
	}
	disputes := nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted, Result: "said t2", Answers: []nexus.FindingAnswer{{Finding: 1, Status: nexus.Contested, Why: "it does not race"}}}
	moved, _ := rejected("the table races", "a long name").(nexus.ReviewerVerdictGiven)
	moved.Findings[0].Line, moved.Findings[1].Severity = 2, nexus.Minor
	review := func(n int, tree string, messages ...string) []nexus.Fact {
		r := round("T1.1", n, tree, green(tree)...)
		if n > 1 {
			r[0] = nexus.RoundStarted{Round: n, Role: nexus.Coder, Session: "T1.1/coder.1", Cause: "review"}
		}
		return append(r, rejected(messages...))
	}
	for name, c := range map[string]struct {
		view state.WorkerView
		want string
	}{
		"nothing was tried": {},
		"the machine failed": {
			view: state.WorkerView{Past: []*state.AttemptState{old("T1.1", nexus.Inapplicable)}},
			want: "T1.1 machine, 0 rounds, b0.., by , held 0, revised false\n",
		},
		"the newest first, and each failure with what was tried": {
			view: state.WorkerView{Past: []*state.AttemptState{
				old("T1.1", nexus.NoProgress, facts(round("T1.1", 1, "t1", red("t1", "test", 1, "got 1 at 0x1234", "slow")...), round("T1.1", 2, "t22", red("t22", "test", 1, "got 2 at 0xffff")...))...),
				old("T1.2", nexus.NoProgress, facts(round("T1.2", 1, "t333", red("t333", "test", 1, "got 3 at 0x1111", "got 3 at 0x2222")...), round("T1.2", 2, "t333", red("t333", "test", 1, "got 3 at 0x1111")...))...),
			}, Task: state.TaskState{Revised: 1}},
			want: `T1.2 idea, 2 rounds, b0..ct333, by said t333, held 0, revised false
T1.1 idea, 2 rounds, b0..ct22, by said t22, held 0, revised true
dead end test got 3 at 0x1111: T1.2/2 said t333 T1.1/2 said t22 T1.1/1 said t1
last test T1.2/2 "": got 3 at 0x1111
closest ct333: 0 met, 1 passed, 1 red
`,
		},
		"what meets more criteria is closest, then what passed more, then what is less red": {
			view: state.WorkerView{
				Task: state.TaskState{Task: nexus.Task{Criteria: []nexus.Criterion{{Check: "g2"}, {Check: "make x"}}}},
				Past: []*state.AttemptState{
					old("T1.1", nexus.NoProgress, facts(
						round("T1.1", 1, "t1", facts(green("t1"), nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "accept: make x", State: nexus.Pass, Tree: "t1"}})[1:]...),
						round("T1.1", 2, "t2", red("t2", "test", 2, "b", "c", "d")...),
					)...),
					old("T1.2", nexus.NoProgress, facts(round("T1.2", 1, "t3", red("t3", "test", 2, "b")...), round("T1.2", 2, "t4", red("t4", "build", 0, "g")...))...),
				},
			},
			want: `T1.2 idea, 2 rounds, b0..ct4, by said t4, held 0, revised false
T1.1 idea, 2 rounds, b0..ct2, by said t2, held 0, revised false
dead end test b: T1.2/1 said t3 T1.1/2 said t2
last build T1.2/2 "": g
closest ct1: 1 met, 1 passed, 0 red
`,
		},
		"what passed more is closest, then what is less red": {
			view: state.WorkerView{Past: []*state.AttemptState{old("T1.1", nexus.NoProgress, facts(
				round("T1.1", 1, "t1", red("t1", "lint", 1, "a")...), round("T1.1", 2, "t2", red("t2", "test", 2, "b", "c", "d")...),
				round("T1.1", 3, "t3", red("t3", "test", 2, "e", "f")...), round("T1.1", 4, "t4", red("t4", "build", 0, "g")...),
			)...)}},
			want: `T1.1 idea, 4 rounds, b0..ct4, by said t4, held 0, revised false
last build T1.1/4 "": g
closest ct3: 0 met, 2 passed, 2 red
`,
		},
		"a gate that found nothing has what it printed": {
			view: state.WorkerView{Past: []*state.AttemptState{old("T1.1", nexus.Unverified, round("T1.1", 1, "t1",
				nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Timeout, Tree: "t1", Output: " printed"}},
				nexus.GatesVerdictGiven{Tree: "t1", State: nexus.Timeout, Gate: "test", Why: "it hung"},
			)...)}},
			want: `T1.1 check, 1 rounds, b0..ct1, by said t1, held 0, revised false
last test T1.1/1 "it hung" printed:
closest ct1: 0 met, 0 passed, 1 red
`,
		},
		"what touches its judges or holds a secret is not shown, and nothing that a person wants nothing of": {
			view: state.WorkerView{
				Task: state.TaskState{Fresh: 1},
				Past: []*state.AttemptState{
					old("T1.1", nexus.NoProgress, round("T1.1", 1, "t1", red("t1", "test", 3, "a")...)...),
					old("T1.2", nexus.NoProgress, facts(round("T1.2", 1, "t2", red("t2", "test", 1, "b")...), round("T1.2", 2, "t3", facts(nexus.TamperSuspected{Tree: "t3"}, red("t3", "test", 2, "c"))...), round("T1.2", 3, "t4", red("t4", "secrets", 3, "a key")...))...),
				},
			},
			want: `T1.2 idea, 3 rounds, b0..ct4, by said t4, held 0, revised false
T1.1 idea, 1 rounds, b0..ct1, by said t1, held 0, revised false
last secrets T1.2/3 "": a key
closest ct2: 0 met, 1 passed, 1 red
`,
		},
		"what is to be fixed in the tree that it starts from is not told again": {
			view: state.WorkerView{
				Attempt: &state.AttemptState{ID: "T1.2", From: "T1.1", FromRound: 2},
				Kept:    state.StartingTree{Open: []nexus.Finding{{Gate: "review", File: "a.go", Line: 1, Severity: nexus.Major, Message: "the table races"}}},
				Past:    []*state.AttemptState{old("T1.1", nexus.Exhausted, facts(review(1, "t1", "the table races"), review(2, "t2", "the table races"))...)},
			},
			want: "T1.1 idea, 2 rounds, b0..ct2, by said t2, held 2, revised false\n",
		},
		"what judges named last stands, also after a dispute": {
			view: state.WorkerView{Past: []*state.AttemptState{
				old("T1.1", nexus.Exhausted, facts(review(1, "t1", "the table races", "no error"), review(2, "t2")[:2], disputes, green("t2"), moved)...),
				old("T1.2", nexus.NoProgress, round("T1.2", 1, "t3", red("t3", "build", 0, "undefined")...)...),
			}},
			want: `T1.2 idea, 1 rounds, b0..ct3, by said t3, held 0, revised false
T1.1 idea, 2 rounds, b0..ct2, by said t2, held 0, revised false
last build T1.2/1 "": undefined
stood T1.1 review: the table races, objection "it does not race"
closest ct2: 0 met, 1 passed, 1 red
`,
		},
		"what judges took back does not stand": {
			view: state.WorkerView{Past: []*state.AttemptState{old("T1.1", nexus.GaveUp, facts(
				round("T1.1", 1, "t1", facts(green("t1"), verify(nexus.TestsFailing, "weeks"))...),
				round("T1.1", 2, "t2", facts(green("t2"), verify("", "weeks"), rejected("a name"))...),
				round("T1.1", 3, "t3", facts(green("t3"), nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Findings: []nexus.Finding{{Gate: "review", Severity: nexus.Major, Message: "one alone does not block"}}})...),
				round("T1.1", 4, "t4", nexus.TestsRunWithoutWork{Proof: nexus.ProofGreen, Why: "they pass"}),
			)...)}},
			want: `T1.1 blocked, 4 rounds, b0..ct4, by said t4, held 0, revised false
last proof T1.1/4 "they pass":
closest ct3: 0 met, 1 passed, 0 red
`,
		},
		"what the landing found, and a verifier": {
			view: state.WorkerView{Past: []*state.AttemptState{
				old("T1.1", nexus.GaveUp, round("T1.1", 1, "t1", facts(green("t1"), verify(nexus.TestsFailing, "weeks"))...)...),
				old("T1.2", nexus.Exhausted, facts(round("T1.2", 1, "t2", green("t2")...), nexus.LandingRejected{Why: "red once merged", Onto: "b1", Findings: []nexus.Finding{{Message: "they collide"}}})...),
			}},
			want: `T1.2 unfinished, 1 rounds, b0..ct2, by said t2, held 0, revised false
T1.1 blocked, 1 rounds, b0..ct1, by said t1, held 0, revised false
last train T1.2/1 "red once merged": they collide
stood T1.1 verify: weeks, objection ""
closest ct2: 0 met, 1 passed, 0 red
`,
		},
		"people, newest first, each once": {
			view: state.WorkerView{Said: []state.DeliveredGuidance{{Seq: 1, Text: "Use  tabs"}, {About: "Tabs?", Text: "yes"}, {Seq: 3, Text: "use tabs"}, {About: "Months?", Text: "yes"}}},
			want: "said \"Months?\" yes\nsaid \"\" use tabs\nsaid \"Tabs?\" yes\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, brief(attempthistory.SummarizeAttempts(c.view))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestObjections are told with the finding that they were about, and with no other.
func TestObjections(t *testing.T) {
	race := nexus.Finding{Gate: "review", File: "a.go", Line: 1, Severity: nexus.Major, Message: "the table races"}
	again := func(n int, tree, cause string, answers ...nexus.FindingAnswer) []nexus.Fact {
		return facts(
			nexus.RoundStarted{Round: n, Role: nexus.Coder, Session: "T1.1/coder.1", Cause: cause}, nexus.TreeSnapshotted{Commit: "c" + tree, Tree: tree},
			nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted, Answers: answers}, green(tree), rejected("the table races", "no error at all"),
		)
	}
	past := old("T1.1", nexus.Exhausted, facts(again(1, "t1", ""), again(2, "t2", "review", nexus.FindingAnswer{Finding: 1, Status: nexus.Contested, Why: "one goroutine"}))...)
	v := state.WorkerView{Past: []*state.AttemptState{past}, Attempt: &state.AttemptState{From: "T1.1", FromRound: 2}, Kept: state.StartingTree{Open: []nexus.Finding{{Message: "no error at all"}, race}}}
	if diff := cmp.Diff([]string{"", "one goroutine"}, attempthistory.AuthorObjections(v)); diff != "" {
		t.Error(diff)
	}
	v.Attempt.FromRound = 1 // nobody had disputed anything then
	if diff := cmp.Diff([]string{"", ""}, attempthistory.AuthorObjections(v)); diff != "" {
		t.Error(diff)
	}
}
