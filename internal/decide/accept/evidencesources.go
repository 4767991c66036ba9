package accept

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// EvidenceKind is a kind of evidence: the criteria that it can show, and the facts that it never
// shows.
type EvidenceKind struct {
	By    nexus.EvidenceReason
	Kinds []nexus.CriterionKind
	Shows string // the observation
	Never string // facts that the observation does not show

	find func(w *criterionEvaluation) bool // fills in its findings; nil: searched for later, see [AddIndependentResults]
}

// EvidenceSources returns the table of docs/acceptance.md. The first source that finds something
// counts.
func EvidenceSources() []EvidenceKind {
	const behavior = nexus.CriterionKind("")
	most := []nexus.CriterionKind{behavior, nexus.GateCriterion, nexus.TestsCriterion, nexus.RenameCriterion, nexus.DocsCriterion}
	stays := []nexus.CriterionKind{nexus.StaysCriterion}
	return []EvidenceKind{
		{
			nexus.KeptBearing, stays, "every test that passed before passes with the change, and none of them was edited",
			"that something is new; anything where a test is gone", (*criterionEvaluation).findRegressionProof,
		},
		{
			nexus.NamedBearing, most, "all that the criterion or the title names failed each time before, and passes now",
			"anything, while one of them is red, skipped, gone, or red with the base's version of its file", (*criterionEvaluation).findNamedTests,
		},
		{
			nexus.BlindBearing, most, "a check by a session that did not see the change fails on the base and passes now",
			"anything, while a related test is red", nil,
		},
		{
			nexus.LiteralBearing,
			[]nexus.CriterionKind{nexus.GateCriterion},
			"the gate passes, without old findings; a gate of tests only beside a criterion that asks for more",
			"behavior", (*criterionEvaluation).findGateNamedLiterally,
		},
		{
			nexus.TurnedBearing, most, "tests that are related to the criterion failed each time before and pass now, also with the base's version of their files",
			"anything, while a related test is red; what another test is about", (*criterionEvaluation).findTestsFixedByWork,
		},
		{
			nexus.NewBearing, most, "a test of the change fails without the rest of it",
			"that the test asks for the right thing; anything, while a related test is red", (*criterionEvaluation).findNewTests,
		},
		{
			nexus.AskedBearing,
			[]nexus.CriterionKind{nexus.TestsCriterion},
			"the change is of tests alone, more of them pass, and they check what the criterion names",
			"behavior that changes", (*criterionEvaluation).findRequestedTests,
		},
		{
			nexus.LiteralBearing,
			[]nexus.CriterionKind{nexus.RenameCriterion},
			"the change does nothing but rename, and the gate passes",
			"that anything works otherwise", (*criterionEvaluation).acceptPureRename,
		},
		{
			nexus.CoversBearing, stays, "tests that pass as before run at least half of the lines that changed",
			"that something is new", (*criterionEvaluation).findCoverageProof,
		},
		{
			nexus.ReadBearing,
			[]nexus.CriterionKind{nexus.DocsCriterion},
			"only comments or documents changed, and a verifier reads the change",
			"behavior", (*criterionEvaluation).findReadableProof,
		},
	}
}

// criterionEvaluation is one criterion and the known results for a tree.
type criterionEvaluation struct {
	GatePassedTree
	*nexus.CriterionGateEvidence

	criterion nexus.Criterion
	kind      nexus.CriterionKind
	says      criterionWords
	now, base nexus.GateEvidence // of its gate
	green     []baseRedTest      // failed before, pass now
	left      []baseRedTest      // failed before, and are not known to pass
}

// findCriterionEvidence decides which evidence shows a criterion, by the table alone.
func (w GatePassedTree) findCriterionEvidence(s *nexus.CriterionGateEvidence, c nexus.Criterion) {
	v := &criterionEvaluation{GatePassedTree: w, CriterionGateEvidence: s, criterion: c, kind: w.CriterionKindOf(c), says: w.wordsAboutCriterion(c)}
	v.now, v.base = nexus.EvidenceOfGate(w.Now, s.Gate), nexus.EvidenceOfGate(w.Base, s.Gate)
	v.green, v.left = w.fixedAndStillRedTests()
	if v.hasObjection() {
		return
	}
	for _, source := range EvidenceSources() {
		if source.find != nil && slices.Contains(source.Kinds, v.kind) && source.find(v) {
			s.By = source.By
			return
		}
	}
	switch {
	case s.Left:
	case v.kind == nexus.DocsCriterion && w.Texts && w.Task.Kind == nexus.DocsTask:
		s.Left, s.Why = true, "the change is words only, which no test runs: a person must decide"
	case s.Why == "":
		s.Why = v.unshownReason(s.Gate)
	}
}

