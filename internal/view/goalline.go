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
		return EscapeForTerminal(cmp.Or(spec.GoalTitle(text), text))
	}
	return EscapeForTerminal(s.Title) + " (a spec: " + CountWithNoun(len(s.Requirements), "requirement") + ")"
}
