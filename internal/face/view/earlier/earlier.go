// Package earlier shows which criteria of earlier runs were tried again before
// a run began.
package earlier

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/regress"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

// Draw draws them for people, in a line where nothing is red; empty where none
// was tried.
func Draw(s view.Style, rows []regress.Row) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "before it began: %s\n", regress.Sum(rows))
	for _, r := range rows {
		if r.Red() {
			fmt.Fprintf(&b, "  %s %s of run %s: %s", s.Bad("red"), view.Clean(r.Criterion), view.Clean(string(r.Run)), view.Clean(r.Command))
			if r.Why != "" {
				fmt.Fprintf(&b, "; %s", view.Clean(r.Why))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
