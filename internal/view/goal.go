package view

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
)

// GoalLine returns a goal as one line: the title of a spec with the number of its requirements, or
// the heading of a text that begins with one.
func GoalLine(text string) string {
	s, ok := spec.ReadIfValid(text)
	if !ok {
		return Clean(cmp.Or(spec.TitleOf(text), text))
	}
	return Clean(s.Title) + " (a spec: " + Count(len(s.Requirements), "requirement") + ")"
}
