package accept_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// weigh returns what is said of the only criterion of a task.
func weigh(t *testing.T, text, check string, w accept.GatePassedTree) nexus.CriterionGateEvidence {
	t.Helper()
	w.Task = nexus.Task{ID: "T1", Title: "Do it", Criteria: []nexus.Criterion{{Text: text, Check: check}}}
	all := accept.JudgeGateCriteria(w)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	return all[0]
}

// TestWeighedInWords holds the words that say why nothing shows a criterion, and what shows one.
func TestWeighedInWords(t *testing.T) {
	build, tests := nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: "t"}, []string{"a.go", "a_test.go"}
	several := func(n int) []string { return []string{"m.A", "m.B", "m.C", "m.D", "m.E", "m.F", "m.G"}[:n] }
	for name, c := range map[string]struct {
		text, check string
		w           accept.GatePassedTree
		why         string
	}{
		"no test": {
			"sizes are told", "build",
			accept.GatePassedTree{Changed: []string{"a.go"}, Now: []nexus.GateEvidence{build}},
			"gate build passes, but that does not show this criterion: none failed before the work and passes now; the change has no test",
		},
		"tests of another gate": {
			"sizes are told", "build",
			accept.GatePassedTree{Changed: []string{"a.go"}, Now: []nexus.GateEvidence{build, verifierVerdict(9), {Gate: "x", State: nexus.Pass, Tree: "t"}}},
			"9 tests passed, but none of them is related to this criterion: none failed before the work and passes now; the change has no test",
		},
		"tests that nobody looked at": {
			"sizes are told", "test",
			accept.GatePassedTree{Changed: tests, Base: []nexus.GateEvidence{verifierVerdict(1)}, Now: []nexus.GateEvidence{verifierVerdict(1)}},
			"1 tests passed, but none of them is related to this criterion: none failed before the work and passes now; " +
				"the change has no test that was seen to fail without the rest of it",
		},
		"an accident": {
			"sizes are told", "test",
			accept.GatePassedTree{
				Changed: []string{"a.go"}, Base: []nexus.GateEvidence{verifierVerdict(1, "m.A")}, Now: []nexus.GateEvidence{verifierVerdict(2)}, Again: []nexus.GateEvidence{verifierVerdict(2)},
			},
			"2 tests passed, but none of them is related to this criterion: none failed before the work and passes now; the change has no test; " +
				"without the change these are flaky: they fail, and pass when they run again: m.A",
		},
		"five turned": {
			"sizes are told", "test",
			accept.GatePassedTree{Changed: []string{"size.go"}, Base: []nexus.GateEvidence{verifierVerdict(1, several(5)...)}, Now: []nexus.GateEvidence{verifierVerdict(6)}},
			"failed without the change, and pass with it: m.A, m.B, m.C, m.D, m.E",
		},
		"seven turned": {
			"sizes are told", "test",
			accept.GatePassedTree{Changed: []string{"size.go"}, Base: []nexus.GateEvidence{verifierVerdict(1, several(7)...)}, Now: []nexus.GateEvidence{verifierVerdict(8)}},
			"failed without the change, and pass with it: m.A, m.B, m.C, m.D, m.E and 2 more",
		},
		"nothing but words of a gate": {
			"It works", "build",
			accept.GatePassedTree{Changed: []string{"a.go"}, Now: []nexus.GateEvidence{build}},
			"gate build passes, but that does not show this criterion: none failed before the work and passes now; the change has no test",
		},
	} {
		if s := weigh(t, c.text, c.check, c.w); s.Why != c.why {
			t.Errorf("%s: %s", name, s.Why)
		}
	}
	proved := accept.GatePassedTree{
		Changed: tests, Base: []nexus.GateEvidence{verifierVerdict(1)}, Now: []nexus.GateEvidence{verifierVerdict(2)},
		Without: &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Tests: []string{"m.TestNew"}},
	}
	if s := weigh(t, "sizes are told", "test", proved); !s.Own || s.By != nexus.NewBearing {
		t.Errorf("only tests that came with the change show it: %+v", s)
	}
}

