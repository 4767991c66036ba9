package accept_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// verifierVerdict is what a gate of tests said: how many passed, and which failed.
func verifierVerdict(passed int, failed ...string) nexus.GateEvidence {
	e := nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t", Counts: nexus.TestCounts{Passed: passed, Failed: len(failed)}}
	for _, name := range failed {
		e.State = nexus.Fail
		e.Findings = append(e.Findings, nexus.Finding{Gate: "test", Code: "test", Test: name, File: "a_test.go", Line: 7, Message: "got 1536, want 1.5 KiB"})
	}
	return e
}

// old is what it says about a tree on which some fail as before.
func old(passed int, tests ...string) nexus.GateEvidence {
	e := verifierVerdict(passed)
	e.Old, e.Counts.Failed = tests, len(tests)
	return e
}

// kindIn is the kind that cases give a criterion by its text.
func kindIn(text string) nexus.CriterionKind {
	if strings.Contains(text, "stay") {
		return nexus.StaysCriterion
	}
	return ""
}

// TestWeigh counts for a criterion only what bears on it. Each case that is
// unknown here was "met" when a gate that got no worse was evidence.
func TestWeigh(t *testing.T) {
	red := &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Tests: []string{"m.TestNew"}}
	code, tested := []string{"a.go"}, []string{"a.go", "a_test.go"}
	gone := []nexus.Finding{{File: "b_test.go", Code: "tamper.deleted"}}
	build := func(state nexus.GateState) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: "build", State: state, Tree: "t"}
	}
	ended := func(all map[string]string) func(nexus.GateEvidence) map[string]string {
		return func(nexus.GateEvidence) map[string]string { return all }
	}
	covered := nexus.GateEvidence{Gate: "done: coverage", State: nexus.Pass, Tree: "t", Coverage: &nexus.TestCoverage{New: nexus.CoverageShare{Covered: 3, Total: 4}}}
	both := func(base, now nexus.GateEvidence) accept.GatePassedTree {
		return accept.GatePassedTree{Changed: code, Touched: []string{"printSize"}, Base: []nexus.GateEvidence{base}, Now: []nexus.GateEvidence{now}}
	}
	with := func(w accept.GatePassedTree, edit func(*accept.GatePassedTree)) accept.GatePassedTree {
		edit(&w)
		return w
	}
	for name, c := range map[string]struct {
		work        accept.GatePassedTree
		text, check string
		by          nexus.EvidenceReason
		why         string
	}{
		"a comment, and a green suite":          {both(verifierVerdict(297), verifierVerdict(297)), "parse_size 1536 prints 1.5 KiB", "test", "", "297 tests passed, but none of them is related to this criterion: none failed before the work and passes now; the change has no test"},
		"a comment, and a red suite":            {both(verifierVerdict(297, "m.TestA", "m.TestB"), old(297, "m.TestA", "m.TestB")), "it works", "test", "", "2 fail as they did before"},
		"a comment, and a named test":           {both(verifierVerdict(297, "m.TestA"), old(297, "m.TestA")), "TestA passes", "test", "", "m.TestA failed before the work, and"},
		"half of what it names":                 {both(verifierVerdict(1, "m.TestA", "m.TestB"), old(2, "m.TestB")), "TestA and TestB pass", "test", "", "m.TestB failed before"},
		"all that it names":                     {both(verifierVerdict(1, "m.TestA", "m.TestB"), verifierVerdict(3)), "TestA and TestB pass", "test", nexus.NamedBearing, "m.TestA, m.TestB"},
		"one that it leaves alone":              {both(verifierVerdict(1, "m.TestA", "m.TestB"), old(2, "m.TestB")), "TestA passes; leave TestB alone", "test", nexus.NamedBearing, "m.TestA"},
		"by its place":                          {both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), "a_test.go:7 fails", "test", nexus.NamedBearing, "m.TestA"},
		"by what it says":                       {both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), `size fails with "got 1536, want 1.5 KiB"`, "test", nexus.NamedBearing, "m.TestA"},
		"red before, and green now":             {both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), "sizes are printed", "test", nexus.TurnedBearing, "m.TestA"},
		"it was skipped":                        {both(verifierVerdict(1, "m.TestA"), verifierVerdict(1)), "sizes are printed", "test", "", "none failed before the work and passes now"},
		"one more is skipped, and another came": {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Now[0].Counts.Skipped = 1 }), "sizes are printed", "test", "", "none failed before the work and passes now"},
		"it was skipped, and another came": {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), func(w *accept.GatePassedTree) {
			w.Ended = ended(map[string]string{"m.TestA": "skip", "m.TestB": "pass", "m.TestC": "pass"})
		}), "sizes are printed", "test", "", "none failed before"},
		"it was taken away, and another came": {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), func(w *accept.GatePassedTree) {
			w.Ended = ended(map[string]string{"m.TestB": "pass", "m.TestC": "pass"})
		}), "sizes are printed", "test", "", "none failed before"},
		"it failed by accident":                          {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Again = []nexus.GateEvidence{verifierVerdict(2)} }), "sizes are printed", "test", "", "none failed before"},
		"another fails by accident":                      {with(both(verifierVerdict(1, "m.TestA", "m.TestB"), verifierVerdict(3)), func(w *accept.GatePassedTree) { w.Again = []nexus.GateEvidence{verifierVerdict(2, "m.TestB")} }), "sizes are printed", "test", nexus.TurnedBearing, "pass with it: m.TestB"},
		"a named one failed by accident":                 {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Again = []nexus.GateEvidence{verifierVerdict(2)} }), "TestA passes", "test", "", "none failed before"},
		"nobody could look again":                        {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Again = []nexus.GateEvidence{{Gate: "test", State: nexus.Timeout}} }), "sizes are printed", "test", nexus.TurnedBearing, "m.TestA"},
		"an exit code that was red by accident":          {with(both(nexus.GateEvidence{Gate: "test", State: nexus.Fail, Tree: "b"}, nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t"}), func(w *accept.GatePassedTree) { w.Again = []nexus.GateEvidence{verifierVerdict(2)} }), "sizes are printed", "test", "", "none failed before"},
		"nobody says which pass, and one was taken away": {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(3)), func(w *accept.GatePassedTree) { w.Changed, w.Lost = tested, gone }), "sizes are printed", "test", "", "none failed before"},
		"nor where it is named":                          {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(3)), func(w *accept.GatePassedTree) { w.Changed, w.Lost = tested, gone }), "TestA passes", "test", "", "m.TestA failed before"},
		"it was taken away, and it was seen to pass": {with(both(verifierVerdict(1, "m.TestA"), verifierVerdict(2)), func(w *accept.GatePassedTree) {
			w.Lost, w.Ended = gone, ended(map[string]string{"m.TestA": "pass"})
		}), "sizes are printed", "test", nexus.TurnedBearing, "m.TestA"},
		"it is flaky": {both(verifierVerdict(1, "m.TestA"), func() nexus.GateEvidence {
			e := verifierVerdict(2)
			e.Flaky = []nexus.FlakyTestCount{{Test: "m.TestA"}}
			return e
		}()), "sizes are printed", "test", "", "none failed before"},
		"a command that counts nothing":   {both(nexus.GateEvidence{Gate: "test", State: nexus.Fail, Tree: "b"}, nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t"}), "sizes are printed", "test", nexus.TurnedBearing, "gate test"},
		"new tests, red without the work": {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Changed, w.Without = tested, red }), "sizes are printed", "test", nexus.NewBearing, "m.TestNew"},
		"new tests, green without the work": {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) {
			w.Changed, w.Without = tested, &nexus.TestsRunWithoutWork{Proof: nexus.ProofGreen}
		}), "sizes are printed", "test", "", "pass without the rest of it, too"},
		"new tests that look at nothing": {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Changed, w.Without, w.Hollow = tested, red, true }), "sizes are printed", "test", "", "prove nothing"},
		"new tests, at fault themselves": {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) {
			w.Changed, w.Without = tested, &nexus.TestsRunWithoutWork{Proof: nexus.ProofBroken, Why: "no syntax"}
		}), "sizes are printed", "test", "", "show nothing: no syntax"},
		"tests were asked for":          {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Changed, w.Asserts = []string{"a_test.go"}, true }), "there are tests for sizes", "test", nexus.AskedBearing, "a_test.go"},
		"tests, and none more":          {with(both(verifierVerdict(1), verifierVerdict(1)), func(w *accept.GatePassedTree) { w.Changed = []string{"a_test.go"} }), "there are tests for sizes", "test", "", ""},
		"tests, and code was asked for": {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Changed = []string{"a_test.go"} }), "sizes are printed", "test", "", ""},
		"a test was changed": {with(both(verifierVerdict(1), verifierVerdict(1)), func(w *accept.GatePassedTree) {
			w.Changed, w.Edited, w.Asserts = []string{"a_test.go"}, []string{"a_test.go"}, true
		}), "there are tests for sizes", "test", nexus.AskedBearing, ""},
		"tests that check nothing": {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) { w.Changed = []string{"a_test.go"} }), "there are tests for sizes", "test", "", "check nothing: a_test.go"},
		"tests of something else": {with(both(verifierVerdict(1), verifierVerdict(2)), func(w *accept.GatePassedTree) {
			w.Changed, w.Asserts, w.Known = []string{"a_test.go"}, true, []string{"sizes"}
		}), "there are tests for sizes", "test", "", "do not use sizes"},
		"a green suite alone": {both(verifierVerdict(9), verifierVerdict(9)), "All tests pass.", "test", "", "9 tests passed, but none"},
		"behaviour stays, covered": {with(both(verifierVerdict(9), verifierVerdict(9)), func(w *accept.GatePassedTree) {
			w.Now, w.Edited = append(w.Now, covered), []string{"a_test.go"}
		}), "behaviour stays", "test", nexus.CoversBearing, "3 of 4 lines"},
		"behaviour stays, not measured":         {both(verifierVerdict(9), verifierVerdict(9)), "behaviour stays", "test", nexus.KeptBearing, "pass with it: 9"},
		"behaviour stays, one is gone":          {both(verifierVerdict(9), verifierVerdict(8)), "behaviour stays", "test", "", ""},
		"behaviour stays, and a test is edited": {with(both(verifierVerdict(9), verifierVerdict(9)), func(w *accept.GatePassedTree) { w.Edited = []string{"a_test.go"} }), "behaviour stays", "test", "", ""},
		"it says so, and nobody set it":         {both(verifierVerdict(9), verifierVerdict(9)), "add still gives the wrong size", "test", "", "none failed before"},
		"new behaviour, covered":                {with(both(verifierVerdict(9), verifierVerdict(9)), func(w *accept.GatePassedTree) { w.Now = append(w.Now, covered) }), "sizes are printed", "test", "", ""},
		"it builds":                             {both(build(nexus.Pass), build(nexus.Pass)), "It builds", "build", nexus.LiteralBearing, ""},
		"it does not build worse":               {both(build(nexus.Fail), nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: "t", Old: []string{"a.go:1: no"}}), "It builds", "build", "", ""},
		"it builds again":                       {both(build(nexus.Fail), build(nexus.Pass)), "sizes are printed", "build", nexus.TurnedBearing, "gate build failed without the change"},
		"a build shows nothing else":            {both(build(nexus.Pass), build(nexus.Pass)), "sizes are printed", "build", "", "gate build passes, but that does not show"},
		"a build, and new tests": {with(accept.GatePassedTree{Changed: tested, Now: []nexus.GateEvidence{build(nexus.Pass), verifierVerdict(2)}, Base: []nexus.GateEvidence{build(nexus.Pass), verifierVerdict(1)}}, func(w *accept.GatePassedTree) {
			w.Without = red
		}), "sizes are printed", "build", nexus.NewBearing, "m.TestNew"},
		"a gate that did not run":  {both(build(nexus.Pass), build(nexus.Pass)), "sizes are printed", "test", "", "gate test did not run: none failed"},
		"a gate that did not pass": {both(verifierVerdict(1), nexus.GateEvidence{Gate: "test", State: nexus.NotRun, Tree: "t"}), "sizes are printed", "test", "", "did not pass"},
	} {
		c.work.Task = nexus.Task{ID: "T1", Title: "Do it", Criteria: []nexus.Criterion{{Text: c.text, Check: c.check, Kind: kindIn(c.text)}}}
		all := accept.JudgeGateCriteria(c.work)
		if len(all) != 1 || all[0].By != c.by || all[0].Left || !strings.Contains(all[0].Why, c.why) || all[0].Number != 1 || all[0].Of != state.CriterionFingerprint(c.work.Task, 1) {
			t.Errorf("%s: %+v", name, all)
		}
		open, why := accept.UnprovenCriteria(c.work.Task, all, nil, nil)
		if (len(open) == 0) != (c.by != "") || (why == "") != (c.by != "") {
			t.Errorf("%s: %v %s", name, open, why)
		}
	}
}

