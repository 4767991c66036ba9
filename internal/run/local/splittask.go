package local

import (
	"cmp"
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// splitTask lets the planner divide a task that is stuck into smaller ones.
func (m *LocalExecutor) splitTask(ctx context.Context, f nexus.TaskSplitStarted, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	p := &planningSession{Worker: m.Worker, view: v, a: v.Attempt, desk: d}
	p.session = nexus.SessionID(fmt.Sprintf("%s/%s.1", f.Attempt, nexus.Planner))
	var err error
	if p.tree, err = m.Worker.Trees.AddTree(ctx, v.Run, f.Attempt, p.a.Base); err != nil {
		return nil, fmt.Errorf("make a worktree to split a task in: %w", err)
	}
	q := prompt.SplitRequest{Session: p.session, Task: v.Task.Task, Why: f.Why, Rescope: f.Rescope, Parts: v.Limits.Parts, Size: v.Limits.Size}
	if q.Tried, err = attempt.SummarizeAttempts(ctx, m.Worker, v, false); err != nil {
		return nil, err
	}
	if f.Work != "" {
		if q.Diff, err = m.workDiff(ctx, v, f.Work); err != nil {
			return nil, fmt.Errorf("read what was done for %s: %w", f.Task, err)
		}
	}
	taken := make([]nexus.TaskID, 0, len(v.Tasks))
	for _, t := range v.Tasks {
		taken = append(taken, t.ID)
	}
	parts, err := plan.SplitStuckTask(ctx, q, taken, p.hasBegun(), p.sendMessage)
	switch {
	case err == nil:
	case isPlanFailure(err):
		return []nexus.Fact{nexus.TaskSplitFailed{Attempt: f.Attempt, Task: f.Task, Why: err.Error()}}, p.tree.Remove(ctx)
	default:
		return nil, err
	}
	split := nexus.TaskSplitCompleted{Attempt: f.Attempt, Task: f.Task}
	var facts []nexus.Fact
	for _, t := range parts {
		facts = append(facts, nexus.TaskPlanned{Task: t})
		split.Parts = append(split.Parts, t.ID)
	}
	return append(facts, split), p.tree.Remove(ctx)
}

// workDiff returns the changes of an attempt whose final tree is work. Its commits have no
// parent commit if it started from a tree, such as the merged tree that a landing refused: then
// the work is compared with the commit that the attempt belongs to.
func (m *LocalExecutor) workDiff(ctx context.Context, v state.WorkerView, work string) (string, error) {
	git, base := m.Worker.Trees.PrivateRepo(), v.Tip
	for _, a := range v.Past {
		if a.Commit == work || a.Snapshot.Commit == work {
			base = a.Base
		}
	}
	from, err := git.MergeBase(ctx, base, work)
	if err != nil {
		return "", err
	}
	return git.Diff(ctx, cmp.Or(from, base), work)
}
