package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// toggleMark toggles the mark of the selected row, and moves to the next.
func (m *Model) toggleMark() {
	r, ok := m.selectedRow()
	if !ok || r.task == "" && r.item == nil {
		m.showNotice(true, "nothing here can be marked")
		return
	}
	if m.marked[r.key] {
		delete(m.marked, r.key)
	} else {
		m.marked[r.key] = true
	}
	m.moveSelection(1)
}

// markedRows returns the marked rows of the view, in its order.
func (m *Model) markedRows() []listRow {
	var all []listRow
	for _, r := range m.currentRows() {
		if r.key != "" && m.marked[r.key] {
			all = append(all, r)
		}
	}
	return all
}

// markedTaskIDs returns the tasks of marked rows for [SnapshotRequest].
func (m *Model) markedTaskIDs() string {
	if len(m.marked) == 0 {
		return ""
	}
	text := ""
	for _, r := range m.markedRows() {
		if r.task != "" {
			text += string(r.task) + "\n"
		}
	}
	return text
}

// markSign returns the sign before a row that shows whether it is marked.
func (m *Model) markSign(r listRow) string {
	if m.marked[r.key] {
		return m.b.Warn("*")
	}
	return " "
}

// isRunVerb reports whether a verb is about the run, regardless of marks.
func isRunVerb(name string) bool { return name == "pause-run" || name == "stop" || name == "land" }

// performOnMarked does an action, by the name of its key, for all marked rows.
func (m *Model) performOnMarked(name string) tea.Cmd {
	var all []projection.PersonAction
	var names []string
	refused := ""
	for _, r := range m.markedRows() {
		a, why := actionOf(m.actionsOfMarkedRow(r), name)
		if a == nil {
			refused = fmt.Sprintf("%s: %s", nameOf(r), firstNonEmpty(why, "no item there accepts it"))
			continue
		}
		all, names = append(all, *a), append(names, nameOf(r))
	}
	if refused != "" || len(all) == 0 {
		m.showNotice(true, "%s: %s; %s takes the marks away", name, firstNonEmpty(refused, "the marked items are not in this view"), m.keyOf("unmark"))
		return nil
	}
	title := fmt.Sprintf("%s %s", all[0].Label, nexus.JoinWords(names))
	do := func(text string) tea.Cmd {
		return m.performActionsInTurn(strings.ToLower(all[0].Label), names, all, text)
	}
	if all[0].Input != projection.InputNone {
		m.dialog = dialog{kind: inputDialog, title: title + ": " + all[0].Ask, must: all[0].Input == projection.InputText, then: do}
		return nil
	}
	m.dialog = dialog{kind: confirmDialog, title: title + "?", then: do}
	return nil
}

// nameOf returns the task or item of a row.
func nameOf(r listRow) string {
	if r.item != nil {
		return view.EscapeForTerminal(r.item.ID)
	}
	return view.EscapeForTerminal(string(r.task))
}

// actionOf returns the named action, or the reason why it is not possible.
func actionOf(all []projection.PersonAction, name string) (a *projection.PersonAction, refused string) {
	for i, a := range all {
		switch {
		case bindingName(a.Name) != name || a.Name == "answer" && a.Input == projection.InputNone:
		case a.Refused != "":
			refused = firstNonEmpty(refused, a.Refused)
		default:
			return &all[i], ""
		}
	}
	return nil, refused
}

// actionsOfMarkedRow returns the actions for a marked row.
func (m *Model) actionsOfMarkedRow(r listRow) []projection.PersonAction {
	var all []projection.PersonAction
	for _, i := range m.snap.Inbox {
		if r.item != nil && r.item.ID == i.ID || r.item == nil && r.task == i.Task {
			all = append(all, i.Actions...)
		}
	}
	return append(all, m.snap.Marked[r.task]...)
}

// performActionsInTurn does actions one after the other. It reports failures and continues.
func (m *Model) performActionsInTurn(what string, names []string, all []projection.PersonAction, text string) tea.Cmd {
	m.busy++
	m.showNotice(false, "%s %s ...", what, view.CountWithNoun(len(all), "time"))
	ctx, verbs := m.ctx, m.o.Verbs
	return func() tea.Msg {
		failed := ""
		done := 0
		for i, a := range all {
			if out := verbs.Do(ctx, FillActionArguments(a, text), ""); out.Failed != "" {
				failed = firstNonEmpty(failed, names[i]+": "+out.Failed)
			} else {
				done++
			}
		}
		out := CommandOutcome{Text: fmt.Sprintf("done for %d of %d", done, len(all)), Failed: failed}
		if failed != "" {
			out.Failed = out.Text + "; " + failed
		}
		return commandDoneMsg{what: what, out: out, bare: failed == ""}
	}
}