// TestWeighNothing holds what is near to evidence and is none.
func TestWeighNothing(t *testing.T) {
	lint := func(state nexus.GateState, found ...nexus.Finding) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: "lint", State: state, Findings: found}
	}
	coverage := func(covered, total int) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: "done: coverage", State: nexus.Pass, Coverage: &nexus.TestCoverage{New: nexus.CoverageShare{Covered: covered, Total: total}}}
	}
	named := func(gate string, ended map[string]string) func(nexus.GateEvidence) map[string]string {
		return func(e nexus.GateEvidence) map[string]string {
			if e.Gate == gate {
				return ended
			}
			return nil
		}
	}
	related := func(passed int) nexus.GateEvidence {
		e := verifierVerdict(passed)
		e.Gate = "related: go test"
		return e
	}
	flaky, uncounted, notRun, quarantined := verifierVerdict(2), verifierVerdict(0), nexus.GateEvidence{Gate: "test", State: nexus.NotRun}, verifierVerdict(2)
	flaky.Flaky = []nexus.FlakyTestCount{{Test: "m.TestX"}}
	quarantined.Flaky = []nexus.FlakyTestCount{{Test: "m.TestA", Quarantine: "slow"}}
	uncounted.Counts = nexus.TestCounts{}
	unnamed := nexus.GateEvidence{Gate: "test", State: nexus.Fail, Exit: 1}
	stale := nexus.GateEvidence{Gate: "test", State: nexus.Pass, Old: []string{"exit 1"}}
	all := func(e ...nexus.GateEvidence) []nexus.GateEvidence {
		for i := range e {
			e[i].Tree = "t" // without one nothing has passed
		}
		return e
	}
	for name, c := range map[string]struct {
		text, check string
		kind        nexus.TaskKind
		changed     string
		altered     bool
		base, now   []nexus.GateEvidence
		ended       func(nexus.GateEvidence) map[string]string
		by          nexus.EvidenceReason
	}{
		"code beside tests that were asked for":      {"there are tests for sizes", "test", "", "a.go a_test.go", true, all(verifierVerdict(1)), all(verifierVerdict(2)), nil, ""},
		"a test task that changes code, too":         {"sizes are printed", "test", nexus.TestTask, "a.go a_test.go", true, all(verifierVerdict(1)), all(verifierVerdict(2)), nil, ""},
		"a test task":                                {"sizes are printed", "test", nexus.TestTask, "a_test.go", false, all(verifierVerdict(1)), all(verifierVerdict(2)), nil, nexus.AskedBearing},
		"a test task that nothing ran":               {"sizes are printed", "build", nexus.TestTask, "a_test.go", false, nil, all(nexus.GateEvidence{Gate: "build", State: nexus.Pass}), nil, ""},
		"tests that nobody counts":                   {"sizes are printed", "test", nexus.TestTask, "a_test.go", false, all(uncounted), all(uncounted), nil, nexus.AskedBearing},
		"a linter that is silent again":              {"sizes are printed", "test", "", "a.go", false, all(lint(nexus.Fail, nexus.Finding{File: "a.go", Message: "x"}), verifierVerdict(2)), all(lint(nexus.Pass), verifierVerdict(2)), nil, ""},
		"an exit code that was red and still is":     {"sizes are printed", "test", "", "a.go", false, all(unnamed), all(stale), nil, ""},
		"a gate that passes now, another that fails": {"sizes are printed", "build", "", "a.go", false, all(verifierVerdict(1, "m.TestA")), all(nexus.GateEvidence{Gate: "build", State: nexus.Pass}, notRun), nil, ""},
		"half of the lines":                          {"behaviour stays", "test", "", "a.go", true, all(verifierVerdict(2)), all(verifierVerdict(2), coverage(2, 4)), nil, nexus.CoversBearing},
		"less than half":                             {"behaviour stays", "test", "", "a.go", true, all(verifierVerdict(2)), all(verifierVerdict(2), coverage(1, 4)), nil, ""},
		"no lines":                                   {"behaviour stays", "test", "", "a.go", true, all(verifierVerdict(2)), all(verifierVerdict(2), coverage(0, 0)), nil, ""},
		"a build that is flaky":                      {"It builds", "build", "", "a.go", false, nil, all(nexus.GateEvidence{Gate: "build", State: nexus.Pass, Flaky: flaky.Flaky}), nil, ""},
		"tests with a name of their own":             {"It passes", "test-unit", "", "a.go", false, nil, all(nexus.GateEvidence{Gate: "test-unit", State: nexus.Pass}), nil, ""},
		"a gate that counts tests":                   {"check passes", "check", "", "a.go", false, nil, all(nexus.GateEvidence{Gate: "check", State: nexus.Pass, Counts: nexus.TestCounts{Passed: 3}}), nil, ""},
		"a related test that is seen to pass":        {"sizes are printed", "test", "", "a.go", false, all(verifierVerdict(1, "m.TestA")), all(related(1)), named("related: go test", map[string]string{"m.TestA": "pass"}), nexus.TurnedBearing},
		"related tests, and which nobody says":       {"sizes are printed", "test", "", "a.go", false, all(verifierVerdict(1, "m.TestA")), all(related(9)), nil, ""},
		"related tests before the whole":             {"sizes are printed", "test", "", "a.go", false, all(verifierVerdict(1, "m.TestA")), all(related(1), old(1, "m.TestA")), named("related: go test", map[string]string{"m.TestA": "pass"}), ""},
		"a test of another gate with that name":      {"sizes are printed", "test", "", "a.go", false, all(verifierVerdict(1, "m.TestA")), all(nexus.GateEvidence{Gate: "e2e", State: nexus.Pass}, old(1, "m.TestA")), named("e2e", map[string]string{"m.TestA": "pass"}), ""},
		"nobody counts, and it is green now":         {"sizes are printed", "test", "", "a.go", false, all(nexus.GateEvidence{Gate: "test", State: nexus.Fail, Findings: verifierVerdict(0, "m.TestA").Findings}), all(uncounted), nil, nexus.TurnedBearing},
		"it is quarantined and named":                {"TestA passes", "test", "", "a.go", false, all(verifierVerdict(1, "m.TestA")), all(quarantined), nil, ""},
		"all that fail, one quarantined":             {"Fix the failing tests", "test", "", "a.go", false, all(verifierVerdict(1, "m.TestA", "m.TestB")), all(quarantined), nil, nexus.NamedBearing},
		"all that fail, one flaky":                   {"Fix the failing tests", "test", "", "a.go", false, all(verifierVerdict(1, "m.TestX", "m.TestB")), all(flaky), nil, ""},
		"a command of a criterion that was red":      {"'sh TestA.sh' fails", "test", "", "a.go", false, all(nexus.GateEvidence{Gate: "accept: sh TestA.sh", State: nexus.Fail, Findings: verifierVerdict(0, "m.TestA").Findings}), all(verifierVerdict(2)), nil, ""},
	} {
		task := nexus.Task{ID: "T1", Kind: c.kind, Title: "Do it", Criteria: []nexus.Criterion{{Text: c.text, Check: c.check, Kind: kindIn(c.text)}}}
		w := accept.GatePassedTree{Task: task, Changed: strings.Fields(c.changed), Touched: []string{"printSize"}, Asserts: true, Base: c.base, Now: c.now, Ended: c.ended}
		if c.altered {
			w.Edited = []string{"a_test.go"}
		}
		got := accept.JudgeGateCriteria(w)
		if len(got) != 1 || got[0].By != c.by || got[0].Left || got[0].Why == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestWeighLiteral lets a criterion ask for a green suite, beside one that is
// about the task, and for no less than that.
func TestWeighLiteral(t *testing.T) {
	for name, c := range map[string]struct {
		beside nexus.Criterion
		now    nexus.GateEvidence
		by     nexus.EvidenceReason
	}{
		"beside a command":    {nexus.Criterion{Text: "it greets", Check: "sh greet.sh"}, verifierVerdict(9), nexus.LiteralBearing},
		"beside prose":        {nexus.Criterion{Text: "it greets"}, verifierVerdict(9), nexus.LiteralBearing},
		"beside another gate": {nexus.Criterion{Text: "it builds", Check: "build"}, verifierVerdict(9), ""},
		"an old failure":      {nexus.Criterion{Text: "it greets", Check: "sh greet.sh"}, old(9, "m.TestA"), ""},
	} {
		task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "The suite is green", Check: "test"}, c.beside}}
		all := accept.JudgeGateCriteria(accept.GatePassedTree{Task: task, Changed: []string{"a.go"}, Base: []nexus.GateEvidence{verifierVerdict(9)}, Now: []nexus.GateEvidence{c.now}})
		if all[0].By != c.by {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestWeighWords leaves documentation to people, and nothing that calls itself so.
func TestWeighWords(t *testing.T) {
	task := nexus.Task{ID: "T1", Kind: nexus.DocsTask, Criteria: []nexus.Criterion{{Text: "the README tells of sizes", Check: "test"}, {Text: "it greets", Check: "sh greet.sh"}, {Text: "it is nice"}}}
	for files, left := range map[string]bool{"README": true, "a.go": false} {
		all := accept.JudgeGateCriteria(accept.GatePassedTree{Task: task, Changed: strings.Fields(files), Texts: left, Base: []nexus.GateEvidence{verifierVerdict(1)}, Now: []nexus.GateEvidence{verifierVerdict(1)}})
		if len(all) != 1 || all[0].By != "" || all[0].Left != left {
			t.Errorf("%s: %+v", files, all)
		}
	}
	task.Kind = nexus.CodeTask
	if all := accept.JudgeGateCriteria(accept.GatePassedTree{Task: task, Changed: []string{"README"}, Texts: true, Base: []nexus.GateEvidence{verifierVerdict(1)}, Now: []nexus.GateEvidence{verifierVerdict(1)}}); all[0].Left || all[0].By != "" {
		t.Errorf("a task of code that changes words: %+v", all)
	}
}

// TestUnshown takes what a check, a reason or a person says for what it is.
func TestUnshown(t *testing.T) {
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "a", Check: "test"}}}
	of := state.CriterionFingerprint(task, 1)
	weighed := []nexus.CriterionGateEvidence{{Number: 1, Of: of, Gate: "test", Why: "nothing bears on it"}}
	for name, c := range map[string]struct {
		checks []nexus.CriterionTest
		waived []int
		open   bool
	}{
		"nobody said anything":     {nil, nil, true},
		"a check was proved":       {[]nexus.CriterionTest{{Number: 1, Of: of, Command: "sh x", Proved: true}}, nil, false},
		"a check was not":          {[]nexus.CriterionTest{{Number: 1, Of: of, Command: "sh x", Why: "it passes without the work"}}, nil, true},
		"there can be none":        {[]nexus.CriterionTest{{Number: 1, Of: of, Why: "it is taste"}}, nil, false},
		"a check of another text":  {[]nexus.CriterionTest{{Number: 1, Of: "x", Command: "sh x", Proved: true}}, nil, true},
		"a check of another":       {[]nexus.CriterionTest{{Number: 2, Of: of, Command: "sh x", Proved: true}}, nil, true},
		"a person signed it":       {nil, []int{1}, false},
		"a person signed another":  {nil, []int{2}, true},
		"neither check nor reason": {[]nexus.CriterionTest{{Number: 1, Of: of}}, nil, true},
	} {
		if open, why := accept.UnprovenCriteria(task, weighed, c.checks, c.waived); (len(open) > 0) != c.open || c.open && !strings.Contains(why, "T1/AC-1 is unknown: nothing bears on it") {
			t.Errorf("%s: %v %s", name, open, why)
		}
	}
}

