package repair_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// hasVerdict is a round that stopped at a gate with findings, or was green.
func hasVerdict(tree, gate string, findings ...string) *state.AttemptRound {
	r := &state.AttemptRound{Verdict: &nexus.GatesVerdictGiven{Tree: tree, Gate: gate, State: nexus.Fail}}
	for _, name := range []string{"build", "test", "lint"} {
		e := nexus.GateEvidence{Gate: name, Tree: tree, State: nexus.Pass}
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

func turnedDown(tree string) *state.AttemptRound {
	r := hasVerdict(tree, "")
	r.Reviews = []nexus.ReviewerVerdictGiven{{Tree: tree, Reviewed: true}}
	return r
}

func TestAssess(t *testing.T) {
	for _, c := range []struct {
		name     string
		rounds   []*state.AttemptRound
		change   func(s *state.State, t *state.TaskState, a *state.AttemptState)
		progress int
		course   repair.RepairTrend
		next     repair.RecommendedNextStep
		why      string
	}{
		{"begun", nil, nil, 0, repair.CourseWorking, repair.GoOn, "just started"},
		{"red once", []*state.AttemptRound{hasVerdict("a", "build", "x")}, nil, 0, repair.CourseWorking, repair.GoOn, "just started"},
		{"less", []*state.AttemptRound{hasVerdict("a", "test", "x", "y"), hasVerdict("b", "test", "x")}, nil, 33, repair.CourseWorking, repair.GoOn, "less is wrong"},
		{"a gate further", []*state.AttemptRound{hasVerdict("a", "build", "x"), hasVerdict("b", "test", "y", "z")}, nil, 33, repair.CourseWorking, repair.GoOn, "less is wrong"},
		{"a gate back", []*state.AttemptRound{hasVerdict("a", "lint", "x"), hasVerdict("b", "build", "y")}, nil, 0, repair.CourseStruggling, repair.GoOn, "fails again"},
		{"green", []*state.AttemptRound{hasVerdict("a", "test", "x"), hasVerdict("b", "")}, nil, 75, repair.CourseWorking, repair.GoOn, "pass"},
		{"red again", []*state.AttemptRound{hasVerdict("a", ""), hasVerdict("b", "test", "x")}, nil, 25, repair.CourseStruggling, repair.GoOn, "fails again"},
		{"as much", []*state.AttemptRound{hasVerdict("a", "test", "x", "y"), hasVerdict("b", "test", "z", "y")}, nil, 33, repair.CourseStruggling, repair.GoOn, "2 findings of test, 2 before"},
		{"the same", []*state.AttemptRound{hasVerdict("a", "test", "x"), hasVerdict("b", "test", "x")}, nil, 33, repair.CourseStuck, repair.Another, "the same test failure"},
		{"more and more", []*state.AttemptRound{hasVerdict("a", "test", "1"), hasVerdict("b", "test", "2", "3"), hasVerdict("c", "test", "4", "5", "6")}, nil, 33, repair.CourseWrong, repair.Another, "2 times in a row"},
		{"turned down", []*state.AttemptRound{turnedDown("a"), turnedDown("b")}, nil, 75, repair.CourseWrong, repair.Another, "rejected it 2 times"},
		{"accepted", []*state.AttemptRound{hasVerdict("a", "")}, func(_ *state.State, _ *state.TaskState, a *state.AttemptState) { a.Outcome = nexus.Accepted }, 100, repair.CourseWorking, repair.GoOn, "started"},
		{"landed", nil, func(_ *state.State, t *state.TaskState, _ *state.AttemptState) { t.Status = nexus.Landed }, 100, repair.CourseWorking, repair.GoOn, ""},
		{"skipped", nil, func(_ *state.State, t *state.TaskState, _ *state.AttemptState) { t.Status = nexus.Skipped }, 0, repair.CourseWorking, repair.Abort, ""},
		{"parked", nil, func(_ *state.State, t *state.TaskState, _ *state.AttemptState) { t.Status = nexus.Parked }, 0, repair.CourseWorking, repair.Help, ""},
		{"failed", nil, func(_ *state.State, t *state.TaskState, _ *state.AttemptState) { t.Status = nexus.Failed }, 0, repair.CourseWorking, repair.Cut, ""},
		{"failed at the bottom", nil, func(_ *state.State, t *state.TaskState, _ *state.AttemptState) { t.Status, t.Depth = nexus.Failed, 3 }, 0, repair.CourseWorking, repair.Abort, ""},
		{"verifier", nil, func(_ *state.State, _ *state.TaskState, a *state.AttemptState) { a.Category = nexus.VerifierRejected }, 0, repair.CourseWorking, repair.Help, ""},
		{"blocked", nil, func(_ *state.State, _ *state.TaskState, a *state.AttemptState) {
			a.Outcome, a.Why, a.Category = nexus.GaveUp, "there is no API key for the shop", nexus.PersonNeeded
		}, 0, repair.CourseWorking, repair.Help, ""},
		{"blocked by words only", nil, func(_ *state.State, _ *state.TaskState, a *state.AttemptState) {
			a.Outcome, a.Why = nexus.GaveUp, "the parser requires passwords"
		}, 0, repair.CourseWorking, repair.GoOn, ""},
		{"replan", nil, func(_ *state.State, t *state.TaskState, _ *state.AttemptState) {
			t.Replan = &nexus.ReplanRequested{Reason: "it is generated", Blockers: []string{"the owner must decide"}}
		}, 0, repair.CourseWorking, repair.Help, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := state.NewState("r")
			s.Limits = nexus.DefaultLimits()
			a := &state.AttemptState{ID: "T1.1", Rounds: c.rounds}
			task := &state.TaskState{Task: nexus.Task{ID: "T1"}, Status: nexus.Running, Attempts: []*state.AttemptState{a}}
			if c.change != nil {
				c.change(s, task, a)
			}
			got := repair.AssessTask(s, task)
			if got.Progress != c.progress || got.Course != c.course || got.Next != c.next || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s", got.SummaryLine())
			}
		})
	}
	if repair.AssessTask(state.NewState("r"), &state.TaskState{}) != nil {
		t.Error("a task that nobody began goes somehow")
	}
}

