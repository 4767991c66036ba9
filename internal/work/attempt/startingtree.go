package attempt

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
)

// findStartingCommit returns the starting commit of the worktree. The result of a round of an earlier
// attempt is merged onto the base, if it began elsewhere. If that fails, the attempt starts
// from the base, or ends if a person asked for that round.
func (w *attemptWork) findStartingCommit(ctx context.Context) (start string, ended []nexus.Fact, err error) {
	if w.a.Since == "" || w.a.Snapshot.Commit != "" {
		return cmp.Or(w.a.Start, w.a.Base), nil, nil
	}
	m, err := w.Worker.Trees.PrivateRepo().Merge(ctx, w.a.Since, w.a.Base, w.a.Start)
	if err != nil {
		return "", nil, fmt.Errorf("merge what %s starts from: %w", w.a.ID, err)
	}
	if len(m.Conflicts) == 0 {
		return m.Tree, nil, nil
	}
	why := "does not merge with what landed since: " + strings.Join(m.Conflicts, ", ")
	if w.a.From == "" || w.a.Asked {
		return "", []nexus.Fact{nexus.AttemptEnded{Attempt: w.a.ID, Outcome: nexus.Conflicted, Why: "the work that it was to start from " + why}}, nil
	}
	return w.a.Base, nil, w.recordFacts(ctx, nexus.StartingTreeRejected{Attempt: w.a.ID, Why: "it " + why})
}

// openWorktree creates or adopts the worktree and restores the state of the attempt: its last
// snapshot, or its start.
func (w *attemptWork) openWorktree(ctx context.Context, start string) error {
	tree, err := w.Worker.Trees.AddTree(ctx, w.Worker.Site.Run, w.a.ID, start)
	if err != nil {
		return fmt.Errorf("make a worktree for %s: %w", w.a.ID, err)
	}
	w.tree = tree
	if w.baseTree, err = w.Worker.Trees.PrivateRepo().TreeID(ctx, w.a.Base); err != nil {
		return fmt.Errorf("read the base of %s: %w", w.a.ID, err)
	}
	if err := tree.Restore(ctx, cmp.Or(w.a.Snapshot.Commit, start)); err != nil {
		return fmt.Errorf("restore the worktree of %s: %w", w.a.ID, err)
	}
	fresh := w.a.Snapshot.Commit == ""
	commit, hash := tree.LastSnapshot()
	if fresh && w.a.Since != "" { // the worktree starts from a merge that no fact names
		if err := w.recordFacts(ctx, nexus.TreeSnapshotted{Attempt: w.a.ID, Commit: commit, Tree: hash}); err != nil {
			return err
		}
	}
	return w.Worker.Judge.Kit.EquipTree(ctx, dependencies.ExactTreeDir{Dir: tree.Dir, Hash: hash}, w.Worker.Judge.Gates, w.task.Criteria, fresh, w.recordFacts)
}

// startGateRound begins a round without a writer: the gates judge the start of the attempt.
func (w *attemptWork) startGateRound(ctx context.Context) error {
	if err := w.recordFacts(ctx, nexus.RoundStarted{Attempt: w.a.ID, Round: len(w.a.Rounds) + 1, Role: nexus.Reviser, Cause: repair.KeptCause}); err != nil {
		return err
	}
	_, err := w.recordSnapshot(ctx)
	return err
}

// restartFromBase discards the result of earlier attempts.
func (w *attemptWork) restartFromBase(ctx context.Context, why string) error {
	if err := w.recordFacts(ctx, nexus.StartingTreeRejected{Attempt: w.a.ID, Why: why}); err != nil {
		return err
	}
	if err := w.tree.Restore(ctx, w.a.Base); err != nil {
		return fmt.Errorf("restore the worktree of %s: %w", w.a.ID, err)
	}
	return nil
}
