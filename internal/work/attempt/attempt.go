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
	"github.com/nexus-ai-builder/nexus/internal/work/change"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// work is one attempt in progress. One goroutine owns it.
type work struct {
	Worker *worker.Worker
	view   state.View
	task   *state.Task
	a      *state.Attempt // our own copy, updated with the facts that we record
	desk   worker.Desk
	tree   *worktree.Tree
	// results of criteria's commands without the change, by gate and tree
	ran map[string]nexus.Evidence

	baseTree string // tree of the commit that the attempt starts from

	guided []string // people's guidance to the writers since this process started the attempt

	again []nexus.Evidence // results of the tests on the base when they were run there once more
}

// Work makes the attempt of the view, from its start or from where another process stopped,
// and returns the fact that ends it.
func Work(ctx context.Context, s *worker.Worker, v state.View, d worker.Desk) ([]nexus.Fact, error) {
	w := &work{Worker: s, view: v, task: &v.Task, a: v.Attempt, desk: d, ran: map[string]nexus.Evidence{}}
	start, ended, err := w.start(ctx)
	if err != nil || ended != nil {
		return ended, err
	}
	if err := w.open(ctx, start); err != nil {
		return nil, err
	}
	if err := w.recordBaseFailures(ctx, start); err != nil {
		return nil, err
	}
	for {
		if err := w.recordCommentAnswers(ctx); err != nil {
			return nil, err
		}
		if err := w.pinSubmitted(ctx); err != nil {
			return nil, err
		}
		facts, err := w.facts(ctx)
		if err != nil {
			return nil, err
		}
		step := repair.Next(w.task, w.a, v.Limits, facts)
		if over := w.timeoutReason(); over != "" && step.Move != repair.End {
			step = repair.Step{Move: repair.End, Outcome: nexus.Exhausted, Why: over}
		}
		if step, err = w.reconsider(ctx, step); err != nil {
			return nil, err
		}
		switch step.Move {
		case repair.Write:
			err = w.runWriter(ctx, step)
		case repair.Judge:
			err = w.judge(ctx)
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
			err = w.reproduce(ctx)
		case repair.Prove:
			err = w.prove(ctx)
		case repair.Verify:
			err = w.verify(ctx)
		case repair.Review:
			err = w.review(ctx)
		case repair.End:
			return w.end(ctx, step)
		default:
			err = fmt.Errorf("no step follows in attempt %s", w.a.ID)
		}
		if err != nil {
			return nil, err
		}
	}
}

