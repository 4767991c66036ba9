package attempt

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// proveTests runs the new tests without the work that they judge: on the tree as it is if the tests
// were written first, and otherwise on a tree that has only the tests.
func (w *attemptWork) proveTests(ctx context.Context) error {
	snap, err := w.snapshotLastRound(ctx)
	if err != nil {
		return err
	}
	tests, rest, err := w.splitChangedFiles(ctx, w.a.Base, snap.Commit)
	if err != nil {
		return err
	}
	// an earlier attempt's work is in the tree
	tree, earlier := snap.Tree, w.a.LastRound() == nil && w.a.From != ""
	if !w.a.Strategy.UsesSeparateSessions() || earlier {
		if tree, err = w.treeWithBaseFiles(ctx, w.a.Base, tree, rest); err != nil {
			return err
		}
	}
	p := repair.ProveTests(nil, nil, nil)
	if len(tests) > 0 {
		before, now, err := w.runTestGates(ctx, tree)
		if err != nil {
			return fmt.Errorf("prove the tests of %s: %w", w.a.ID, err)
		}
		p = repair.ProveTests(tests, w.withAllFindings(before), w.withAllFindings(now))
		p.Evidence = now
	}
	if err := w.tree.ResetExactly(ctx, snap.Tree); err != nil {
		return err
	}
	p.Attempt, p.Tree = w.a.ID, tree
	if w.a.Strategy == nexus.TDDStrict && !earlier {
		p.Beside = rest
	}
	if err := w.recordFacts(ctx, p); err != nil || w.a.Strategy.UsesSeparateSessions() || p.Proof != nexus.ProofRed {
		return err
	}
	// if the work is green, the evidence for its criteria is complete only now
	return w.recordCriteriaEvidence(ctx, snap)
}

// withAllFindings returns evidence with all its findings.
func (w *attemptWork) withAllFindings(all []nexus.GateEvidence) []nexus.GateEvidence {
	all = slices.Clone(all)
	for i, e := range all {
		// if a blob is lost, the remaining findings are used
		all[i], _ = gate.WithAllFindings(e, w.Worker.Site.Blobs.Get)
	}
	return all
}

// splitChangedFiles returns the test files that changed from a base up to a commit, and the
// others.
func (w *attemptWork) splitChangedFiles(ctx context.Context, base, commit string) (tests, rest []string, err error) {
	changed, err := w.tree.ChangedFiles(ctx, base, commit)
	tests, rest = splitTestFiles(changed)
	return tests, rest, err
}

// splitTestFiles returns the test files among changes, and the others.
func splitTestFiles(changed []worktree.ChangedTreeFile) (tests, rest []string) {
	for _, c := range changed {
		if stack.ServesTests(c.Path) {
			tests = append(tests, c.Path)
		} else {
			rest = append(rest, c.Path)
		}
	}
	return tests, rest
}

// treeWithBaseFiles returns a tree in which these files are as they were on a base.
func (w *attemptWork) treeWithBaseFiles(ctx context.Context, base, tree string, files []string) (string, error) {
	if len(files) == 0 {
		return tree, nil
	}
	bare, err := w.Worker.Trees.PrivateRepo().TreeWithoutChanges(ctx, filepath.Dir(w.tree.Dir), tree, base, files)
	if err != nil {
		return "", fmt.Errorf("take the work away from its tests: %w", err)
	}
	return bare, nil
}

// runTestGates runs all gates that run tests on a tree, and returns their results and those of the
// base.
func (w *attemptWork) runTestGates(ctx context.Context, tree string) (before, now []nexus.GateEvidence, err error) {
	err = worker.RunInterruptible(ctx, w.desk, false, func(ctx context.Context) (err error) {
		before, now, err = w.resetAndTest(ctx, tree)
		return err
	})
	return before, now, err
}

