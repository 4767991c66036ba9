package plan

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Parse reads what a planner submitted where there is no plan before.
func Parse(data []byte, goal string, most nexus.TaskSizeLimits) (nexus.Plan, error) {
	return parseAndCheckSubmission(data, goal, most, nexus.Plan{})
}
