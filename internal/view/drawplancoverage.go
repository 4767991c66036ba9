package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// DrawPlanCoverage draws the coverage check of a plan: the statements that are not fully covered, and
// the rest in one line. It is empty if there was no check.
func DrawPlanCoverage(s OutputStyle, c *nexus.PlanCoverage) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	line := coverageLine(c)
	switch c.State {
	case nexus.CoverFull:
		line = s.Good(line)
	default:
		line = s.Warn(line)
	}
	b.WriteString(line + "\n")
	if none := c.BackgroundStatements(); len(none) > 0 {
		var all []string
		for _, one := range none {
			all = append(all, fmt.Sprintf("%s %s", one.ID, sanitize.TruncateText(EscapeForTerminal(one.Text), 60)))
		}
		b.WriteString(s.Wrap(s.Dim("background: "+strings.Join(all, "; ")), "  ") + "\n")
	}
	for _, g := range c.UncoveredStatements() {
		b.WriteString(s.Wrap(fmt.Sprintf("%s  %s", g.ID, EscapeForTerminal(g.Text)), "  ") + "\n")
		b.WriteString(s.Wrap("not covered: "+EscapeForTerminal(g.Missing), "      ") + "\n")
	}
	return b.String()
}

// statementsAskText begins a sentence about the number of statements that ask for something.
func statementsAskText(all int) string {
	if all == 1 {
		return "1 statement asks"
	}
	return fmt.Sprintf("%d statements ask", all)
}

// describeCoverageCheck describes the gaps that a coverage check found.
func describeCoverageCheck(c nexus.PlanCoverage) string {
	text := "a second look: " + coverageLine(&c)
	for _, g := range c.UncoveredStatements() {
		text += fmt.Sprintf("; %s %q: %s", g.ID, sanitize.TruncateText(EscapeForTerminal(g.Text), 60), EscapeForTerminal(g.Missing))
	}
	return text
}

// coverageLine describes in one line whether a plan covers its goal.
func coverageLine(c *nexus.PlanCoverage) string {
	all, none := len(c.Statements), len(c.BackgroundStatements())
	asks := all - none
	text := ""
	switch gaps := len(c.UncoveredStatements()); {
	case c.State == nexus.CoverFull && none > 0:
		text = fmt.Sprintf("the plan covers the goal: %d of %s for something, %d covered", asks, statementsAskText(all), asks)
	case c.State == nexus.CoverFull:
		text = "the plan covers the goal: " + CountWithNoun(asks, "statement") + " checked"
	case gaps > 0:
		text = fmt.Sprintf("the plan does not cover %d of %s of the goal", gaps, CountWithNoun(asks, "statement"))
	default:
		text = "not checked whether the plan covers the goal"
	}
	switch {
	case none == 1:
		text += "; 1 is background"
	case none > 1:
		text += fmt.Sprintf("; %d are background", none)
	}
	if c.Why != "" {
		text += ": " + EscapeForTerminal(c.Why)
	}
	return text
}