// hasObjection reports whether a result contradicts a criterion, whatever shows it.
func (v *criterionEvaluation) hasObjection() bool {
	if v.criterion.IsRegressionOnly() {
		return false // it checks all gates by itself
	}
	if v.now.Gate != "" && !v.now.Passed() {
		v.Why = fmt.Sprintf("gate %s did not pass: %s", v.Gate, v.now.State)
		return true
	}
	meant, left := v.namedRedTests(v.criterion)
	if len(left) > 0 {
		v.Why = fmt.Sprintf("%s failed before the work, and nothing shows that it passes now", nexus.JoinWords(left))
		return true
	}
	if v.kind != "" || len(meant) > 0 {
		return false
	}
	if open, why := v.remainingRedTests(v.says, v.relatedTests(), v.left); len(open) > 0 {
		v.Why = fmt.Sprintf("failed before the work, and nothing shows that it passes now: %s; %s. If the task is not about it, name the tests that it is about", joinFirstNames(open), why)
		return true
	}
	return false
}

// relatedTests returns the tests that pass now and failed before, if they are about the criterion.
func (v *criterionEvaluation) relatedTests() []baseRedTest {
	if v.isRelated(v.says, v.green) || len(v.left) == 0 && v.isRelatedByWordParts(v.says, v.green) {
		return v.green
	}
	return nil
}

func (v *criterionEvaluation) findRegressionProof() bool {
	if v.criterion.IsRegressionOnly() {
		v.checkRegressions(v.CriterionGateEvidence)
		return v.By != ""
	}
	if !runsTests(v.now, v.Gate) || len(v.Edited) > 0 || v.weakensTests() {
		return false
	}
	tried := *v.CriterionGateEvidence
	v.checkRegressions(&tried)
	if tried.By == "" || strings.Contains(tried.Why, "no longer there") {
		return false
	}
	v.Why = tried.Why
	return true
}

func (v *criterionEvaluation) findNamedTests() bool {
	meant, _ := v.namedRedTests(v.criterion)
	v.Tests, v.Why = meant, "named, failed without the change and not with it: "+joinFirstNames(meant)
	return v.resetUnlessFound(len(meant) > 0)
}

// resetUnlessFound resets the filled-in fields if nothing was found.
func (v *criterionEvaluation) resetUnlessFound(some bool) bool {
	if !some {
		v.Tests, v.Own, v.Why = nil, false, ""
	}
	return some
}

func (v *criterionEvaluation) findGateNamedLiterally() bool {
	passes := passesCleanly(v.now) && (!runsTests(v.now, v.Gate) || v.hasOtherCriterion(v.criterion))
	if passes {
		v.Why = "it asks for nothing else"
	}
	return passes
}

func (v *criterionEvaluation) findTestsFixedByWork() bool {
	if passesCleanly(v.now) && v.base.State == nexus.Fail && !runsTests(v.now, v.Gate) {
		return v.isGateFixedByWork()
	}
	tests := v.relatedTests()
	v.Tests = testLabels(tests)
	v.Why = "failed without the change, and pass with it: " + joinFirstNames(v.Tests)
	return v.resetUnlessFound(len(tests) > 0)
}

// isGateFixedByWork reports whether a gate without tests failed on the base on the subject of the
// criterion, and passes now with all the files that it checked still present.
func (v *criterionEvaluation) isGateFixedByWork() bool {
	var all []baseRedTest
	for _, f := range v.base.Findings {
		if slices.Contains(v.Gone, f.File) {
			v.Why = fmt.Sprintf("gate %s failed because of %s, which is gone: whether it may be is for a person to decide", v.Gate, f.File)
			return false
		}
		all = append(all, baseRedTest{gate: v.Gate, label: FindingLabel(f), file: f.File})
	}
	if v.weakensTests() || len(all) > 0 && !v.mayRelate(v.says, all) {
		return false
	}
	v.Why = fmt.Sprintf("gate %s failed without the change, and passes with it", v.Gate)
	return true
}

func (v *criterionEvaluation) findNewTests() bool {
	if v.Without == nil || v.Without.Proof != nexus.ProofRed || v.Hollow {
		return false
	}
	v.Tests, v.Own = v.Without.Tests, true
	v.Why = "only tests that came with the change show it, and they fail without the rest of it: " + joinFirstNames(v.Tests)
	return true
}

func (v *criterionEvaluation) findRequestedTests() bool {
	switch {
	case !v.changesOnlyTests() || !v.moreTestsPass() && !v.hasEditedTestFile():
		return false
	case !v.Asserts:
		v.Why = "the tests that were asked for check nothing: " + joinFirstNames(v.changedTestFiles())
		return false
	case len(v.Known) > 0 && len(v.Tells) == 0:
		v.Why = fmt.Sprintf("the tests that were asked for do not use %s: %s", nexus.JoinWords(v.Known), joinFirstNames(v.changedTestFiles()))
		return false
	}
	v.Tests, v.Why = v.changedTestFiles(), "the tests that were asked for run, check something, and pass: "+joinFirstNames(v.changedTestFiles())
	return true
}

