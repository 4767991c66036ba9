package view

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// IsLifecycleFact reports whether a fact begins or ends a run, a task, a phase of one,
// a question, or an alert.
func IsLifecycleFact(f nexus.Fact) bool {
	switch f.(type) {
	case nexus.RunStarted, nexus.RunRecovered, nexus.RunPaused, nexus.RunResumed, nexus.RunEnded, nexus.PlanApproved,
		nexus.AttemptStarted, nexus.AttemptResumed, nexus.AttemptLost, nexus.AttemptInfrastructureFailed, nexus.AttemptEnded,
		nexus.SessionStarted, nexus.SessionEnded, nexus.TaskParked, nexus.TaskSkipped, nexus.TaskPaused, nexus.TaskResumed, nexus.TaskRetried,
		nexus.LandingCompleted, nexus.LandingRejected, nexus.QuestionAsked, nexus.QuestionExpired, nexus.QuestionAnswered,
		nexus.AlertRaised, nexus.AlertCleared:
		return true
	default:
		return false
	}
}
