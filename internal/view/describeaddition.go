package view

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describeAddition describes the result of an addition to the run. It is empty for other facts.
func describeAddition(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.AdditionPlanningStarted:
		return fmt.Sprintf("%s: the planner turns the addition into tasks", f.Attempt)
	case nexus.AdditionTasksProposed:
		text := fmt.Sprintf("%s: %s proposed", f.Attempt, CountWithNoun(len(f.Tasks), "task"))
		if f.Cover != nil {
			text += "; " + coverageLine(f.Cover)
		}
		return text
	case nexus.AdditionPlanningFailed:
		return WithReason("the addition led to no tasks", f.Why)
	case nexus.TasksAdded:
		return fmt.Sprintf("added%s: %s", byText(f.By), nexus.JoinWords(f.Tasks))
	default:
		return ""
	}
}
