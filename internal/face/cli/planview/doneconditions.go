package planview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// maxDone limits the criteria below the table of a plan.
const maxDone = 60

// unchecked is the text for a criterion without a command yet.
const unchecked = "no check yet: one is written, or a person is asked"

// drawDone lists the criteria of each task, by the names under which people revise and approve
// them, with their checks.
func drawDone(s view.OutputStyle, p nexus.Plan) string {
	var b strings.Builder
	all := 0
	kept := map[string][]string{} // by check: the names of one criterion that many tasks share
	for _, t := range p.Tasks {
		for i, c := range t.Criteria {
			if c.IsRegressionOnly() {
				kept[c.Check] = append(kept[c.Check], fmt.Sprintf("%s/AC-%d", t.ID, i+1))
				continue
			}
			if all++; all > maxDone {
				continue
			}
			check := unchecked
			if c.Check != "" {
				check = "check: " + c.Check
			}
			b.WriteString(s.Wrap(view.EscapeForTerminal(fmt.Sprintf("%s/AC-%d: %s", t.ID, i+1, c.Text)), "  ") + "\n")
			b.WriteString(s.Wrap(s.Dim(view.EscapeForTerminal(check)), "    ") + "\n")
		}
	}
	for _, check := range slices.Sorted(maps.Keys(kept)) {
		b.WriteString(s.Wrap(view.EscapeForTerminal(strings.Join(kept[check], ", ")+": "+nexus.KeptText), "  ") + "\n")
		b.WriteString(s.Wrap(s.Dim(view.EscapeForTerminal("check: "+check)), "    ") + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	if more := all - maxDone; more > 0 {
		b.WriteString(s.Wrap(fmt.Sprintf("and %d more: nexus plan --markdown shows all", more), "  ") + "\n")
	}
	return "done when:\n" + b.String()
}

// drawCritical draws the tasks that determine the duration of the plan, unless that is one task
// or all of them.
func drawCritical(s view.OutputStyle, p nexus.Plan) string {
	g, err := taskgraph.NewTaskGraph(p.Tasks)
	if err != nil {
		return ""
	}
	path := g.CriticalPath()
	if len(path) < 2 {
		return ""
	}
	ids := make([]string, len(path))
	for i, id := range path {
		ids[i] = string(id)
	}
	text := "critical path: " + strings.Join(ids, ", ")
	if !slices.ContainsFunc(p.Tasks, func(t nexus.Task) bool { return t.Minutes == 0 && slices.Contains(path, t.ID) }) {
		text += fmt.Sprintf(", %d min", g.CriticalPathLength(func(i int) int { return taskgraph.TaskMinutes(p.Tasks[i]) }))
	}
	return s.Wrap(s.Dim(text), "") + "\n"
}
