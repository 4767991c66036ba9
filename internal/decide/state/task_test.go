package state_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestHelped says which tasks a person helped with: what was granted, asked for
// by a person, and is about the task.
func TestHelped(t *testing.T) {
	facts := []nexus.Fact{nexus.GoalAccepted{Base: "c0"}, nexus.PlanProposed{Tasks: 6}}
	for _, id := range []nexus.TaskID{"T1", "T2", "T3", "T4", "T5", "T6"} {
		facts = append(facts, nexus.TaskPlanned{Task: nexus.Task{ID: id, Criteria: []nexus.Criterion{{Text: "x"}}}})
	}
	facts = append(facts,
		nexus.AttemptStarted{Attempt: "T4.1", Task: "T4"}, nexus.QuestionAsked{ID: "q1", Attempt: "T4.1", Text: "?", Fallback: "no"},
		nexus.AttemptStarted{Attempt: "T5.1", Task: "T5"}, nexus.QuestionAsked{ID: "q2", Attempt: "T5.1", Text: "?", Fallback: "no"})
	for _, c := range []struct {
		r       nexus.Request
		granted bool
	}{
		{nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "blue"}, true},
		{nexus.Request{Verb: nexus.VerbTell, Task: "T2", Text: "blue"}, false},
		{nexus.Request{Verb: nexus.VerbRevise, ID: "T3/AC-1", Text: "y"}, true},
		{nexus.Request{Verb: nexus.VerbAnswer, ID: "q1", Text: "yes"}, true},
		{nexus.Request{Verb: nexus.VerbAnswer, ID: "q2", Text: "yes", By: "auto"}, true},
		{nexus.Request{Verb: nexus.VerbSkip, Task: "T6"}, true},
		{nexus.Request{Verb: nexus.VerbPause}, true},
	} {
		facts = append(facts, nexus.RequestMade{Request: c.r})
		facts = append(facts, nexus.RequestSettled{Seq: int64(len(facts)), Granted: c.granted})
	}
	s := fold(t, facts...)
	for _, task := range s.Tasks {
		if want := task.ID == "T1" || task.ID == "T3" || task.ID == "T4"; task.Helped != want {
			t.Errorf("%s helped: %v", task.ID, task.Helped)
		}
	}
}

// TestRisen compares the tier of an attempt with that where work begins.
func TestRisen(t *testing.T) {
	for _, c := range [][3]nexus.Tier{
		{nexus.Fast, nexus.Strong, nexus.Strong}, {nexus.Fast, nexus.Balanced, nexus.Balanced}, {nexus.Balanced, nexus.Balanced, ""}, {nexus.Strong, nexus.Fast, ""}, {nexus.Strong, nexus.Strong, ""},
	} {
		task := state.TaskState{Route: &nexus.StartTierChosen{Tier: c[0]}}
		if got := task.RaisedTier(&state.AttemptState{Tier: c[1]}); got != c[2] {
			t.Errorf("%v: %q", c, got)
		}
	}
	if got := (&state.TaskState{}).RaisedTier(&state.AttemptState{Tier: nexus.Strong}); got != "" {
		t.Errorf("without a route: %q", got)
	}
}

// TestRevisedByNexus keeps what a verifier refused, and what earlier attempts
// came to, where only a check was taken back that cannot tell.
func TestRevisedByNexus(t *testing.T) {
	facts := []nexus.Fact{
		nexus.GoalAccepted{Base: "c0"},
		nexus.PlanProposed{Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "x", Check: "sh a.sh"}}}},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"},
		nexus.RoundStarted{Attempt: "T1.1", Round: 1, Role: nexus.Coder},
		nexus.VerifierVerdictGiven{Attempt: "T1.1", Tree: "t", Read: true, Category: nexus.VerifierRejected, Why: "no"},
	}
	for by, want := range map[string]bool{"nexus": true, "": false, "alice": false} {
		revised := nexus.CriterionRevised{Task: "T1", Number: 1, Criterion: nexus.Criterion{Text: "x", Was: "sh a.sh"}, By: by}
		task := fold(t, append(facts[:len(facts):len(facts)], revised)...).Tasks[0]
		if kept := len(task.Refused) == 1 && task.Revised == 0; kept != want {
			t.Errorf("by %q: refused %d times, revised after %d attempts", by, len(task.Refused), task.Revised)
		}
		if task.Criteria[0].Check != "" {
			t.Errorf("by %q: the check is %q", by, task.Criteria[0].Check)
		}
	}
}
