// Package planview draws plans for people: as a table with their assumptions and risks, in full,
// as graphs, and as the text that a person is asked to agree to.
package planview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/estimatetext"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// Draw draws a plan: as a table in waves, as Markdown, or as a graph if form is mermaid or dot.
func Draw(s view.OutputStyle, p nexus.Plan, form string) string {
	switch form {
	case "markdown":
		return SafeFileText(s, string(plan.FormatMarkdown(p)))
	case "mermaid":
		return drawEdges(p, "graph TD\n", "  %s[\"%s: %s\"]\n", "  %s --> %s\n", "", "#quot;")
	case "dot":
		return drawEdges(p, "digraph plan {\n", "  %q [label=\"%s: %s\"];\n", "  %q -> %q;\n", "}\n", `\"`)
	}
	level := taskWaves(p)
	last := 0
	var rows [][]string
	for wave := 1; wave <= len(p.Tasks); wave++ {
		for _, t := range p.Tasks {
			if level[t.ID] != wave {
				continue
			}
			last = wave
			rows = append(rows, []string{
				strconv.Itoa(wave), string(t.ID), view.EscapeForTerminal(t.Title), dependencyText(t), formatMinutes(t.Minutes), strconv.Itoa(len(t.Criteria)),
				view.EscapeForTerminal(strings.Join(t.Files, " ")),
				string(t.Priority), view.EscapeForTerminal(t.Group),
			})
		}
	}
	head := []string{"wave", "task", "title", "needs", "time", "criteria", "files", "priority", "group"}
	if s.Plain {
		return view.DrawTable(s, head, rows)
	}
	if s.Width > 0 && s.Width < narrow { // titles matter more; --json has all
		head, rows = withoutColumns(head, rows, func(i int) bool { return i >= 5 })
	}
	head, rows = withoutColumns(head, rows, func(i int) bool {
		return !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" })
	})
	text := view.DrawTableShrinking(s, head, rows, slices.Index(head, "files"))
	text += s.Dim(view.CountWithNoun(len(p.Tasks), "task")+" in "+view.CountWithNoun(last, "wave")) + "\n" + drawDone(s, p) + drawCritical(s, p)
	if p.Estimate != nil {
		for line := range strings.SplitSeq(estimatetext.DescribeEstimate(*p.Estimate).String(), "\n") {
			indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
			text += s.Dim(s.WrapWords(strings.TrimLeft(line, " "), indent)) + "\n"
		}
	}
	return text + view.DrawPlanCoverage(s, p.Cover) + drawAssumed(s, p) + drawRisks(s, p) + view.DrawTriedChecks(s, accept.TriedChecks(p.Tasks))
}

// DrawOffer draws the plan that a person is asked to agree to.
func DrawOffer(s view.OutputStyle, p nexus.Plan) string { return drawGoal(s, p.Goal) + Draw(s, p, "") }

// NotesBelow returns the parts below the table of a plan on a terminal, separately, for output in
// which a program reads the table.
func NotesBelow(s view.OutputStyle, p nexus.Plan) []string {
	return []string{
		drawDone(s, p), drawCritical(s, p), estimatetext.DescribeEstimate(*p.Estimate).String(), view.DrawPlanCoverage(s, p.Cover), drawAssumed(s, p), drawRisks(s, p),
	}
}

// drawAssumed lists the assumptions of a plan.
func drawAssumed(s view.OutputStyle, p nexus.Plan) string {
	if len(p.Assumptions) == 0 {
		return ""
	}
	text := "the plan assumes:\n"
	for n, a := range p.Assumptions {
		text += s.Wrap(fmt.Sprintf("P-%d: %s", n+1, view.EscapeForTerminal(a)), "  ") + "\n"
	}
	return text
}

// drawRisks lists the risks of a plan: those that its planner named, and those that follow from
// its tasks.
func drawRisks(s view.OutputStyle, p nexus.Plan) string {
	all := projection.PlanApprovalFacts{Foreseen: p.Foreseen, Risks: planrisk.PlanRisks(p)}.RiskLines()
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(s.Warn(view.CountWithNoun(len(all), "risk")) + "\n")
	for _, line := range all {
		b.WriteString(s.Wrap(line, "  ") + "\n")
	}
	return b.String()
}

// SafeFileText makes a file's text safe for a terminal. Piped output is unchanged.
func SafeFileText(s view.OutputStyle, text string) string {
	if s.Plain {
		return text
	}
	return view.EscapeLinesForTerminal(text) + "\n"
}

// narrow is the width below which a plan is drawn without criteria and files.
const narrow = 80

// withoutColumns removes columns.
func withoutColumns(head []string, rows [][]string, out func(i int) bool) ([]string, [][]string) {
	keep := func(row []string) []string {
		var kept []string
		for i, cell := range row {
			if !out(i) {
				kept = append(kept, cell)
			}
		}
		return kept
	}
	kept := make([][]string, len(rows))
	for i, row := range rows {
		kept[i] = keep(row)
	}
	return keep(head), kept
}

func formatMinutes(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + " min"
}

// joinTies joins the tasks that one depends on, with each unusual reason.
func joinTies(t nexus.Task, ids []nexus.TaskID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		if words[i] = string(id); t.Ties[id] != "" {
			words[i] += " (" + string(t.Ties[id]) + ")"
		}
	}
	return strings.Join(words, " ")
}

// dependencyText joins the required tasks of a task, and its preferred ones with a question mark.
func dependencyText(t nexus.Task) string {
	words := make([]string, 0, len(t.Needs)+len(t.Wants))
	for _, id := range t.Needs {
		words = append(words, string(id))
	}
	for _, id := range t.Wants {
		words = append(words, string(id)+"?")
	}
	return strings.Join(words, " ")
}

// taskWaves returns the wave of each task: the first wave needs nothing, each later task needs one
// from the previous wave. A plan has no cycles.
func taskWaves(p nexus.Plan) map[nexus.TaskID]int {
	level := map[nexus.TaskID]int{}
	for range p.Tasks {
		for _, t := range p.Tasks {
			wave := 1
			for _, id := range t.Prerequisites() {
				wave = max(wave, level[id]+1)
			}
			level[t.ID] = wave
		}
	}
	return level
}

func drawEdges(p nexus.Plan, head, node, edge, foot, quote string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, t := range p.Tasks {
		fmt.Fprintf(&b, node, t.ID, t.ID, strings.ReplaceAll(view.EscapeForTerminal(t.Title), `"`, quote))
	}
	for _, t := range p.Tasks {
		for _, id := range t.Prerequisites() {
			fmt.Fprintf(&b, edge, id, t.ID)
		}
	}
	return b.String() + foot
}
