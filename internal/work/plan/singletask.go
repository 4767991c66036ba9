package plan

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// SingleTaskPlan returns a plan with one task, which is done when the check passes; if the check is
// empty, the text or the tests must prove it.
func SingleTaskPlan(text, check string) nexus.Plan {
	title, _, _ := strings.Cut(text, "\n")
	if len(title) > 72 {
		title = sanitize.TruncateText(title, 69)
	}
	return nexus.Plan{Version: Version, Goal: text, Tasks: []nexus.Task{{
		ID: "T1", Title: title, Brief: text, Criteria: completionCriteria(text, check),
	}}}
}

// longest limits how much of a task's text is in its criterion.
const longest = 500

// completionCriteria returns the criteria of the task: its text, proved by the check, by the commands that
// the text reports as failing, or by tests that bear on it.
func completionCriteria(text, check string) []nexus.Criterion {
	said := strings.Join(strings.Fields(text), " ")
	said = sanitize.TruncateText(said, longest)
	if check != "" {
		return []nexus.Criterion{{Text: said, Check: check}}
	}
	var all []nexus.Criterion
	for _, command := range accept.ParseMentioned(text).Commands {
		all = append(all, nexus.Criterion{Text: said, Check: command, Red: true})
	}
	if len(all) == 0 {
		all = []nexus.Criterion{{Text: said, Check: "test"}}
	}
	return all
}
