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
func (w *attemptWork) judgeMutations(ctx context.Context, snap nexus.TreeSnapshotted, evidence []nexus.GateEvidence, sum nexus.GatesVerdictGiven) (nexus.GatesVerdictGiven, error) {
	if sum.State != nexus.Pass {
		return sum, nil
	}
	accepted := mutate.GatedTree{
		Run: w.Worker.Site.Run, Attempt: w.a.ID, Task: w.task.Task, Base: w.a.Base, Snapshot: snap, Trees: w.Worker.Trees, Now: w.Worker.Site.Now, Known: w.desk.Known, Gates: w.Worker.Judge.Gates,
		Runner: w.Worker.Judge.GateRunner,
		Starts: func() error { return w.recordGateStart(ctx)(gate.QualityGate{Name: mutate.Gate}) },
		Equip: func(ctx context.Context, t *worktree.AttemptTree, hash string) error {
			return w.Worker.Judge.Kit.EquipTree(ctx, dependencies.ExactTreeDir{Dir: t.Dir, Hash: hash}, w.Worker.Judge.Gates, nil, false, w.recordFacts)
		},
	}
	var e nexus.GateEvidence
	var told bool
	err := worker.RunInterruptible(ctx, w.desk, false, func(ctx context.Context) (err error) {
		e, told, err = w.Worker.Judge.Faults.TryMutants(ctx, accepted)
		return err
	})
	if err == nil && told {
		err = w.recordFacts(ctx, nexus.GateJudged{Attempt: w.a.ID, Evidence: e})
	}
	if err != nil || !told {
		return sum, err
	}
	return repair.CombineVerdict(w.a.ID, w.task.Task, snap.Tree, append(evidence, e)), nil
}

// recordGateStart returns a function that records the start of a gate.
func (w *attemptWork) recordGateStart(ctx context.Context) func(gate.QualityGate) error {
	return worker.RecordGateStart(ctx, w.desk, nexus.GateStarted{Attempt: w.a.ID})
}
