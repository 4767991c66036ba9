package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// DrawCover draws what a second look at a plan found: what is not covered in full, the
// rest in a line. It is empty where nobody looked.
func DrawCover(s Style, c *nexus.PlanCover) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	line := coverLine(c)
	switch c.State {
	case nexus.CoverFull:
		line = s.Good(line)
	default:
		line = s.Warn(line)
	}
	b.WriteString(line + "\n")
	for _, g := range c.Gaps() {
		b.WriteString(s.Wrap(fmt.Sprintf("%s  %s", g.ID, Clean(g.Text)), "  ") + "\n")
		b.WriteString(s.Wrap("not covered: "+Clean(g.Missing), "      ") + "\n")
	}
	return b.String()
}

// describeLook says what a second look found missing, with what it is.
func describeLook(c nexus.PlanCover) string {
	text := "a second look: " + coverLine(&c)
	for _, g := range c.Gaps() {
		text += fmt.Sprintf("; %s %q: %s", g.ID, legible.Cut(Clean(g.Text), 60), Clean(g.Missing))
	}
	return text
}

// coverLine says in a line whether a plan covers its goal.
func coverLine(c *nexus.PlanCover) string {
	asks := 0
	for _, one := range c.Statements {
		if one.Asks {
			asks++
		}
	}
	text := ""
	switch gaps := len(c.Gaps()); {
	case c.State == nexus.CoverFull:
		text = "the plan covers the goal: " + Count(asks, "statement") + " checked"
	case gaps > 0:
		text = fmt.Sprintf("the plan does not cover %d of %s of the goal", gaps, Count(asks, "statement"))
	default:
		text = "not checked whether the plan covers the goal"
	}
	if c.Why != "" {
		text += ": " + Clean(c.Why)
	}
	return text
}
