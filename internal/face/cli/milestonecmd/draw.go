package milestonecmd

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/roadmap"
)

// drawAudit draws an audit: the evidence of each part of the milestone, and the gaps.
func drawAudit(s view.Style, a roadmap.MilestoneAudit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", s.Bold(numberedName(a.Milestone)), view.Clean(a.Title))
	if c := a.Closed; c != nil {
		fmt.Fprintf(&b, "closed on %s with the tag %s at %s\n", c.Date, view.Clean(c.Tag), view.ShortHash(c.Commit))
	} else {
		fmt.Fprintf(&b, "on %s at %s\n", view.Clean(a.Branch), view.ShortHash(a.Commit))
	}
	b.WriteString(drawParts(s, a))
	if len(a.Gaps) == 0 {
		b.WriteString(s.Good("no gaps") + "\n")
		if a.Closed == nil {
			b.WriteString(s.Wrap("close it with: nexus milestone close "+a.Name+tagFlagHint(a.Milestone), "") + "\n")
		}
		return b.String()
	}
	b.WriteString(s.Warn(view.Count(len(a.Gaps), "gap")) + "\n")
	for _, g := range a.Gaps {
		b.WriteString(s.Wrap(view.Clean(g.What+": "+g.Why), "  ") + "\n")
		b.WriteString("    " + view.Clean(g.Do) + "\n")
	}
	return b.String()
}

func tagFlagHint(m roadmap.Milestone) string {
	if m.Tag == "" {
		return " --tag TAG"
	}
	return ""
}

func drawParts(s view.Style, a roadmap.MilestoneAudit) string {
	var rows [][]string
	for _, t := range a.Traces {
		rows = append(rows, []string{view.Clean(t.Spec), drawShare(s, t.Verified, t.Of, "verified"), view.Clean(t.Title), string(t.Run)})
	}
	for i, g := range a.Aims {
		state := s.Good("verified")
		if g.Why != "" {
			state = s.Warn(string(g.Stage))
		}
		rows = append(rows, []string{fmt.Sprintf("goal %d", i+1), state, view.Clean(g.Text), string(g.Run)})
	}
	for _, c := range a.Shows {
		state := s.Warn(string(c.State))
		switch c.State {
		case accept.Met:
			state = s.Good("shown")
		case accept.Unmet:
			state = s.Bad("unmet")
		case accept.Unknown:
		}
		by := c.By
		if c.Check != "" {
			by = c.Check
		}
		rows = append(rows, []string{c.ID, state, view.Clean(spec.SingleLine(c.Text)), view.Clean(by)})
	}
	return view.DrawTable(s, []string{"part", "state", "text", "shown by"}, rows)
}

// drawShare draws a part of a total.
func drawShare(s view.Style, n, of int, what string) string {
	text := strings.TrimSpace(fmt.Sprintf("%d/%d %s", n, of, what))
	if n < of {
		return s.Warn(text)
	}
	return s.Good(text)
}
