package local

import (
	"context"
	"fmt"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// planAddition lets the planner make tasks of an addition to the run, with the same checks as for a
// plan, on the work that has landed so far.
func (m *LocalExecutor) planAddition(ctx context.Context, f nexus.AdditionPlanningStarted, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	if err := CreateRunBranch(ctx, m.Worker.Trees, v); err != nil {
		return nil, err
	}
	v.Goal.Goal.Text = v.Added.Brief
	p := &planningSession{Worker: m.Worker, view: v, a: v.Attempt, desk: d}
	p.session = nexus.SessionID(fmt.Sprintf("%s/%s.1", f.Attempt, nexus.Planner))
	var err error
	if p.tree, err = m.Worker.Trees.AddTree(ctx, v.Run, f.Attempt, p.a.Base); err != nil {
		return nil, fmt.Errorf("make a worktree to plan an addition in: %w", err)
	}
	of := worker.JudgedBaseCommit{Commit: p.a.Base, For: nexus.GateStarted{Attempt: p.a.ID}}
	if err := p.Worker.Judge.Bases.CheckRunBase(ctx, p.Worker.Judge, of, p.tree.Dir, d); err != nil {
		return nil, err
	}
	g := prompt.PlanningRequest{Session: p.session, Text: v.Added.Brief, Size: v.Limits.Size, Files: v.Added.Files, Repo: monorepo.ReadPackageGraph(os.DirFS(p.tree.Dir))}
	g.Open, _ = clarify.IsVague(g.Text)
	for _, t := range v.Tasks {
		g.Planned = append(g.Planned, string(t.ID)+": "+t.Title)
	}
	made, err := plan.Decompose(ctx, g, p.hasBegun(), p.sendMessage, p.tryCriteria, p.checkCoverage)
	if err == nil {
		err = p.completeTasks(ctx, made.Tasks, g)
	}
	var facts []nexus.Fact
	switch {
	case err == nil:
		facts = []nexus.Fact{nexus.AdditionTasksProposed{Attempt: f.Attempt, Tasks: made.Tasks, Cover: made.Cover}}
	case isPlanFailure(err):
		facts = []nexus.Fact{nexus.AdditionPlanningFailed{Request: f.Request, Attempt: f.Attempt, Why: err.Error()}}
	default:
		return nil, err
	}
	return facts, p.tree.Remove(ctx)
}
