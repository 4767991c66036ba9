package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// DetailTab is one of the tabs of a task's details.
type DetailTab int

// The tabs.
const (
	OverviewTab DetailTab = iota
	LogTab
	DiffTab
	ChecksTab
	PlanTab
	CostTab
)

func tabNames() []string { return []string{"Overview", "Log", "Diff", "Checks", "Plan", "Cost"} }

// detailLines returns the lines beside the list.
func (m *Model) detailLines(width, height int) []string {
	t := m.snap.Task
	item := m.selectedItem()
	switch {
	case item != nil && m.tab == OverviewTab:
		return m.b.wrapLines(m.inboxItemLines(item), width, true)
	case t == nil:
		return m.runTab(width, height)
	}
	switch m.tab {
	case LogTab:
		return m.transcriptLines(width)
	case DiffTab:
		return m.diffLines(width, height)
	case ChecksTab:
		return append(m.gateMatrix(width, height), m.b.wrapLines(m.checkLines(t), width, true)...)
	case PlanTab:
		return m.b.wrapLines(m.planLines(t), width, true)
	case CostTab:
		return m.b.wrapLines(m.taskCost(t), width, m.wrap)
	default:
		return m.b.wrapLines(m.taskLines(t), width, true)
	}
}

// runTab draws a tab of the run when no task is selected.
func (m *Model) runTab(width, height int) []string {
	switch m.tab {
	case LogTab:
		return m.logLines(width)
	case DiffTab:
		return m.b.wrapLines([]string{"This is about no task: select one to see what it changed."}, width, true)
	case ChecksTab:
		if lines := m.gateMatrix(width, height); len(lines) > 0 {
			return lines
		}
		return []string{"No gate has judged anything yet."}
	case PlanTab:
		d, why := m.documentOrReason("plan")
		if d == nil {
			return m.b.wrapLines([]string{why}, width, true)
		}
		return m.b.formatOutput(d.text, width, true)
	case CostTab:
		return m.costLines()
	default:
		return m.runLines(width)
	}
}

// questionLines draws the open question above another tab, because the tab's content helps to answer
// it. A part that does not fit is in the overview.
func (m *Model) questionLines(width, height int) []string {
	i := m.selectedItem()
	if t := m.snap.Task; i == nil && t != nil {
		if n := slices.IndexFunc(t.Inbox, func(i projection.InboxItem) bool { return !i.Notice }); n >= 0 {
			i = &t.Inbox[n]
		}
	}
	if i == nil || m.tab == OverviewTab {
		return nil
	}
	lines := append([]string{m.inboxItemTitle(i)}, m.b.sanitizeLines(i.Text)...)
	return append(m.truncateLines(m.b.wrapLines(lines, width, true), max(height-leastTab, 1), 0), "")
}

// leastTab is the minimum height of a tab below a question.
const leastTab = 6

// inboxItemTitle names an item of the inbox.
func (m *Model) inboxItemTitle(i *projection.InboxItem) string {
	return m.b.Warn(m.b.Bold(string(i.Kind) + " " + view.EscapeForTerminal(i.ID)))
}

// runLines draws the facts about the run when nothing is selected.
func (m *Model) runLines(width int) []string {
	r := m.snap.Run
	lines := []string{m.b.Bold("run " + view.EscapeForTerminal(string(r.ID)))}
	lines = append(lines, m.b.sanitizeLines(r.Goal)...)
	lines = append(lines, "", m.runState())
	if r.Why != "" {
		lines = append(lines, m.b.sanitizeLines(r.Why)...)
	}
	for _, text := range r.Red {
		lines = append(lines, m.b.sanitizeLines("look at: "+text)...)
	}
	lines = append(lines, m.b.sanitizeLines(m.runAdvice())...)
	return m.b.wrapLines(lines, width, true)
}

// runAdvice describes the possible actions for a run that is not in progress.
func (m *Model) runAdvice() string {
	switch {
	case m.snap.Interrupted:
		return "The run is not in progress. Nothing is lost: " + m.keyOf("pause-run") + " continues it in the background."
	case m.snap.Run.Status.HasEnded():
		return "It is over. " + m.keyOf("land") + " lands it on your branch, if it is not there yet."
	}
	return ""
}

