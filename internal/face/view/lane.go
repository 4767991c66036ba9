package view

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// laneText says which tasks share a session.
func laneText(f nexus.LaneFormed) string {
	ids := make([]string, len(f.Tasks))
	for i, id := range f.Tasks {
		ids[i] = string(id)
	}
	return Because(strings.Join(ids, ", ")+" share a session", f.Why)
}

// Lanes has a line for each lane: tasks that share a session.
func Lanes(s Style, all []nexus.LaneFormed) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(s.Wrap(s.Dim(l.Lane+": "+Clean(laneText(l))), "  ") + "\n")
	}
	return b.String()
}