func TestBlockers(t *testing.T) {
	for _, c := range []struct {
		text string
		kind repair.ObstacleKind
	}{
		{"There is no API key for the payment service.", repair.External},
		{"I need credentials of the staging database", repair.External},
		{"STRIPE: the access token is not set", repair.External},
		{"cannot access a device: missing hardware", repair.External},
		{"it requires approval by the security team", repair.External},
		{"a maintainer must decide which licence applies", repair.External},
		{"the certificate has expired; certificates are expired", repair.External},
		{"The requirement is ambiguous: rows or columns?", repair.Unclear},
		{"criteria 1 and 2 contradict each other", repair.Unclear},
		{"it depends on task T4, which has not landed", repair.Dependency},
		{"the package leftpad is not installed", repair.Dependency},
		{"I do not know how the wire format works, it is undocumented", repair.Knowledge},
		{"the compiler crashes on generated code", repair.Technical},
		{"validating API keys fails for Unicode input", repair.Technical},
		{"the test of password hashing is too slow", repair.Technical},
		{"permission checks of the parser are wrong in three places", repair.Technical},
		{"tokens are not merged by the lexer", repair.Technical},
	} {
		got := repair.FindObstacles(c.text, c.text)
		if len(got) != 1 || got[0].Kind != c.kind || got[0].Person {
			t.Errorf("%s: %+v", c.text, got)
		}
	}
	if got := repair.FindObstacles("", ""); got != nil {
		t.Errorf("nothing is said, and blocks: %+v", got)
	}
}

// FuzzBlockers reads what agents say.
func FuzzBlockers(f *testing.F) {
	f.Add("there is no API key")
	f.Add(strings.Repeat("no ", 2000) + "key")
	f.Add("\xff\x00 ambiguous")
	f.Fuzz(func(t *testing.T, text string) {
		got := repair.FindObstacles(text)
		if (text == "") != (len(got) == 0) || len(got) > 0 && (got[0].Kind == "" || got[0].Text != text) {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
