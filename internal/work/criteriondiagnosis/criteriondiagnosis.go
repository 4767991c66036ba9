// Package criteriondiagnosis finds why a criterion is not met although its task has landed: whether the
// work is wrong, or the check.
//
// Runs of the check on earlier landings decide if they can: they find the first commit on
// which it is red, and whether that commit changed the check. Otherwise a verifier is asked.
// If that gives no answer, the work counts as wrong, so that no agent may change the check.
package criteriondiagnosis

import (
	"context"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// ByEvidence means that runs of the check decided.
const ByEvidence = "evidence"

// criteriaDiagnosis is one diagnosis in progress. One goroutine owns it.
type criteriaDiagnosis struct {
	Worker *worker.AttemptWorker
	view   state.WorkerView
	a      *state.AttemptState // our own copy
	desk   worker.AttemptFactRecorder
	tree   *worktree.AttemptTree
}

// FindFaults returns the fact about why the criteria of the faults are not met. Runs and questions
// that finished before an interruption are not repeated.
func FindFaults(ctx context.Context, s *worker.AttemptWorker, v state.WorkerView, sought []nexus.CriterionFault, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	if len(v.Proofs) == 0 {
		return nil, fmt.Errorf("%s looks for faults where nothing landed", v.Attempt.ID)
	}
	w := &criteriaDiagnosis{Worker: s, view: v, a: v.Attempt, desk: d}
	var err error
	if w.tree, err = s.Trees.AddTree(ctx, v.Run, w.a.ID, v.Tip); err != nil {
		return nil, fmt.Errorf("make a worktree to look for faults in: %w", err)
	}
	f := nexus.CriterionFaultsFound{Attempt: w.a.ID, Faults: slices.Clone(sought)}
	var open []*examinedCriterion
	for i := range f.Faults {
		x := &examinedCriterion{fault: &f.Faults[i]}
		if x.fault.Kind == nexus.FaultStale {
			continue // there is no check to run
		}
		if err := w.diagnoseCriterion(ctx, x); err != nil {
			return nil, fmt.Errorf("find out why %s is not met: %w", f.Faults[i].Criterion, err)
		}
		if x.fault.By == "" {
			open = append(open, x)
		}
	}
	if len(open) > 0 {
		if err := w.askVerifier(ctx, open); err != nil {
			return nil, err
		}
	}
	return []nexus.Fact{f}, w.tree.Remove(ctx)
}

// examinedCriterion is one criterion under examination.
type examinedCriterion struct {
	fault     *nexus.CriterionFault
	criterion nexus.Criterion
	gate      gate.QualityGate
	red       nexus.GateEvidence // result on the last tree
	diff      string             // change that turned it red, if known and if it changes the check
}

// diagnoseCriterion runs the check on earlier landings, and records the result.
func (w *criteriaDiagnosis) diagnoseCriterion(ctx context.Context, x *examinedCriterion) error {
	own, n, _ := accept.ParseID(x.fault.Criterion)
	at := slices.IndexFunc(w.view.Landed, func(t nexus.Task) bool { return t.ID == own })
	if at < 0 || n > len(w.view.Landed[at].Criteria) {
		return fmt.Errorf("its task has not landed")
	}
	x.criterion = w.view.Landed[at].Criteria[n-1]
	if x.criterion.Check == "" { // it was revised, and another task wrote its check
		for _, t := range w.view.Landed {
			if len(t.Criteria) == 1 && t.Criteria[0].Text == x.criterion.Text && t.Criteria[0].Check != "" {
				x.criterion = t.Criteria[0]
			}
		}
	}
	ok := false
	if x.gate, ok = detect.CriterionGate(x.criterion); !ok {
		return fmt.Errorf("it has no check of its own")
	}
	last := len(w.view.Proofs) - 1
	x.red, _ = gateEvidence(w.view.Proofs[last], x.gate.Name)
	var err error
	if x.fault.Judges, err = w.filesOfCheck(ctx, x); err != nil {
		return err
	}
	green, err := w.lastPassingLanding(ctx, x, own)
	if err != nil {
		return err
	}
	if green < 0 {
		x.fault.Why = fmt.Sprintf("Its check fails on what %s itself landed, too.", own)
		return nil
	}
	first, err := w.firstFailingLanding(ctx, x, green, last)
	if err != nil {
		return err
	}
	return w.attributeFault(ctx, x, w.view.Proofs[green], w.view.Proofs[first])
}

// gateEvidence returns a gate's result on a commit's tree.
func gateEvidence(p state.LandingEvidence, gate string) (nexus.GateEvidence, bool) {
	for _, e := range p.Evidence {
		if e.Gate == gate {
			return e, true
		}
	}
	return nexus.GateEvidence{}, false
}

// lastPassingLanding returns the index of the last landing on which the check is known to pass, or that
// of the criterion's own task if none is known; -1 if it does not pass there.
func (w *criteriaDiagnosis) lastPassingLanding(ctx context.Context, x *examinedCriterion, own nexus.TaskID) (int, error) {
	for i, p := range slices.Backward(w.view.Proofs) {
		if e, ok := gateEvidence(p, x.gate.Name); ok && e.Passed() {
			return i, nil
		}
	}
	i := slices.IndexFunc(w.view.Proofs, func(p state.LandingEvidence) bool { return p.Task == own })
	if i < 0 {
		return -1, nil
	}
	e, err := w.judgeCommit(ctx, x, w.view.Proofs[i])
	if err != nil || !e.Passed() {
		return -1, err
	}
	return i, nil
}

// firstFailingLanding returns the index of the first landing on which the check is red, by bisection: it
// passes at green and is red at the last. A commit on which it is inconclusive counts as
// green, so that it is not blamed.
func (w *criteriaDiagnosis) firstFailingLanding(ctx context.Context, x *examinedCriterion, green, red int) (int, error) {
	for red-green > 1 {
		mid := green + (red-green)/2
		e, err := w.judgeCommit(ctx, x, w.view.Proofs[mid])
		if err != nil {
			return 0, err
		}
		if e.State.IsRed() {
			red = mid
		} else {
			green = mid
		}
	}
	return red, nil
}

// judgeCommit runs the check on a commit's tree, once.
func (w *criteriaDiagnosis) judgeCommit(ctx context.Context, x *examinedCriterion, p state.LandingEvidence) (nexus.GateEvidence, error) {
	if e, ok := w.desk.Known(ctx, p.Tree, x.gate.Name); ok {
		return e, nil
	}
	var e nexus.GateEvidence
	err := worker.RunInterruptible(ctx, w.desk, true, func(ctx context.Context) (err error) {
		e, err = w.runCriterionCheck(ctx, x, p.Tree)
		return err
	})
	return e, err
}

func (w *criteriaDiagnosis) runCriterionCheck(ctx context.Context, x *examinedCriterion, hash string) (nexus.GateEvidence, error) {
	if err := w.tree.ResetExactly(ctx, hash); err != nil {
		return nexus.GateEvidence{}, err
	}
	at := dependencies.ExactTreeDir{Dir: w.tree.Dir, Hash: hash}
	if err := w.Worker.Judge.Kit.EquipTree(ctx, at, w.Worker.Judge.Gates, []nexus.Criterion{x.criterion}, false, w.recordFacts); err != nil {
		return nexus.GateEvidence{}, err
	}
	r, err := w.Worker.Judge.GateRunner(w.tree, hash)
	if err != nil {
		return nexus.GateEvidence{}, err
	}
	r.Reached = worker.RecordHosts(ctx, w.desk, w.a.ID)
	r.Starts = worker.RecordGateStart(ctx, w.desk, nexus.GateStarted{Attempt: w.a.ID})
	e, err := r.JudgeAgainstBase(ctx, gate.JudgedTreeDir{Dir: w.tree.Dir, Hash: hash}, x.gate)
	if err != nil {
		return e, err
	}
	return e, w.recordFacts(ctx, nexus.GateJudged{Attempt: w.a.ID, Evidence: e})
}

// attributeFault decides from the first red commit whether the work or the check is at fault.
func (w *criteriaDiagnosis) attributeFault(ctx context.Context, x *examinedCriterion, green, red state.LandingEvidence) error {
	f := x.fault
	f.Commit, f.Of = red.Commit, string(red.Task)
	changed, err := w.Worker.Trees.PrivateRepo().ChangedFiles(ctx, red.Parent, red.Commit)
	if err != nil {
		return err
	}
	check, tests := false, true
	for _, c := range changed {
		check = check || slices.Contains(f.Judges, c.Path)
		tests = tests && stack.ServesTests(c.Path)
	}
	seen := fmt.Sprintf("Its check passes on %.12s, of %s, and fails from %.12s on, of %s", green.Commit, green.Task, red.Commit, red.Task)
	switch {
	case !check:
		f.Kind, f.By, f.Why = nexus.FaultInSource, ByEvidence, seen+", which did not change the check."
	case tests:
		f.Kind, f.By, f.Why = nexus.FaultInTest, ByEvidence, seen+", which changed only tests, this check among them."
	default:
		f.Why = seen + ", which changed the check and the work."
		x.diff, err = w.Worker.Trees.PrivateRepo().Diff(ctx, red.Parent, red.Commit)
	}
	return err
}

// recordFacts appends facts and updates our copy of the attempt.
func (w *criteriaDiagnosis) recordFacts(ctx context.Context, facts ...nexus.Fact) error {
	if err := w.desk.Record(ctx, facts...); err != nil {
		return err
	}
	for _, f := range facts {
		w.a.Apply(f, w.Worker.Site.Now())
	}
	return nil
}
