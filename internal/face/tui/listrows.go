package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// MainScreenView is one of the views that number keys open.
type MainScreenView int

// The views.
const (
	InboxView MainScreenView = iota
	TasksView
	GraphView
	TimelineView
	AgentsView
	CostView
	LogView
	MemoryView
)

// viewNames returns the names of the views, which are also their commands.
func viewNames() []string {
	return []string{"inbox", "tasks", "graph", "timeline", "agents", "cost", "log", "memory"}
}

// isList reports whether a view is a list with details beside it.
func (v MainScreenView) isList() bool {
	return v == InboxView || v == TasksView || v == GraphView || v == AgentsView
}

// listRow is a line of a list.
type listRow struct {
	key  string // identifies the row; empty: a heading
	task nexus.TaskID
	item *projection.InboxItem
	text string
	draw func() string // of a long list: returns the text when the row is visible
}

// rowText returns the text of a row.
func (r listRow) rowText() string {
	if r.draw != nil {
		return r.draw()
	}
	return r.text
}

// listRowCache holds the rows of a list, and the values that they were built from.
type listRowCache struct {
	version int
	view    MainScreenView
	filter  string
	width   int
	rows    []listRow
}

// currentRows returns the lines of the current view's list. They are cached until their content changes.
func (m *Model) currentRows() []listRow {
	now := listRowCache{version: m.version, view: m.view, filter: m.filter, width: m.width}
	if l := &m.listed; l.version != now.version || l.view != now.view || l.filter != now.filter || l.width != now.width {
		now.rows = m.buildRows()
		m.listed = now
	}
	return m.listed.rows
}

// buildRows builds the lines of the current view's list.
func (m *Model) buildRows() []listRow {
	var all []listRow
	switch m.view {
	case InboxView:
		all = m.inboxRows()
	case TasksView:
		all = m.taskRows()
	case GraphView:
		all = m.graphRows()
	case AgentsView:
		all = m.agentRows()
	case TimelineView:
		all = m.timelineRows()
	default:
		return nil
	}
	if m.filter == "" {
		return all
	}
	var some []listRow
	for _, r := range all {
		if r.key != "" && strings.Contains(strings.ToLower(stripANSI(r.rowText())), strings.ToLower(m.filter)) {
			some = append(some, r)
		}
	}
	return some
}

func (m *Model) inboxRows() []listRow {
	var all []listRow
	for i := range m.snap.Inbox {
		item := &m.snap.Inbox[i]
		glyph := m.b.Warn(m.b.Bold("!"))
		if item.Notice {
			glyph = m.b.Dim("i")
		}
		about := string(item.Kind)
		if item.Task != "" {
			about += " " + view.EscapeForTerminal(string(item.Task))
		}
		text := fmt.Sprintf("%s %s  %s", glyph, m.b.Bold(about), view.EscapeForTerminal(item.Title))
		all = append(all, listRow{key: "item " + item.ID, task: item.Task, item: item, text: text})
	}
	return all
}

func (m *Model) taskRows() []listRow {
	var all []listRow
	for i, r := range m.inboxRows() {
		if item := m.snap.Inbox[i]; item.Task == "" && !item.Notice {
			if len(all) == 0 {
				all = append(all, listRow{text: m.b.Warn(m.b.Bold("the run needs you"))})
			}
			all = append(all, r)
		}
	}
	for _, l := range m.snap.Lanes {
		if len(l.Cards) == 0 {
			continue
		}
		_, words := m.b.laneSign(l.Lane)
		all = append(all, listRow{text: m.b.Bold(fmt.Sprintf("%s (%d)", words, len(l.Cards)))})
		for i := range l.Cards {
			c := &l.Cards[i]
			all = append(all, listRow{key: "task " + string(c.ID), task: c.ID, draw: func() string { return m.taskCardLine(*c) }})
		}
	}
	return all
}

// taskCardLine draws a task on a line: its title, progress and activity.
func (m *Model) taskCardLine(c projection.TaskCard) string {
	glyph, _ := m.b.laneSign(c.Lane)
	text := glyph + " " + m.b.Bold(view.EscapeForTerminal(string(c.ID))) + " " + view.EscapeForTerminal(c.Title)
	var figures []string
	if !c.Retry.IsZero() && c.Retry.After(m.snap.Now) {
		figures = append(figures, m.b.Warn(m.b.symbolOrASCII("\u21bb ", "~ ")+"again in "+view.FormatSeconds(c.Retry.Sub(m.snap.Now).Seconds())))
	}
	if c.Criteria > 0 {
		figures = append(figures, fmt.Sprintf("%d/%d", c.Met, c.Criteria))
	}
	if c.Step != "" {
		figures = append(figures, view.EscapeForTerminal(c.Step))
	}
	if c.Seconds > 0 {
		figures = append(figures, view.FormatSeconds(c.Seconds))
	}
	if c.Silent >= 120 {
		figures = append(figures, m.b.Warn("silent for "+view.FormatSeconds(c.Silent)))
	}
	if len(figures) == 0 {
		return text
	}
	return text + "  " + m.b.Dim(strings.Join(figures, m.b.Separator()))
}

func (m *Model) graphRows() []listRow {
	var all []listRow
	layer := -1
	for _, n := range m.snap.Graph.Nodes {
		if n.Layer != layer {
			layer = n.Layer
			all = append(all, listRow{text: m.b.Dim(fmt.Sprintf("layer %d", layer+1))})
		}
		all = append(all, listRow{key: "task " + string(n.ID), task: n.ID, draw: func() string { return m.graphNodeLine(n) }})
	}
	return all
}

