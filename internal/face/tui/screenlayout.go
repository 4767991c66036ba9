package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// The minimum sizes for more than counters, for two panes, and for full names of tabs.
const (
	leastWidth, leastHeight = 60, 15
	twoPanes                = 80
	wide                    = 120
)

// View implements [tea.Model].
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.ScreenLines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = m.windowTitle()
	return v
}

// windowTitle returns the window title, so that waiting questions are visible without the window.
func (m *Model) windowTitle() string {
	if n := projection.CountWaiting(m.snap.Inbox); n > 0 {
		return fmt.Sprintf("(%d) nexus %s", n, view.EscapeForTerminal(string(m.o.Run)))
	}
	return "nexus " + view.EscapeForTerminal(string(m.o.Run))
}

// ScreenLines returns the lines of the screen. They fit its width and height.
func (m *Model) ScreenLines() []string {
	if m.isTooSmall() {
		return m.counterLines()
	}
	lines := []string{m.headerLine(), m.viewBar()}
	foot := m.footLines()
	height := m.height - 2 - len(foot)
	switch {
	case m.version == 0:
		lines = append(lines, m.fixedHeightLines([]string{"", "  Reading run " + view.EscapeForTerminal(string(m.o.Run)) + " ..."}, m.width, height)...)
	case m.dialog.kind == textDialog || m.dialog.kind == choiceDialog:
		lines = append(lines, m.dialogBlock(height)...)
	default:
		lines = append(lines, m.bodyLines(height)...)
	}
	lines = append(lines, foot...)
	for i, l := range lines {
		lines[i] = strings.TrimRight(m.b.truncateLine(m.sanitizeLine(l), m.width), " ")
	}
	return lines
}

// sanitizeLine makes a line of the screen safe for all names in it: the names in an imported run come
// from a stranger.
func (m *Model) sanitizeLine(line string) string {
	return ASCIIText(m.b.OutputStyle, strings.NewReplacer("\n", " ", "\t", " ").Replace(m.b.Sanitize(line)))
}

// isTooSmall reports whether only the counters fit.
func (m *Model) isTooSmall() bool { return m.width < leastWidth || m.height < leastHeight }

// counterLines draws the content of a screen that is too small for more.
func (m *Model) counterLines() []string {
	c, n := m.snap.Run.Counts, projection.CountWaiting(m.snap.Inbox)
	all := []string{
		m.runState(), fmt.Sprintf("%d %s you", n, needsWord(n)), fmt.Sprintf("%d/%d landed", c.Landed, c.Total),
		fmt.Sprintf("%d active", c.Active), m.snap.Run.Money.Spent.String(),
		fmt.Sprintf("%dx%d is too small; %dx%d shows more", m.width, m.height, leastWidth, leastHeight), m.keyOf("quit") + " leaves",
	}
	all = all[:min(len(all), m.height)]
	for i, l := range all {
		all[i] = m.b.truncateLine(m.sanitizeLine(l), m.width)
	}
	return all
}

func needsWord(n int) string {
	if n == 1 {
		return "needs"
	}
	return "need"
}

// runState describes the status of the run.
func (m *Model) runState() string {
	switch s := m.snap.Run.Status; {
	case m.version == 0:
		return "reading"
	case m.snap.Interrupted:
		return m.b.Warn("interrupted")
	case s == nexus.StatusDone:
		return m.b.Good(string(s))
	case s.HasEnded():
		return m.b.Bad(string(s))
	case s == nexus.StatusPaused:
		return m.b.Warn(m.b.symbolOrASCII("\u2016 ", "= ") + string(s))
	default:
		return m.b.Busy(string(s))
	}
}

