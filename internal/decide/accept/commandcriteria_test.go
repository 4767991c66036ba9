package accept_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestCommand takes a command for what it was without the change: one that the
// goal says fails has to have failed, and one that somebody named may not have
// passed.
func TestCommand(t *testing.T) {
	for was, by := range map[nexus.GateState][2]nexus.EvidenceReason{
		nexus.Fail: {nexus.TurnedBearing, nexus.TurnedBearing}, nexus.Timeout: {nexus.TurnedBearing, nexus.TurnedBearing}, nexus.Pass: {"", ""},
		nexus.Environmental: {"", nexus.TurnedBearing}, nexus.NotRun: {"", nexus.TurnedBearing}, nexus.Unverifiable: {"", nexus.TurnedBearing},
	} {
		for i, red := range []bool{true, false} {
			task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "it is round", Check: "sh x.sh", Red: red}}}
			s := accept.JudgeCommandCriterion(accept.GatePassedTree{Task: task}, accept.CriterionBaseResults{Number: 1, Base: nexus.GateEvidence{Gate: "accept: sh x.sh", State: was, Tree: "b"}})
			if s.By != by[i] || s.Why == "" || s.Number != 1 || s.Of != state.CriterionFingerprint(task, 1) || s.Gate != "accept: sh x.sh" {
				t.Errorf("%s, read out of the goal %v: %+v", was, red, s)
			}
		}
	}
}

// TestCommandOfAGoal has to have failed, also where the goal asks for no more
// than that it passes.
func TestCommandOfAGoal(t *testing.T) {
	for red, by := range map[bool]nexus.EvidenceReason{true: "", false: nexus.LiteralBearing} {
		task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "make sh x.sh pass", Check: "sh x.sh", Red: red}}}
		if s := accept.JudgeCommandCriterion(accept.GatePassedTree{Task: task}, accept.CriterionBaseResults{Number: 1, Base: green("accept: sh x.sh")}); s.By != by {
			t.Errorf("read out of the goal %v: %+v", red, s)
		}
	}
}

