package plan

import (
	"bytes"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonposition"
)

// addProblemLines adds to each problem of a task the line of its cause in a plan file. A file of
// one line needs none.
func addProblemLines(problems []PlanProblem, data []byte, tasks []nexus.Task) {
	if len(problems) == 0 || !bytes.Contains(bytes.TrimSpace(data), []byte("\n")) {
		return
	}
	root, _ := jsonposition.ParseJSON(string(data))
	written := root.Get("tasks")
	if written == nil || len(written.Items) != len(tasks) {
		return
	}
	for i, p := range problems {
		if p.Task == 0 {
			continue
		}
		task := written.Items[p.Task-1]
		line := task.Line
		if field := task.Get(p.Field.Name); field != nil {
			line = field.Line
			// none was removed
			if n := p.Field.At; n > 0 && len(field.Items) == len(tasks[p.Task-1].Criteria) {
				line = field.Items[min(n, len(field.Items))-1].Line
			}
		}
		problems[i].Text = fmt.Sprintf("line %d: %s", line, p.Text)
	}
}