// FillActionArguments puts a typed text into the arguments that ask for it.
func FillActionArguments(a projection.PersonAction, text string) []string {
	args := slices.Clone(a.Args)
	for i, arg := range args {
		if arg == "{}" && a.Input != projection.InputNone {
			args[i] = text
		}
	}
	return args
}

// gateMatrix draws the results of each gate for each task, one task per line, around the selected
// one.
func (m *Model) gateMatrix(width, height int) []string {
	c := m.snap.Checks
	if len(c.Gates) == 0 {
		return nil
	}
	at := slices.IndexFunc(c.Rows, func(r projection.GateResultRow) bool { return m.snap.Task != nil && r.Task == m.snap.Task.ID })
	most := max(height/3, 3)
	from := min(max(at-most/2, 0), max(len(c.Rows)-most, 0))
	some := c.Rows[from:min(from+most, len(c.Rows))]
	label := 4
	for _, r := range some {
		label = min(max(label, len(string(r.Task))), 12)
	}
	each := 7
	for _, g := range c.Gates {
		each = min(max(each, len(g)), 10)
	}
	gates := c.Gates[:min(max((width-label-4)/(each+1), 0), len(c.Gates))]
	head := strings.Repeat(" ", label)
	for _, g := range gates {
		head += " " + m.b.padLine(view.EscapeForTerminal(g), each)
	}
	lines := []string{m.b.Dim(head)}
	for i, r := range some {
		text := m.b.padLine(view.EscapeForTerminal(string(r.Task)), label)
		if from+i == at {
			text = m.b.Bold(text)
		}
		for _, name := range gates {
			j := slices.IndexFunc(r.Gates, func(g projection.GateView) bool { return g.Name == name })
			if j < 0 {
				text += " " + m.b.padLine(m.b.symbolOrASCII("\u00b7", "."), each)
				continue
			}
			text += " " + m.b.padLine(m.gateSign(r.Gates[j].State)+" "+view.EscapeForTerminal(string(r.Gates[j].State)), each)
		}
		lines = append(lines, text)
	}
	if hidden := len(c.Gates) - len(gates); hidden > 0 {
		lines[0] += m.b.Dim(fmt.Sprintf(" +%d", hidden))
	}
	if hidden := len(c.Rows) - len(some); hidden > 0 {
		lines = append(lines, m.b.Dim(fmt.Sprintf("and %s more", view.CountWithNoun(hidden, "task"))))
	}
	for i, l := range lines {
		lines[i] = m.b.truncateLine(l, width)
	}
	return append(lines, "")
}

// gateSign returns the sign of a gate's result.
func (m *Model) gateSign(s nexus.GateState) string {
	switch s {
	case nexus.Pass:
		return m.b.Good(m.b.symbolOrASCII("\u2713", "+"))
	case nexus.Fail:
		return m.b.Bad(m.b.symbolOrASCII("\u2717", "X"))
	default:
		return m.b.Warn("?")
	}
}

// diffFooter draws the relevant keys in a change.
func (m *Model) diffFooter() string {
	r := m.currentReview()
	all := []string{}
	add := func(name, words string) {
		if key := m.keys.of[name]; key != "" {
			all = append(all, m.keyHint(name, words))
		}
	}
	if n := len(r.Drafts); n > 0 {
		add("send", fmt.Sprintf("send %d", n))
	}
	if r.Open {
		add("comment", "comment")
		add("select", "select")
		add("suggest", "suggest")
	}
	if m.reviewing.currentRow().Path != "" {
		add("viewed", "viewed")
	}
	if r.Open && len(r.Must) > 0 {
		add("resolve", "resolve")
	}
	if r.Question != "" {
		add("approve", "let it land")
	}
	if r.Open {
		add("edit", "in your editor")
	}
	return m.joinHints(all, m.keyHint("help", "help"), m.keyHint("quit", "leave"))
}