// TestBears holds what showed a criterion to the tree that landed, and says about
// a run that recorded nothing that nothing is known.
func TestBears(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*state.TaskState, *nexus.GateEvidence)
		want accept.CriterionState
		why  string
	}{
		"it still passes": {func(*state.TaskState, *nexus.GateEvidence) {}, accept.Met, ""},
		"it fails again":  {func(_ *state.TaskState, e *nexus.GateEvidence) { e.Old = []string{"TestNew"} }, accept.Unmet, "TestNew, which showed it, fails"},
		"it does not run": {func(t *state.TaskState, e *nexus.GateEvidence) {
			t.Attempts[0].Weighed.Criteria[0].Seen, e.Missing = []string{"TestNew"}, []string{"TestNew"}
		}, accept.Unknown, "TestNew, which showed it, does not run on the tree that landed"},
		"another does not run": {func(t *state.TaskState, e *nexus.GateEvidence) {
			t.Attempts[0].Weighed.Criteria[0].Seen, e.Missing = []string{"TestNew"}, []string{"TestOld"}
		}, accept.Met, ""},
		"nobody named it":    {func(_ *state.TaskState, e *nexus.GateEvidence) { e.Missing = []string{"TestNew"} }, accept.Met, ""},
		"another fails":      {func(_ *state.TaskState, e *nexus.GateEvidence) { e.Old = []string{"TestOld"} }, accept.Met, ""},
		"it is flaky":        {func(_ *state.TaskState, e *nexus.GateEvidence) { e.Flaky = []nexus.FlakyTestCount{{Test: "TestNew"}} }, accept.Unmet, "fails"},
		"an earlier program": {func(t *state.TaskState, _ *nexus.GateEvidence) { t.Attempts[0].Weighed.Criteria = nil }, accept.Unknown, "nothing recorded"},
		"another text":       {func(t *state.TaskState, _ *nexus.GateEvidence) { t.Criteria[0].Text = "more" }, accept.Unknown, "text has changed"},
		"nothing bore on it": {func(t *state.TaskState, _ *nexus.GateEvidence) {
			t.Attempts[0].Weighed.Criteria[0].By, t.Attempts[0].Weighed.Criteria[0].Why = "", "297 tests passed"
		}, accept.Unknown, "297 tests passed"},
		"literal, and old findings": {func(t *state.TaskState, e *nexus.GateEvidence) {
			t.Attempts[0].Weighed.Criteria[0].By, e.Old = nexus.LiteralBearing, []string{"a.go:1: no"}
		}, accept.Unmet, "still has the findings of the base"},
		"a check was written": {func(t *state.TaskState, _ *nexus.GateEvidence) {
			t.Attempts[0].Weighed.Criteria[0].By = ""
			t.Attempts[0].Checks.Checks = []nexus.CriterionTest{{Number: 1, Of: state.CriterionFingerprint(t.Task, 1), Test: "x", File: "x_test.sh", Command: "sh greet.sh", Proved: true}}
		}, accept.Met, ""},
		"no machine can": {func(t *state.TaskState, _ *nexus.GateEvidence) {
			t.Attempts[0].Weighed.Criteria[0].By = ""
			t.Attempts[0].Checks.Checks = []nexus.CriterionTest{{Number: 1, Of: state.CriterionFingerprint(t.Task, 1), Why: "it is taste"}}
		}, accept.Unknown, "no machine can check it: it is taste"},
	} {
		e := green("test")
		s := ran(nexus.Landed, "t", e, green("accept: sh greet.sh"))
		c.edit(s.Tasks[0], &s.Result.Verdict.Evidence[0])
		if r := accept.BuildCriteriaTable(s, nil).Rows[0]; r.State != c.want || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %s, %s", name, r.State, r.Why)
		}
	}
}

