package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
)

// DrawEarlierResults draws the results for people, in one line if all checks passed; empty if
// there are none.
func DrawEarlierResults(s OutputStyle, rows []accept.EarlierRunCheckResult) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "before the run started: %s\n", accept.SummarizeEarlierResults(rows))
	for _, r := range rows {
		if r.IsRed() {
			fmt.Fprintf(&b, "  %s %s of run %s: %s", s.Bad("red"), EscapeForTerminal(r.Criterion), EscapeForTerminal(string(r.Run)), EscapeForTerminal(r.Command))
			if r.Why != "" {
				fmt.Fprintf(&b, "; %s", EscapeForTerminal(r.Why))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
