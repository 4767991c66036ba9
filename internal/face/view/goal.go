package view

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
)

// Goal returns a goal as a line: the title of one that is a spec, with how much it asks for, or the heading
// of one that begins with one.
func Goal(text string) string {
	s, ok := spec.ReadIfValid(text)
	if !ok {
		return Clean(cmp.Or(spec.Title(text), text))
	}
	return Clean(s.Title) + " (a spec: " + Count(len(s.Requirements), "requirement") + ")"
}
