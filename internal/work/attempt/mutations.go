package attempt

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// judgeMutations checks a tree that passed its gates with mutations: do the tests notice
// faults in the new lines? It returns the gates' verdict including that.
func (w *work) judgeMutations(ctx context.Context, snap nexus.TreeSnapshotted, evidence []nexus.Evidence, sum nexus.VerdictGiven) (nexus.VerdictGiven, error) {
	if sum.State != nexus.Pass {
		return sum, nil
	}
	accepted := mutate.Accepted{
		Run: w.Worker.Site.Run, Attempt: w.a.ID, Task: w.task.Task, Base: w.a.Base, Snapshot: snap, Trees: w.Worker.Trees, Now: w.Worker.Site.Now, Known: w.desk.Known, Gates: w.Worker.Judge.Gates,
		Runner: w.Worker.Judge.Runner,
		Starts: func() error { return w.starts(ctx)(gate.Gate{Name: mutate.Gate}) },
		Equip: func(ctx context.Context, t *worktree.Tree, hash string) error {
			return w.Worker.Judge.Kit.Equip(ctx, dependencies.Tree{Dir: t.Dir, Hash: hash}, w.Worker.Judge.Gates, nil, false, w.record)
		},
	}
	var e nexus.Evidence
	var told bool
	err := worker.RunInterruptible(ctx, w.desk, false, func(ctx context.Context) (err error) {
		e, told, err = w.Worker.Judge.Faults.Judge(ctx, accepted)
		return err
	})
	if err == nil && told {
		err = w.record(ctx, nexus.GateJudged{Attempt: w.a.ID, Evidence: e})
	}
	if err != nil || !told {
		return sum, err
	}
	return repair.SumVerdict(w.a.ID, w.task.Task, snap.Tree, append(evidence, e)), nil
}

// starts returns a function that records the start of a gate.
func (w *work) starts(ctx context.Context) func(gate.Gate) error {
	return worker.RecordGateStart(ctx, w.desk, nexus.GateStarted{Attempt: w.a.ID})
}
