package attempt

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// pendingCheckSubmission returns the blob of a tester's submission that may name checks of
// criteria and has not been processed yet, or "".
func (w *attemptWork) pendingCheckSubmission() string {
	s := w.a.LastSession(nexus.Tester)
	if !w.Worker.Sessions.TestersWriteChecks() || s == nil || s.Outcome != nexus.Accepted || len(w.unprovedCriteria()) == 0 {
		return ""
	}
	red := slices.ContainsFunc(w.a.Checks.Checks, func(c nexus.CriterionTest) bool { return c.Red })
	if s.Result == w.a.Checks.Handin && (!red || w.a.Checks.Tree == w.a.Snapshot.Tree) {
		return ""
	}
	return s.Result
}

// unprovedCriteria returns the numbers of the criteria without evidence: they came without a
// check, or the gate that is their check does not bear on them, and no test was named that
// does.
func (w *attemptWork) unprovedCriteria() []int {
	all := criteriaWithoutCheck(w.task.Task)
	for _, s := range w.a.Weighed.Criteria {
		if s.By == "" && !s.Left {
			all = append(all, s.Number)
		}
	}
	settled := w.settledCriterionChecks()
	all = slices.DeleteFunc(all, func(n int) bool {
		return slices.ContainsFunc(settled, func(c nexus.CriterionTest) bool { return c.Number == n })
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// settledCriterionChecks returns the tests of earlier submissions that prove a criterion, and the reasons why
// nothing can.
func (w *attemptWork) settledCriterionChecks() []nexus.CriterionTest {
	var all []nexus.CriterionTest
	for _, c := range w.a.Checks.Checks {
		current := c.Number <= len(w.task.Criteria) && c.Of == state.CriterionFingerprint(w.task.Task, c.Number)
		if current && (c.Proved || c.Command == "" && c.Why != "") {
			all = append(all, c)
		}
	}
	return all
}

// blockingCriteria returns the criteria that prevent the landing of a tree whose gates passed,
// and the reason for the first. A tree that is submitted again counts as the same.
func (w *attemptWork) blockingCriteria() (open []int, why string) {
	r := w.lastJudgedRound()
	if r == nil || r != w.a.LastRound() && r.Verdict.Tree != w.a.Snapshot.Tree {
		return nil, ""
	}
	var all []nexus.CriterionGateEvidence
	if r.Verdict.Tree == w.a.Weighed.Tree {
		all = slices.Clone(w.a.Weighed.Criteria)
	}
	return accept.UnprovenCriteria(w.task.Task, append(all, w.uncheckedCriteria(all)...), w.a.Checks.Checks, w.view.Waived)
}

// uncheckedCriteria returns the criteria that came without a check and that a tester was asked
// to prove. If no test was named, the tests of another criterion are enough for the task to
// land, and a person must review this criterion.
func (w *attemptWork) uncheckedCriteria(weighed []nexus.CriterionGateEvidence) []nexus.CriterionGateEvidence {
	asked := slices.ContainsFunc(w.a.Rounds, func(r *state.AttemptRound) bool { return r.Cause == repair.CriteriaGate })
	if !asked && w.a.Checks.Handin == "" {
		return nil
	}
	tested := slices.ContainsFunc(weighed, func(s nexus.CriterionGateEvidence) bool {
		return s.By == nexus.NewBearing || s.By == nexus.TurnedBearing || s.By == nexus.NamedBearing
	})
	var all []nexus.CriterionGateEvidence
	for _, n := range demonstrableCriteria(w.task.Task) {
		if w.task.Criteria[n-1].Was != "" {
			continue // an inconclusive check is nobody's fault
		}
		s := nexus.CriterionGateEvidence{Number: n, Of: state.CriterionFingerprint(w.task.Task, n), Why: "no gate or command checks it"}
		switch named := slices.ContainsFunc(w.a.Checks.Checks, func(c nexus.CriterionTest) bool { return c.Number == n }); {
		case !named && tested:
			continue
		case !named:
			s.Why += ", and the tester named neither a test that shows it nor a reason why none can"
		}
		all = append(all, s)
	}
	return all
}

// forbiddenTesterChange returns a file that a tester of criteria changed though it existed
// before, or that is no test, or "". Refuted means that its tests are red because of their
// demands on the work.
func (w *attemptWork) forbiddenTesterChange(ctx context.Context, at string) (file string, refuted bool, err error) {
	r := w.a.LastRound()
	if r == nil || r.Cause != repair.CriteriaGate || len(w.a.Rounds) < 2 {
		return "", false, nil
	}
	before := w.a.Rounds[len(w.a.Rounds)-2]
	if before.Verdict == nil || before.Verdict.Tree == w.a.Snapshot.Tree {
		return "", false, nil
	}
	changed, err := w.Worker.Trees.PrivateRepo().ChangedFiles(ctx, before.Verdict.Tree, at)
	var tests []string
	for _, c := range changed {
		if c.Status != "A" || !stack.ServesTests(c.Path) {
			return c.Path, false, err
		}
		tests = append(tests, c.Path)
	}
	return "", repair.ProveTests(tests, before.Evidence, r.Evidence).Proof == nexus.ProofRed, err
}

// revertLastRound reverts the changes of a tester of criteria, or of the editor of a step, to
// a tree that was green.
func (w *attemptWork) revertLastRound(ctx context.Context, why string) error {
	if err := w.tree.ResetExactly(ctx, w.a.Rounds[len(w.a.Rounds)-2].Verdict.Tree); err != nil {
		return fmt.Errorf("take back what the %s of %s did: %w", w.a.LastRound().Role, w.a.ID, err)
	}
	snap, err := w.snapshotTree(ctx)
	if err != nil {
		return err
	}
	facts := []nexus.Fact{snap}
	if handin := w.pendingCheckSubmission(); handin != "" && w.a.LastRound().Role != nexus.Editor {
		f, err := w.submittedChecks(handin, snap.Tree)
		if err != nil {
			return err
		}
		for i := range f.Checks {
			if c := &f.Checks[i]; c.Why == "" && !c.Proved {
				c.Why = why
			}
		}
		facts = append([]nexus.Fact{f}, facts...)
	}
	return w.recordFacts(ctx, facts...)
}

// submittedChecks returns a submission's checks of open criteria, and the settled checks, for a
// tree.
func (w *attemptWork) submittedChecks(handin, tree string) (nexus.CriterionTestsFound, error) {
	data, err := w.Worker.Site.Blobs.Get(handin)
	all := append(readCriterionChecks(data, w.task.Task, w.unprovedCriteria()), w.settledCriterionChecks()...)
	slices.SortStableFunc(all, func(a, b nexus.CriterionTest) int { return a.Number - b.Number })
	return nexus.CriterionTestsFound{Attempt: w.a.ID, Handin: handin, Tree: tree, Checks: all}, err
}

// proveChecks runs the tests that a tester named for criteria without a check: each must fail
// for the right reason without the work, and pass with it. A test that proves nothing costs a
// tester's round, and then the task waits for people.
func (w *attemptWork) proveChecks(ctx context.Context) error {
	f, err := w.submittedChecks(w.pendingCheckSubmission(), w.a.Snapshot.Tree)
	if err != nil {
		return err
	}
	for i := range f.Checks {
		f.Checks[i].Proved = false // a check that was proved before is run on this tree, too
	}
	if slices.ContainsFunc(f.Checks, func(c nexus.CriterionTest) bool { return c.Command != "" && c.Why == "" }) {
		if err := worker.RunInterruptible(ctx, w.desk, false, func(ctx context.Context) error { return w.runCriterionChecks(ctx, &f) }); err != nil {
			return fmt.Errorf("try the checks of %s: %w", w.a.ID, err)
		}
	}
	return w.recordFacts(ctx, f)
}

// runCriterionChecks runs the checks without the work and with it.
func (w *attemptWork) runCriterionChecks(ctx context.Context, f *nexus.CriterionTestsFound) error {
	tests, rest, err := w.splitChangedFiles(ctx, w.a.Base, w.a.Snapshot.Commit)
	if err != nil {
		return err
	}
	// if a criterion was revised, the work may have landed before
	bare := cmp.Or(w.view.Without, w.a.Base)
	if bare != w.a.Base {
		if _, rest, err = w.splitChangedFiles(ctx, bare, w.a.Snapshot.Commit); err != nil {
			return err
		}
	}
	if bare, err = w.treeWithBaseFiles(ctx, bare, f.Tree, rest); err != nil {
		return err
	}
	for i := range f.Checks {
		c := &f.Checks[i]
		switch {
		case c.Command == "" || c.Why != "":
			continue
		case !slices.Contains(tests, c.File):
			c.Why = fmt.Sprintf("%s is not a test that came with the work", c.File)
		default:
			// never the name of a gate, see invalidCheckReason
			g, _ := detect.CriterionGate(nexus.Criterion{Check: c.Command})
			if err := w.runCriterionCheck(ctx, c, g, bare, f.Tree, tests); err != nil {
				return err
			}
		}
	}
	return w.tree.ResetExactly(ctx, f.Tree)
}

// runCriterionCheck runs one check on both trees.
func (w *attemptWork) runCriterionCheck(ctx context.Context, c *nexus.CriterionTest, g gate.QualityGate, bare, whole string, tests []string) error {
	with, err := w.runGate(ctx, g, whole)
	if err != nil {
		return err
	}
	c.Red = with.State == nexus.Fail && repair.ProveTests(tests, nil, []nexus.GateEvidence{with}).Proof == nexus.ProofRed
	if c.Red || with.Passed() {
		if err := w.recordFacts(ctx, nexus.GateJudged{Attempt: w.a.ID, Evidence: with}); err != nil {
			return err
		}
	}
	if !with.Passed() {
		c.Why = fmt.Sprintf("it does not pass with the work: %s", cmp.Or(with.Why, string(with.State)))
		return nil
	}
	without, err := w.runGate(ctx, g, bare)
	if err != nil {
		return err
	}
	switch p := repair.ProveTests(tests, nil, []nexus.GateEvidence{without}); {
	case without.Passed(), p.Proof == nexus.ProofGreen:
		c.Why = "it passes without the work"
	case p.Proof == nexus.ProofRed:
		c.Proved = true
	default:
		c.Why = fmt.Sprintf("without the work it fails for an unrelated reason: %s", cmp.Or(p.Why, string(p.Proof)))
	}
	return nil
}

// runGate runs one gate on a tree.
func (w *attemptWork) runGate(ctx context.Context, g gate.QualityGate, hash string) (nexus.GateEvidence, error) {
	if err := w.tree.ResetExactly(ctx, hash); err != nil {
		return nexus.GateEvidence{}, err
	}
	r, err := w.preparedGateRunner(ctx, hash)
	if err != nil {
		return nexus.GateEvidence{}, err
	}
	return r.JudgeAgainstBase(ctx, gate.JudgedTreeDir{Dir: w.tree.Dir, Hash: hash}, g)
}

// preparedGateRunner provisions the tree, whose files are those of hash, and returns the runner of its
// gates.
func (w *attemptWork) preparedGateRunner(ctx context.Context, hash string) (gate.GateRunner, error) {
	if err := w.Worker.Judge.Kit.EquipTree(ctx, dependencies.ExactTreeDir{Dir: w.tree.Dir, Hash: hash}, w.Worker.Judge.Gates, nil, false, w.recordFacts); err != nil {
		return gate.GateRunner{}, err
	}
	r, err := w.Worker.Judge.GateRunner(w.tree, hash)
	r.Reached, r.Starts = worker.RecordHosts(ctx, w.desk, w.a.ID), w.recordGateStart(ctx)
	return r, err
}
