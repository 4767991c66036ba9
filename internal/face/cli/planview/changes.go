package planview

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// DrawChanges draws the differences between two plans.
func DrawChanges(s view.OutputStyle, before, after []nexus.Task) string {
	all := plandiff.DiffTasks(before, after)
	if len(all) == 0 {
		return "  the tasks are the same\n"
	}
	return view.DrawPlanChanges(s, all, "  ")
}
