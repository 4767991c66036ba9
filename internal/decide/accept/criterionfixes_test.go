package accept_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func red(message string) nexus.GateEvidence {
	const gate = "accept: sh greet.sh"
	return nexus.GateEvidence{Gate: gate, State: nexus.Fail, Tree: "t", Exit: 1, Findings: []nexus.Finding{{Gate: gate, File: "a.go", Line: 3, Message: message}}}
}

// TestFaults looks at a failure once, and never for a gate that all tasks
// share: the train holds that.
func TestFaults(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), red("hello"))
	all := accept.UnmetCriteria(s)
	if len(all) != 1 || all[0].Criterion != "T1/AC-2" || all[0].Task != "FIX-1" {
		t.Fatalf("%+v", all)
	}
	s.Fixes.Apply(nexus.CriterionDiagnosisStarted{Attempt: "fix.1", Faults: all})
	if again := accept.UnmetCriteria(s); len(again) != 0 {
		t.Errorf("the same failure is looked at again: %+v", again)
	}
	s.Result.Verdict.Evidence = []nexus.GateEvidence{green("test"), red("another")}
	if other := accept.UnmetCriteria(s); len(other) != 1 || other[0].Task != "FIX-2" || other[0].Signature == all[0].Signature {
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
		if all := accept.UnmetCriteria(s); len(all) != 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestStale looks once for each text at a criterion whose check was written
// for another one, after its work landed, and takes the check that comes of it.
func TestStale(t *testing.T) {
	s := state.NewState("r")
	plan := func(task nexus.Task) *state.TaskState {
		for _, f := range []nexus.Fact{nexus.GoalAccepted{}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: task}} {
			if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
		return s.TaskByID(task.ID)
	}
	task := plan(nexus.Task{ID: "T1", Title: "Greet", Files: []string{"a.go"}, Criteria: []nexus.Criterion{{Text: "it greets"}}})
	task.Status = nexus.Landed
	a := &state.AttemptState{ID: "T1.1"}
	a.Checks.Checks = []nexus.CriterionTest{{Number: 1, Of: state.CriterionFingerprint(task.Task, 1), File: "old_test.sh", Command: "sh old_test.sh", Proved: true}}
	task.Attempts, task.Landed = []*state.AttemptState{a}, &nexus.LandingCompleted{Attempt: "T1.1", Parent: "p"}
	if all := accept.UnmetCriteria(s); len(all) != 0 {
		t.Fatalf("nothing was revised: %+v", all)
	}
	task.Criteria = []nexus.Criterion{{Text: "it sings"}}
	all := accept.UnmetCriteria(s)
	if len(all) != 1 || all[0].Kind != nexus.FaultStale || all[0].Criterion != "T1/AC-1" || all[0].Commit != "p" || !accept.IsFaultOpen(s, all[0]) {
		t.Fatalf("%+v", all)
	}
	fix := accept.FixTask(s, all[0])
	if fix.Strategy != nexus.TestAfter || fix.Criteria[0] != (nexus.Criterion{Text: "it sings"}) || !slices.Equal(fix.Files, []string{"a.go", "old_test.sh"}) || !strings.Contains(fix.Brief, "it sings") {
		t.Errorf("%+v", fix)
	}
	s.Fixes.Apply(nexus.CriterionDiagnosisStarted{Attempt: "fix.1", Faults: all})
	if again := accept.UnmetCriteria(s); len(again) != 0 {
		t.Errorf("it is looked at again: %+v", again)
	}
	task.Criteria = []nexus.Criterion{{Text: "it dances"}}
	if other := accept.UnmetCriteria(s); len(other) != 1 || other[0].Task != "FIX-2" {
		t.Errorf("another text: %+v", other)
	}
	a.Checks.Checks[0].Proved = false
	if none := accept.UnmetCriteria(s); len(none) != 0 {
		t.Errorf("there was no check: %+v", none)
	}
}

// TestAnew holds a criterion that was revised to the check that a task wrote
// for it as it reads now, once that has landed and was proved. The task's own
// criterion is that one, and no other.
func TestAnew(t *testing.T) {
	const gate = nexus.AcceptGate + "sh new_test.sh"
	for name, c := range map[string]struct {
		edit  func(fix *state.TaskState, k *nexus.CriterionTest)
		state accept.CriterionState
		why   string
		tried int
	}{
		"it landed":       {func(*state.TaskState, *nexus.CriterionTest) {}, accept.Met, "", 1},
		"it did not land": {func(fix *state.TaskState, _ *nexus.CriterionTest) { fix.Status, fix.Landed = nexus.Parked, nil }, accept.Unknown, "stale", 1},
		"it was not shown": {func(_ *state.TaskState, k *nexus.CriterionTest) {
			k.Proved, k.Why = false, "it passes without the work"
		}, accept.Unknown, "does not count: it passes without", 1},
		"said before":   {func(_ *state.TaskState, k *nexus.CriterionTest) { k.Of = "another" }, accept.Unknown, "stale", 1},
		"revised again": {nil, accept.Unknown, "stale", 0},
	} {
		s := state.NewState("r")
		planned := func(task nexus.Task) *state.TaskState {
			if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Fact: nexus.TaskPlanned{Task: task}}); err != nil {
				t.Fatal(err)
			}
			return s.TaskByID(task.ID)
		}
		task := planned(nexus.Task{ID: "T1", Title: "Greet", Criteria: []nexus.Criterion{{Text: "it greets"}}})
		s.Result = &nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Tree: "t", Evidence: []nexus.GateEvidence{{Gate: gate, State: nexus.Pass, Tree: "t"}}}}
		wrote := func(task *state.TaskState, file string) *nexus.CriterionTest {
			a := &state.AttemptState{ID: nexus.AttemptID(task.ID + ".1")}
			a.Checks.Checks = []nexus.CriterionTest{{Number: 1, Of: state.CriterionFingerprint(task.Task, 1), Test: "greets", File: file, Command: "sh " + file, Proved: true}}
			task.Attempts, task.Landed, task.Status = []*state.AttemptState{a}, &nexus.LandingCompleted{Attempt: a.ID, Parent: "p"}, nexus.Landed
			return &a.Checks.Checks[0]
		}
		wrote(task, "old_test.sh")
		task.Criteria = []nexus.Criterion{{Text: "it sings"}}
		s.Fixes.Apply(nexus.CriterionDiagnosisStarted{Attempt: "fix.1", Faults: accept.UnmetCriteria(s)})
		fix := planned(accept.FixTask(s, s.Fixes.All[0]))
		k := wrote(fix, "new_test.sh")
		if c.edit == nil {
			task.Criteria = []nexus.Criterion{{Text: "it dances"}}
		} else {
			c.edit(fix, k)
		}
		table := accept.BuildCriteriaTable(s, nil)
		if r := table.Rows[0]; len(table.Rows) != 1 || r.State != c.state || !strings.Contains(r.Why, c.why) || len(r.Fixes) != c.tried {
			t.Errorf("%s: %+v", name, table.Rows)
		}
		fix.Criteria = []nexus.Criterion{{Text: "its own words"}}
		if more := accept.UnmetCriteria(s); len(more) != 1-c.tried {
			t.Errorf("%s: looked at again: %+v", name, more)
		}
	}
}

