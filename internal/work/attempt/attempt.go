// Package attempt makes one attempt at one task: its own worktree, agents that write, gates
// that check, a reviewer that reads, and repair rounds in the same conversation until the work
// is accepted or cannot be improved.
//
// Package repair decides the next step; this package performs it. It can be stopped anywhere:
// its results are in the journal and in snapshots of the tree, and the next process continues
// from there.
package attempt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// attemptWork is one attempt in progress. One goroutine owns it.
type attemptWork struct {
	Worker *worker.AttemptWorker
	view   state.WorkerView
	task   *state.TaskState
	a      *state.AttemptState // our own copy, updated with the facts that we record
	desk   worker.AttemptFactRecorder
	tree   *worktree.AttemptTree
	// results of criteria's commands without the change, by gate and tree
	ran map[string]nexus.GateEvidence

	baseTree string // tree of the commit that the attempt starts from

	guided []string // people's guidance to the writers since this process started the attempt

	again []nexus.GateEvidence // results of the tests on the base when they were run there once more
}

// RunAttempt makes the attempt of the view, from its start or from where another process stopped,
// and returns the fact that ends it.
func RunAttempt(ctx context.Context, s *worker.AttemptWorker, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	w := &attemptWork{Worker: s, view: v, task: &v.Task, a: v.Attempt, desk: d, ran: map[string]nexus.GateEvidence{}}
	start, ended, err := w.findStartingCommit(ctx)
	if err != nil || ended != nil {
		return ended, err
	}
	if err := w.openWorktree(ctx, start); err != nil {
		return nil, err
	}
	if err := w.recordBaseFailures(ctx, start); err != nil {
		return nil, err
	}
	for {
		if err := w.recordCommentAnswers(ctx); err != nil {
			return nil, err
		}
		if err := w.snapshotSubmitted(ctx); err != nil {
			return nil, err
		}
		facts, err := w.changeFacts(ctx)
		if err != nil {
			return nil, err
		}
		step := repair.NextRepairStep(w.task, w.a, v.Limits, facts)
		if over := w.timeoutReason(); over != "" && step.Move != repair.End {
			step = repair.RepairStep{Move: repair.End, Outcome: nexus.Exhausted, Why: over}
		}
		if step, err = w.recordReplan(ctx, step); err != nil {
			return nil, err
		}
		switch step.Move {
		case repair.Write:
			err = w.runWriter(ctx, step)
		case repair.Judge:
			err = w.judgeTree(ctx)
		case repair.Check:
			err = w.proveChecks(ctx)
		case repair.Regate:
			err = w.startGateRound(ctx)
		case repair.Afresh:
			err = w.restartFromBase(ctx, step.Why)
		case repair.Forgo:
			err = w.revertLastRound(ctx, step.Why)
		case repair.Apply:
			err = w.applySuggestions(ctx, step)
		case repair.Reproduce:
			err = w.runIndependentChecks(ctx)
		case repair.Prove:
			err = w.proveTests(ctx)
		case repair.Verify:
			err = w.verifyWork(ctx)
		case repair.Review:
			err = w.reviewDiff(ctx)
		case repair.End:
			return w.endAttempt(ctx, step)
		default:
			err = fmt.Errorf("no step follows in attempt %s", w.a.ID)
		}
		if err != nil {
			return nil, err
		}
	}
}

// recordFacts appends facts and updates our copy of the attempt.
func (w *attemptWork) recordFacts(ctx context.Context, facts ...nexus.Fact) error {
	if err := w.desk.Record(ctx, facts...); err != nil {
		return err
	}
	for _, f := range facts {
		w.a.Apply(f, w.Worker.Site.Now())
		if err := w.collectGuidance(f); err != nil {
			return err
		}
	}
	return nil
}

// attemptSyncingRecorder updates our copy of the attempt with the facts that others record for it.
type attemptSyncingRecorder struct {
	worker.AttemptFactRecorder
	w *attemptWork
}

// Record implements [worker.AttemptFactRecorder].
func (d attemptSyncingRecorder) Record(ctx context.Context, facts ...nexus.Fact) error {
	return d.w.recordFacts(ctx, facts...)
}

// snapshotTree takes a snapshot of the tree, and records it if the tree changed.
func (w *attemptWork) snapshotTree(ctx context.Context) (nexus.TreeSnapshotted, error) {
	commit, tree, err := w.tree.Snapshot(ctx, fmt.Sprintf("snapshot of %s", w.a.ID))
	if err != nil {
		return nexus.TreeSnapshotted{}, fmt.Errorf("snapshot %s: %w", w.a.ID, err)
	}
	return nexus.TreeSnapshotted{Attempt: w.a.ID, Commit: commit, Tree: tree}, nil
}

// recordSnapshot snapshots the tree and records it unless it is the last snapshot.
func (w *attemptWork) recordSnapshot(ctx context.Context) (nexus.TreeSnapshotted, error) {
	snap, err := w.snapshotTree(ctx)
	if err != nil || snap.Commit == w.a.Snapshot.Commit && snap.Tree == w.a.Snapshot.Tree {
		return snap, err
	}
	return snap, w.recordFacts(ctx, snap)
}

