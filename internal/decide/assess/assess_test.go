package assess_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/assess"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// judged is a round that stopped at a gate with findings, or was green.
func judged(tree, gate string, findings ...string) *state.Round {
	r := &state.Round{Verdict: &nexus.VerdictGiven{Tree: tree, Gate: gate, State: nexus.Fail}}
	for _, name := range []string{"build", "test", "lint"} {
		e := nexus.Evidence{Gate: name, Tree: tree, State: nexus.Pass}
		if name == gate {
			e.State = nexus.Fail
			for _, m := range findings {
				e.Findings = append(e.Findings, nexus.Finding{Gate: gate, Message: m})
			}
		}
		r.Evidence = append(r.Evidence, e)
		if name == gate {
			return r
		}
	}
	r.Verdict.State = nexus.Pass
	return r
}

func turnedDown(tree string) *state.Round {
	r := judged(tree, "")
	r.Reviews = []nexus.ReviewGiven{{Tree: tree, Reviewed: true}}
	return r
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name     string
		rounds   []*state.Round
		change   func(s *state.State, t *state.Task, a *state.Attempt)
		progress int
		course   assess.Course
		next     assess.Step
		why      string
	}{
		{"begun", nil, nil, 0, assess.Working, assess.GoOn, "just started"},
		{"red once", []*state.Round{judged("a", "build", "x")}, nil, 0, assess.Working, assess.GoOn, "just started"},
		{"less", []*state.Round{judged("a", "test", "x", "y"), judged("b", "test", "x")}, nil, 33, assess.Working, assess.GoOn, "less is wrong"},
		{"a gate further", []*state.Round{judged("a", "build", "x"), judged("b", "test", "y", "z")}, nil, 33, assess.Working, assess.GoOn, "less is wrong"},
		{"a gate back", []*state.Round{judged("a", "lint", "x"), judged("b", "build", "y")}, nil, 0, assess.Struggling, assess.GoOn, "red again"},
		{"green", []*state.Round{judged("a", "test", "x"), judged("b", "")}, nil, 75, assess.Working, assess.GoOn, "pass"},
		{"red again", []*state.Round{judged("a", ""), judged("b", "test", "x")}, nil, 25, assess.Struggling, assess.GoOn, "red again"},
		{"as much", []*state.Round{judged("a", "test", "x", "y"), judged("b", "test", "z", "y")}, nil, 33, assess.Struggling, assess.GoOn, "2 findings of test, and 2 before"},
		{"the same", []*state.Round{judged("a", "test", "x"), judged("b", "test", "x")}, nil, 33, assess.Stuck, assess.Another, "the same test failure"},
		{"more and more", []*state.Round{judged("a", "test", "1"), judged("b", "test", "2", "3"), judged("c", "test", "4", "5", "6")}, nil, 33, assess.WrongWay, assess.Another, "2 times in a row"},
		{"turned down", []*state.Round{turnedDown("a"), turnedDown("b")}, nil, 75, assess.WrongWay, assess.Another, "rejected it 2 times"},
		{"accepted", []*state.Round{judged("a", "")}, func(_ *state.State, _ *state.Task, a *state.Attempt) { a.Outcome = nexus.Accepted }, 100, assess.Working, assess.GoOn, "started"},
		{"landed", nil, func(_ *state.State, t *state.Task, _ *state.Attempt) { t.Status = nexus.Landed }, 100, assess.Working, assess.GoOn, ""},
		{"skipped", nil, func(_ *state.State, t *state.Task, _ *state.Attempt) { t.Status = nexus.Skipped }, 0, assess.Working, assess.Abort, ""},
		{"parked", nil, func(_ *state.State, t *state.Task, _ *state.Attempt) { t.Status = nexus.Parked }, 0, assess.Working, assess.Help, ""},
		{"failed", nil, func(_ *state.State, t *state.Task, _ *state.Attempt) { t.Status = nexus.Failed }, 0, assess.Working, assess.Cut, ""},
		{"failed at the bottom", nil, func(_ *state.State, t *state.Task, _ *state.Attempt) { t.Status, t.Depth = nexus.Failed, 3 }, 0, assess.Working, assess.Abort, ""},
		{"verifier", nil, func(_ *state.State, _ *state.Task, a *state.Attempt) { a.Category = nexus.VerifierRejected }, 0, assess.Working, assess.Help, ""},
		{"blocked", nil, func(_ *state.State, _ *state.Task, a *state.Attempt) {
			a.Outcome, a.Why, a.Category = nexus.GaveUp, "there is no API key for the shop", nexus.PersonNeeded
		}, 0, assess.Working, assess.Help, ""},
		{"blocked by words only", nil, func(_ *state.State, _ *state.Task, a *state.Attempt) {
			a.Outcome, a.Why = nexus.GaveUp, "the parser requires passwords"
		}, 0, assess.Working, assess.GoOn, ""},
		{"replan", nil, func(_ *state.State, t *state.Task, _ *state.Attempt) {
			t.Replan = &nexus.ReplanAsked{Reason: "it is generated", Blockers: []string{"the owner must decide"}}
		}, 0, assess.Working, assess.Help, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := state.New("r")
			s.Limits = nexus.DefaultLimits()
			a := &state.Attempt{ID: "T1.1", Rounds: c.rounds}
			task := &state.Task{Task: nexus.Task{ID: "T1"}, Status: nexus.Running, Attempts: []*state.Attempt{a}}
			if c.change != nil {
				c.change(s, task, a)
			}
			got := assess.Of(s, task)
			if got.Progress != c.progress || got.Course != c.course || got.Next != c.next || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s", got.Text())
			}
		})
	}
	if assess.Of(state.New("r"), &state.Task{}) != nil {
		t.Error("a task that nobody began goes somehow")
	}
}

