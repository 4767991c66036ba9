package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// askHooks runs the hooks of a point that may refuse, one after the other until one does, and
// records the result of each. It returns the hook that refused, and why.
func (m *LocalExecutor) askHooks(ctx context.Context, e hookcmd.HookEvent, d worker.AttemptFactRecorder) (hook, why string, err error) {
	for _, h := range hookcmd.HooksAtPoint(m.Hooks, e.Point) {
		o, err := m.runHookUntilDrain(ctx, h, e, d)
		if err != nil {
			return "", "", err
		}
		f := nexus.HookRan{Hook: h.Name, Point: e.Point, Commit: e.Commit, State: o.State, Exit: o.Exit, Why: o.Why, Duration: o.Took}
		if err := d.Record(ctx, f); err != nil {
			return "", "", err
		}
		if !o.State.AllowsAction() {
			return h.Name, fmt.Sprintf("the hook %s does not allow it (%s): %s", h.Name, o.State, o.Why), nil
		}
	}
	return "", "", nil
}

// runHookUntilDrain runs a hook, and cancels it when the run stops its workers.
func (m *LocalExecutor) runHookUntilDrain(ctx context.Context, h hookcmd.DeclaredHook, e hookcmd.HookEvent, d worker.AttemptFactRecorder) (hookcmd.HookOutcome, error) {
	ctx, stop := d.Spare(ctx, false)
	defer stop()
	return h.RunHook(ctx, m.Runner, e)
}

// hookEvent returns the data about the current run that hooks receive.
func (m *LocalExecutor) hookEvent(p nexus.HookPoint, v state.WorkerView) hookcmd.HookEvent {
	return hookcmd.HookEvent{Point: p, Run: v.Run, At: m.Now().UTC(), Goal: v.Goal.Goal.Text, Base: v.Goal.Base, Target: v.Goal.Target, Spent: v.Spent}
}

// askStartHooks asks the hooks whether work on the run may start.
func (m *LocalExecutor) askStartHooks(ctx context.Context, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	e := m.hookEvent(nexus.HookRunStart, v)
	e.Resumed, e.Tasks = v.Resumed, len(v.Tasks)
	hook, why, err := m.askHooks(ctx, e, d)
	if err != nil {
		return nil, err
	}
	return []nexus.Fact{nexus.StartHooksAnswered{Allowed: hook == "", Why: why}}, nil
}

// askLandingHooks asks the hooks whether the landed work may leave the private clone, in the form of f.
// It returns the fact that it stays, nil if it may leave. Hooks can read the resulting files in
// a tree.
func (m *LocalExecutor) askLandingHooks(ctx context.Context, v state.WorkerView, f nexus.ResultPublished, d worker.AttemptFactRecorder) (facts []nexus.Fact, err error) {
	if len(hookcmd.HooksAtPoint(m.Hooks, nexus.HookRunLand)) == 0 {
		return nil, nil
	}
	e := m.hookEvent(nexus.HookRunLand, v)
	e.Status, e.Commit, e.Branch = nexus.StatusLanding, v.Tip, f.Branch
	if e.Target = ""; v.Goal.Land {
		e.Target = v.Goal.Target
	}
	if merged := v.TargetMerge.Merged; merged != nil {
		e.Commit, e.Base = merged.Commit, merged.Onto
	}
	clone := m.Worker.Trees.PrivateRepo()
	changed, err := clone.ChangedFiles(ctx, e.Base, e.Commit)
	if err != nil {
		return nil, err
	}
	for _, c := range changed {
		e.Files = append(e.Files, c.Path)
	}
	hash, err := clone.TreeID(ctx, e.Commit)
	if err != nil {
		return nil, err
	}
	tree, err := m.Worker.Trees.AddTree(ctx, v.Run, "hook", e.Commit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.Remove(context.WithoutCancel(ctx))) }()
	if err := tree.Reset(ctx, hash); err != nil { // an interrupted run may have left another commit there
		return nil, err
	}
	e.Tree = tree.Dir
	hook, why, err := m.askHooks(ctx, e, d)
	if err != nil || hook == "" {
		return nil, err
	}
	stays := nexus.ResultPublished{Commit: v.Tip, Why: why, Hook: hook}
	if at, err := m.Worker.Trees.BranchCommit(ctx, f.Branch); v.TargetMerge.Merged != nil || err == nil && at == v.Tip {
		stays.Branch = f.Branch // it left before; only the move of the target was refused
	}
	return []nexus.Fact{stays}, nil
}
