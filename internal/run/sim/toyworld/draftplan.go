package toyworld

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// draftPrefix begins the names of tasks that only a draft of the plan has.
const draftPrefix = "D"

// DraftPlan returns the scenario's plan with one more task, which has another name in each draft.
func (s RunScenario) DraftPlan(n int) []nexus.Task {
	extra := nexus.Task{ID: nexus.TaskID(fmt.Sprintf("%s%d", draftPrefix, n+1)), Title: "a draft", Minutes: 5, Files: []string{"f0"}}
	return append(append([]nexus.Task(nil), s.Tasks...), extra)
}

// IsDraft reports whether a task is one of a draft, and not of the scenario.
func IsDraft(id nexus.TaskID) bool { return strings.HasPrefix(string(id), draftPrefix) }
