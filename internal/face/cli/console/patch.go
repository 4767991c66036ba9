package console

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// DrawPatch draws the lines of a patch without its head, with hidden characters written out.
func DrawPatch(s view.OutputStyle, patch string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(patch, "\n") {
		clean := view.EscapeLinesForTerminal(line)
		switch {
		case strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
			continue
		case strings.HasPrefix(line, "+"):
			clean = s.Good(clean)
		case strings.HasPrefix(line, "-"):
			clean = s.Bad(clean)
		}
		b.WriteString("  " + clean + "\n")
	}
	return b.String()
}
