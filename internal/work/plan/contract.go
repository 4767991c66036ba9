package plan

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/risk"
)

// contractFirst ends a message about what two tasks meet at.
const contractFirst = "Fix these contracts first, in the plan, and submit the whole plan again. What else the plan says stays as it is."

// openContracts says what the planner is to fix, a line each.
func openContracts(all []risk.Meeting) string {
	var b strings.Builder
	b.WriteString("Two tasks meet, and no text says what exactly both rely on:\n")
	for _, m := range all[:min(len(all), maxProblems)] {
		fmt.Fprintf(&b, "- %s: %s; %s\n", m.Task, m.Text, risk.HowTo)
	}
	b.WriteString("\n" + contractFirst)
	return b.String()
}
