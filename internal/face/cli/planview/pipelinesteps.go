package planview

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// DrawSteps draws a line for each pipeline step of a plan's tasks.
func DrawSteps(s view.OutputStyle, all []app.PlannedPipelineStep) string {
	var b strings.Builder
	for _, one := range all {
		ids := make([]string, len(one.Tasks))
		for i, id := range one.Tasks {
			ids[i] = string(id)
		}
		b.WriteString(s.Wrap(s.Dim("pipeline "+view.EscapeForTerminal(one.Says)+" ("+strings.Join(ids, ", ")+")"), "  ") + "\n")
	}
	return b.String()
}
