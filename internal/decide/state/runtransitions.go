package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// back represents, in the table, the status before a pause or a recovery.
const back nexus.RunStatus = "(back)"

// RunStatusTransition is one row of the run's state machine.
type RunStatusTransition struct {
	Kind     string // kind of the fact that changes the status
	From, To nexus.RunStatus
}

// RunTransitions returns the run's state machine as a table. A fact that the table names and
// that has no row for the present status is illegal.
func RunTransitions() []RunStatusTransition {
	live := []nexus.RunStatus{
		nexus.StatusPlanning, nexus.StatusExecuting, nexus.StatusReviewing, nexus.StatusLanding,
	}
	ends := []nexus.RunStatus{
		nexus.StatusDone, nexus.StatusPartial, nexus.StatusFailed, nexus.StatusStopped, nexus.StatusLimit, nexus.StatusWaiting,
	}
	rows := []RunStatusTransition{
		{"goal.accepted", "", nexus.StatusIdle},
		{"run.started", nexus.StatusIdle, nexus.StatusPlanning},
		{"plan.approved", nexus.StatusPlanning, nexus.StatusExecuting},
		{"result.reviewed", nexus.StatusExecuting, nexus.StatusReviewing},
		{"fixes.planned", nexus.StatusReviewing, nexus.StatusExecuting},
		{"result.offered", nexus.StatusReviewing, nexus.StatusLanding},
		{"result.offered", nexus.StatusExecuting, nexus.StatusLanding},
		{"run.resumed", nexus.StatusPaused, back},
		{"run.resumed", nexus.StatusRecovering, back},
		{"run.recovered", nexus.StatusPaused, nexus.StatusRecovering},
		{"run.recovered", nexus.StatusRecovering, nexus.StatusRecovering},
	}
	for _, from := range live {
		rows = append(rows,
			RunStatusTransition{"run.paused", from, nexus.StatusPaused},
			RunStatusTransition{"run.recovered", from, nexus.StatusRecovering})
	}
	for _, from := range append(live, nexus.StatusIdle, nexus.StatusPaused) {
		rows = append(rows, RunStatusTransition{"run.ended", from, ""})
	}
	for _, from := range ends {
		rows = append(rows, RunStatusTransition{"run.reopened", from, nexus.StatusExecuting})
	}
	return rows
}

// changesRunStatus reports whether a fact is part of the state machine.
func changesRunStatus(f nexus.Fact) bool {
	switch f.(type) {
	case nexus.GoalAccepted, nexus.RunStarted, nexus.RunRecovered, nexus.RunPaused, nexus.RunResumed,
		nexus.RunReopened, nexus.FinalGatesStarted, nexus.FixTasksPlanned, nexus.ResultPublishingStarted, nexus.RunEnded, nexus.PlanApproved:
		return true
	default:
		return false
	}
}
