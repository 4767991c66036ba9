package attempt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// recordCriteriaEvidence records, for each criterion whose check is a gate, which evidence bears on it,
// on a tree that passed the gates. If that may be tests that came with the change, they also
// run without the rest of the change.
func (w *attemptWork) recordCriteriaEvidence(ctx context.Context, snap nexus.TreeSnapshotted) error {
	if !slices.ContainsFunc(w.task.Criteria, func(c nexus.Criterion) bool { return c.Check != "" }) {
		return nil
	}
	changed, err := w.tree.ChangedFiles(ctx, w.a.Base, snap.Commit)
	if err != nil {
		return err
	}
	tests, rest := splitTestFiles(changed)
	known, err := w.criteriaEvidence(ctx, snap, slices.Concat(tests, rest))
	if err != nil {
		return err
	}
	all := accept.JudgeGateCriteria(known)
	if reds := known.GatesShowingByFailure(all); len(reds) > 0 {
		if known.Again, err = w.rerunBaseTests(ctx, snap.Tree); err != nil {
			return fmt.Errorf("run what failed before %s once more: %w", w.a.ID, err)
		}
		if all = accept.JudgeGateCriteria(known); len(tests) > 0 && len(known.GatesShowingByFailure(all)) > 0 {
			if known.Old, err = w.runBaseTests(ctx, snap.Tree, tests); err != nil {
				return fmt.Errorf("run the tests of the base on the work of %s: %w", w.a.ID, err)
			}
			all = accept.JudgeGateCriteria(known)
		}
	}
	open := slices.ContainsFunc(all, func(s nexus.CriterionGateEvidence) bool { return s.By == "" && !s.Left })
	// the tests are proved next
	if open && known.Without == nil && len(tests) > 0 && len(rest) > 0 && w.a.Strategy != nexus.TDDSimple {
		p, err := w.proveTestsAlone(ctx, snap, tests, rest)
		if err != nil {
			return fmt.Errorf("run the tests of %s without its work: %w", w.a.ID, err)
		}
		known.Without, known.Hollow = &p, w.hasHollowTests(ctx, p, snap.Tree)
		all = accept.JudgeGateCriteria(known)
	}
	own, err := w.runCriterionCommands(ctx, snap.Tree, tests, rest, known.Edited)
	if err != nil {
		return err
	}
	for _, b := range own {
		all = append(all, accept.JudgeCommandCriterion(known, b))
	}
	slices.SortStableFunc(all, func(a, b nexus.CriterionGateEvidence) int { return a.Number - b.Number })
	return w.recordFacts(ctx, nexus.CriteriaEvidenceRecorded{Attempt: w.a.ID, Tree: snap.Tree, Criteria: all})
}

// criteriaEvidence returns the evidence about a tree before any test runs for it once more.
func (w *attemptWork) criteriaEvidence(ctx context.Context, snap nexus.TreeSnapshotted, changed []string) (accept.GatePassedTree, error) {
	repo := w.Worker.Trees.PrivateRepo()
	known := accept.GatePassedTree{
		Task: w.task.Task, Changed: changed, Base: w.Worker.Judge.Bases.Known(ctx, w.a.Base), Now: w.roundEvidence(snap.Tree),
		Ended: w.Worker.Judge.TestOutcomes, TextOf: changeeffects.FailingTestTextReader(ctx, repo, w.a.Base),
	}
	r, err := changeeffects.ReadChangeRelation(ctx, repo, w.a.Base, snap.Commit)
	if err != nil {
		return known, err
	}
	known.Edited, known.Gone, known.Touched, known.Texts, known.Asserts = r.Edited, r.Gone, r.Touched, r.Texts, r.Checks
	if known.Known, err = changeeffects.DeclaredNames(ctx, repo, w.a.Base, accept.SubjectWords(w.task.Task)); err != nil {
		return known, err
	}
	known.Tells = slices.DeleteFunc(slices.Clone(known.Known), func(name string) bool { return !strings.Contains(r.Added, name) })
	if known.Renamed, err = w.hasOnlyRenames(ctx, snap.Commit); err != nil {
		return known, err
	}
	if known.Lost, err = changeeffects.FindSuspects(ctx, repo, w.a.Base, "", snap.Commit); err != nil {
		return known, err
	}
	if p := w.a.Proof; p != nil && p.Proof == nexus.ProofRed {
		known.Without, known.Hollow = p, w.hasHollowTests(ctx, *p, snap.Tree)
	}
	return known, nil
}

