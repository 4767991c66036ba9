package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
)

// DrawEarlierResults draws the results for people, in one line if all checks passed; empty if
// there are none.
func DrawEarlierResults(s Style, rows []accept.EarlierResult) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "before the run started: %s\n", accept.SummarizeEarlier(rows))
	for _, r := range rows {
		if r.IsRed() {
			fmt.Fprintf(&b, "  %s %s of run %s: %s", s.Bad("red"), Clean(r.Criterion), Clean(string(r.Run)), Clean(r.Command))
			if r.Why != "" {
				fmt.Fprintf(&b, "; %s", Clean(r.Why))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