// hasEditedTestFile reports whether an existing test file has grown.
func (v *criterionEvaluation) hasEditedTestFile() bool {
	return slices.ContainsFunc(v.Edited, func(f string) bool { return !slices.Contains(v.Gone, f) })
}

func (v *criterionEvaluation) acceptPureRename() bool {
	if !passesCleanly(v.now) {
		return false
	}
	v.Why = "it asks only for the new name, and the change only renames"
	return true
}

func (v *criterionEvaluation) findCoverageProof() bool {
	k := v.coverageOfChange()
	if k == nil {
		return false
	}
	v.Why = fmt.Sprintf("the tests run %d of %d lines that the change made, and pass as before", k.New.Covered, k.New.Total)
	return true
}

func (v *criterionEvaluation) findReadableProof() bool {
	if !v.Texts || v.Task.Kind == nexus.DocsTask {
		return false
	}
	v.Why = "only comments and documents changed, which no test can show: a verifier reads the change"
	return true
}

// fixedAndStillRedTests returns the tests that failed on the base each time: those that pass now, with the
// base's version of their files as well, and the others.
func (w GatePassedTree) fixedAndStillRedTests() (green, left []baseRedTest) {
	for _, b := range w.Base {
		if b.State != nexus.Fail || !runsTests(b, b.Gate) || strings.HasPrefix(b.Gate, nexus.AcceptGate) {
			continue
		}
		some := false
		for _, f := range b.Findings {
			if f.Test == "" && !stack.IsTest(f.File) {
				continue
			}
			some = true
			if !w.failedAgain(b, f) || w.isQuarantined(f) {
				continue
			}
			r := w.redTestOf(b.Gate, f)
			switch {
			case slices.ContainsFunc(slices.Concat(green, left), func(o baseRedTest) bool { return o.label == r.label && o.gate == r.gate }):
			case w.isFindingFixed(b, f) && w.passesWithOldTests(b, f):
				green = append(green, r)
			default:
				left = append(left, r)
			}
		}
		if whole := (baseRedTest{gate: b.Gate, label: "gate " + b.Gate}); !some && w.failedAgain(b, nexus.Finding{}) &&
			// the runner names no test
			passesCleanly(nexus.EvidenceOfGate(w.Now, b.Gate)) && !w.weakensTests() && w.passesWithOldTests(b, nexus.Finding{}) {
			green = append(green, whole)
		}
	}
	return green, left
}

// redTestOf returns the test of a gate's finding, or its file if the finding names no test.
func (w GatePassedTree) redTestOf(gate string, f nexus.Finding) baseRedTest {
	r := baseRedTest{gate: gate, label: cmp.Or(f.Test, f.File), file: f.File}
	if w.TextOf != nil {
		r.text = w.TextOf(f)
	}
	return r
}

// passesWithOldTests reports whether a failure of the base also disappears with the base's
// version of the tests. If the change does not touch them, it does. A file that could not be
// loaded is an exception: the fault may be in it, and is fixed there if nothing else was
// removed from it.
func (w GatePassedTree) passesWithOldTests(b nexus.GateEvidence, f nexus.Finding) bool {
	if len(w.changedTestFiles()) == 0 || w.Old == nil && !slices.Contains(w.Gone, f.File) {
		return true
	}
	loads := f.Test == "" && f.File != "" && slices.Contains(w.Edited, f.File) && !slices.Contains(w.Gone, f.File) &&
		!slices.ContainsFunc(w.Lost, func(o nexus.Finding) bool { return o.File == f.File })
	e := nexus.EvidenceOfGate(w.Old, b.Gate)
	same := func(o nexus.Finding) bool { return o.Test == f.Test && (f.Test != "" || o.File == f.File) }
	switch {
	case loads:
		return true
	case e.State == nexus.Pass:
		return f.Test == "" || w.testEndStates(e)[f.Test] == "pass" || len(w.testEndStates(e)) == 0 && e.Counts.Skipped <= b.Counts.Skipped
	case e.State != nexus.Fail, f == (nexus.Finding{}), slices.ContainsFunc(e.Findings, same):
		return false
	case f.Test == "":
		return true
	case len(w.testEndStates(e)) > 0:
		return w.testEndStates(e)[f.Test] == "pass"
	default:
		return e.Counts.Passed > b.Counts.Passed && e.Counts.Skipped <= b.Counts.Skipped
	}
}

// weakensTests reports whether the change removes or disables tests, or changes how they run:
// then a higher number of passing tests does not show which of them pass.
func (w GatePassedTree) weakensTests() bool {
	return slices.ContainsFunc(w.Gone, stack.ServesTests) || slices.ContainsFunc(w.Lost, func(f nexus.Finding) bool {
		return slices.Contains([]string{tamper.Deleted, tamper.Skipped, tamper.Swallowed, tamper.Command}, f.Code)
	})
}
