package toy

import (
	"cmp"
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// start resets the worktree to the state of the attempt. The result of an earlier attempt is
// merged onto the base if that one began elsewhere.
func (x *Actor) start(ctx context.Context) ([]nexus.Fact, error) {
	a := x.a
	if a.Since == "" || a.Snapshot.Commit != "" {
		x.restore(cmp.Or(a.Start, a.Base))
		return nil, nil
	}
	merged, conflicts := Merge(x.at(a.Since), x.at(a.Base), x.at(a.Start))
	why := "it does not merge: " + strings.Join(conflicts, ", ")
	switch {
	case len(conflicts) == 0:
		x.Open(a.ID, a.Base)
		x.put(merged)
		return nil, x.record(ctx, nexus.TreeSnapshotted{Attempt: a.ID, Commit: x.commit(merged, a.Base, ""), Tree: string(merged)})
	case a.From == "" || a.Asked:
		return []nexus.Fact{nexus.AttemptEnded{Attempt: a.ID, Outcome: nexus.Conflicted, Why: why}}, nil
	}
	return nil, x.afresh(ctx, why)
}

// afresh discards the result of earlier attempts.
func (x *Actor) afresh(ctx context.Context, why string) error {
	if err := x.record(ctx, nexus.StartForgone{Attempt: x.a.ID, Why: why}); err != nil {
		return err
	}
	x.restore(x.a.Base)
	return nil
}