func (m *Model) inboxItemLines(i *projection.InboxItem) []string {
	lines := append([]string{m.inboxItemTitle(i)}, m.b.sanitizeLines(i.Text)...)
	lines = append(lines, "")
	if i.Blocks {
		lines = append(lines, "Work waits for this.")
	}
	if i.Fallback != "" {
		lines = append(lines, "Without an answer: "+view.EscapeForTerminal(i.Fallback))
	}
	if !i.Deadline.IsZero() {
		lines = append(lines, "Until: "+i.Deadline.Local().Format("15:04:05"))
	}
	lines = append(lines, m.actionLines(i.Actions)...)
	if t := m.snap.Task; t != nil && i.Task == t.ID {
		lines = append(lines, "", m.b.Dim("About:"), m.taskCardLine(t.TaskCard))
	}
	return lines
}

// actionLines lists the available actions with their keys.
func (m *Model) actionLines(all []projection.PersonAction) []string {
	var lines []string
	n := 0
	for _, a := range all {
		key := m.keys.of[bindingName(a.Name)]
		if a.Name == "answer" && a.Input == projection.InputNone {
			n++
			key = fmt.Sprintf("alt+%d", n)
		}
		if a.Refused == "" {
			lines = append(lines, "  "+m.b.Bold(m.b.padLine(cmp.Or(key, "-"), 6))+" "+view.EscapeForTerminal(a.Label))
		}
	}
	return lines
}

func (m *Model) taskLines(t *projection.TaskDetailView) []string {
	glyph, words := m.b.laneSign(t.Lane)
	lines := []string{m.b.Bold(view.EscapeForTerminal(string(t.ID) + " " + t.Title)), glyph + " " + words + stepWords(t)}
	if t.TaskView.Why != "" {
		lines = append(lines, m.b.sanitizeLines(t.TaskView.Why)...)
	}
	figures := []string{view.CountWithNoun(t.Attempts, "attempt"), view.CountWithNoun(t.Rounds, "round"), t.Spent.String(), view.FormatSeconds(t.Seconds)}
	if t.Model != "" {
		figures = append(figures, view.EscapeForTerminal(t.Model))
	}
	if t.Added+t.Deleted > 0 {
		figures = append(figures, fmt.Sprintf("+%d -%d", t.Added, t.Deleted))
	}
	lines = append(lines, strings.Join(figures, m.b.Separator()))
	if t.Worktree != "" {
		lines = append(lines, m.b.Dim("path    ")+view.EscapeForTerminal(t.Worktree))
	}
	if t.Branch != "" {
		lines = append(lines, m.b.Dim("branch  ")+view.EscapeForTerminal(t.Branch))
	}
	lines = append(lines, "", m.b.Bold(fmt.Sprintf("Criteria (%d of %d shown)", t.Met, t.Criteria)))
	for _, c := range t.Checks {
		lines = append(lines, m.criterionLine(c))
	}
	if len(t.Inbox) > 0 {
		lines = append(lines, "", m.b.Warn(m.b.Bold("It needs you")))
		for _, i := range t.Inbox {
			lines = append(lines, "! "+view.EscapeForTerminal(i.Title))
			lines = append(lines, m.actionLines(i.Actions)...)
		}
	}
	for _, g := range t.Guidance {
		lines = append(lines, m.b.Dim("told: ")+view.EscapeForTerminal(g))
	}
	if can := m.actionLines(t.Actions); len(can) > 0 {
		lines = append(append(lines, "", m.b.Bold("Keys")), can...)
	}
	return lines
}

func stepWords(t *projection.TaskDetailView) string {
	if t.Step == "" {
		return ""
	}
	return ": " + view.EscapeForTerminal(t.Step)
}

func (m *Model) criterionLine(c projection.CriterionView) string {
	sign := m.b.Dim(m.b.symbolOrASCII("\u25cb", "."))
	switch c.State {
	case "met":
		sign = m.b.Good(m.b.symbolOrASCII("\u2713", "+"))
	case "not-met":
		sign = m.b.Bad(m.b.symbolOrASCII("\u2717", "X"))
	case "unclear":
		sign = m.b.Warn("?")
	}
	text := fmt.Sprintf("%s %s", sign, view.EscapeForTerminal(c.Text))
	if c.Evidence != "" {
		text += m.b.Dim("  " + view.EscapeForTerminal(c.Evidence))
	}
	return text
}

// checkLines draws the results of gates, failures first.
func (m *Model) checkLines(t *projection.TaskDetailView) []string {
	var lines []string
	for i := len(t.Tries) - 1; i >= 0; i-- {
		a := t.Tries[i]
		lines = append(lines, m.b.Bold(view.EscapeForTerminal(string(a.ID)))+" "+m.b.Dim(view.EscapeForTerminal(fmt.Sprintf("%s %s %s", a.Tier, a.Strategy, a.Outcome))))
		for j := len(a.Rounds) - 1; j >= 0; j-- {
			r := a.Rounds[j]
			lines = append(lines, fmt.Sprintf("  round %d, %s", r.N, view.EscapeForTerminal(cmp.Or(r.Cause, string(r.Role)))))
			for _, g := range r.Gates {
				lines = append(lines, m.gateLines(g)...)
			}
			if r.Review != "" {
				lines = append(lines, "    review: "+view.EscapeForTerminal(r.Review))
			}
			for _, f := range r.Findings {
				lines = append(lines, "      "+findingLine(f))
			}
		}
	}
	if len(lines) == 0 {
		return []string{"No gate has run on it yet."}
	}
	return lines
}

