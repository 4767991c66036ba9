package accept

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriterionBaseResults are the results of a criterion's command without the change.
type CriterionBaseResults struct {
	Number int                 // of the criterion in its task, from 1
	Base   nexus.GateEvidence  // of the base
	Tests  *nexus.GateEvidence // of the base with the tests of the change; nil: not run
	// Old is of the tree with the base's version of the tests that the change edited or
	// removed; nil: it did neither, or it was not run.
	Old   *nexus.GateEvidence
	Start *nexus.GateEvidence // of the run's starting tree, if that differs; nil: not run
}

// JudgeCommandCriterion decides whether a criterion's command shows it. A command that fails
// with the change shows nothing, whatever it did before. A command that passes without the
// change too shows nothing, unless it fails there once the tests of the change are added, or
// nothing was to change.
func JudgeCommandCriterion(w GatePassedTree, b CriterionBaseResults) nexus.CriterionGateEvidence {
	c := w.Task.Criteria[b.Number-1]
	gate, _ := GateOfCriterion(c)
	s := nexus.CriterionGateEvidence{Number: b.Number, Of: state.CriterionFingerprint(w.Task, b.Number), Gate: gate}
	now, kind := nexus.EvidenceOfGate(w.Now, gate), w.CriterionKindOf(c)
	switch failed := b.Base.State.IsRed(); {
	case now.Gate != "" && !now.Passed():
		s.Why = fmt.Sprintf("the command does not pass with the change: %s", cmp.Or(now.Why, string(now.State)))
	case failed && !c.Red && kind != nexus.GateCriterion && w.unrelatedTests(c, b.Base) != "":
		s.Why = "the command failed without the change for tests that nothing relates to the criterion: " + w.unrelatedTests(c, b.Base)
	case failed && b.Old != nil && !b.Old.Passed() && (w.weakensTests() || len(w.Lost) > 0 || len(w.Gone) > 0):
		s.Why = "the command passes only with the tests that the change edited or took away: " + joinFirstNames(slices.Concat(w.Edited, w.Gone))
	case failed && b.Old != nil && !b.Old.Passed():
		s.By, s.Tests, s.Own = nexus.NewBearing, w.changedTestFiles(), true
		s.Why = "only tests that came with the change show it: the command failed without them"
	case failed:
		s.By, s.Why = nexus.TurnedBearing, "the command failed without the change, and passes with it"
	case c.Red && !b.Base.Passed():
		s.Why = fmt.Sprintf("the command could not run without the change: %s: %s", b.Base.State, b.Base.Why)
	case !b.Base.Passed():
		s.By = nexus.TurnedBearing
		s.Why = "the command passes with the change, and showed nothing without it: " + cmp.Or(b.Base.Why, string(b.Base.State))
	case b.Start != nil && b.Start.State == nexus.Fail:
		s.By, s.Why = nexus.TurnedBearing, "the command failed before the run, and passes now"
	case c.Red:
		s.Why = "the command passes without the change, too"
	case b.Tests != nil && repair.ProveTests(w.changedTestFiles(), nil, []nexus.GateEvidence{*b.Tests}).Proof == nexus.ProofRed:
		s.By, s.Tests, s.Own = nexus.NewBearing, w.changedTestFiles(), true
		s.Why = "only tests that came with the change show it: with them alone the command fails, and with the whole change it passes"
	case mayPassBeforeReason(c) != "":
		s.By, s.Why = nexus.LiteralBearing, mayPassBeforeReason(c)
	case kind == nexus.TestsCriterion && w.changesOnlyTests() && w.Asserts:
		s.By, s.Tests, s.Why = nexus.AskedBearing, w.changedTestFiles(), "the tests that were asked for check something, and pass: "+joinFirstNames(w.changedTestFiles())
	case kind == nexus.DocsCriterion && w.Texts && w.Task.Kind == nexus.DocsTask:
		s.Left, s.Why = true, "the command passes without the change, too, which is words only: a person must decide"
	case kind == nexus.DocsCriterion && w.Texts:
		s.By, s.Why = nexus.ReadBearing, "only comments and documents changed, which no command can show: a verifier reads the change"
	default:
		s.Why = w.showsNothingReason(b)
	}
	return s
}

// unrelatedTests returns the tests that made a command fail without the change, if none of
// them is about the criterion. It returns "" if one is, or if the command names no test.
func (w GatePassedTree) unrelatedTests(c nexus.Criterion, base nexus.GateEvidence) string {
	var all []baseRedTest
	for _, f := range base.Findings {
		if f.Test == "" {
			return ""
		}
		r := baseRedTest{gate: base.Gate, label: f.Test, file: f.File}
		if w.TextOf != nil {
			r.text = w.TextOf(f)
		}
		all = append(all, r)
	}
	if len(all) == 0 || w.mayRelate(w.wordsAboutCriterion(c), all) {
		return ""
	}
	return joinFirstNames(testLabels(all))
}

// mayPassBeforeReason returns why a command that passes before the change may show a
// criterion anyway: the criterion is about unchanged behavior, or its text requires only that
// the command passes. It returns "" if it may not.
func mayPassBeforeReason(c nexus.Criterion) string {
	switch {
	case c.Kind == nexus.StaysCriterion:
		return "it asks that something stays the same, and the command passes as before"
	case c.Kind == "" && saysOnlyThatPasses(c.Text, strings.FieldsFunc(strings.ToLower(c.Check), isSeparator)):
		return "it asks only that the command passes"
	}
	return ""
}

// showsNothingReason returns why a command that passes without the change shows nothing.
func (w GatePassedTree) showsNothingReason(b CriterionBaseResults) string {
	why := "the command passes without the change, too"
	switch {
	case len(w.changedTestFiles()) == 0:
		return why + ", and the change has no test"
	case b.Tests != nil && b.Tests.Passed():
		return why + ", also with the tests of the change"
	case b.Tests != nil:
		p := repair.ProveTests(w.changedTestFiles(), nil, []nexus.GateEvidence{*b.Tests})
		return fmt.Sprintf("%s, and with the tests of the change alone: %s", why, cmp.Or(p.Why, string(p.Proof)))
	}
	return why
}

// IsInconclusive reports whether a command's result on the base alone does not decide whether
// it shows its criterion.
func IsInconclusive(c nexus.Criterion, base nexus.GateEvidence) bool {
	return base.Passed() && !c.Red && mayPassBeforeReason(c) == ""
}

// saysOnlyThatPasses reports whether a text requires only that the things named by the words pass.
func saysOnlyThatPasses(text string, words []string) bool {
	found, around := false, fillerWords()
	for _, word := range strings.FieldsFunc(strings.ToLower(text), isSeparator) {
		switch {
		case slices.Contains(words, word):
			found = true
		case !slices.Contains(around, word):
			return false
		}
	}
	return found
}

func isSeparator(r rune) bool { return strings.ContainsRune(" \t\n.,:;!()`'\"", r) }

// fillerWords returns the words around a gate's name in a criterion that requires only that the
// gate passes.
func fillerWords() []string {
	return []string{
		"it", "the", "a", "all", "code", "project", "whole", "tree", "program", "everything", "go", "npm", "cargo", "make", "run", "gate", "and", "is", "are", "be", "must", "should",
		"pass", "passes", "passed", "succeeds", "succeed", "works", "clean", "cleanly", "green", "without", "no", "errors", "error", "warnings", "warning", "findings", "new", "has", "have", "finds", "nothing", "reports", "of", "correctly", "successfully", "properly", "well", "/",
	}
}
