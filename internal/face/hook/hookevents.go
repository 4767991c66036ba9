package hook

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
)

// hookEventsOf returns the hook events of a journal event that the state has applied, one per hook
// point.
func hookEventsOf(s *state.State, e nexus.Event) []hookcmd.HookEvent {
	base := hookcmd.HookEvent{Run: e.Run, Seq: e.Seq, At: e.At, Goal: s.Goal.Goal.Text, Status: s.Status, Spent: s.Ledger.SpentMoney()}
	at := func(p nexus.HookPoint, fill func(*hookcmd.HookEvent)) hookcmd.HookEvent {
		x := base
		x.Point = p
		fill(&x)
		if t := s.TaskByID(x.Task); t != nil {
			x.Title = t.Title
		}
		return x
	}
	of := func(id nexus.AttemptID, p nexus.HookPoint, fill func(*hookcmd.HookEvent)) []hookcmd.HookEvent {
		return []hookcmd.HookEvent{at(p, func(x *hookcmd.HookEvent) {
			if x.Attempt = id; s.AttemptByID(id) != nil {
				x.Task = s.AttemptByID(id).Task
			}
			fill(x)
		})}
	}
	switch f := e.Fact.(type) {
	case nexus.PlanProposed:
		return []hookcmd.HookEvent{at(nexus.HookPlanReady, func(x *hookcmd.HookEvent) { x.Tasks = f.Tasks })}
	case nexus.AttemptStarted:
		all := of(f.Attempt, nexus.HookAttempt, func(*hookcmd.HookEvent) {})
		if t := s.TaskByID(f.Task); t != nil && len(t.Attempts) == 1 {
			all = append([]hookcmd.HookEvent{at(nexus.HookTaskStart, func(x *hookcmd.HookEvent) { x.Task = f.Task })}, all...)
		}
		return all
	case nexus.AttemptResumed:
		return of(f.Attempt, nexus.HookAttempt, func(x *hookcmd.HookEvent) { x.Resumed = true })
	case nexus.AttemptEnded:
		return of(f.Attempt, nexus.HookAttemptEnd, func(x *hookcmd.HookEvent) { x.Outcome, x.Reason, x.Commit = f.Outcome, f.Why, f.Commit })
	case nexus.AttemptInfrastructureFailed:
		return of(f.Attempt, nexus.HookAttemptEnd, func(x *hookcmd.HookEvent) { x.Reason = f.Why })
	case nexus.GateJudged:
		if f.Attempt == "" || f.Base {
			return nil
		}
		return of(f.Attempt, nexus.HookGate, func(x *hookcmd.HookEvent) {
			x.Gate, x.State, x.Passed, x.Reason = f.Evidence.Gate, f.Evidence.State, f.Evidence.Passed(), f.Evidence.Why
		})
	case nexus.ReviewerVerdictGiven:
		return of(f.Attempt, nexus.HookReview, func(x *hookcmd.HookEvent) {
			x.Reason, x.Passed, x.Review = f.Summary, f.Approved && !f.SendsBack, "rejected"
			switch {
			case !f.Reviewed:
				x.Review = "not reviewed"
			case x.Passed:
				x.Review = "approved"
			}
		})
	default:
		return endEvents(s, e.Fact, at)
	}
}

// endEvents returns the hook events about the end of tasks and runs, and about items that wait for
// people.
func endEvents(s *state.State, f nexus.Fact, at func(nexus.HookPoint, func(*hookcmd.HookEvent)) hookcmd.HookEvent) []hookcmd.HookEvent {
	one := func(p nexus.HookPoint, fill func(*hookcmd.HookEvent)) []hookcmd.HookEvent {
		return []hookcmd.HookEvent{at(p, fill)}
	}
	switch f := f.(type) {
	case nexus.LandingCompleted:
		return one(nexus.HookTaskDone, func(x *hookcmd.HookEvent) { x.Task, x.Attempt, x.Commit = f.Task, f.Attempt, f.Commit })
	case nexus.TaskParked:
		p := nexus.HookTaskParked
		if f.Failed {
			p = nexus.HookTaskFailed
		}
		return one(p, func(x *hookcmd.HookEvent) { x.Task, x.Reason = f.Task, f.Why })
	case nexus.QuestionAsked:
		return one(nexus.HookQuestion, func(x *hookcmd.HookEvent) {
			if x.ID, x.Text, x.Attempt = f.ID, f.Text, f.Attempt; s.AttemptByID(f.Attempt) != nil {
				x.Task = s.AttemptByID(f.Attempt).Task
			}
		})
	case nexus.AlertRaised:
		return one(nexus.HookAlert, func(x *hookcmd.HookEvent) { x.Alert, x.Text, x.Reason = f.Kind, f.Of, f.Why })
	case nexus.AlertCleared:
		return one(nexus.HookCalm, func(x *hookcmd.HookEvent) { x.Alert, x.Text, x.Reason = f.Kind, f.Of, f.Why })
	case nexus.BudgetPercentReached:
		return one(nexus.HookBudget, func(x *hookcmd.HookEvent) { x.Percent = f.Percent })
	case nexus.ResultPublished:
		return one(nexus.HookRunLanded, func(x *hookcmd.HookEvent) {
			x.Commit, x.Branch, x.Target, x.Reason, x.Base = f.Commit, f.Branch, f.Target, f.Why, s.Goal.Base
		})
	case nexus.RunEnded:
		return one(nexus.HookRunEnd, func(x *hookcmd.HookEvent) { x.Reason, x.Commit, x.Base = f.Why, s.Tip, s.Goal.Base })
	default:
		return nil
	}
}
