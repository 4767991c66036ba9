package mutate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// MutationCheckSettings is the configuration of mutation tests. The zero value is off.
type MutationCheckSettings struct {
	Mode   string // warn or block; any other value: off
	Sample int
	Time   time.Duration
}

// GatedTree is a tree that passed its gates.
type GatedTree struct {
	Run      nexus.RunID
	Attempt  nexus.AttemptID
	Task     nexus.Task
	Base     string
	Snapshot nexus.TreeSnapshotted
	Trees    *worktree.Store
	Now      func() time.Time
	Known    func(ctx context.Context, tree, gate string) (nexus.GateEvidence, bool)
	Gates    func(dir string) ([]gate.QualityGate, error)
	Runner   func(t *worktree.AttemptTree, hash string) (gate.GateRunner, error)
	Starts   func() error // called before the first fault is tried; may be nil
	Equip    func(ctx context.Context, t *worktree.AttemptTree, hash string) error
}

// TryMutants tries faults in the lines that are new since the base, and returns false if there is
// nothing to try: no new line that could contain one, or no tests.
func (c MutationCheckSettings) TryMutants(ctx context.Context, of GatedTree) (e nexus.GateEvidence, told bool, err error) {
	if c.Mode != "warn" && c.Mode != "block" || of.Task.Kind == nexus.DocsTask || of.Task.Strategy == nexus.NoTest {
		return e, false, nil
	}
	if e, ok := of.Known(ctx, of.Snapshot.Tree, Gate); ok {
		return e, true, nil
	}
	files, err := ChangedFilesIn(ctx, of.Trees.PrivateRepo(), of.Base, of.Snapshot.Commit)
	if err != nil {
		return e, false, fmt.Errorf("look for new lines: %w", err)
	}
	if !hasMutants(files) {
		return e, false, nil
	}
	if of.Starts != nil {
		if err := of.Starts(); err != nil {
			return e, false, err
		}
	}
	tree, err := of.Trees.AddTree(ctx, of.Run, of.Attempt+"-faults", of.Snapshot.Commit)
	if err != nil {
		return e, false, err
	}
	r, err := c.tryMutants(ctx, of, tree, files)
	if err = errors.Join(err, of.Trees.DropTree(context.WithoutCancel(ctx), of.Run, tree.ID)); err != nil {
		return e, false, fmt.Errorf("put faults into %s: %w", of.Attempt, err)
	}
	return r.Evidence(of.Snapshot.Tree, c.Mode == "block"), r.Possible > 0, nil
}

// hasMutants reports whether a file may contain a fault.
func hasMutants(files []MutableFile) bool {
	for _, f := range files {
		if len(FindMutants(f)) > 0 {
			return true
		}
	}
	return false
}

func (c MutationCheckSettings) tryMutants(ctx context.Context, of GatedTree, tree *worktree.AttemptTree, files []MutableFile) (MutationReport, error) {
	hash := of.Snapshot.Tree
	if err := tree.ResetExactly(ctx, hash); err != nil {
		return MutationReport{}, err
	}
	if err := of.Equip(ctx, tree, hash); err != nil {
		return MutationReport{}, err
	}
	gates, err := of.Gates(tree.Dir)
	if err != nil {
		return MutationReport{}, err
	}
	r, err := of.Runner(tree, hash)
	if err != nil {
		return MutationReport{}, err
	}
	return MutationTrialOptions{
		Dir: tree.Dir, Runner: r, Gates: gates, Seed: hash, Sample: c.Sample, Time: c.Time, Now: of.Now,
		Known: func(gate string) (nexus.GateEvidence, bool) { return of.Known(ctx, hash, gate) },
	}.TryFaults(ctx, files)
}