// headerLine describes the run on one line; the last parts are dropped first.
func (m *Model) headerLine() string {
	r := m.snap.Run
	figures := []string{m.b.Bold("nexus"), m.runState()}
	if n := projection.CountWaiting(m.snap.Inbox); n > 0 {
		figures = append(figures, m.b.Warn(m.b.Bold(fmt.Sprintf("! %d %s you", n, needsWord(n)))))
	}
	if r.Counts.Active > 0 {
		figures = append(figures, m.b.Busy(m.b.symbolOrASCII("\u25cf ", "> ")+fmt.Sprintf("%d active", r.Counts.Active)))
	}
	if r.Counts.Total > 0 {
		figures = append(figures, fmt.Sprintf("%d/%d landed", r.Counts.Landed, r.Counts.Total))
	}
	if r.Money.Limit > 0 {
		figures = append(figures, r.Money.Spent.String()+"/"+r.Money.Limit.String())
	}
	if r.Seconds > 0 {
		figures = append(figures, view.FormatSeconds(r.Seconds))
	}
	if l := r.Left; l != nil && r.Counts.Landed >= 3 {
		figures = append(figures, m.b.FormatRange(*l)+" left")
	}
	for _, q := range r.Quota {
		figures = append(figures, m.b.Warn(view.EscapeForTerminal(q.Account)+" rests for "+view.FormatSeconds(q.Seconds)))
	}
	for _, w := range []string{view.EscapeForTerminal(m.o.Place), view.EscapeForTerminal(string(m.o.Run)), view.EscapeForTerminal(r.Goal)} {
		if w != "" {
			figures = append(figures, m.b.Dim(w))
		}
	}
	dot := " \u00b7 "
	if m.b.ASCII {
		dot = " | "
	}
	line := figures[0]
	for _, f := range figures[1:] {
		if rest := m.width - ansi.StringWidth(line) - ansi.StringWidth(dot); rest < min(ansi.StringWidth(f), 12) {
			break
		}
		line += dot + f
	}
	return line
}

// viewBar draws the views with their keys.
func (m *Model) viewBar() string {
	var all []string
	for i, name := range viewNames() {
		label := name
		if i == int(InboxView) && projection.CountWaiting(m.snap.Inbox) > 0 {
			label = fmt.Sprintf("%s(%d)", name, projection.CountWaiting(m.snap.Inbox))
		}
		if m.width < twoPanes && MainScreenView(i) != m.view {
			label = label[:min(len(label), 3)]
		}
		label = m.keyOf(name) + " " + label
		if MainScreenView(i) == m.view {
			label = m.b.Bold("[" + label + "]")
		} else {
			label = m.b.Dim(" " + label + " ")
		}
		all = append(all, label)
	}
	return strings.Join(all, "")
}

// bodyLines draws the list and its details, or the text of a view.
func (m *Model) bodyLines(height int) []string {
	switch {
	case m.view == TimelineView:
		return append(m.listLines(m.width, height-1), m.timelineLegend())
	case !m.view.isList():
		lines := m.textViewLines(m.width)
		m.scroll = m.firstVisibleLine(len(lines), height, m.follow && m.view == LogView)
		return m.fixedHeightLines(m.truncateLines(lines[min(m.scroll, len(lines)):], height, 0), m.width, height)
	case m.view == GraphView && m.width < twoPanes && !m.right:
		return append(m.listLines(m.width, height-1), m.b.truncateLine(m.graphLegend(), m.width))
	case m.width < twoPanes && m.right:
		return m.detailPane(m.width, height)
	case m.width < twoPanes:
		return m.listLines(m.width, height)
	}
	left := m.leftWidth()
	right := m.width - left - 1
	b := m.detailPane(right, height)
	var a []string
	if m.view == GraphView {
		a = append(m.listLines(left, height-1), m.graphLegend())
	} else {
		a = m.listLines(left, height)
	}
	for i := range a {
		a[i] = m.b.padLine(a[i], left) + m.b.paneSeparator() + m.b.truncateLine(b[i], right)
	}
	return a
}

func (m *Model) leftWidth() int {
	usual := 36
	if m.width >= wide {
		usual = 48
	}
	return min(max(usual+m.split, 20), m.width-30)
}

// firstVisibleLine returns the first visible line of a text.
func (m *Model) firstVisibleLine(lines, height int, follow bool) int {
	most := max(lines-height, 0)
	if follow {
		return most
	}
	return min(max(m.scroll, 0), most)
}

// truncateLines cuts lines to the height, and shows on the last one how many more there are: of these, and
// beyond them.
func (m *Model) truncateLines(lines []string, height, beyond int) []string {
	if len(lines)+beyond <= height || height < 1 || len(lines) < height {
		return lines
	}
	text := fmt.Sprintf("%s %d more", m.b.symbolOrASCII("\u2026", "..."), len(lines)+beyond-height+1)
	return append(slices.Clone(lines[:height-1]), m.b.Dim(text))
}

