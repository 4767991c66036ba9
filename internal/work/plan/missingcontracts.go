package plan

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
)

// contractFirst ends a message about the missing contracts between two tasks.
const contractFirst = "Define these contracts in the plan first, and submit the whole plan again. Leave the rest of the plan as it is."

// missingContracts returns the missing contracts for the planner, a line each.
func missingContracts(all []planrisk.UndefinedTaskInterface) string {
	var b strings.Builder
	b.WriteString("Two tasks meet, and no text says exactly what both rely on:\n")
	for _, m := range all[:min(len(all), maxProblems)] {
		fmt.Fprintf(&b, "- %s: %s; %s\n", m.Task, m.Text, planrisk.HowTo)
	}
	b.WriteString("\n" + contractFirst)
	return b.String()
}
