package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// planningSession holds the state of a planning in progress.
type planningSession struct {
	Worker  *worker.AttemptWorker
	view    state.WorkerView
	a       *state.AttemptState // a private copy
	desk    worker.AttemptFactRecorder
	tree    *worktree.AttemptTree
	session nexus.SessionID
	red     []string // checks of earlier runs that now fail
}

// makePlan lets the planner divide the goal into tasks, and returns invalid plans to it.
func (m *LocalExecutor) makePlan(ctx context.Context, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	p := &planningSession{Worker: m.Worker, view: v, a: v.Attempt, desk: d}
	p.session = nexus.SessionID(fmt.Sprintf("%s/%s.1", p.a.ID, nexus.Planner))
	var err error
	if p.tree, err = m.Worker.Trees.AddTree(ctx, v.Run, p.a.ID, p.a.Base); err != nil {
		return nil, fmt.Errorf("make a worktree to plan in: %w", err)
	}
	if p.red, err = m.tryEarlierChecks(ctx, v, d); err != nil {
		return nil, err
	}
	if err := p.Worker.Judge.Bases.CheckRunBase(ctx, p.Worker.Judge, worker.JudgedBaseCommit{Commit: p.a.Base, For: nexus.GateStarted{Attempt: p.a.ID}}, p.tree.Dir, d); err != nil {
		return nil, err
	}
	g := prompt.PlanningRequest{Session: p.session, Text: v.Goal.Goal.Text, Size: v.Limits.Size, Red: p.red, Repo: monorepo.ReadPackageGraph(os.DirFS(p.tree.Dir))}
	g.Open, _ = clarify.IsVague(g.Text)
	g.Refused, g.Prior = refusedPlans(v.Drafts)
	if len(g.Prior.Tasks) > 0 {
		g.Before = string(plan.FormatMarkdown(g.Prior))
	}
	made, err := plan.Decompose(ctx, g, p.hasBegun(), p.sendMessage, p.tryCriteria, p.checkCoverage)
	if err == nil {
		err = p.completeTasks(ctx, made.Tasks, g)
	}
	var facts []nexus.Fact
	switch {
	case err == nil:
		facts, err = p.proposePlan(made)
	case isPlanFailure(err):
		facts, err = []nexus.Fact{nexus.PlanningFailed{Why: err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	return facts, p.tree.Remove(ctx)
}

// refusedPlans returns the reasons for which people refused the previous plans, and the last of
// those plans.
func refusedPlans(drafts []state.UnapprovedPlan) (why []string, last nexus.Plan) {
	for _, d := range drafts {
		if d.Why != "" {
			why, last = append(why, d.Why), nexus.Plan{
				Version: plan.Version, Goal: d.Goal, Tasks: d.Tasks, Assumptions: d.Assumed, Foreseen: d.Foreseen,
			}
		}
	}
	return why, last
}

// sendMessage sends a message to the planner.
func (p *planningSession) sendMessage(ctx context.Context, message, why string) (agent.SessionStretchResult, error) {
	of := p.view.Task
	return p.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
		Attempt: p.a, Session: p.session, Task: nexus.Task{ID: of.ID, Title: of.Title, Brief: of.Brief, Criteria: of.Criteria, Files: of.Files}, Role: nexus.Planner, Tree: p.tree, Base: p.view.Goal.Base, Goal: p.view.Goal.Goal.Text, Next: message, Why: why,
		Handin: plan.SubmissionSchema(), Limits: p.view.Limits, Record: p.recordFacts,
	}, p.desk)
}

// hasBegun reports whether the conversation is open.
func (p *planningSession) hasBegun() bool {
	s := p.a.SessionByID(p.session)
	return s != nil && len(s.Messages) > 0
}

// isPlanFailure reports whether an error means that there is no plan, rather than a failure of the
// machinery or a lack of money.
func isPlanFailure(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok {
		return false
	}
	switch e.Code {
	case nexus.CodeNothingProposed, nexus.CodeLimit, nexus.CodeInvalidPlan, nexus.CodeOversize, nexus.CodeCycle, nexus.CodeInvalidInput:
		return true
	default:
		return false
	}
}

func (p *planningSession) recordFacts(ctx context.Context, facts ...nexus.Fact) error {
	if err := p.desk.Record(ctx, facts...); err != nil {
		return err
	}
	for _, f := range facts {
		p.a.Apply(f, p.Worker.Site.Now())
	}
	return nil
}

// proposePlan stores the plan and returns the facts that propose it.
func (p *planningSession) proposePlan(made nexus.Plan) ([]nexus.Fact, error) {
	goal := p.view.Goal.Goal
	made.Goal = goal.Text
	for i := range made.Tasks {
		made.Tasks[i].SetStartTier(goal.Tier, goal.Strategy, true)
	}
	data, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	hash, err := p.Worker.Site.Blobs.Put(data)
	if err != nil {
		return nil, err
	}
	facts := []nexus.Fact{nexus.PlanProposed{
		Plan: hash, Tasks: len(made.Tasks), Cover: made.Cover, Assumptions: made.Assumptions, Foreseen: made.Foreseen,
	}}
	for _, t := range made.Tasks {
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	for n, text := range made.Assumptions {
		facts = append(facts, nexus.AssumptionStated{Attempt: p.a.ID, ID: fmt.Sprintf("P-%d", n+1), Text: text})
	}
	return facts, nil
}