// TestCommandThatPassesBefore shows nothing, unless the tests of the change
// fail there, or nothing was to become different.
func TestCommandThatPassesBefore(t *testing.T) {
	fails, passes := nexus.GateEvidence{State: nexus.Fail, Tree: "b", Findings: []nexus.Finding{{Test: "TestB", File: "b_test.go", Message: "want 1, got 0"}}}, nexus.GateEvidence{State: nexus.Pass, Tree: "b", Counts: nexus.TestCounts{Passed: 2}}
	broken := nexus.GateEvidence{State: nexus.Fail, Tree: "b", Findings: []nexus.Finding{{File: "b_test.go", Message: "syntax error: unexpected }"}}}
	for name, c := range map[string]struct {
		text    string
		kind    nexus.TaskKind
		changed []string
		tests   *nexus.GateEvidence
		start   *nexus.GateEvidence
		by      nexus.EvidenceReason
		left    bool
	}{
		"no test":                 {"sizes are rounded", nexus.CodeTask, []string{"a.go"}, nil, nil, "", false},
		"a test that fails first": {"sizes are rounded", nexus.CodeTask, []string{"a.go", "b_test.go"}, &fails, nil, nexus.NewBearing, false},
		"a test that passes, too": {"sizes are rounded", nexus.CodeTask, []string{"a.go", "b_test.go"}, &passes, nil, "", false},
		"a broken test":           {"sizes are rounded", nexus.CodeTask, []string{"a.go", "b_test.go"}, &broken, nil, "", false},
		"another task did it":     {"sizes are rounded", nexus.CodeTask, []string{"a.go"}, nil, &fails, nexus.TurnedBearing, false},
		"nor did another":         {"sizes are rounded", nexus.CodeTask, []string{"a.go"}, nil, &passes, "", false},
		"as it was":               {"existing tests stay green", nexus.CodeTask, []string{"a.go"}, nil, nil, nexus.LiteralBearing, false},
		"the command alone":       {"go vet is clean", nexus.CodeTask, []string{"a.go"}, nil, nil, nexus.LiteralBearing, false},
		"more than the command":   {"go vet is clean and sizes are rounded", nexus.CodeTask, []string{"a.go"}, nil, nil, "", false},
		"tests were asked for":    {"sizes have tests", nexus.TestTask, []string{"b_test.go"}, nil, nil, nexus.AskedBearing, false},
		"tests, and code":         {"sizes are rounded", nexus.TestTask, []string{"a.go", "b_test.go"}, nil, nil, "", false},
		"tests were not":          {"sizes are rounded", nexus.CodeTask, []string{"b_test.go"}, nil, nil, "", false},
		"words alone":             {"the README is right", nexus.DocsTask, []string{"README.md"}, nil, nil, "", true},
	} {
		task := nexus.Task{ID: "T1", Kind: c.kind, Criteria: []nexus.Criterion{{Text: c.text, Check: "go vet ./...", Kind: kindIn(c.text)}}}
		s := accept.JudgeCommandCriterion(accept.GatePassedTree{Task: task, Changed: c.changed, Asserts: true, Texts: c.left}, accept.CriterionBaseResults{Number: 1, Base: passes, Tests: c.tests, Start: c.start})
		if s.By != c.by || s.Left != c.left || s.Why == "" || s.Own != (c.tests == &fails) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestCommandOnWhatLanded takes a command that passes there for what was seen of
// it without the change, and a check that was written for it beside it.
func TestCommandOnWhatLanded(t *testing.T) {
	own, written := green("accept: sh greet.sh"), green("accept: sh new_test.sh")
	red := own
	red.State = nexus.Fail
	for name, c := range map[string]struct {
		by       nexus.EvidenceReason
		check    bool
		evidence []nexus.GateEvidence
		want     accept.CriterionState
	}{
		"it failed before":               {nexus.TurnedBearing, false, []nexus.GateEvidence{own}, accept.Met},
		"it passed before":               {"", false, []nexus.GateEvidence{own}, accept.Unknown},
		"a check was written":            {"", true, []nexus.GateEvidence{own, written}, accept.Met},
		"a check, and the command fails": {"", true, []nexus.GateEvidence{red, written}, accept.Unmet},
		"a check that did not run":       {"", true, []nexus.GateEvidence{own}, accept.Unknown},
	} {
		s := ran(nexus.Landed, "t", c.evidence...)
		a, of := s.Tasks[0].Attempts[0], state.CriterionFingerprint(s.Tasks[0].Task, 2)
		a.Weighed.Criteria = append(a.Weighed.Criteria, nexus.CriterionGateEvidence{Number: 2, Of: of, Gate: own.Gate, By: c.by, Why: "so"})
		if c.check {
			a.Checks.Checks = []nexus.CriterionTest{{Number: 2, Of: of, Test: "new", File: "new_test.sh", Command: "sh new_test.sh", Proved: true}}
		}
		if r := accept.BuildCriteriaTable(s, nil).Rows[1]; r.State != c.want || r.State != accept.Met && r.Why == "" {
			t.Errorf("%s: %s, %s", name, r.State, r.Why)
		}
	}
}

// TestCommandThatDoesNotPass shows nothing, and nobody is told that it passes.
func TestCommandThatDoesNotPass(t *testing.T) {
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "sizes are rounded", Check: "go test -run TestX ."}}}
	now := []nexus.GateEvidence{{Gate: "accept: go test -run TestX .", State: nexus.NotRun, Tree: "t", Why: "no test ran"}}
	for _, base := range []nexus.GateState{nexus.NotRun, nexus.Fail, nexus.Environmental} {
		s := accept.JudgeCommandCriterion(accept.GatePassedTree{Task: task, Now: now}, accept.CriterionBaseResults{Number: 1, Base: nexus.GateEvidence{State: base, Tree: "b", Why: "no test ran"}})
		if s.By != "" || s.Why != "the command does not pass with the change: no test ran" {
			t.Errorf("%s: %+v", base, s)
		}
	}
}