// runBaseTests returns the results of the base's tests on a tree, instead of its own tests.
// Then it restores the tree.
func (w *attemptWork) runBaseTests(ctx context.Context, tree string, tests []string) ([]nexus.GateEvidence, error) {
	old, err := w.treeWithBaseFiles(ctx, w.a.Base, tree, tests)
	if err != nil {
		return nil, err
	}
	_, now, err := w.runTestGates(ctx, old)
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = []nexus.GateEvidence{}
	}
	return w.withAllFindings(now), w.tree.ResetExactly(ctx, tree)
}

// ownTestCriteria returns the criteria whose only evidence is tests that came with the work.
func ownTestCriteria(a *state.AttemptState, t nexus.Task) []string {
	var all []string
	for _, s := range a.Weighed.Criteria {
		if s.Own && s.Number <= len(t.Criteria) {
			all = append(all, fmt.Sprintf("%d. %s: %s", s.Number, t.Criteria[s.Number-1].Text, strings.Join(s.Tests, ", ")))
		}
	}
	return all
}

// runCriterionCommands runs the commands of criteria on the base and, if that is inconclusive, on the base
// with the tests of the change. Then it restores the tree.
func (w *attemptWork) runCriterionCommands(ctx context.Context, tree string, tests, rest, edited []string) ([]accept.CriterionBaseResults, error) {
	var all []accept.CriterionBaseResults
	for i, c := range w.task.Criteria {
		g, ok := detect.CriterionGate(c)
		if !ok {
			continue
		}
		b := accept.CriterionBaseResults{Number: i + 1}
		var err error
		if b.Base, err = w.runGateOnce(ctx, g, w.baseTree); err == nil && accept.IsInconclusive(c, b.Base) {
			err = w.runOnStartAndTests(ctx, g, tree, tests, rest, &b)
		}
		if err == nil && b.Base.State.IsRed() && len(edited) > 0 {
			b.Old, err = w.runGateWithBaseFiles(ctx, g, w.a.Base, tree, edited)
		}
		if err != nil {
			return nil, fmt.Errorf("run the command of %s without the change: %w", accept.CriterionID(w.task.ID, i+1), err)
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, w.tree.ResetExactly(ctx, tree)
}

// runOnStartAndTests finds where a command fails that passes on the base: on the commit that
// the run started from, as other tasks may have made it pass since, and on the base with the
// tests of the change.
func (w *attemptWork) runOnStartAndTests(ctx context.Context, g gate.QualityGate, tree string, tests, rest []string, b *accept.CriterionBaseResults) error {
	var err error
	if w.a.Base != w.view.Goal.Base {
		b.Start, err = w.runGateWithBaseFiles(ctx, g, w.view.Goal.Base, w.view.Goal.Base, nil)
	}
	if err == nil && len(tests) > 0 && len(rest) > 0 {
		b.Tests, err = w.runGateWithBaseFiles(ctx, g, w.a.Base, tree, rest)
	}
	return err
}

// runGateWithBaseFiles returns a gate's result on a tree, or the tree of a commit, with the
// given files as they are on a base.
func (w *attemptWork) runGateWithBaseFiles(ctx context.Context, g gate.QualityGate, base, tree string, files []string) (*nexus.GateEvidence, error) {
	var err error
	if len(files) == 0 {
		tree, err = w.Worker.Trees.PrivateRepo().TreeID(ctx, tree)
	} else {
		tree, err = w.treeWithBaseFiles(ctx, base, tree, files)
	}
	if err != nil {
		return nil, err
	}
	e, err := w.runGateOnce(ctx, g, tree)
	return &e, err
}

// runGateOnce is [attemptWork.runGate] with a cached result for a tree without the change.
func (w *attemptWork) runGateOnce(ctx context.Context, g gate.QualityGate, hash string) (nexus.GateEvidence, error) {
	key := g.Name + "\x00" + hash
	if e := w.ran[key]; e.State == nexus.Pass || e.State == nexus.Fail {
		return e, nil // other results may differ next time
	}
	tried := func(o nexus.GateEvidence) bool { return o.Tree == hash && o.Command == g.Command() }
	if i := slices.IndexFunc(w.view.Tried, tried); i >= 0 && (w.view.Tried[i].State == nexus.Pass || w.view.Tried[i].State == nexus.Fail) {
		return w.view.Tried[i], nil
	}
	e, ok, err := w.evidenceOfSameCommand(ctx, g, hash)
	if err == nil && !ok {
		e, err = w.runGate(ctx, g, hash)
	}
	if err == nil {
		w.ran[key] = e
	}
	return e, err
}

// evidenceOfSameCommand returns the result of a gate with the same command on a tree without
// the change, or of a gate that ran its tests.
func (w *attemptWork) evidenceOfSameCommand(ctx context.Context, g gate.QualityGate, hash string) (e nexus.GateEvidence, ok bool, err error) {
	if err := w.tree.ResetExactly(ctx, hash); err != nil {
		return e, ok, err
	}
	gates, err := w.Worker.Judge.Gates(w.tree.Dir)
	if err != nil {
		return e, ok, err
	}
	var said []nexus.GateEvidence
	for _, commit := range []string{w.a.Base, w.view.Goal.Base} {
		said = append(said, w.Worker.Judge.Bases.Known(ctx, commit)...)
	}
	// code that does not compile for one criterion compiles for none
	for _, c := range w.task.Criteria {
		if o, command := detect.CriterionGate(c); command {
			gates = append(gates, o)
			said = append(said, w.ran[o.Name+"\x00"+hash])
		}
	}
	said = slices.DeleteFunc(said, func(e nexus.GateEvidence) bool { return e.Tree != hash })
	e, ok = gate.GateEvidenceForCriterion(gates, said, g, w.Worker.Site.Blobs.Get)
	return e, ok, nil
}

// recordBaseFailures records the failures on the base before work begins, if the task names
// something that fails.
func (w *attemptWork) recordBaseFailures(ctx context.Context, start string) error {
	if w.a.Seen != nil || len(w.a.Rounds) > 0 || w.a.Snapshot.Commit != "" {
		return nil
	}
	if w.a.Base == w.view.Goal.Base {
		if err := w.Worker.Judge.Bases.CheckRunBase(ctx, w.Worker.Judge, w.baseCommit(), w.tree.Dir, w.desk); err != nil {
			return err
		}
	}
	wishes := accept.ParseMentions(accept.TaskTexts(w.task.Task))
	red := slices.ContainsFunc(w.task.Criteria, func(c nexus.Criterion) bool { _, command := accept.GateOfCriterion(c); return command })
	if !red && !wishes.AsksForFailingThing() {
		return nil
	}
	var f nexus.BaseFailuresCompared
	err := worker.RunInterruptible(ctx, w.desk, false, func(ctx context.Context) (err error) {
		f, err = w.baseFailures(ctx, wishes)
		return err
	})
	if err != nil {
		return fmt.Errorf("look at the base of %s: %w", w.a.ID, err)
	}
	if err := w.tree.Restore(ctx, start); err != nil {
		return err
	}
	return w.recordFacts(ctx, f)
}

// baseCommit returns the base of the attempt; its gates wait for that.
func (w *attemptWork) baseCommit() worker.JudgedBaseCommit {
	return worker.JudgedBaseCommit{Commit: w.a.Base, For: nexus.GateStarted{Attempt: w.a.ID}}
}

func (w *attemptWork) baseFailures(ctx context.Context, wishes accept.RequestedFailures) (f nexus.BaseFailuresCompared, err error) {
	gates, err := w.Worker.Judge.Gates(w.tree.Dir)
	if err != nil {
		return f, err
	}
	skip := noTestsReason
	if slices.ContainsFunc(wishes, func(one accept.MentionedNames) bool { return len(one.Places)+len(one.Errors) > 0 }) {
		skip = nil // a linter may have reported that
	}
	var base []nexus.GateEvidence
	if wishes.AsksForFailingThing() {
		if _, _, err = w.Worker.Judge.Bases.JudgeOnBase(ctx, w.Worker.Judge, w.baseCommit(), gates, skip, w.desk); err != nil {
			return f, err
		}
		base = w.Worker.Judge.Bases.Known(ctx, w.a.Base)
	}
	own, err := w.runCriterionCommands(ctx, w.baseTree, nil, nil, nil)
	if err != nil {
		return f, err
	}
	f = accept.CompareBaseFailures(w.task.Task, accept.BaseResults{Said: base, Own: own, Aside: w.Worker.Judge.QuarantineFunc(ctx, w.a.Base), Ended: w.Worker.Judge.TestOutcomes})
	f.Attempt, f.Tree = w.a.ID, w.baseTree
	return f, nil
}

// baseFailuresNote returns the text for the author about failures before the work, which the work
// must fix.
func (w *attemptWork) baseFailuresNote() string {
	f := w.a.Seen
	if f == nil {
		return ""
	}
	text := ""
	if len(f.Meant) > 0 {
		text += "\n\nThis fails now and must pass when you are done:\n- " + strings.Join(f.Meant, "\n- ")
	}
	if len(f.Green) > 0 {
		text += "\n\nThe task names this, but it does not fail now, so it cannot show that the task is done: it passes, or it does not exist yet. Write a test that fails without your change:\n- " + strings.Join(f.Green, "\n- ")
	}
	if len(f.Aside) > 0 {
		text += "\n\nLeave this alone:\n- " + strings.Join(f.Aside, "\n- ")
	}
	return strings.TrimSpace(text)
}

// hasHollowTests reports whether tests that were red assert nothing on a tree.
func (w *attemptWork) hasHollowTests(ctx context.Context, p nexus.TestsRunWithoutWork, tree string) bool {
	return repair.HollowTestsReason(p, func(file string) string {
		text, err := w.Worker.Trees.PrivateRepo().Run(ctx, "cat-file", "blob", tree+":"+file)
		if err != nil {
			return "assert" // unknown: assume that it asserts something
		}
		return text
	})
}

// rerunBaseTests returns the results of the tests when they run on the base once more: a test
// that failed by accident passes without the change, too. Then it restores the tree.
func (w *attemptWork) rerunBaseTests(ctx context.Context, back string) ([]nexus.GateEvidence, error) {
	if w.again == nil {
		_, now, err := w.runTestGates(ctx, w.baseTree)
		if err != nil {
			return nil, err
		}
		w.again = w.withAllFindings(now)
	}
	return w.again, w.tree.ResetExactly(ctx, back)
}

// proveTestsAlone runs the tests of a change on a tree without the rest of the change.
func (w *attemptWork) proveTestsAlone(ctx context.Context, snap nexus.TreeSnapshotted, tests, rest []string) (p nexus.TestsRunWithoutWork, err error) {
	var before, now []nexus.GateEvidence
	bare, err := w.treeWithBaseFiles(ctx, w.a.Base, snap.Tree, rest)
	if err == nil {
		before, now, err = w.runTestGates(ctx, bare)
	}
	if err != nil {
		return p, err
	}
	return repair.ProveTests(tests, before, now), w.tree.ResetExactly(ctx, snap.Tree)
}

// roundEvidence returns the gates' results on a tree in this round, the last of each, with its
// measurements.
func (w *attemptWork) roundEvidence(tree string) []nexus.GateEvidence {
	var all []nexus.GateEvidence
	for _, e := range slices.Backward(w.a.LastRound().Evidence) {
		if e.Tree == tree && !slices.ContainsFunc(all, func(o nexus.GateEvidence) bool { return o.Gate == e.Gate }) {
			all = append(all, e)
		}
	}
	slices.Reverse(all)
	return all
}