// fixedHeightLines returns exactly so many lines, each no wider than the width.
func (m *Model) fixedHeightLines(lines []string, width, height int) []string {
	out := make([]string, max(height, 0))
	for i := range min(len(lines), len(out)) {
		out[i] = m.b.truncateLine(lines[i], width)
	}
	return out
}

// listLines draws the rows of the view, with the selected one visible.
func (m *Model) listLines(width, height int) []string {
	all := m.currentRows()
	if len(all) == 0 {
		return m.fixedHeightLines(append([]string{""}, m.b.wrapLines([]string{m.emptyListText()}, width, true)...), width, height)
	}
	at := max(slices.IndexFunc(all, func(r listRow) bool { return r.key != "" && r.key == m.sel[m.view] }), 0)
	top := m.top[m.view]
	top = max(min(top, at-1), at-height+2, 0)
	top = min(top, max(len(all)-height, 0))
	m.top[m.view] = top
	var lines []string
	until := min(top+max(height, 0), len(all))
	for _, r := range all[top:until] {
		switch r.key {
		case "":
			lines = append(lines, r.rowText())
		case m.sel[m.view]:
			lines = append(lines, m.b.selectedLine(">"+m.markSign(r)+r.rowText(), width, !m.right))
		default:
			lines = append(lines, " "+m.markSign(r)+r.rowText())
		}
	}
	return m.fixedHeightLines(m.truncateLines(lines, height, len(all)-until), width, height)
}

// detailPane draws the tabs and the current one.
func (m *Model) detailPane(width, height int) []string {
	var names []string
	for i, name := range tabNames() {
		if width < 60 && DetailTab(i) != m.tab {
			name = name[:2]
		}
		if DetailTab(i) == m.tab {
			name = m.b.Bold("[" + name + "]")
		} else {
			name = m.b.Dim(" " + name + " ")
		}
		names = append(names, name)
	}
	head := append([]string{strings.Join(names, "")}, m.questionLines(width, height)...)
	height -= len(head)
	lines := m.detailLines(width, height)
	at := m.firstVisibleLine(len(lines), height, m.follow && m.tab == LogTab)
	if m.showsTranscript() && !m.follow {
		at = min(max(m.turnLine-height/3, 0), max(len(lines)-height, 0))
	}
	m.scroll = at
	if lines = lines[min(at, len(lines)):]; m.tab != DiffTab { // the diff tab draws only what fits
		lines = m.truncateLines(lines, height, 0)
	}
	return append(m.fixedHeightLines(head, width, len(head)), m.fixedHeightLines(lines, width, height)...)
}

// textViewLines returns the lines of a view that is a text.
func (m *Model) textViewLines(width int) []string {
	switch m.view {
	case CostView:
		return m.costLines()
	case LogView:
		return m.logLines(width)
	default:
		d, why := m.documentOrReason("memory")
		if d == nil {
			return []string{why}
		}
		return m.b.formatOutput(firstNonEmpty(strings.TrimSpace(d.text), "There is no memory here yet."), width, m.wrap)
	}
}

func (m *Model) logLines(width int) []string {
	var lines []string
	for _, l := range m.snap.Log {
		text := view.EscapeForTerminal(l.Text)
		if l.About != "" && !strings.HasPrefix(text, l.About) {
			text = m.b.Bold(view.EscapeForTerminal(l.About)) + " " + text
		}
		if l.Bad {
			text = m.b.Bad(m.b.symbolOrASCII("\u2717 ", "X ")) + text
		}
		if m.stamps {
			text = m.b.Dim(l.At.Local().Format("15:04:05")) + " " + text
		}
		if m.filter == "" || strings.Contains(strings.ToLower(stripANSI(text)), strings.ToLower(m.filter)) {
			lines = append(lines, text)
		}
	}
	if len(lines) == 0 {
		return []string{m.emptyListText()}
	}
	return m.b.wrapLines(lines, width, m.wrap)
}

// footLines draws the part below the body: the question, or the result of the last key, and the
// relevant keys. A text of several lines is cut to the height.
func (m *Model) footLines() []string {
	d := m.dialog
	if d.kind != inputDialog || !d.field.several {
		return []string{m.noticeLine(), m.keyHintLine()}
	}
	lines := []string{m.b.Warn(oneLine(d.title))}
	for _, l := range d.field.drawLines(m.width-2, max(m.height/3, 1), m.b.symbolOrASCII("\u2588", "_")) {
		lines = append(lines, m.b.Warn("> ")+l)
	}
	if m.notice != "" && m.bad {
		lines = append(lines, m.b.Bad(m.notice))
	}
	return append(lines, m.keyHintLine())
}

