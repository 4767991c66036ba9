package accept_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/criterion"
)

func red(message string) nexus.Evidence {
	const gate = "accept: sh greet.sh"
	return nexus.Evidence{Gate: gate, State: nexus.Fail, Tree: "t", Exit: 1, Findings: []nexus.Finding{{Gate: gate, File: "a.go", Line: 3, Message: message}}}
}

// TestFaults looks at a failure once, and never for a gate that all tasks
// share: the train holds that.
func TestFaults(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), red("hello"))
	all := accept.Faults(s)
	if len(all) != 1 || all[0].Criterion != "T1/AC-2" || all[0].Task != "FIX-1" {
		t.Fatalf("%+v", all)
	}
	s.Mends.Apply(nexus.FaultsSought{Attempt: "fix.1", Faults: all})
	if again := accept.Faults(s); len(again) != 0 {
		t.Errorf("the same failure is looked at again: %+v", again)
	}
	s.Result.Verdict.Evidence = []nexus.Evidence{green("test"), red("another")}
	if other := accept.Faults(s); len(other) != 1 || other[0].Task != "FIX-2" || other[0].Signature == all[0].Signature {
		t.Errorf("another failure: %+v", other)
	}
	unsure := red("x")
	unsure.State = nexus.Environmental
	shared := green("test")
	shared.State = nexus.Fail
	for name, s := range map[string]*state.State{
		"green":           ran(nexus.Landed, "t", green("test"), green("accept: sh greet.sh")),
		"it cannot tell":  ran(nexus.Landed, "t", unsure),
		"a gate of all":   ran(nexus.Landed, "t", shared),
		"it did not land": ran(nexus.Parked, "t", red("hello")),
		"not judged":      ran(nexus.Landed, ""),
	} {
		if all := accept.Faults(s); len(all) != 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestMend lets a check be changed where it is at fault, and nowhere else.
func TestMend(t *testing.T) {
	s := state.New("r")
	task := nexus.Task{ID: "T1", Files: []string{"a.go"}, Criteria: []nexus.Criterion{{Text: "tests pass", Check: "test"}, {Text: "it greets", Check: "sh greet.sh"}}}
	for i, f := range []nexus.Fact{nexus.GoalAccepted{}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: task}, nexus.PlanApproved{}} {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	s.Result = &nexus.ResultGated{Verdict: nexus.Verdict{Tree: "t", Evidence: []nexus.Evidence{red("hello")}}}
	tests, script := []string{"a_test.go"}, []string{"check.sh"}
	for name, c := range map[string]struct {
		f        criterion.Fault
		kind     nexus.TaskKind
		strategy nexus.Strategy
		keep     []string
		says     string
	}{
		"source":        {criterion.Fault{Kind: criterion.Source, Judges: tests}, nexus.CodeTask, nexus.NoTest, tests, "Change the work"},
		"nobody said":   {criterion.Fault{Judges: script}, nexus.CodeTask, nexus.NoTest, nil, ""},
		"test":          {criterion.Fault{Kind: criterion.Test, Judges: tests}, nexus.TestTask, "", nil, "A verifier reads why"},
		"a script":      {criterion.Fault{Kind: criterion.Test, Judges: script}, nexus.CodeTask, nexus.NoTest, nil, "Change the check"},
		"both":          {criterion.Fault{Kind: criterion.Both, Judges: tests}, nexus.CodeTask, nexus.NoTest, nil, "Change both"},
		"source, first": {criterion.Fault{Kind: criterion.Source, Judges: script, Why: "Red from c2 on."}, nexus.CodeTask, nexus.NoTest, script, "Red from c2 on."},
	} {
		c.f.Criterion, c.f.Task = "T1/AC-2", "FIX-1"
		if c.f.Kind == "" { // what zero means
			c.keep, c.says = c.f.Judges, "Change the work"
		}
		got := accept.Mend(s, c.f)
		if got.ID != "FIX-1" || got.Kind != c.kind || got.Strategy != c.strategy || !slices.Equal(got.Keep, c.keep) || !strings.Contains(got.Brief, c.says) {
			t.Errorf("%s: %+v", name, got)
		}
		if len(got.Criteria) != 1 || got.Criteria[0].Check != "sh greet.sh" || !slices.Equal(got.Files, []string{"a.go"}) || !strings.Contains(got.Brief, "a.go:3: hello") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