// record appends facts and updates our copy of the attempt.
func (w *work) record(ctx context.Context, facts ...nexus.Fact) error {
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

// ownDesk updates our copy of the attempt with the facts that others record for it.
type ownDesk struct {
	worker.Desk
	w *work
}

// Record implements [worker.Desk].
func (d ownDesk) Record(ctx context.Context, facts ...nexus.Fact) error {
	return d.w.record(ctx, facts...)
}

// snapshot takes a snapshot of the tree, and records it if the tree changed.
func (w *work) snapshot(ctx context.Context) (nexus.TreeSnapshotted, error) {
	commit, tree, err := w.tree.Snapshot(ctx, fmt.Sprintf("snapshot of %s", w.a.ID))
	if err != nil {
		return nexus.TreeSnapshotted{}, fmt.Errorf("snapshot %s: %w", w.a.ID, err)
	}
	return nexus.TreeSnapshotted{Attempt: w.a.ID, Commit: commit, Tree: tree}, nil
}

// recordSnapshot snapshots the tree and records it unless it is the last snapshot.
func (w *work) recordSnapshot(ctx context.Context) (nexus.TreeSnapshotted, error) {
	snap, err := w.snapshot(ctx)
	if err != nil || snap.Commit == w.a.Snapshot.Commit && snap.Tree == w.a.Snapshot.Tree {
		return snap, err
	}
	return snap, w.record(ctx, snap)
}

// pinSubmitted takes a snapshot of a round's tree that was submitted and not judged yet: the
// next step depends on the tree, and commands may have changed it last.
func (w *work) pinSubmitted(ctx context.Context) error {
	r := w.a.LastRound()
	if r == nil || r.Verdict != nil {
		return nil
	}
	if s := w.a.Session(r.Session); s == nil || !s.Over {
		return nil
	}
	_, err := w.recordSnapshot(ctx)
	return err
}

// mark names the result of the last round, which has a recorded snapshot.
func (w *work) mark() error {
	if r := w.a.LastRound(); r != nil && r.Commit != "" {
		return w.tree.MarkRound(r.Round, r.Commit)
	}
	return nil
}

// snapshotLastRound takes a snapshot of the tree as the result of the last round.
func (w *work) snapshotLastRound(ctx context.Context) (nexus.TreeSnapshotted, error) {
	snap, err := w.recordSnapshot(ctx)
	if err == nil {
		err = w.mark()
	}
	return snap, err
}

// timeLeftFunc returns a function that returns the task's remaining time; nil if unlimited.
func (w *work) timeLeftFunc() func() time.Duration {
	limit := w.view.Limits.TaskTime
	if limit <= 0 {
		return nil
	}
	return func() time.Duration {
		return limit - w.task.CountedTime() - w.Worker.Site.Now().Sub(w.a.Resumed()) + w.a.Rested
	}
}

// timeoutReason returns why the task's time is over, or "".
func (w *work) timeoutReason() string {
	if left := w.timeLeftFunc(); left == nil || left() > 0 {
		return ""
	}
	return fmt.Sprintf("the task's time limit of %s is reached; the work is kept", w.view.Limits.TaskTime)
}

// facts returns the facts about the attempt's changes so far.
func (w *work) facts(ctx context.Context) (repair.Facts, error) {
	at := cmp.Or(w.a.Snapshot.Commit, w.a.Start)
	if at == "" {
		return repair.Facts{}, nil
	}
	changed, err := w.Worker.Trees.Git().Changed(ctx, w.a.Base, at)
	if err != nil {
		return repair.Facts{}, err
	}
	tested := slices.ContainsFunc(changed, func(c worktree.Change) bool { return stack.IsTest(c.Path) })
	f := repair.Facts{Tested: tested, Untouched: len(changed) == 0}
	f.Unchecked = w.Worker.Sessions.Checks == "always" && len(criteriaWithoutCheck(w.task.Task)) > 0 || w.Worker.Sessions.Checks == "auto" && worthChecks(w.task.Task)
	if open, why := w.blockingCriteria(); len(open) > 0 {
		f.Unshown, f.Unchecked = why, f.Unchecked || w.Worker.Sessions.TestersWriteChecks()
	}
	if f.Independent, err = w.independent(ctx); err != nil {
		return f, err
	}
	f.Due, f.DueSpare, f.Spare = w.nextEditStep()
	f.Asked, f.Ready = len(w.guidanceTexts()), w.a.From != "" && w.view.Kept.Ready
	f.Refused, f.Before = w.refusedBefore(), w.unclearBefore(ctx)
	f.Claimed, f.Revised = w.pendingCheckSubmission() != "", w.view.Without != "" && w.Worker.Sessions.TestersWriteChecks()
	if f.Meddled, f.Refuted, err = w.forbiddenTesterChange(ctx, at); err == nil {
		f.Renamed, err = w.renamed(ctx, at)
	}
	return f, err
}

// renamed reports whether a commit only renames as the title says. It is computed only if the
// task asks for no tests because of that.
func (w *work) renamed(ctx context.Context, at string) (bool, error) {
	r, is := repair.RenamesOf(w.task.Task)
	if !is || w.a.Strategy != nexus.NoTest {
		return false, nil
	}
	return change.OnlyRenames(ctx, w.Worker.Trees.Git(), w.a.Base, at, r.Only)
}

// end closes the attempt. Accepted work is pinned by its last snapshot, the tree that the
// gates and the reviewer checked; later changes of the tree are not included.
func (w *work) end(ctx context.Context, step repair.Step) ([]nexus.Fact, error) {
	snap, err := w.snapshotLastRound(ctx)
	if err != nil {
		return nil, err
	}
	if step.Outcome == nexus.Accepted {
		if err := w.weighRisk(ctx, snap); err != nil {
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
