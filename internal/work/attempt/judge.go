package attempt

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/look"
	"github.com/nexus-ai-builder/nexus/internal/work/shop"
)

// judge runs the gates on the tree as it is, and records what they say one by
// one and in sum.
func (w *work) judge(ctx context.Context) error {
	snap, err := w.pin(ctx)
	if err != nil {
		return err
	}
	c := shop.Case{
		Tree: w.tree, Hash: snap.Tree, Base: w.a.Base, Task: w.task.Task, Some: true,
		Mark: func(f nexus.GateJudged) nexus.GateJudged { f.Attempt = w.a.ID; return f },
	}
	evidence, err := w.Judge(ctx, c, ownDesk{w.desk, w})
	if err != nil {
		return err
	}
	sum, err := w.faults(ctx, snap, evidence, repair.Sum(w.a.ID, w.task.Task, snap.Tree, evidence))
	if err != nil {
		return err
	}
	if sum.State == nexus.Pass || sum.State == nexus.NotRun {
		red := ""
		if p := w.a.Proof; p != nil && p.Proof == nexus.ProofRed && w.a.Strategy.Sessions() {
			red = p.Tree
		}
		found, err := look.Suspects(ctx, w.Trees.Git(), w.a.Base, red, snap.Commit)
		if err != nil {
			return fmt.Errorf("look for tampering: %w", err)
		}
		found = append(found, look.Fewer(evidence)...)
		if len(found) > 0 {
			return w.record(ctx, nexus.TamperSuspected{Attempt: w.a.ID, Tree: snap.Tree, Findings: found}, sum)
		}
	}
	return w.record(ctx, sum)
}
