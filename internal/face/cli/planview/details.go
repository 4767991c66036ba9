package planview

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// maxGoalLines limits the lines of a goal above the table of its plan.
const maxGoalLines = 12

// drawGoal draws a goal, because its text reaches every agent and excuses the deletions that it
// asks for. If it is too long, it adds how much is cut. Of a spec it draws the parts that decide
// whether it is met.
func drawGoal(s view.OutputStyle, goal string) string {
	if of, ok := spec.ReadIfValid(goal); ok {
		return drawSpec(s, of)
	}
	lines := goalLines(s, goal)
	if more := len(lines) - maxGoalLines; more > 1 {
		lines = append(lines[:maxGoalLines], "  ("+view.CountWithNoun(more, "more line")+" of the goal: d shows all)")
	}
	return s.Bold("goal") + "\n" + strings.Join(lines, "\n") + "\n\n"
}

// drawSpec draws the title, the criteria and the requirements of a spec, in full. The facts about
// each requirement, and the rest, are in the details.
func drawSpec(s view.OutputStyle, of spec.Spec) string {
	var b strings.Builder
	b.WriteString(s.Bold("goal") + "\n" + wrapText(s, of.Title, "  ") + "\n")
	if len(of.Criteria) > 0 {
		b.WriteString("  it is met when:\n")
	}
	for _, c := range of.Criteria {
		head := c.ID
		if len(c.Of) > 0 {
			head += " (" + strings.Join(c.Of, ", ") + ")"
		}
		b.WriteString(wrapText(s, head+": "+c.Text, "    ") + "\n")
	}
	b.WriteString("  it asks for:\n")
	for _, r := range of.FirstVersionRequirements() {
		head := r.ID
		if r.Priority != "" {
			head += " (" + string(r.Priority) + ")"
		}
		b.WriteString(wrapText(s, head+": "+r.Text, "    ") + "\n")
	}
	for _, list := range []struct {
		name  string
		items []string
	}{{"it assumes:", assumptionsOf(of)}, {"it does not ask for:", of.OutOfScope}} {
		if len(list.items) > 0 {
			b.WriteString("  " + list.name + "\n")
		}
		for _, text := range list.items {
			b.WriteString(wrapText(s, text, "    ") + "\n")
		}
	}
	return b.String() + "  (d shows all of the goal)\n\n"
}

func assumptionsOf(of spec.Spec) (all []string) {
	for _, a := range of.Assumptions {
		text := a.ID + ": " + a.Text
		if a.Locked {
			text += " (agreed)"
		}
		all = append(all, text)
	}
	return all
}

// wrapText wraps a text as [goalLines] does.
func wrapText(s view.OutputStyle, text, indent string) string {
	s.Width = max(cmp.Or(s.Width, 80), 40)
	return s.Wrap(view.EscapeForTerminal(text), indent)
}

// goalLines returns a goal as indented, wrapped lines without empty ones; 80 columns if the width
// is unknown.
func goalLines(s view.OutputStyle, goal string) []string {
	s.Width = max(cmp.Or(s.Width, 80), 40)
	var lines []string
	for line := range strings.Lines(view.EscapeLinesForTerminal(goal)) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.Split(wrapIndented(s, line), "\n")...)
		}
	}
	return lines
}

// wrapIndented wraps a line with the indentation that it begins with, up to eight columns, so that
// code in a text stays recognisable.
func wrapIndented(s view.OutputStyle, line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	return s.Wrap(view.EscapeForTerminal(line), "  "+indent[:min(len(indent), 8)])
}

// DrawDetails draws a goal and each task of its plan in full: the agent's instructions, the criteria,
// and their checks.
func DrawDetails(s view.OutputStyle, goal string, p nexus.Plan) string {
	var b strings.Builder
	b.WriteString("\n" + s.Bold("goal") + "\n" + strings.Join(goalLines(s, goal), "\n") + "\n")
	for _, t := range p.Tasks {
		b.WriteString("\n" + strings.TrimPrefix(s.Wrap(s.Bold(string(t.ID)+"  "+view.EscapeForTerminal(t.Title)), "  "), "  ") + "\n")
		if figures := aboutTask(t); len(figures) > 0 {
			b.WriteString(s.Wrap(s.Dim(s.JoinFigures(figures...)), "  ") + "\n")
		}
		for line := range strings.SplitSeq(view.EscapeLinesForTerminal(strings.TrimSpace(t.Brief)), "\n") {
			if strings.TrimSpace(line) != "" {
				b.WriteString(wrapIndented(s, line) + "\n")
			}
		}
		for _, field := range []struct{ name, value string }{
			{"group", t.Group},
			{"package", t.Package},
			{"tags", strings.Join(t.Tags, " ")},
			{"files", strings.Join(t.Files, " ")},
			{"left as they are", strings.Join(t.Keep, " ")},
		} {
			if field.value != "" {
				b.WriteString(s.Wrap(field.name+": "+view.EscapeForTerminal(field.value), "  ") + "\n")
			}
		}
		if len(t.Criteria) > 0 {
			b.WriteString("  done when:\n")
		}
		for i, c := range t.Criteria {
			check := unchecked
			if c.Check != "" {
				check = "check: " + c.Check
			}
			b.WriteString(s.Wrap(fmt.Sprintf("%d. %s", i+1, view.EscapeForTerminal(c.Text)), "    ") + "\n")
			b.WriteString(s.Wrap(s.Dim(view.EscapeForTerminal(check)), "       ") + "\n")
		}
		if t.Strategy == nexus.NoTest && t.Reason != "" {
			b.WriteString(s.Wrap("no test: "+view.EscapeForTerminal(t.Reason), "  ") + "\n")
		}
	}
	return b.String() + "\n"
}

// aboutTask returns the settings of a task besides its texts.
func aboutTask(t nexus.Task) []string {
	var all []string
	add := func(word, value string) {
		if value != "" {
			all = append(all, word+view.EscapeForTerminal(value))
		}
	}
	add("priority ", string(t.Priority))
	add("needs ", joinTies(t, t.Needs))
	add("wants ", joinTies(t, t.Wants))
	add("", formatMinutes(t.Minutes))
	add("tier ", string(t.Tier))
	add("strategy ", string(t.Strategy))
	add("kind ", string(t.Kind))
	add("model ", t.Model)
	add("complexity ", string(t.Complexity))
	if t.Depth > 0 {
		add("depth ", strconv.Itoa(t.Depth))
	}
	return all
}
