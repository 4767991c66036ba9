package toyworld

import (
	"cmp"
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// prepareWorktree resets the worktree to the state of the attempt. The result of an earlier attempt is
// merged onto the base if that one began elsewhere.
func (x *SimulatedWorker) prepareWorktree(ctx context.Context) ([]nexus.Fact, error) {
	a := x.a
	if a.Since == "" || a.Snapshot.Commit != "" {
		x.restoreTree(cmp.Or(a.Start, a.Base))
		return nil, nil
	}
	merged, conflicts := MergeToyTrees(x.treeAt(a.Since), x.treeAt(a.Base), x.treeAt(a.Start))
	why := "it does not merge: " + strings.Join(conflicts, ", ")
	switch {
	case len(conflicts) == 0:
		x.Open(a.ID, a.Base)
		x.setTree(merged)
		return nil, x.recordFacts(ctx, nexus.TreeSnapshotted{Attempt: a.ID, Commit: x.makeCommit(merged, a.Base, ""), Tree: string(merged)})
	case a.From == "" || a.Asked:
		return []nexus.Fact{nexus.AttemptEnded{Attempt: a.ID, Outcome: nexus.Conflicted, Why: why}}, nil
	}
	return nil, x.discardStartingTree(ctx, why)
}

// discardStartingTree discards the result of earlier attempts.
func (x *SimulatedWorker) discardStartingTree(ctx context.Context, why string) error {
	if err := x.recordFacts(ctx, nexus.StartingTreeRejected{Attempt: x.a.ID, Why: why}); err != nil {
		return err
	}
	x.restoreTree(x.a.Base)
	return nil
}
