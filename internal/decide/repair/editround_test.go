package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestEdit decides around the round of an editor: when it comes, what is judged, what is
// taken back, and what ends the attempt.
func TestEdit(t *testing.T) {
	session := func(id nexus.SessionID, outcome nexus.Outcome) *state.AgentSessionState {
		return &state.AgentSessionState{SessionStarted: nexus.SessionStarted{Session: id}, Over: true, Outcome: outcome, Why: "why"}
	}
	verdict := func(tree string, is nexus.GateState) *nexus.GatesVerdictGiven {
		return &nexus.GatesVerdictGiven{Tree: tree, State: is, Gate: "build"}
	}
	round := func(role nexus.Role, cause string, s nexus.SessionID, v *nexus.GatesVerdictGiven) *state.AttemptRound {
		return &state.AttemptRound{RoundStarted: nexus.RoundStarted{Role: role, Cause: cause, Session: s}, Verdict: v}
	}
	coded := round(nexus.Coder, "", "c", verdict("t1", nexus.Pass))
	edited := func(v *nexus.GatesVerdictGiven) []*state.AttemptRound {
		return []*state.AttemptRound{coded, round(nexus.Editor, "step: docs", "e", v)}
	}
	for name, c := range map[string]struct {
		rounds  []*state.AttemptRound
		outcome nexus.Outcome // of the editor
		tree    string        // as it is now
		facts   repair.AttemptTreeFacts
		limit   int
		want    string // move, role, cause or why
	}{
		"green work, and a step":         {[]*state.AttemptRound{coded}, "", "t1", repair.AttemptTreeFacts{Due: "docs"}, 0, "write editor step: docs"},
		"green work, and none":           {[]*state.AttemptRound{coded}, "", "t1", repair.AttemptTreeFacts{}, 0, "review  "},
		"no round is left":               {[]*state.AttemptRound{coded}, "", "t1", repair.AttemptTreeFacts{Due: "docs"}, 1, "end  1 rounds are used up"},
		"no round is left, and need not": {[]*state.AttemptRound{coded}, "", "t1", repair.AttemptTreeFacts{Due: "docs", DueSpare: true}, 1, "review  "},
		"it submitted":                   {edited(nil), nexus.Accepted, "t2", repair.AttemptTreeFacts{}, 0, "judge  "},
		"it changed nothing":             {edited(nil), nexus.Accepted, "t1", repair.AttemptTreeFacts{}, 0, "judge  "},
		"it is green":                    {edited(verdict("t2", nexus.Pass)), nexus.Accepted, "t2", repair.AttemptTreeFacts{}, 0, "review  "},
		"it is green, and another":       {edited(verdict("t2", nexus.Pass)), nexus.Accepted, "t2", repair.AttemptTreeFacts{Due: "tidy"}, 0, "write editor step: tidy"},
		"it is red":                      {edited(verdict("t2", nexus.Fail)), nexus.Accepted, "t2", repair.AttemptTreeFacts{}, 0, "write coder build"},
		"it is red, and need not":        {edited(verdict("t2", nexus.Fail)), nexus.Accepted, "t2", repair.AttemptTreeFacts{Spare: true}, 0, "forgo  the tree fails with it: gate build: fail: no reason given"},
		"taken back":                     {edited(verdict("t2", nexus.Fail)), nexus.Accepted, "t1", repair.AttemptTreeFacts{Spare: true}, 0, "judge  "},
		"taken back, and judged":         {edited(verdict("t1", nexus.Pass)), nexus.Accepted, "t1", repair.AttemptTreeFacts{Spare: true}, 0, "review  "},
		"it gave up":                     {edited(nil), nexus.GaveUp, "t1", repair.AttemptTreeFacts{}, 0, "end  why"},
		"it gave up, and need not":       {edited(nil), nexus.GaveUp, "t2", repair.AttemptTreeFacts{Spare: true}, 0, "forgo  the editor did not finish: why"},
		"it gave up, and is taken back":  {edited(nil), nexus.GaveUp, "t1", repair.AttemptTreeFacts{Spare: true}, 0, "judge  "},
		"that, and judged":               {edited(verdict("t1", nexus.Pass)), nexus.GaveUp, "t1", repair.AttemptTreeFacts{Spare: true}, 0, "review  "},
	} {
		a := &state.AttemptState{Strategy: nexus.NoTest, Rounds: c.rounds, Sessions: []*state.AgentSessionState{session("c", nexus.Accepted), session("e", c.outcome)}}
		a.Snapshot.Tree = c.tree
		task := &state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.NoTest}, Attempts: []*state.AttemptState{a}}
		s := repair.NextRepairStep(task, a, nexus.Limits{Rounds: c.limit, Same: 3}, c.facts)
		got := string(s.Move) + " " + string(s.Role) + " " + s.Cause
		if s.Move == repair.End || s.Move == repair.Forgo {
			got += s.Why
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
