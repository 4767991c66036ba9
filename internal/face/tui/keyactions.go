package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

func stripANSI(text string) string { return ansi.Strip(text) }

// oneLine turns a text into one safe line.
func oneLine(text string) string { return view.EscapeForTerminal(ansi.Strip(text)) }

// handleKey handles a key.
func (m *Model) handleKey(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	if does := m.keys.does[name]; m.isTooSmall() && does != "quit" && does != "cancel" && name != "esc" {
		return nil // it would act on something that is not visible
	}
	if m.dialog.kind != noDialog {
		return m.handleDialogKey(key)
	}
	m.notice = ""
	if n, ok := strings.CutPrefix(name, "alt+"); ok {
		if i, err := strconv.Atoi(n); err == nil {
			return m.chooseAnswer(i)
		}
	}
	if m.isDiffFocused() {
		does := m.keys.diff[name]
		if does == "" {
			does = m.keys.does[name]
		}
		if cmd, mine := m.handleReviewKey(does); mine {
			return cmd
		}
		if m.keys.diff[name] != "" {
			return nil
		}
	}
	return m.runBinding(m.keys.does[name])
}

// runBinding does the action with that name.
func (m *Model) runBinding(name string) tea.Cmd {
	if i := slices.Index(viewNames(), name); i >= 0 {
		m.view, m.right, m.scroll, m.filter = MainScreenView(i), false, 0, ""
		m.follow = m.view == LogView
		m.ensureSelection()
		return nil
	}
	switch name {
	case "quit":
		return m.quitWhenIdle()
	case "cancel":
		if m.o.Interrupt != nil {
			return m.forwardInterrupt()
		}
		m.dialog = dialog{kind: choiceDialog, title: "Leave, or stop the run?", choices: []dialogChoice{
			{label: "leave; the run continues", name: "quit"}, {label: "stop the run", name: "stop"}, {label: "stay"},
		}}
	case "help":
		m.dialog = dialog{kind: textDialog, title: "keys", body: m.helpDialog()}
	case "filter":
		m.dialog = dialog{kind: inputDialog, title: "filter", field: newTextField(m.filter, false), then: m.setFilter}
	case "command":
		m.dialog = dialog{kind: inputDialog, title: ":", then: m.runTypedCommand}
	case "palette":
		m.dialog = m.commandPalette()
	case "copy":
		m.dialog = m.copyDialog()
	case "editor":
		return m.openEditor()
	case "edit":
		return m.editSelection()
	case "verbs":
		m.dialog = m.actionMenu()
	case "mark":
		m.toggleMark()
	case "unmark":
		m.marked = map[string]bool{}
	case "attach":
		if m.o.Interrupt != nil { // its lines are below the screen
			return m.quitWhenIdle()
		}
		return m.runInTerminal("attach", string(m.o.Run))
	case "add":
		m.dialog = dialog{kind: inputDialog, title: "title of the task", must: true, then: func(text string) tea.Cmd {
			return m.runCommandLine("add", []string{"add", "--run", string(m.o.Run), "--", text})
		}}
	case "approve", "reject", "answer", "tell", "interrupt", "pause", "pause-run", "skip", "retry", "retry-tell", "stop", "land", "undo":
		return m.runActionByName(name)
	default:
		m.runDisplayAction(name)
	}
	return nil
}

// runDisplayAction does an action that changes only the display.
func (m *Model) runDisplayAction(name string) {
	half := max(m.height/2-3, 1)
	switch name {
	case "down":
		m.moveCursor(1)
	case "up":
		m.moveCursor(-1)
	case "page-down":
		m.moveCursor(half)
	case "page-up":
		m.moveCursor(-half)
	case "top":
		m.moveCursor(-1 << 30)
	case "bottom":
		m.moveCursor(1 << 30)
	case "pane":
		m.right = !m.right
	case "open":
		m.openSelected()
	case "back":
		m.goBack()
	case "diff":
		m.openTab(DiffTab)
	case "talk":
		m.openTab(LogTab)
	case "money":
		m.openTab(CostTab)
	case "next-tab":
		m.openTab((m.tab + 1) % DetailTab(len(tabNames())))
	case "previous-tab":
		m.openTab((m.tab + DetailTab(len(tabNames())) - 1) % DetailTab(len(tabNames())))
	case "follow":
		m.follow = !m.follow
	case "wrap":
		m.wrap = !m.wrap
	case "stamps":
		m.stamps = !m.stamps
	case "wider":
		m.split = min(m.split+4, 40)
	case "narrower":
		m.split = max(m.split-4, -20)
	}
}

