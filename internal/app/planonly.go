package app

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// MakePlanOnly lets the planner make the plan for the run's options, and nothing else.
func (a *App) MakePlanOnly(ctx context.Context, p *Repository, o *RunOptions, w RunWatcher) error {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	planning := *o
	planning.Goal.Mode = nexus.Draft
	s, err := a.ConductRun(ctx, p, settings, &planning, w)
	if err != nil {
		return err
	}
	made := PlanOfRun(s)
	made.Goal = o.Goal.Text
	o.Plan, o.Spent = &made, PlanningCost(s)
	if len(made.Tasks) > 0 {
		return nil
	}
	e := &nexus.Error{
		Code: nexus.CodeNothingProposed, Message: s.Why,
		Hint: "nexus logs " + string(s.Run) + " shows what was tried; describe the goal in more detail, or write the plan yourself (docs/plan.md).",
	}
	switch {
	case s.Status == nexus.StatusLimit:
		e.Code, e.Hint = nexus.CodeLimit, "Raise the limit: --budget or --max-time."
	case s.Start.Stage == state.StartRefused:
		e.Code, e.Hint = nexus.CodeNeedsPerson, "Fix what the hook complains about, or change the hook, and start again."
	case s.Drain != nil && s.Drain.Code != "":
		e.Code, e.Hint = s.Drain.Code, ""
	}
	return e
}

// PlanOfRun returns the tasks of a run as a plan.
func PlanOfRun(s *state.State) nexus.Plan {
	p := nexus.Plan{Version: plan.Version, Goal: s.Goal.Goal.Text, Cover: s.Cover, Assumptions: s.Assumed, Foreseen: s.Foreseen}
	if s.Goal.Goal.Mode == nexus.Draft {
		p.Run = s.Run
	}
	for _, t := range s.Tasks {
		p.Tasks = append(p.Tasks, t.Task)
	}
	return p
}

// addPlanningCost sets the money already spent to the cost of the run that made the plan. It sets
// nothing if that run is not in this journal, or did more than plan.
func (o *RunOptions) addPlanningCost(ctx context.Context, p *Repository) error {
	if o.Spent > 0 || o.Plan == nil || o.Plan.Run == "" || p == nil || p.Journal == nil {
		return nil
	}
	runs, err := p.Runs(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(runs, func(r journal.RecordedRun) bool { return r.ID == o.Plan.Run }) {
		return nil
	}
	s, err := p.Replay(ctx, o.Plan.Run)
	if err == nil && s.Goal.Goal.Mode == nexus.Draft {
		o.Spent = PlanningCost(s)
	}
	return err
}

// PlanningCost returns the spending of a run that only planned, with the cost of the refused plans
// before.
func PlanningCost(s *state.State) nexus.Money { return s.Goal.Planning + s.Ledger.SpentMoney() }

// EstimatePlan adds the estimates of the plan's tasks, from earlier runs of the repository. A nil
// repository, one without runs, and one whose runs cannot be read have no history.
func (a *App) EstimatePlan(ctx context.Context, p *Repository, o *RunOptions) error {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	price, err := a.modelPrices(settings, o.tap)
	if err != nil {
		return err
	}
	if err := o.addPlanningCost(ctx, p); err != nil {
		return err
	}
	past, learned := &route.PastRunStatistics{}, &nexus.RunLessons{}
	if p != nil && p.Journal != nil { // an unknown history is no reason to fail
		if known, err := p.estimateStats(ctx, settings); err == nil {
			past = known
		}
		if l, err := a.newRunLessons(ctx, p, settings); err == nil {
			learned = l
		}
	}
	routing := startTierRules(settings, learned, false)
	e := past.Estimate(route.EstimateInput{
		Tasks: o.Plan.Tasks, Parallel: settings.Limits.Parallel, Most: max(settings.Limits.RunMoney-o.Spent, 0),
		Route: func(t nexus.Task) nexus.StartTierChosen { return route.ChooseStartTier(routing, t, nil) },
		Price: price,
	})
	o.Plan.Estimate = &e
	if settings.Limits.Batch, err = a.tasksPerSession(settings, o.tap); err != nil {
		return err
	}
	o.Lanes = schedule.ForecastSharedSessions(o.Plan.Tasks, settings.Limits, routing)
	o.Steps, err = a.plannedSteps(settings, o.Plan.Tasks)
	return err
}

// modelPrices returns the token prices of the configured models.
func (a *App) modelPrices(c config.Config, tap provider.RecordingTransport) (route.RolePriceFunc, error) {
	models, err := provider.NewModelPicker(c, a.Env, a.Now)
	if err != nil {
		return nil, err
	}
	models.UseKeysAndTransport(a.KeyStore(), tap)
	return func(role nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool) {
		name, err := models.ModelName(role, t.Tier, t.Model)
		if err != nil {
			return 0, false
		}
		return models.CallPrice(name, u)
	}, nil
}
