package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestACriterionThatDidNotRunIsNotMet checks that a criterion whose test is
// not there sends the work back, whatever else is green, and in every kind of
// task.
func TestACriterionThatDidNotRunIsNotMet(t *testing.T) {
	name := nexus.AcceptGate + "go test -run TestNotWritten ./..."
	for _, kind := range []nexus.TaskKind{nexus.CodeTask, nexus.DocsTask, nexus.TestTask} {
		task := nexus.Task{ID: "T1", Kind: kind, Strategy: nexus.TestAfter}
		v := repair.Sum("T1.1", task, "t", []nexus.Evidence{
			{Gate: "build", State: nexus.Pass, Tree: "t"},
			{Gate: "test", State: nexus.Pass, Tree: "t"},
			{Gate: name, State: nexus.NotRun, Tree: "t", Why: "no tests to run"},
		})
		if v.State != nexus.NotRun || v.Gate != name {
			t.Errorf("%s: %+v", kind, v)
		}
		a := &state.Attempt{
			ID: "T1.1", Strategy: nexus.TestAfter,
			Rounds:   []*state.Round{{RoundStarted: nexus.RoundStarted{Role: nexus.Coder, Session: "T1.1/coder.1"}, Verdict: &v}},
			Sessions: []*state.Session{{SessionStarted: nexus.SessionStarted{Session: "T1.1/coder.1", Role: nexus.Coder}, Over: true, Outcome: nexus.Accepted}},
		}
		s := repair.Next(&state.Task{Task: task}, a, nexus.Limits{Same: 3}, repair.Facts{Tested: true})
		if s.Move != repair.Write || s.Cause != name || s.Why != "no tests to run" {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}
