package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// split lets the planner cut a task that is stuck into smaller ones.
func (m *Machine) split(ctx context.Context, f nexus.SplitSought, v state.View, d worker.Desk) ([]nexus.Fact, error) {
	p := &planning{Worker: m.Worker, view: v, a: v.Attempt, desk: d}
	p.session = nexus.SessionID(fmt.Sprintf("%s/%s.1", f.Attempt, nexus.Planner))
	var err error
	if p.tree, err = m.Worker.Trees.Add(ctx, v.Run, f.Attempt, p.a.Base); err != nil {
		return nil, fmt.Errorf("make a worktree to split a task in: %w", err)
	}
	q := prompt.Stuck{Session: p.session, Task: v.Task.Task, Why: f.Why, Rescope: f.Rescope, Parts: v.Limits.Parts, Size: v.Limits.Size}
	if q.Tried, err = attempt.Tried(ctx, m.Worker, v, false); err != nil {
		return nil, err
	}
	if f.Work != "" {
		git := m.Worker.Trees.Git()
		from, err := git.Run(ctx, "merge-base", p.a.Base, f.Work)
		if err != nil {
			return nil, err
		}
		if q.Diff, err = git.Diff(ctx, strings.TrimSpace(from), f.Work); err != nil {
			return nil, err
		}
	}
	taken := make([]nexus.TaskID, 0, len(v.Tasks))
	for _, t := range v.Tasks {
		taken = append(taken, t.ID)
	}
	parts, err := plan.Split(ctx, q, taken, p.begun(), p.talk)
	switch {
	case err == nil:
	case unplanned(err):
		return []nexus.Fact{nexus.SplitFailed{Attempt: f.Attempt, Task: f.Task, Why: err.Error()}}, p.tree.Remove(ctx)
	default:
		return nil, err
	}
	split := nexus.TaskSplit{Attempt: f.Attempt, Task: f.Task}
	var facts []nexus.Fact
	for _, t := range parts {
		facts = append(facts, nexus.TaskPlanned{Task: t})
		split.Parts = append(split.Parts, t.ID)
	}
	return append(facts, split), p.tree.Remove(ctx)
}