// noticeLine draws the result of the last key, or the current question.
func (m *Model) noticeLine() string {
	switch d := m.dialog; {
	case d.kind == inputDialog:
		title := ansi.Truncate(oneLine(d.title), max(m.width-20, 10), "")
		return m.b.Warn(title+"> ") + strings.Join(d.field.drawLines(max(m.width-ansi.StringWidth(title)-3, 1), 1, m.b.symbolOrASCII("\u2588", "_")), "")
	case d.kind == confirmDialog:
		return m.b.Warn(oneLine(d.title)) + "  " + m.b.Bold("y") + " confirms, any other key cancels"
	case m.notice == "" && m.filter != "":
		return m.b.Dim("filter: /" + oneLine(m.filter) + "  (esc clears it)")
	case m.bad:
		return m.b.Bad(m.notice)
	}
	return m.notice
}

// keyHintLine draws the relevant keys.
func (m *Model) keyHintLine() string {
	if m.dialog.kind == inputDialog {
		hint := "enter saves, esc cancels"
		if m.dialog.hint != "" {
			hint += "; " + m.dialog.hint
		}
		return m.b.Dim(hint)
	}
	if m.dialog.kind != noDialog {
		return m.b.Dim("esc closes it")
	}
	if m.isDiffFocused() && m.currentReview() != nil {
		return m.diffFooter()
	}
	var all []string
	edits := m.editTarget()
	seen := map[string]bool{"edit": edits == "" || m.keys.of["edit"] == ""}
	hint := func(name, label string) {
		if !seen[name] && len(all) < 7 {
			seen[name] = true
			all = append(all, m.keyHint(name, strings.ToLower(view.EscapeForTerminal(label))))
		}
	}
	for _, a := range m.availableActions() {
		name := bindingName(a.Name)
		if offered := name == "answer" && a.Input == projection.InputNone; a.Refused != "" || m.keys.of[name] == "" || offered {
			continue
		}
		if isRunVerb(name) { // actions on the selection come first
			hint("edit", edits)
		}
		hint(name, a.Label)
	}
	hint("edit", edits)
	return m.joinHints(all, m.keyHint("help", "help"), m.keyHint("quit", m.leaveLabel()))
}

// keyHint draws a key and its action.
func (m *Model) keyHint(name, label string) string {
	return m.b.Bold(m.keyOf(name)) + " " + m.b.Dim(label)
}

// joinHints puts as many complete hints on a line as fit, and the last ones in any case.
func (m *Model) joinHints(all []string, last ...string) string {
	end := strings.Join(last, "  ")
	line := ""
	for _, h := range all {
		if ansi.StringWidth(line+h+"  "+end) <= m.width {
			line += h + "  "
		}
	}
	return line + end
}

// leaveLabel explains that leaving does not end the run.
func (m *Model) leaveLabel() string {
	// In these states, and on narrow screens, other keys need the space.
	if m.snap.Interrupted || m.snap.Run.Status.HasEnded() || m.width < twoPanes {
		return "leave"
	}
	return "leave (the run continues)"
}

// dialogBlock draws the dialog instead of the body.
func (m *Model) dialogBlock(height int) []string {
	d := &m.dialog
	lines := []string{m.b.Bold(oneLine(d.title)), ""}
	if d.kind == textDialog {
		d.top = max(min(d.top, len(d.body)-height+len(lines)), 0)
		return m.fixedHeightLines(m.truncateLines(append(lines, d.body[d.top:]...), height, 0), m.width, height)
	}
	lines[0] += m.b.Warn("> ") + strings.Join(d.field.drawLines(max(m.width/2, 1), 1, m.b.symbolOrASCII("\u2588", "_")), "")
	some := d.choicesMatchingText()
	at := min(d.at, max(len(some)-1, 0))
	for i := max(at-height+4, 0); i < len(some); i++ {
		text := oneLine(some[i].label)
		if i == at {
			text = m.b.selectedLine("> "+text, m.width, true)
		} else {
			text = "  " + text
		}
		lines = append(lines, text)
	}
	return m.fixedHeightLines(m.truncateLines(lines, height, 0), m.width, height)
}
