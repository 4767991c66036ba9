package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/view/traceability"
)

// DrawRoadmap draws the milestones with their progress.
func DrawRoadmap(s OutputStyle, all []traceability.MilestoneProgress) string {
	if len(all) == 0 {
		return s.Wrap("there are no milestones yet: write "+spec.RoadmapFile+"; docs/plan-and-approve.md shows one", "") + "\n"
	}
	rows := make([][]string, len(all))
	next := ""
	for i, p := range all {
		reached := ""
		if missing := len(p.Missing()); len(p.Parts) > 0 {
			reached = fmt.Sprintf("%d/%d", len(p.Parts)-missing, len(p.Parts))
		}
		if next == "" && p.State != traceability.MilestoneTagged {
			next = p.Name
		}
		rows[i] = []string{fmt.Sprint(p.Number), EscapeForTerminal(p.Name), drawMilestoneState(s, p.State), reached, EscapeForTerminal(p.Tag), EscapeForTerminal(p.Title)}
	}
	text := DrawTable(s, []string{"", "milestone", "state", "reached", "tag", "title"}, rows)
	if next != "" {
		text += s.Wrap("nexus spec --roadmap "+EscapeForTerminal(next)+" runs its checks and lists what is missing", "") + "\n"
	}
	return text
}

func drawMilestoneState(s OutputStyle, state traceability.MilestoneState) string {
	switch state {
	case traceability.MilestoneTagged:
		return s.Dim(string(state))
	case traceability.MilestoneReached:
		return s.Good(string(state))
	case traceability.MilestoneOpen, traceability.MilestoneUnchecked:
	}
	return s.Warn(string(state))
}

// DrawMilestone draws the parts of a milestone: what shows each, or why it is missing and the command
// to continue with.
func DrawMilestone(s OutputStyle, p traceability.MilestoneProgress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", s.Bold(fmt.Sprintf("%d. %s", p.Number, EscapeForTerminal(p.Name))), EscapeForTerminal(p.Title))
	if p.State == traceability.MilestoneTagged {
		fmt.Fprintf(&b, "reached, with the tag %s at %s\n", EscapeForTerminal(p.Tag), ShortHash(p.Commit))
		return b.String()
	}
	fmt.Fprintf(&b, "on %s at %s\n", EscapeForTerminal(p.Branch), ShortHash(p.Commit))
	rows := make([][]string, len(p.Parts))
	for i, one := range p.Parts {
		state, by := s.Good("reached"), one.By
		if one.Why != "" {
			state, by = s.Warn("missing"), one.Check
		}
		rows[i] = []string{EscapeForTerminal(one.Name), state, EscapeForTerminal(spec.SingleLine(one.Text)), EscapeForTerminal(by)}
	}
	b.WriteString(DrawTable(s, []string{"part", "state", "text", "shown by"}, rows))
	missing := p.Missing()
	if len(missing) == 0 {
		b.WriteString(s.Good("nothing is missing") + "\n")
		b.WriteString(s.Wrap("tag it with: nexus spec --roadmap "+EscapeForTerminal(p.Name)+" --tag", "") + "\n")
		return b.String()
	}
	b.WriteString(s.Warn(CountWithNoun(len(missing), "part")+" missing") + "\n")
	for _, one := range missing {
		b.WriteString(s.Wrap(EscapeForTerminal(one.Name+": "+one.Why), "  ") + "\n")
		b.WriteString("    " + EscapeForTerminal(one.Next) + "\n")
	}
	return b.String()
}
