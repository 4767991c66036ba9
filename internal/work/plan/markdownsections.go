package plan

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The beginnings of the parts of a plan in Markdown about the plan as a whole.
const (
	assumptionsTitle = "## Assumptions"
	risksTitle       = "## Risks"
)

// writeAssumptionsAndRisks writes the parts of a plan besides its tasks.
func writeAssumptionsAndRisks(b *bytes.Buffer, p nexus.Plan) {
	if len(p.Assumptions) > 0 {
		fmt.Fprintf(b, "\n%s\n\n", assumptionsTitle)
	}
	for _, text := range p.Assumptions {
		fmt.Fprintf(b, "- %s\n", text)
	}
	if len(p.Foreseen) > 0 {
		fmt.Fprintf(b, "\n%s\n\n", risksTitle)
	}
	for _, r := range p.Foreseen {
		fmt.Fprintf(b, "- %s\n", r.Text)
		if r.Task != "" {
			fmt.Fprintf(b, "  - task: %s\n", r.Task)
		}
		if r.Mitigation != "" {
			fmt.Fprintf(b, "  - mitigation: %s\n", r.Mitigation)
		}
	}
}

// beginPlanSection begins such a part, and reports whether the line is its title.
func (r *planMarkdownParser) beginPlanSection(text string) bool {
	var to planFilePart
	switch strings.TrimSpace(text) {
	case assumptionsTitle:
		to = assumed
	case risksTitle:
		to = foreseen
	default:
		return false
	}
	r.endTask()
	r.part = to
	return true
}

// parsePlanSectionLine parses a line of such a part.
func (r *planMarkdownParser) parsePlanSectionLine(text string) {
	item, begins := strings.CutPrefix(text, "- ")
	inner, below := strings.CutPrefix(text, "  ")
	item, inner = strings.TrimSpace(item), strings.TrimSpace(inner)
	assumptions, risks := r.plan.Assumptions, r.plan.Foreseen
	switch {
	case strings.TrimSpace(text) == "":
	case strings.HasPrefix(text, "#"):
		r.addLineError("%s starts neither a part of the plan nor a task; a task starts with a line such as \"## T1: Title\"", quoteShort(text))
		r.beginTask(strings.TrimSpace(strings.TrimLeft(text, "#"))) // the following lines belong to it
	case begins && item == "":
		r.addLineError("this is empty; write a text, or delete the line")
	case begins && r.part == assumed:
		r.plan.Assumptions = append(assumptions, item)
	case begins:
		r.plan.Foreseen = append(risks, nexus.PlanRisk{Text: item})
	case !below || r.part == assumed && len(assumptions) == 0 || r.part == foreseen && len(risks) == 0:
		r.addLineError("%s is among the %s, but each of them is a line that starts with \"- \", and what belongs to it is indented below it", quoteShort(text), r.part)
	case r.part == assumed:
		assumptions[len(assumptions)-1] += " " + inner
	default:
		r.parseRiskDetail(&risks[len(risks)-1], inner)
	}
}

// parseRiskDetail parses a line below a risk.
func (r *planMarkdownParser) parseRiskDetail(risk *nexus.PlanRisk, text string) {
	name, value, _ := strings.Cut(text, ":")
	switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
	case "- task":
		risk.Task = nexus.TaskID(value)
	case "- mitigation":
		risk.Mitigation = value
	default:
		risk.Text += " " + text
	}
}