// openTab opens a tab of the details.
func (m *Model) openTab(t DetailTab) {
	if !m.view.isList() {
		m.view = TasksView
		m.ensureSelection()
	}
	m.tab, m.scroll, m.right, m.follow = t, 0, true, t == LogTab
	m.open = map[int]bool{}
}

// showsTranscript reports whether the tab shows a conversation, in which keys move by turn.
func (m *Model) showsTranscript() bool { return m.tab == LogTab && m.transcriptKey() != "" }

func (m *Model) openSelected() {
	switch {
	case m.view == TimelineView:
		if r, ok := m.selectedRow(); ok && r.task != "" {
			m.view, m.sel[TasksView], m.picked[TasksView], m.tab = TasksView, "task "+string(r.task), true, OverviewTab
		}
	case !m.view.isList():
	case m.right && m.showsTranscript():
		if m.follow {
			m.turn = m.talked - 1
		}
		m.open[m.turn] = !m.open[m.turn]
		m.follow = false
	default:
		m.right = true
	}
}

func (m *Model) goBack() {
	switch {
	case m.right:
		m.right = false
	case len(m.marked) > 0:
		m.marked = map[string]bool{}
	case m.filter != "":
		m.filter = ""
		m.ensureSelection()
	default:
		m.runBinding("tasks")
	}
}

// moveCursor moves in the part that has the focus: the list, the turns, or a text.
func (m *Model) moveCursor(by int) {
	switch {
	case m.right && m.showsTranscript() && m.view.isList():
		if m.follow {
			m.turn = m.talked - 1
		}
		m.turn = min(max(m.turn+by, 0), max(m.talked-1, 0))
		m.follow = false
	case m.isDiffFocused() && m.currentReview() != nil:
		m.reviewing.moveTo(m.reviewing.at + by)
	case m.right && m.view.isList(), !m.view.isList() && m.view != TimelineView:
		m.follow = by == 1<<30
		m.scroll = max(m.scroll+by, 0)
	default:
		m.moveSelection(by)
	}
}

// moveSelection selects another row of the list.
func (m *Model) moveSelection(by int) {
	var keys []string
	for _, r := range m.currentRows() {
		if r.key != "" {
			keys = append(keys, r.key)
		}
	}
	if len(keys) == 0 {
		return
	}
	at := slices.Index(keys, m.sel[m.view]) + by
	m.sel[m.view], m.picked[m.view] = keys[min(max(at, 0), len(keys)-1)], true
	m.open = map[int]bool{}
}

func (m *Model) setFilter(text string) tea.Cmd {
	m.filter = strings.TrimPrefix(strings.TrimSpace(text), "/")
	m.ensureSelection()
	return nil
}

// bindingName returns the action name of a key.
func bindingName(name string) string {
	switch name {
	case "sign-off":
		return "approve"
	case "pause-task", "unpause":
		return "pause"
	case "pause", "resume":
		return "pause-run"
	}
	return name
}

// availableActions returns the actions of the keys: for the selected item, the items of the selected task,
// the task, and the run, in this order.
func (m *Model) availableActions() []projection.PersonAction {
	var all []projection.PersonAction
	r, ok := m.selectedRow()
	for _, i := range m.snap.Inbox {
		if r.item != nil && r.item.ID == i.ID || r.item == nil && ok && r.task != "" && r.task == i.Task {
			all = append(all, i.Actions...)
		}
	}
	if t := m.snap.Task; t != nil && t.ID == r.task {
		all = append(all, t.Actions...)
	}
	return append(all, m.snap.Actions...)
}