// TestFaultsOfBothKinds gives what is unmet and what is stale a task each.
func TestFaultsOfBothKinds(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), red("hello"))
	task := s.Tasks[0]
	a := &state.AttemptState{ID: "T1.1"}
	task.Attempts, task.Landed = []*state.AttemptState{a}, &nexus.LandingCompleted{Attempt: "T1.1", Parent: "p"}
	for n := range 2 {
		task.Criteria = append(task.Criteria, nexus.Criterion{Text: "it hums"})
		a.Checks.Checks = append(a.Checks.Checks, nexus.CriterionTest{Number: len(task.Criteria), Of: "another text", File: "x_test.sh", Command: fmt.Sprintf("sh x_test.sh %d", n), Proved: true})
	}
	var tasks []string
	for _, f := range accept.UnmetCriteria(s) {
		tasks = append(tasks, f.Task+" "+string(f.Kind))
	}
	if got := strings.Join(tasks, ", "); got != "FIX-1 , FIX-2 stale, FIX-3 stale" {
		t.Error(got)
	}
}

// TestMend lets a check be changed where it is at fault, and nowhere else.
func TestMend(t *testing.T) {
	s := state.NewState("r")
	task := nexus.Task{ID: "T1", Files: []string{"a.go"}, Criteria: []nexus.Criterion{{Text: "tests pass", Check: "test"}, {Text: "it greets", Check: "sh greet.sh"}}}
	for i, f := range []nexus.Fact{nexus.GoalAccepted{}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: task}, nexus.PlanApproved{}} {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	s.Result = &nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Tree: "t", Evidence: []nexus.GateEvidence{red("hello")}}}
	tests, script := []string{"a_test.go"}, []string{"check.sh"}
	for name, c := range map[string]struct {
		f        nexus.CriterionFault
		kind     nexus.TaskKind
		strategy nexus.WritingStrategy
		keep     []string
		says     string
	}{
		"source":        {nexus.CriterionFault{Kind: nexus.FaultInSource, Judges: tests}, nexus.CodeTask, nexus.NoTest, tests, "Change the work"},
		"nobody said":   {nexus.CriterionFault{Judges: script}, nexus.CodeTask, nexus.NoTest, nil, ""},
		"test":          {nexus.CriterionFault{Kind: nexus.FaultInTest, Judges: tests}, nexus.TestTask, "", nil, "A verifier reads your reason"},
		"a script":      {nexus.CriterionFault{Kind: nexus.FaultInTest, Judges: script}, nexus.CodeTask, nexus.NoTest, nil, "Change the check"},
		"both":          {nexus.CriterionFault{Kind: nexus.FaultInBoth, Judges: tests}, nexus.CodeTask, nexus.NoTest, nil, "Change both"},
		"source, first": {nexus.CriterionFault{Kind: nexus.FaultInSource, Judges: script, Why: "Red from c2 on."}, nexus.CodeTask, nexus.NoTest, script, "Red from c2 on."},
	} {
		c.f.Criterion, c.f.Task = "T1/AC-2", "FIX-1"
		if c.f.Kind == "" { // what zero means
			c.keep, c.says = c.f.Judges, "Change the work"
		}
		got := accept.FixTask(s, c.f)
		if got.ID != "FIX-1" || got.Kind != c.kind || got.Strategy != c.strategy || !slices.Equal(got.Keep, c.keep) || !strings.Contains(got.Brief, c.says) {
			t.Errorf("%s: %+v", name, got)
		}
		if len(got.Criteria) != 1 || got.Criteria[0].Check != "sh greet.sh" || !slices.Equal(got.Files, []string{"a.go"}) || !strings.Contains(got.Brief, "a.go:3: hello") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestChecks counts a test that was written for a criterion only where it was
// proved, on the tree that landed, and for what the criterion says now.
func TestChecks(t *testing.T) {
	const command = "go test -run TestGreet ."
	for name, c := range map[string]struct {
		edit  func(c *nexus.CriterionTest, task *nexus.Task)
		state accept.CriterionState
		why   string
		stale bool
	}{
		"proved":     {func(*nexus.CriterionTest, *nexus.Task) {}, accept.Met, "", false},
		"not proved": {func(c *nexus.CriterionTest, _ *nexus.Task) { c.Proved, c.Why = false, "it passes without the work" }, accept.Unknown, "does not count", false},
		"left to people": {func(c *nexus.CriterionTest, _ *nexus.Task) {
			*c = nexus.CriterionTest{Number: 1, Of: c.Of, Why: "taste"}
		}, accept.Unknown, "no machine can check it: taste", false},
		"another text":             {func(_ *nexus.CriterionTest, task *nexus.Task) { task.Criteria[0].Text = "it greets twice" }, accept.Unknown, "stale", true},
		"another task":             {func(_ *nexus.CriterionTest, task *nexus.Task) { task.Brief = "in French" }, accept.Unknown, "stale", true},
		"only blanks":              {func(_ *nexus.CriterionTest, task *nexus.Task) { task.Criteria[0].Text = " it  greets" }, accept.Met, "", false},
		"of another criterion":     {func(c *nexus.CriterionTest, _ *nexus.Task) { c.Number = 2 }, accept.Unknown, "it has no check", false},
		"it was not run at last":   {func(c *nexus.CriterionTest, _ *nexus.Task) { c.Command += " -v" }, accept.Unknown, "did not run", false},
		"the plan has a check now": {func(_ *nexus.CriterionTest, task *nexus.Task) { task.Criteria[0].Check = "sh x.sh" }, accept.Unknown, "did not run", false},
	} {
		s := ran(nexus.Landed, "t", nexus.GateEvidence{Gate: "accept: " + command, State: nexus.Pass, Tree: "t"})
		task := s.Tasks[0]
		task.Task = nexus.Task{ID: "T1", Title: "Greet", Criteria: []nexus.Criterion{{Text: "it greets"}}}
		k := nexus.CriterionTest{Number: 1, Of: state.CriterionFingerprint(task.Task, 1), Test: "TestGreet", File: "greet_test.go", Command: command, Proved: true}
		c.edit(&k, &task.Task)
		a := &state.AttemptState{ID: "T1.1"}
		a.Checks.Checks = []nexus.CriterionTest{k}
		task.Attempts, task.Landed = []*state.AttemptState{a, {ID: "T1.2"}}, &nexus.LandingCompleted{Attempt: "T1.1"}
		r := accept.BuildCriteriaTable(s, nil).Rows[0]
		if r.State != c.state || r.Stale != c.stale || !strings.Contains(r.Why, c.why) || (r.State == accept.Met) != (r.Why == "") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestRevised holds nothing of a criterion that is to say something else.
func TestRevised(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), green("accept: sh greet.sh"))
	s.Requests = []state.PendingRequest{{Seq: 9, Request: nexus.Request{Verb: nexus.VerbRevise, ID: "T1/AC-2", Text: "it sings"}}}
	if r := accept.BuildCriteriaTable(s, nil).Rows[1]; r.State != accept.Unknown || !r.Stale || !strings.Contains(r.Why, "it sings") {
		t.Errorf("%+v", r)
	}
}

// TestRevisedWaiver holds a person's word for the text that it was said about.
func TestRevisedWaiver(t *testing.T) {
	ask := func(verb nexus.RequestKind, text string) nexus.Event {
		return nexus.Event{Fact: nexus.RequestMade{Request: nexus.Request{Verb: verb, ID: "T1/AC-3", Text: text, By: "ann"}}}
	}
	if w := accept.WaiversFrom([]nexus.Event{ask(nexus.VerbApprove, "fine"), ask(nexus.VerbRevise, "it sings")}); len(w) != 0 {
		t.Errorf("%+v", w)
	}
	if w := accept.WaiversFrom([]nexus.Event{ask(nexus.VerbRevise, "it sings"), ask(nexus.VerbApprove, "fine")}); len(w) != 1 {
		t.Errorf("%+v", w)
	}
}