// TestGoneNowhere holds that what was found on the base is gone only where the gate that found it passes now.
func TestGoneNowhere(t *testing.T) {
	compile := nexus.GateEvidence{Gate: "test", State: nexus.Fail, Tree: "b"}
	compile.Findings = []nexus.Finding{{File: "a.go", Line: 7, Message: "undefined: Size"}}
	lint := compile
	lint.Gate = "lint"
	related := verifierVerdict(3)
	related.Gate = "related: go test"
	build := nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: "t"}
	clean := nexus.GateEvidence{Gate: "lint", State: nexus.Pass, Tree: "t"}
	uncounted := nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t"}
	if s := weigh(t, "sizes are told", "test", accept.GatePassedTree{Base: []nexus.GateEvidence{verifierVerdict(1, "m.TestA")}, Now: []nexus.GateEvidence{uncounted}}); s.By != "" {
		t.Errorf("nobody counts any more, and it may be skipped: %+v", s)
	}
	for name, c := range map[string]struct {
		base, now nexus.GateEvidence
		by        nexus.EvidenceReason
	}{
		"only related tests ran": {compile, related, ""},
		"another gate ran":       {lint, build, ""},
		"the gate ran":           {lint, clean, nexus.NamedBearing},
	} {
		w := accept.GatePassedTree{Changed: []string{"a.go"}, Base: []nexus.GateEvidence{c.base}, Now: []nexus.GateEvidence{c.now}}
		if s := weigh(t, "a.go:7 is fixed", "done", w); s.By != c.by {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestWeighLiteralBeside lets a criterion ask for a green suite beside one whose gate shows more than that it passes.
func TestWeighLiteralBeside(t *testing.T) {
	suite, other := nexus.Criterion{Text: "The suite is green", Check: "test"}, nexus.Criterion{Text: "sizes are told", Check: "build"}
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{suite, other}}
	all := accept.JudgeGateCriteria(accept.GatePassedTree{Task: task, Changed: []string{"a.go"}, Base: []nexus.GateEvidence{verifierVerdict(9)}, Now: []nexus.GateEvidence{verifierVerdict(9)}})
	if all[0].By != nexus.LiteralBearing {
		t.Errorf("%+v", all)
	}
}

// TestReds holds which gates were red on the base where that shows criteria.
func TestReds(t *testing.T) {
	red, e2e := verifierVerdict(1, "m.A"), verifierVerdict(1, "m.B")
	e2e.Gate = "test-e2e"
	w := accept.GatePassedTree{Base: []nexus.GateEvidence{red, red, {Gate: "lint", State: nexus.Fail}, e2e, verifierVerdict(2)}}
	for by, want := range map[nexus.EvidenceReason][]string{
		nexus.NamedBearing: {"test", "test-e2e"}, nexus.TurnedBearing: {"test", "test-e2e"}, nexus.NewBearing: nil, "": nil,
	} {
		if diff := cmp.Diff(want, w.GatesShowingByFailure([]nexus.CriterionGateEvidence{{By: ""}, {By: by}})); diff != "" {
			t.Errorf("%q: %s", by, diff)
		}
	}
}

// TestKeptOfSeveral counts the tests that passed before of each gate that runs tests, and of no command of a criterion.
func TestKeptOfSeveral(t *testing.T) {
	gate := func(name string, e nexus.GateEvidence) nexus.GateEvidence { e.Gate = name; return e }
	flaky := func(passed int) nexus.GateEvidence {
		e := verifierVerdict(passed)
		e.Flaky = []nexus.FlakyTestCount{{Test: "m.X"}}
		return e
	}
	lint := nexus.GateEvidence{Gate: "lint", State: nexus.Pass, Tree: "t"}
	for name, c := range map[string]struct {
		base, now []nexus.GateEvidence
		why       string
	}{
		"two gates":               {[]nexus.GateEvidence{verifierVerdict(9), gate("test-e2e", verifierVerdict(3))}, []nexus.GateEvidence{verifierVerdict(9), gate("test-e2e", verifierVerdict(3))}, "tests that passed before the work and pass with it: 12"},
		"a linter":                {[]nexus.GateEvidence{verifierVerdict(9), lint}, []nexus.GateEvidence{verifierVerdict(9)}, "tests that passed before the work and pass with it: 9"},
		"a command":               {[]nexus.GateEvidence{verifierVerdict(9), gate("accept: go test .", verifierVerdict(4))}, []nexus.GateEvidence{verifierVerdict(9)}, "tests that passed before the work and pass with it: 9"},
		"a gate of which none do": {[]nexus.GateEvidence{verifierVerdict(9), gate("test-e2e", verifierVerdict(0, "m.B"))}, []nexus.GateEvidence{verifierVerdict(9)}, "tests that passed before the work and pass with it: 9"},
		"one is flaky of two": {
			[]nexus.GateEvidence{verifierVerdict(9)},
			[]nexus.GateEvidence{flaky(7)},
			"tests that passed before the work and pass with it: 8; no longer there: 1 tests of gate test, which is judged as a change of tests",
		},
		"the only one missing is flaky": {[]nexus.GateEvidence{verifierVerdict(9)}, []nexus.GateEvidence{flaky(8)}, "tests that passed before the work and pass with it: 9"},
	} {
		w := accept.GatePassedTree{Changed: []string{"a.go"}, Base: c.base, Now: c.now}
		s := weigh(t, "Every test that passed before the work passes with it.", "test", w)
		if s.Why != c.why || s.By != nexus.KeptBearing {
			t.Errorf("%s: %s %s", name, s.By, s.Why)
		}
	}
}

// TestSeeNothingSkipped tells of no test that is skipped where none is, and of a green command of a task of tests only where
// the goal says that it fails.
func TestSeeNothingSkipped(t *testing.T) {
	task := nexus.Task{ID: "T1", Title: "Fix the failing tests", Criteria: []nexus.Criterion{{Text: "Fix the failing tests", Check: "test"}}}
	if got := accept.CompareBaseFailures(task, accept.BaseResults{Said: []nexus.GateEvidence{verifierVerdict(5, "m.TestA")}}).Aside; got != nil {
		t.Errorf("%v", got)
	}
	for _, c := range []struct {
		kind  nexus.TaskKind
		text  string
		red   bool
		green bool
	}{
		{nexus.CodeTask, "sizes are told", false, true},
		{nexus.CodeTask, "sizes stay the same", false, false},
		{nexus.CodeTask, "sizes stay the same", true, true},
		{nexus.TestTask, "sizes are told", false, false},
		{nexus.TestTask, "sizes are told", true, true},
	} {
		task := nexus.Task{ID: "T1", Kind: c.kind, Title: "Sizes", Criteria: []nexus.Criterion{{Text: c.text, Check: "sh x.sh", Red: c.red, Kind: kindIn(c.text)}}}
		got := accept.CompareBaseFailures(task, accept.BaseResults{Own: []accept.CriterionBaseResults{{Number: 1, Base: nexus.GateEvidence{State: nexus.Pass, Tree: "b"}}}})
		if (len(got.Green) > 0) != c.green || got.Meant != nil {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// TestSeeTheLine takes a line that a text names for the test that fails there, and for no other of its file.
func TestSeeTheLine(t *testing.T) {
	e := verifierVerdict(5, "m.TestA", "m.TestB")
	e.Findings[1].Line = 20
	task := nexus.Task{ID: "T1", Title: "a_test.go:7 fails", Criteria: []nexus.Criterion{{Text: "it works", Check: "test"}}}
	want := nexus.BaseFailuresCompared{Meant: []string{"m.TestA"}, Others: []string{"m.TestB"}}
	if diff := cmp.Diff(want, accept.CompareBaseFailures(task, accept.BaseResults{Said: []nexus.GateEvidence{e}})); diff != "" {
		t.Error(diff)
	}
	now := verifierVerdict(6)
	now.Old = []string{"m.TestB"}
	w := accept.GatePassedTree{Changed: []string{"a.go"}, Base: []nexus.GateEvidence{e}, Now: []nexus.GateEvidence{now}}
	if s := weigh(t, "a_test.go:7 is fixed", "test", w); s.By != nexus.NamedBearing || !cmp.Equal(s.Tests, []string{"m.TestA"}) {
		t.Errorf("%+v", s)
	}
}
