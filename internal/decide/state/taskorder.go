package state

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// taskOrder is the order of the plan's tasks.
type taskOrder struct {
	Graph *taskgraph.TaskGraph // of the tasks; nil until the plan is approved

	rank    map[nexus.TaskID]int // minutes of the longest path that starts with a task
	urgency map[nexus.TaskID]int // see [taskOrder.TaskUrgency]; nil if no task has a priority
}

// Rank returns the minutes of the longest path of work that starts with a task: the higher,
// the sooner it should start.
func (s *taskOrder) Rank(id nexus.TaskID) int { return s.rank[id] }

// TaskUrgency returns the importance of a task and of the tasks that wait for it; see
// [taskGraph.TaskGraph.TaskUrgency]. It is the same for all tasks of a plan without priorities.
func (s *taskOrder) TaskUrgency(id nexus.TaskID) int { return s.urgency[id] }