func (w *attemptWork) resetAndTest(ctx context.Context, tree string) (before, now []nexus.GateEvidence, err error) {
	if err := w.tree.ResetExactly(ctx, tree); err != nil {
		return nil, nil, err
	}
	gates, err := w.Worker.Judge.Gates(w.tree.Dir)
	if err != nil {
		return nil, nil, err
	}
	gates, base, err := w.Worker.Judge.Bases.JudgeOnBase(ctx, w.Worker.Judge, w.baseCommit(), gates, noTestsReason, w.desk)
	if err != nil {
		return nil, nil, fmt.Errorf("judge the base: %w", err)
	}
	r, err := w.preparedGateRunner(ctx, tree)
	if err != nil {
		return nil, nil, err
	}
	if e, red := w.Worker.Judge.Kit.EnvironmentOfTree(w.tree.Dir).InstallFaultEvidence(tree); red {
		return nil, []nexus.GateEvidence{e}, nil
	}
	for _, g := range gates {
		if !g.Tests {
			continue
		}
		e, err := r.RunGate(ctx, gate.JudgedTreeDir{Dir: w.tree.Dir, Hash: tree}, g)
		if err != nil {
			return nil, nil, err
		}
		before, now = append(before, base[g.Name]), append(now, e)
	}
	return before, now, nil
}

// noTestsReason returns why a gate that runs no tests does not apply to some, or "".
func noTestsReason(g gate.QualityGate) string {
	if g.Tests {
		return ""
	}
	return "it runs no tests"
}

// suspectFindings returns the findings that a verifier must explain.
func (w *attemptWork) suspectFindings() []nexus.Finding {
	if s := w.a.LastRound().Suspect; s != nil {
		return s.Findings
	}
	return nil
}

// earlierVerifierObjections returns the objections of verifiers to earlier work on the task, for the next
// verifier.
func (w *attemptWork) earlierVerifierObjections() []string {
	var all []string
	for _, r := range w.task.Refused {
		if r.Attempt != w.a.ID { // this attempt's objections follow: the view may be older or newer
			all = append(all, r.Why)
		}
	}
	for _, r := range w.a.Rounds {
		switch v := r.Verified; {
		case v == nil || !v.Read:
		case v.Category == "":
			all = nil
		default:
			all = append(all, v.Why)
		}
	}
	return all
}

// verifyWork lets a verifier compare the work with the task, in its own conversation.
func (w *attemptWork) verifyWork(ctx context.Context) error {
	n, b := w.verifierBrief()
	old, err := w.runReadOnlySession(ctx, nexus.Verifier, n, b, review.VerdictSchema())
	if err != nil {
		return err
	}
	f := nexus.VerifierVerdictGiven{Why: fmt.Sprintf("the verifier did not finish: %s", old.Outcome)}
	switch {
	case old.Outcome == nexus.Refused:
		return worker.BudgetExceededError(old.Why)
	case old.Outcome == nexus.Accepted && old.Result != "":
		data, err := w.Worker.Site.Blobs.Get(old.Result)
		if err != nil {
			return err
		}
		// an unreadable submission results in a verdict of its own, and the gates decide
		f, _ = review.ParseVerdict(data, review.VerifierQuestion{Criteria: w.verifierCriteria(), Explain: len(b.Suspect) > 0})
	}
	f.Attempt, f.Tree = w.a.ID, w.a.Snapshot.Tree
	return w.recordFacts(ctx, f)
}

// verifierBrief returns the number of the next verifier's conversation, and the contents of
// its brief besides the task and the change.
func (w *attemptWork) verifierBrief() (n int, b prompt.TaskBrief) {
	n = 1
	var before []nexus.Finding
	for _, r := range w.a.Rounds {
		if r.Verified != nil {
			n++
			before = r.Verified.Findings
		}
	}
	return n, prompt.TaskBrief{
		Before: before, Replies: w.findingReplies(repair.VerifyGate, before), Order: prompt.TestOrderText(w.a.Strategy, nexus.Verifier, w.a.Proof), Suspect: w.suspectFindings(), Refused: w.earlierVerifierObjections(),
		Own: ownTestCriteria(w.a, w.task.Task), Asked: w.guidanceTexts(), AskedFrom: len(w.task.Criteria) + 1,
	}
}
