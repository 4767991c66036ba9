package projection

import (
	"cmp"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// PlanApprovalFacts holds the facts about a plan, besides its tasks, that a person needs before agreeing to
// it.
type PlanApprovalFacts struct {
	Estimate *nexus.PlanEstimate           `json:"estimate,omitempty"`      // nil: its tasks began, or there is none
	Critical []nexus.TaskID                `json:"critical_path,omitempty"` // the tasks that determine its duration
	Assumed  []string                      `json:"assumptions,omitempty"`   // its assumptions
	Foreseen []nexus.PlanRisk              `json:"foreseen,omitempty"`      // risks named by its planner
	Risks    []planrisk.IdentifiedPlanRisk `json:"risks,omitempty"`         // risks that follow from its tasks
}

// PlanApprovalFacts returns the facts about the plan, as nexus plan prints them.
func (p *RunProjection) PlanApprovalFacts() PlanApprovalFacts {
	s, tasks := p.state, plannedTasks(p.state)
	of := PlanApprovalFacts{Assumed: s.Assumed, Foreseen: s.Foreseen, Risks: planrisk.PlanRisks(nexus.Plan{Tasks: tasks}), Estimate: PlanEstimate(s)}
	if g, err := taskgraph.NewTaskGraph(tasks); err == nil && len(g.CriticalPath()) > 1 {
		of.Critical = g.CriticalPath()
	}
	return of
}

// plannedTasks returns the tasks of the plan.
func plannedTasks(s *state.State) []nexus.Task {
	tasks := make([]nexus.Task, len(s.Tasks))
	for i, t := range s.Tasks {
		tasks[i] = t.Task
	}
	return tasks
}

// PlanEstimate returns the estimate of the plan's tasks, from what was known when the run began, nil if
// one has begun or nothing was known. Its worst case is the run's budget, or what is spent if that is more.
func PlanEstimate(s *state.State) *nexus.PlanEstimate {
	tasks := plannedTasks(s)
	for _, t := range s.Tasks {
		if len(t.Attempts) > 0 || t.Status.HasEnded() {
			return nil
		}
	}
	x := s.Goal.Routing.Experience
	if x == nil || len(tasks) == 0 {
		return nil
	}
	e := route.EstimateFromBasis(x, route.EstimateInput{
		Tasks: tasks, Parallel: s.Limits.Parallel, Most: WorstCost(s),
		Route: func(t nexus.Task) nexus.StartTierChosen { return route.ChooseStartTier(s.Goal.Routing, t, nil) },
	})
	return &e
}

// WorstCost returns the most that a run costs in all: its budget, or what is spent if that is more.
func WorstCost(s *state.State) nexus.Money {
	return max(cmp.Or(s.Ledger.RunLimit(), s.Limits.RunMoney), s.Ledger.SpentMoney())
}

// RiskLines lists the risks, one per line: those of the planner, and those that follow from the
// tasks.
func (p PlanApprovalFacts) RiskLines() []string {
	var all []string
	of := func(id nexus.TaskID) string { return cmp.Or(string(id), "the plan") }
	for _, r := range p.Foreseen {
		all = append(all, view.EscapeForTerminal(view.WithReason(of(r.Task)+": "+r.Text, r.Mitigation)))
	}
	for _, r := range p.Risks {
		text := fmt.Sprintf("%s: %s (probability %s, impact %s): %s", of(r.Task), r.Text, r.Probability, r.Impact, r.Mitigation)
		all = append(all, view.EscapeForTerminal(text))
	}
	return all
}