func TestBlockers(t *testing.T) {
	for _, c := range []struct {
		text string
		kind assess.Kind
	}{
		{"There is no API key for the payment service.", assess.External},
		{"I need credentials of the staging database", assess.External},
		{"STRIPE: the access token is not set", assess.External},
		{"cannot access a device: missing hardware", assess.External},
		{"it requires approval by the security team", assess.External},
		{"a maintainer must decide which licence applies", assess.External},
		{"the certificate has expired; certificates are expired", assess.External},
		{"The requirement is ambiguous: rows or columns?", assess.Unclear},
		{"criteria 1 and 2 contradict each other", assess.Unclear},
		{"it depends on task T4, which has not landed", assess.Dependency},
		{"the package leftpad is not installed", assess.Dependency},
		{"I do not know how the wire format works, it is undocumented", assess.Knowledge},
		{"the compiler crashes on generated code", assess.Technical},
		{"validating API keys fails for Unicode input", assess.Technical},
		{"the test of password hashing is too slow", assess.Technical},
		{"permission checks of the parser are wrong in three places", assess.Technical},
		{"tokens are not merged by the lexer", assess.Technical},
	} {
		got := assess.Blockers(c.text, c.text)
		if len(got) != 1 || got[0].Kind != c.kind || got[0].Person {
			t.Errorf("%s: %+v", c.text, got)
		}
	}
	if got := assess.Blockers("", ""); got != nil {
		t.Errorf("nothing is said, and blocks: %+v", got)
	}
}

// FuzzBlockers reads what agents say.
func FuzzBlockers(f *testing.F) {
	f.Add("there is no API key")
	f.Add(strings.Repeat("no ", 2000) + "key")
	f.Add("\xff\x00 ambiguous")
	f.Fuzz(func(t *testing.T, text string) {
		got := assess.Blockers(text)
		if (text == "") != (len(got) == 0) || len(got) > 0 && (got[0].Kind == "" || got[0].Text != text) {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
