package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
)

func stripANSI(text string) string { return ansi.Strip(text) }

// oneLine turns a text into one safe line.
func oneLine(text string) string { return view.Clean(ansi.Strip(text)) }

// press handles a key.
func (m *Model) press(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	if does := m.keys.does[name]; m.small() && does != "quit" && does != "cancel" && name != "esc" {
		return nil // it would act on something that is not visible
	}
	if m.dialog.kind != noDialog {
		return m.answer(key)
	}
	m.notice = ""
	if n, ok := strings.CutPrefix(name, "alt+"); ok {
		if i, err := strconv.Atoi(n); err == nil {
			return m.offer(i)
		}
	}
	if m.onDiff() {
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
	if i := slices.Index(views(), name); i >= 0 {
		m.view, m.right, m.scroll, m.filter = View(i), false, 0, ""
		m.follow = m.view == LogView
		m.ensureSelection()
		return nil
	}
	switch name {
	case "quit":
		return m.leave()
	case "cancel":
		if m.o.Interrupt != nil {
			return m.interrupt()
		}
		m.dialog = dialog{kind: choiceDialog, title: "Leave, or stop the run?", choices: []choice{
			{label: "leave; the run continues", name: "quit"}, {label: "stop the run", name: "stop"}, {label: "stay"},
		}}
	case "help":
		m.dialog = dialog{kind: textDialog, title: "keys", body: m.help()}
	case "filter":
		m.dialog = dialog{kind: inputDialog, title: "filter", field: fieldOf(m.filter, false), then: m.refine}
	case "command":
		m.dialog = dialog{kind: inputDialog, title: ":", then: m.command}
	case "palette":
		m.dialog = m.palette()
	case "copy":
		m.dialog = m.copies()
	case "editor":
		return m.editor()
	case "edit":
		return m.edit()
	case "verbs":
		m.dialog = m.verbs()
	case "mark":
		m.toggle()
	case "unmark":
		m.marked = map[string]bool{}
	case "attach":
		if m.o.Interrupt != nil { // its lines are below the screen
			return m.leave()
		}
		return m.runInTerminal("attach", string(m.o.Run))
	case "add":
		m.dialog = dialog{kind: inputDialog, title: "title of the task", must: true, then: func(text string) tea.Cmd {
			return m.runCommandLine("add", []string{"add", "--run", string(m.o.Run), "--", text})
		}}
	case "approve", "reject", "answer", "tell", "interrupt", "pause", "pause-run", "skip", "retry", "retry-tell", "stop", "land", "undo":
		return m.runActionByName(name)
	default:
		m.move(name)
	}
	return nil
}

// move does an action that changes only the display.
func (m *Model) move(name string) {
	half := max(m.height/2-3, 1)
	switch name {
	case "down":
		m.step(1)
	case "up":
		m.step(-1)
	case "page-down":
		m.step(half)
	case "page-up":
		m.step(-half)
	case "top":
		m.step(-1 << 30)
	case "bottom":
		m.step(1 << 30)
	case "pane":
		m.right = !m.right
	case "open":
		m.enter()
	case "back":
		m.back()
	case "diff":
		m.show(DiffTab)
	case "talk":
		m.show(LogTab)
	case "money":
		m.show(CostTab)
	case "next-tab":
		m.show((m.tab + 1) % Tab(len(tabs())))
	case "previous-tab":
		m.show((m.tab + Tab(len(tabs())) - 1) % Tab(len(tabs())))
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

// show opens a tab of the details.
func (m *Model) show(t Tab) {
	if !m.view.lists() {
		m.view = TasksView
		m.ensureSelection()
	}
	m.tab, m.scroll, m.right, m.follow = t, 0, true, t == LogTab
	m.open = map[int]bool{}
}

// talks reports whether the tab shows a conversation, in which keys move by turn.
func (m *Model) talks() bool { return m.tab == LogTab && m.talkKey() != "" }

func (m *Model) enter() {
	switch {
	case m.view == TimelineView:
		if r, ok := m.selected(); ok && r.task != "" {
			m.view, m.sel[TasksView], m.picked[TasksView], m.tab = TasksView, "task "+string(r.task), true, OverviewTab
		}
	case !m.view.lists():
	case m.right && m.talks():
		if m.follow {
			m.turn = m.talked - 1
		}
		m.open[m.turn] = !m.open[m.turn]
		m.follow = false
	default:
		m.right = true
	}
}

func (m *Model) back() {
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

// step moves in the part that has the focus: the list, the turns, or a text.
func (m *Model) step(by int) {
	switch {
	case m.right && m.talks() && m.view.lists():
		if m.follow {
			m.turn = m.talked - 1
		}
		m.turn = min(max(m.turn+by, 0), max(m.talked-1, 0))
		m.follow = false
	case m.onDiff() && m.change() != nil:
		m.reviewing.to(m.reviewing.at + by)
	case m.right && m.view.lists(), !m.view.lists() && m.view != TimelineView:
		m.follow = by == 1<<30
		m.scroll = max(m.scroll+by, 0)
	default:
		m.choose(by)
	}
}

// choose selects another row of the list.
func (m *Model) choose(by int) {
	var keys []string
	for _, r := range m.rows() {
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

func (m *Model) refine(text string) tea.Cmd {
	m.filter = strings.TrimPrefix(strings.TrimSpace(text), "/")
	m.ensureSelection()
	return nil
}

// verb returns the action name of a key.
func verb(name string) string {
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

// actions returns the actions of the keys: for the selected item, the items of the selected task,
// the task, and the run, in this order.
func (m *Model) actions() []projection.Action {
	var all []projection.Action
	r, ok := m.selected()
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
	if m.moved && !ofRun(name) {
		r, _ := m.selected()
		now := firstOf(nameOf(r), "nothing")
		m.showNotice(true, "%s: the selected item is gone, and %s is selected now; press the key again if you mean that", name, now)
		return nil
	}
	if len(m.marked) > 0 && !ofRun(name) {
		return m.actAll(name)
	}
	all := m.actions()
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
	if _, ok := m.selected(); !ok && projection.CountWaiting(m.snap.Inbox) > 0 {
		nothing = "nothing is selected; " + m.keyOf("inbox") + " shows what needs you"
	}
	m.showNotice(true, "%s: %s", name, firstOf(refused, nothing))
	return nil
}

// offer answers with one of the choices of a question.
func (m *Model) offer(n int) tea.Cmd {
	for _, a := range m.actions() {
		if a.Name == "answer" && a.Input == projection.InputNone {
			if n--; n == 0 {
				return m.startAction(a)
			}
		}
	}
	return nil
}

// startAction asks for the input of an action, and does it.
func (m *Model) startAction(a projection.Action) tea.Cmd {
	run := func(text string) tea.Cmd {
		return m.runCommandLine(a.Label, FillArguments(a, text))
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
		var out Outcome
		for _, l := range lines {
			if out = verbs.Do(ctx, l.args, l.stdin); out.Failed != "" {
				break
			}
			typed = nil // it is stored
		}
		return doneMsg{what: what, out: out, typed: typed}
	}
}

// interrupt forwards Ctrl-C once, which closes this screen. A second one would end the process at
// once, and leave the terminal in its drawing mode.
func (m *Model) interrupt() tea.Cmd {
	if !m.cut {
		m.cut = true
		m.o.Interrupt()
	}
	return nil
}

// leave ends the interface after the person's running actions are done; at once if they press the
// key again. A failure, or another key, cancels leaving.
func (m *Model) leave() tea.Cmd {
	if m.busy > 0 && !m.goes {
		m.goes = true
		m.showNotice(false, "leaving when your command is done; %s again leaves now", m.keyOf("quit"))
		return nil
	}
	return tea.Quit
}
