package highlight

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
)

// HighlightDiff highlights the lines of a file in a diff, in their order. It reads the lines before the
// change as one text, and those after it as another, so that a comment over several lines is
// recognised. A line in both is highlighted as after the change.
func HighlightDiff(file string, lines []diffreview.DiffLine) [][]CodeSpan {
	out := make([][]CodeSpan, len(lines))
	for _, without := range []string{"+", "-"} {
		var at []int
		var text strings.Builder
		for i, l := range lines {
			if l.Kind != without {
				at = append(at, i)
				text.WriteString(l.Text + "\n")
			}
		}
		if len(at) == 0 {
			continue
		}
		for i, spans := range HighlightLines(file, text.String()) {
			if i < len(at) { // a line of a hostile diff may contain several line ends
				out[at[i]] = spans
			}
		}
	}
	return out
}
