package plan

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Single returns the plan with one task, which is done when the check passes; an empty one
// leaves it to the text, or to the tests, what shows that.
func Single(text, check string) nexus.Plan {
	title, _, _ := strings.Cut(text, "\n")
	if len(title) > 72 {
		title = sanitize.Cut(title, 69)
	}
	return nexus.Plan{Version: Version, Goal: text, Tasks: []nexus.Task{{
		ID: "T1", Title: title, Brief: text, Criteria: shows(text, check),
	}}}
}

// longest is how much of a task's text is in its criterion.
const longest = 500

// shows returns what has to be true when the task is done: what it says, shown
// by the check, by the commands that it says fail, or by tests that bear on it.
func shows(text, check string) []nexus.Criterion {
	said := strings.Join(strings.Fields(text), " ")
	said = sanitize.Cut(said, longest)
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