// graphNodeLine draws a task of the graph on a line.
func (m *Model) graphNodeLine(n projection.PlanGraphNode) string {
	glyph, _ := m.b.laneSign(n.Lane)
	id := view.EscapeForTerminal(string(n.ID))
	path := m.b.symbolOrASCII("\u2500", "-")
	if n.Critical {
		id, path = m.b.Bold(id), m.b.symbolOrASCII("\u2501", "=")
	}
	text := strings.Repeat("  ", min(n.Layer, 8)) + path + glyph + " " + id + " " + view.EscapeForTerminal(n.Title)
	if n.Seconds > 0 {
		about := "~" // estimated duration
		if n.Lane == projection.LaneDone {
			about = ""
		}
		text += m.b.Dim("  " + about + view.FormatSeconds(n.Seconds))
	}
	return text + m.graphEdgeText(n.ID)
}

// graphLegend explains the graph's signs.
func (m *Model) graphLegend() string {
	return m.b.Dim(m.b.symbolOrASCII("\u2501", "=") + " longest path  " + m.b.symbolOrASCII("\u2500", "-") + " others  ~ estimate")
}

// graphEdgeText lists the dependencies and conflicts of a task of the graph.
func (m *Model) graphEdgeText(id nexus.TaskID) string {
	var needs, hits []string
	for _, e := range m.snap.Graph.Edges {
		switch {
		case e.Kind == "collides" && e.From == id:
			hits = append(hits, view.EscapeForTerminal(string(e.To)))
		case e.Kind == "collides" && e.To == id:
			hits = append(hits, view.EscapeForTerminal(string(e.From)))
		case e.To == id:
			needs = append(needs, view.EscapeForTerminal(string(e.From)))
		}
	}
	text := ""
	if len(needs) > 0 {
		text += m.b.Dim("  " + m.b.symbolOrASCII("\u2190 ", "<- ") + strings.Join(needs, " "))
	}
	if len(hits) > 0 {
		text += m.b.Warn("  same files as " + strings.Join(hits, " "))
	}
	return text
}

func (m *Model) agentRows() []listRow {
	var all []listRow
	for _, s := range m.snap.Sessions {
		lane := projection.LaneDone
		if s.Ended.IsZero() {
			lane = projection.LaneRunning
		}
		glyph, _ := m.b.laneSign(lane)
		text := glyph + " " + m.b.Bold(view.EscapeForTerminal(string(s.ID))) + " " + view.EscapeForTerminal(s.Model)
		figures := []string{view.CountWithNoun(s.Turns, "turn"), s.Spent.String()}
		if step := cmp.Or(s.Doing, s.Outcome); step != "" {
			figures = append(figures, view.EscapeForTerminal(step))
		}
		if s.Silent >= 120 {
			figures = append(figures, m.b.Warn("silent for "+view.FormatSeconds(s.Silent)))
		}
		text += "  " + m.b.Dim(strings.Join(figures, m.b.Separator()))
		all = append(all, listRow{key: "session " + string(s.ID), task: s.Task, text: text})
	}
	return all
}

// timelineRows draws the timeline: one attempt per line, one sign per stage.
func (m *Model) timelineRows() []listRow {
	t := m.snap.Timeline
	total := t.To.Sub(t.From).Seconds()
	width := max(m.width-26, 10)
	var all []listRow
	for _, r := range t.Rows {
		signs := []rune(strings.Repeat(" ", width))
		for _, s := range r.Spans {
			to := s.To
			if to.IsZero() {
				to = t.To
			}
			if total <= 0 {
				break
			}
			from := int(s.From.Sub(t.From).Seconds() / total * float64(width))
			until := int(to.Sub(t.From).Seconds() / total * float64(width))
			for x := max(from, 0); x <= min(until, width-1); x++ {
				signs[x] = m.stageSign(s.Stage)
			}
		}
		label := m.b.padLine(view.EscapeForTerminal(r.Label), 20)
		all = append(all, listRow{key: "row " + string(r.Attempt) + r.Label, task: r.Task, text: label + " " + string(signs)})
	}
	return all
}

// stageSign returns the sign of a stage on the timeline.
func (m *Model) stageSign(name string) rune {
	signs := map[string][2]rune{
		"plan": {'p', 'p'}, "work": {'\u2588', '#'}, "gate": {'\u2592', 'g'}, "review": {'\u2593', 'v'}, "land": {'m', 'm'},
		"person": {'!', '!'}, "quota": {'\u2591', ':'}, "setup": {'\u00b7', '.'}, "idle": {' ', ' '},
	}
	sign, ok := signs[name]
	switch {
	case !ok:
		return '?'
	case m.b.ASCII:
		return sign[1]
	}
	return sign[0]
}

// timelineLegend explains the timeline's signs.
func (m *Model) timelineLegend() string {
	var all []string
	for _, name := range []string{"plan", "work", "gate", "review", "land", "person", "quota", "setup"} {
		all = append(all, string(m.stageSign(name))+" "+name)
	}
	return m.b.Dim(strings.Join(all, "  "))
}

// emptyListText explains what the empty view would show, and how to get it.
func (m *Model) emptyListText() string {
	running := m.snap.Run.Counts.Active
	switch {
	case m.filter != "":
		return "Nothing matches /" + view.EscapeForTerminal(m.filter) + "; esc clears it."
	case m.view == InboxView && running > 0:
		return fmt.Sprintf("Nothing needs you. %s in progress.", view.CountWithNoun(running, "task"))
	case m.view == InboxView:
		return "Nothing needs you."
	case m.view == AgentsView:
		return "No agent has worked yet."
	case m.view == TimelineView:
		return "Nothing was tried yet."
	default:
		return "No tasks yet: the plan is being made."
	}
}
