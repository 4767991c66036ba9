package view

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// sharedSessionText describes which tasks share a session.
func sharedSessionText(f nexus.SharedSessionGroupFormed) string {
	ids := make([]string, len(f.Tasks))
	for i, id := range f.Tasks {
		ids[i] = string(id)
	}
	return WithReason(strings.Join(ids, ", ")+" share a session", f.Why)
}

// DrawSharedSessions draws a line for each group of tasks that share a session.
func DrawSharedSessions(s OutputStyle, all []nexus.SharedSessionGroupFormed) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(s.Wrap(s.Dim(l.Lane+": "+EscapeForTerminal(sharedSessionText(l))), "  ") + "\n")
	}
	return b.String()
}