// runActionByName does an action by the name of its key.
func (m *Model) runActionByName(name string) tea.Cmd {
	if m.moved && !isRunVerb(name) {
		r, _ := m.selectedRow()
		now := firstNonEmpty(nameOf(r), "nothing")
		m.showNotice(true, "%s: the selected item is gone, and %s is selected now; press the key again if you mean that", name, now)
		return nil
	}
	if len(m.marked) > 0 && !isRunVerb(name) {
		return m.performOnMarked(name)
	}
	all := m.availableActions()
	a, refused := actionOf(all, name)
	if a == nil && refused == "" {
		switch name {
		case "answer": // no open question
			name = "interrupt"
		case "pause": // no task is selected
			name = "pause-run"
		}
		a, refused = actionOf(all, name)
	}
	if a != nil {
		return m.startAction(*a)
	}
	nothing := "no item here accepts it"
	if _, ok := m.selectedRow(); !ok && projection.CountWaiting(m.snap.Inbox) > 0 {
		nothing = "nothing is selected; " + m.keyOf("inbox") + " shows what needs you"
	}
	m.showNotice(true, "%s: %s", name, firstNonEmpty(refused, nothing))
	return nil
}

// chooseAnswer answers with one of the choices of a question.
func (m *Model) chooseAnswer(n int) tea.Cmd {
	for _, a := range m.availableActions() {
		if a.Name == "answer" && a.Input == projection.InputNone {
			if n--; n == 0 {
				return m.startAction(a)
			}
		}
	}
	return nil
}

// startAction asks for the input of an action, and does it.
func (m *Model) startAction(a projection.PersonAction) tea.Cmd {
	run := func(text string) tea.Cmd {
		return m.runCommandLine(a.Label, FillActionArguments(a, text))
	}
	if a.Input != projection.InputNone {
		m.dialog = dialog{kind: inputDialog, title: a.Label + ": " + a.Ask, must: a.Input == projection.InputText, then: run}
		return nil
	}
	if a.Confirm != "" {
		m.dialog = dialog{kind: confirmDialog, title: a.Confirm, then: run}
		return nil
	}
	return run("")
}

// commandLine is a command line with its standard input.
type commandLine struct {
	args  []string
	stdin string
}

// runCommandLine runs a command line in the background.
func (m *Model) runCommandLine(what string, args []string) tea.Cmd {
	return m.runCommandLines(what, commandLine{args, ""})
}

// runCommandLines runs command lines in the background, one after the other, until one fails.
func (m *Model) runCommandLines(what string, lines ...commandLine) tea.Cmd {
	m.busy++
	m.showNotice(false, "%s ...", what)
	ctx, verbs, typed := m.ctx, m.o.Verbs, m.typed
	return func() tea.Msg {
		var out CommandOutcome
		for _, l := range lines {
			if out = verbs.Do(ctx, l.args, l.stdin); out.Failed != "" {
				break
			}
			typed = nil // it is stored
		}
		return commandDoneMsg{what: what, out: out, typed: typed}
	}
}

// forwardInterrupt forwards Ctrl-C once, which closes this screen. A second one would end the process at
// once, and leave the terminal in its drawing mode.
func (m *Model) forwardInterrupt() tea.Cmd {
	if !m.cut {
		m.cut = true
		m.o.Interrupt()
	}
	return nil
}

// quitWhenIdle ends the interface after the person's running actions are done; at once if they press the
// key again. A failure, or another key, cancels leaving.
func (m *Model) quitWhenIdle() tea.Cmd {
	if m.busy > 0 && !m.goes {
		m.goes = true
		m.showNotice(false, "leaving when your command is done; %s again leaves now", m.keyOf("quit"))
		return nil
	}
	return tea.Quit
}