// TestSee lists what fails before the work by what the task says about it.
func TestSee(t *testing.T) {
	task := func(text string, criteria ...nexus.Criterion) nexus.Task {
		return nexus.Task{ID: "T1", Title: text, Criteria: append([]nexus.Criterion{{Text: text, Check: "test"}}, criteria...)}
	}
	red := verifierVerdict(5, "m.TestA", "m.TestB", "m.TestC")
	lint := nexus.GateEvidence{Gate: "lint", State: nexus.Fail, Findings: []nexus.Finding{{File: "a.go", Line: 3, Message: "unused x"}}}
	quarantined := func(gate, test string) bool { return gate == "test" && test == "m.TestC" }
	own := func(state nexus.GateState) []accept.CriterionBaseResults {
		return []accept.CriterionBaseResults{{Number: 2, Base: nexus.GateEvidence{Gate: "accept: sh x.sh", State: state, Tree: "b", Command: "sh x.sh"}}}
	}
	ended := func(e nexus.GateEvidence) map[string]string {
		return map[string]string{"m.TestA": "fail", "m.TestD": "skip", "m.TestE": "pass"}
	}
	for name, c := range map[string]struct {
		text string
		own  []accept.CriterionBaseResults
		want nexus.BaseFailuresCompared
	}{
		"one":             {"TestA fails", nil, nexus.BaseFailuresCompared{Meant: []string{"m.TestA"}, Aside: []string{"m.TestC"}, Others: []string{"m.TestB"}}},
		"one is green":    {"TestA and TestOld fail", nil, nexus.BaseFailuresCompared{Meant: []string{"m.TestA"}, Green: []string{"TestOld"}, Aside: []string{"m.TestC"}, Others: []string{"m.TestB"}}},
		"all":             {"fix the failing tests", nil, nexus.BaseFailuresCompared{Meant: []string{"m.TestA", "m.TestB"}, Aside: []string{"m.TestC", "m.TestD (skipped)"}}},
		"all but one":     {"fix the failing tests except TestB", nil, nexus.BaseFailuresCompared{Meant: []string{"m.TestA"}, Aside: []string{"m.TestB", "m.TestC", "m.TestD (skipped)"}}},
		"a skipped one":   {"TestD fails", nil, nexus.BaseFailuresCompared{Green: []string{"TestD"}, Aside: []string{"m.TestC", "m.TestD (skipped)"}, Others: []string{"m.TestA", "m.TestB"}}},
		"quarantined":     {"TestC fails", nil, nexus.BaseFailuresCompared{Meant: []string{"m.TestC"}, Others: []string{"m.TestA", "m.TestB"}}},
		"a line":          {"a.go:3 is not used", nil, nexus.BaseFailuresCompared{Meant: []string{"a.go:3: unused x"}, Aside: []string{"m.TestC"}, Others: []string{"m.TestA", "m.TestB"}}},
		"a command":       {"it fails", own(nexus.Fail), nexus.BaseFailuresCompared{Meant: []string{"sh x.sh"}, Aside: []string{"m.TestC"}, Others: []string{"m.TestA", "m.TestB"}}},
		"a green command": {"it fails", own(nexus.Pass), nexus.BaseFailuresCompared{Green: []string{"sh x.sh"}, Aside: []string{"m.TestC"}, Others: []string{"m.TestA", "m.TestB"}}},
	} {
		if diff := cmp.Diff(c.want, accept.CompareBaseFailures(task(c.text, nexus.Criterion{Text: c.text, Check: "sh x.sh"}), accept.BaseResults{Said: []nexus.GateEvidence{red, lint}, Own: c.own, Aside: quarantined, Ended: ended})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSeeNamesOfAFailingCommand tells of a test that is to be written once: its
// command fails, so that nobody is told that the test does not.
func TestSeeNamesOfAFailingCommand(t *testing.T) {
	const check = "go test -run '^TestNew$' ./..."
	for name, c := range map[string]struct {
		state nexus.GateState
		want  nexus.BaseFailuresCompared
	}{
		"it is not there":  {nexus.NotRun, nexus.BaseFailuresCompared{Meant: []string{check}}},
		"it is, and fails": {nexus.Fail, nexus.BaseFailuresCompared{Meant: []string{check}}},
		"it passes":        {nexus.Pass, nexus.BaseFailuresCompared{Green: []string{"TestNew", check}}},
	} {
		own := []accept.CriterionBaseResults{{Number: 1, Base: nexus.GateEvidence{State: c.state, Tree: "b"}}}
		if diff := cmp.Diff(c.want, accept.CompareBaseFailures(nexus.Task{ID: "T1", Title: "TestNew passes", Criteria: []nexus.Criterion{{Text: "TestNew passes", Check: check}}}, accept.BaseResults{Own: own})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSeeSkippedWithoutNames counts the tests that do not run where the runner
// does not name them.
func TestSeeSkippedWithoutNames(t *testing.T) {
	e := verifierVerdict(5, "m.TestA")
	e.Counts.Skipped = 2
	for text, want := range map[string][]string{"Fix the failing tests": {"2 skipped by gate test, which does not name them"}, "TestA fails": nil} {
		got := accept.CompareBaseFailures(nexus.Task{ID: "T1", Title: text, Criteria: []nexus.Criterion{{Text: text, Check: "test"}}}, accept.BaseResults{Said: []nexus.GateEvidence{e}})
		if diff := cmp.Diff(want, got.Aside); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestWeighRename takes the suite for a criterion that asks for a new name, and
// for no other, where the change does nothing but rename.
func TestWeighRename(t *testing.T) {
	green := nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t", Counts: nexus.TestCounts{Passed: 3}}
	for name, c := range map[string]struct {
		title, text string
		renamed     bool
		by          nexus.EvidenceReason
	}{
		"the new name":             {"Rename hello to greet", "It is called greet", true, nexus.LiteralBearing},
		"both names":               {"Rename hello to greet", "greet takes the place of hello", true, nexus.LiteralBearing},
		"the change does more":     {"Rename hello to greet", "It is called greet", false, ""},
		"it asks for more":         {"Rename hello to greet", "greet prints two lines", true, ""},
		"another name":             {"Rename hello to greet", "It is called bow", true, ""},
		"the title says no rename": {"Add greet", "It is called greet", true, ""},
	} {
		w := accept.GatePassedTree{Task: nexus.Task{ID: "T1", Title: c.title, Criteria: []nexus.Criterion{{Text: c.text, Check: "test"}}}, Changed: []string{"a.go"}, Base: []nexus.GateEvidence{green}, Now: []nexus.GateEvidence{green}, Renamed: c.renamed}
		if all := accept.JudgeGateCriteria(w); len(all) != 1 || all[0].By != c.by {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