// snapshotSubmitted takes a snapshot of a round's tree that was submitted and not judged yet: the
// next step depends on the tree, and commands may have changed it last.
func (w *attemptWork) snapshotSubmitted(ctx context.Context) error {
	r := w.a.LastRound()
	if r == nil || r.Verdict != nil {
		return nil
	}
	if s := w.a.SessionByID(r.Session); s == nil || !s.Over {
		return nil
	}
	_, err := w.recordSnapshot(ctx)
	return err
}

// markLastRound names the result of the last round, which has a recorded snapshot.
func (w *attemptWork) markLastRound() error {
	if r := w.a.LastRound(); r != nil && r.Commit != "" {
		return w.tree.MarkRound(r.Round, r.Commit)
	}
	return nil
}

// snapshotLastRound takes a snapshot of the tree as the result of the last round.
func (w *attemptWork) snapshotLastRound(ctx context.Context) (nexus.TreeSnapshotted, error) {
	snap, err := w.recordSnapshot(ctx)
	if err == nil {
		err = w.markLastRound()
	}
	return snap, err
}

// timeLeftFunc returns a function that returns the task's remaining time; nil if unlimited.
func (w *attemptWork) timeLeftFunc() func() time.Duration {
	limit := w.view.Limits.TaskTime
	if limit <= 0 {
		return nil
	}
	return func() time.Duration {
		return limit - w.task.TimeCountedAgainstCap() - w.Worker.Site.Now().Sub(w.a.ActiveSince()) + w.a.Rested
	}
}

// timeoutReason returns why the task's time is over, or "".
func (w *attemptWork) timeoutReason() string {
	if left := w.timeLeftFunc(); left == nil || left() > 0 {
		return ""
	}
	return fmt.Sprintf("the task's time limit of %s is reached; the work is kept", w.view.Limits.TaskTime)
}

// changeFacts returns the facts about the attempt's changes so far.
func (w *attemptWork) changeFacts(ctx context.Context) (repair.AttemptTreeFacts, error) {
	at := cmp.Or(w.a.Snapshot.Commit, w.a.Start)
	if at == "" {
		return repair.AttemptTreeFacts{}, nil
	}
	changed, err := w.Worker.Trees.PrivateRepo().ChangedFiles(ctx, w.a.Base, at)
	if err != nil {
		return repair.AttemptTreeFacts{}, err
	}
	tested := slices.ContainsFunc(changed, func(c worktree.ChangedTreeFile) bool { return stack.IsTest(c.Path) })
	f := repair.AttemptTreeFacts{Tested: tested, Untouched: len(changed) == 0}
	f.Unchecked = w.Worker.Sessions.Checks == "always" && len(criteriaWithoutCheck(w.task.Task)) > 0 || w.Worker.Sessions.Checks == "auto" && isWorthCheckSession(w.task.Task)
	if open, why := w.blockingCriteria(); len(open) > 0 {
		f.Unshown, f.Unchecked = why, f.Unchecked || w.Worker.Sessions.TestersWriteChecks()
	}
	if f.Independent, err = w.criteriaForIndependentChecks(ctx); err != nil {
		return f, err
	}
	f.Due, f.DueSpare, f.Spare = w.nextEditStep()
	f.Asked, f.Ready = len(w.guidanceTexts()), w.a.From != "" && w.view.Kept.Ready
	f.Refused, f.Before = w.earlierTreeRefusal(), w.wasUnclearOnBase(ctx)
	f.Claimed, f.Revised = w.pendingCheckSubmission() != "", w.view.Without != "" && w.Worker.Sessions.TestersWriteChecks()
	if f.Meddled, f.Refuted, err = w.forbiddenTesterChange(ctx, at); err == nil {
		f.Renamed, err = w.hasOnlyRenames(ctx, at)
	}
	return f, err
}

// hasOnlyRenames reports whether a commit only renames as the title says. It is computed only if the
// task asks for no tests because of that.
func (w *attemptWork) hasOnlyRenames(ctx context.Context, at string) (bool, error) {
	r, is := repair.RenamesOf(w.task.Task)
	if !is || w.a.Strategy != nexus.NoTest {
		return false, nil
	}
	return changeeffects.HasOnlyAllowedChanges(ctx, w.Worker.Trees.PrivateRepo(), w.a.Base, at, r.IsOnlyChange)
}

// endAttempt closes the attempt. Accepted work is pinned by its last snapshot, the tree that the
// gates and the reviewer checked; later changes of the tree are not included.
func (w *attemptWork) endAttempt(ctx context.Context, step repair.RepairStep) ([]nexus.Fact, error) {
	snap, err := w.snapshotLastRound(ctx)
	if err != nil {
		return nil, err
	}
	if step.Outcome == nexus.Accepted {
		if err := w.recordRiskyFiles(ctx, snap); err != nil {
			return nil, err
		}
	}
	f := nexus.AttemptEnded{Attempt: w.a.ID, Outcome: step.Outcome, Category: step.Category, Why: step.Why, Commit: snap.Commit, Tree: snap.Tree}
	if f.Outcome != nexus.Accepted {
		return []nexus.Fact{f}, w.tree.Remove(ctx)
	}
	if judged := w.a.LastRound().Verdict.Tree; judged != snap.Tree {
		return nil, fmt.Errorf("the tree of %s changed after it was judged: %.12s, then %.12s", w.a.ID, judged, snap.Tree)
	}
	return []nexus.Fact{f}, nil
}