func (m *Model) gateLines(g projection.GateView) []string {
	words := view.EscapeForTerminal(g.Name) + " " + view.EscapeForTerminal(string(g.State))
	lines := []string{"    " + m.gateSign(g.State) + " " + words + " " + m.b.Dim(view.FormatSeconds(g.Seconds))}
	if g.Why != "" && g.State != nexus.Pass {
		lines = append(lines, "      "+view.EscapeForTerminal(g.Why))
	}
	for _, f := range g.Findings {
		lines = append(lines, "      "+findingLine(f))
	}
	return lines
}

func findingLine(f nexus.Finding) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(f.Message), "\n") // the part that the location does not contain
	return strings.TrimSpace(view.EscapeForTerminal(view.FindingText(f)) + " " + view.EscapeForTerminal(rest))
}

func (m *Model) planLines(t *projection.TaskDetailView) []string {
	lines := []string{m.b.Bold(view.EscapeForTerminal(string(t.ID) + " " + t.Title))}
	lines = append(lines, m.b.sanitizeLines(t.Text)...)
	list := func(what string, ids []nexus.TaskID) {
		if len(ids) > 0 {
			lines = append(lines, m.b.Dim(what)+view.EscapeForTerminal(nexus.JoinWords(ids)))
		}
	}
	list("needs      ", t.Needs)
	list("needed by  ", t.Dependents)
	if len(t.Files) > 0 {
		lines = append(lines, m.b.Dim("files      ")+view.EscapeForTerminal(strings.Join(t.Files, ", ")))
	}
	for _, why := range t.Why {
		lines = append(lines, m.b.Dim("why        ")+view.EscapeForTerminal(why))
	}
	for _, c := range t.Checks {
		lines = append(lines, m.criterionLine(c))
		if c.Check != "" {
			lines = append(lines, m.b.Dim("    checked by: "+view.EscapeForTerminal(c.Check)))
		}
	}
	return lines
}

func (m *Model) taskCost(t *projection.TaskDetailView) []string {
	lines := []string{m.b.Bold(t.Spent.String()) + "  " + m.b.Dim(view.TokensText(m.b.OutputStyle, t.Usage))}
	for _, a := range t.Tries {
		for _, s := range a.Sessions {
			figures := []string{m.b.padLine(s.Spent.String(), 9), view.EscapeForTerminal(string(s.ID)), view.EscapeForTerminal(s.Model), view.CountWithNoun(s.Turns, "turn")}
			lines = append(lines, strings.Join(figures, "  "))
		}
	}
	return lines
}

// costLines draws the money of the run.
func (m *Model) costLines() []string {
	c := m.snap.Cost
	lines := []string{
		m.b.Bold(c.Spent.String() + " of " + c.Limit.String()),
		view.FormatPercent(c.Cached) + " of the input came from a cache",
	}
	if c.Projected > 0 {
		lines = append(lines, "about "+c.Projected.String()+" when it is done")
	}
	for _, p := range []struct {
		of     string
		shares []projection.RunCostPart
	}{{"Tasks", c.Tasks}, {"Roles", c.Roles}, {"Models", c.Models}, {"Stages", c.Stages}, {"Days", c.Days}} {
		if len(p.shares) > 0 {
			lines = append(lines, "", m.b.Bold(p.of))
		}
		for _, s := range p.shares {
			share := m.b.padLine(s.Spent.String(), 10) + m.shareBar(s.Spent, c.Spent)
			lines = append(lines, share+" "+view.EscapeForTerminal(s.Of)+m.b.Dim("  "+view.CountWithNoun(s.Calls, "call")))
		}
	}
	return lines
}

// shareBar draws a share as a bar of ten columns.
func (m *Model) shareBar(part, whole nexus.Money) string {
	n := 0
	if whole > 0 {
		n = min(max(int(part*10/whole), 0), 10)
	}
	return strings.Repeat(m.b.symbolOrASCII("\u2588", "#"), n) + strings.Repeat(m.b.symbolOrASCII("\u2591", "."), 10-n)
}
