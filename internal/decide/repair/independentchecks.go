package repair

import (
	"cmp"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IndependentGate is the cause of a round in which an author answers an independent check
// that fails with the work.
const IndependentGate = "independent"

// IndependentRed is the code of a finding about an independent check that still fails after
// the author has answered it.
const IndependentRed = "independent.red"

// Values of the setting acceptance.independent.
const (
	IndependentAuto   = "auto"
	IndependentAlways = "always"
	IndependentOff    = "off"
)

// CriteriaNeedingIndependentCheck returns the numbers of the criteria that need an independent check: those
// that only tests of the change show. Auto requires one only if there is a risk, which is the
// case if existing code was changed that others use. For a new feature the tests of the
// change are all that can exist, and a second reading of the goal costs more than it finds.
func CriteriaNeedingIndependentCheck(when string, t nexus.Task, all []nexus.CriterionGateEvidence, edits bool) []int {
	var open []int
	for _, s := range all {
		if !s.Own || s.Number > len(t.Criteria) {
			continue
		}
		changes := t.Criteria[s.Number-1].Kind == "" && edits
		if when == IndependentAlways || when == IndependentAuto && changes {
			open = append(open, s.Number)
		}
	}
	return open
}

// decideIndependentCheck decides about work that passed and is shown only by its own tests. A session
// that sees nothing of the change writes a check, once per attempt, and it runs on each
// judged tree from then on. If it fails, the author is told once. If that changes nothing, a
// verifier decides which of the two is wrong: the failure is among the things to explain
// ([DoubtedFindings]).
func decideIndependentCheck(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) (RepairStep, bool) {
	if len(facts.Independent) == 0 {
		return RepairStep{}, false
	}
	if p := a.Reproduced; p == nil || p.Round != len(a.Rounds) || p.Tree != a.LastRound().Verdict.Tree {
		return RepairStep{Move: Reproduce}, true
	}
	red := RefutedFindings(*a.Reproduced)
	if len(red) == 0 || countRounds(a, IndependentGate) > 0 {
		return RepairStep{}, false
	}
	step := beginRound(t, a, l, RepairStep{
		Role: firstWriterRole(t), Cause: IndependentGate, Findings: red,
		Why: "a check of the task that was written without knowing the change fails with it",
	})
	return step, step.Move == Write
}

// RefutedFindings returns the findings of independent checks that fail with the work.
func RefutedFindings(p nexus.IndependentChecksRun) []nexus.Finding {
	var all []nexus.Finding
	for _, c := range p.Checks {
		if c.Red {
			all = append(all, nexus.Finding{
				Gate: IndependentGate, Test: c.Test, File: c.File, Severity: nexus.Major,
				Message: fmt.Sprintf("criterion %d: %s, run by `%s`, fails with the change: %s", c.Number, cmp.Or(c.Test, c.File), c.Command, c.Why),
			})
		}
	}
	return all
}

// DoubtedFindings returns the failures of independent checks that a verifier must explain because the
// author has already answered them.
func DoubtedFindings(a *state.AttemptState, p nexus.IndependentChecksRun) []nexus.Finding {
	if countRounds(a, IndependentGate) == 0 {
		return nil
	}
	all := RefutedFindings(p)
	for i := range all {
		all[i].Code = IndependentRed
		all[i].Message += ". It was written from the task alone. Legitimate here means that the check asks for something that the task does not ask for"
	}
	return all
}
