package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// dialogKind is what is asked on top of the screen.
type dialogKind int

const (
	noDialog dialogKind = iota
	inputDialog
	confirmDialog
	choiceDialog
	textDialog
)

// dialog is what keys go to while it is open.
type dialog struct {
	kind    dialogKind
	title   string
	text    string // typed
	must    bool   // it may not be empty
	then    func(text string) tea.Cmd
	choices []choice
	at      int
	body    []string
	top     int
}

// choice is one of several: a name that perform knows, or a text to copy.
type choice struct {
	label, name string
}

// copied is the beginning of the name of a choice that is copied.
const copied = "copy:"

// answer handles a key while a dialog is open.
func (m *Model) answer(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	if name == "ctrl+c" {
		m.dialog = dialog{}
		return tea.Quit
	}
	if name == "esc" {
		m.dialog = dialog{}
		return nil
	}
	switch m.dialog.kind {
	case confirmDialog:
		d := m.dialog
		m.dialog = dialog{}
		if name == "y" || name == "Y" {
			return d.then("")
		}
		m.say(false, "nothing was done")
	case textDialog:
		m.turnPage(name)
	case choiceDialog:
		return m.pickChoice(key)
	default:
		return m.typeIn(key)
	}
	return nil
}

func (m *Model) turnPage(name string) {
	d := &m.dialog
	switch m.keys.does[name] {
	case "down":
		d.top++
	case "up":
		d.top--
	case "page-down":
		d.top += m.height / 2
	case "page-up":
		d.top -= m.height / 2
	case "top":
		d.top = 0
	case "bottom":
		d.top = len(d.body)
	default:
		m.dialog = dialog{}
		return
	}
	d.top = max(min(d.top, len(d.body)-1), 0)
}

func (m *Model) typeIn(key tea.KeyPressMsg) tea.Cmd {
	d := &m.dialog
	switch key.String() {
	case "enter":
		if d.must && strings.TrimSpace(d.text) == "" {
			m.say(true, "it may not be empty; esc leaves it")
			return nil
		}
		then, text := d.then, strings.TrimSpace(d.text)
		m.dialog = dialog{}
		return then(text)
	case "backspace":
		if r := []rune(d.text); len(r) > 0 {
			d.text = string(r[:len(r)-1])
		}
	case "ctrl+u":
		d.text = ""
	default:
		d.text += key.Text
	}
	return nil
}

func (m *Model) pickChoice(key tea.KeyPressMsg) tea.Cmd {
	d := &m.dialog
	some := d.some()
	switch name := key.String(); {
	case name == "down" || name == "ctrl+n" || name == "tab":
		d.at = min(d.at+1, max(len(some)-1, 0))
	case name == "up" || name == "ctrl+p":
		d.at = max(d.at-1, 0)
	case name == "enter":
		at := min(d.at, len(some)-1)
		m.dialog = dialog{}
		if at >= 0 {
			return m.choice(some[at].name)
		}
	case name == "backspace":
		if r := []rune(d.text); len(r) > 0 {
			d.text = string(r[:len(r)-1])
		}
	case key.Text != "":
		d.text, d.at = d.text+key.Text, 0
	}
	return nil
}

// some are the choices that what was typed leaves.
func (d dialog) some() []choice {
	var out []choice
	for _, c := range d.choices {
		if strings.Contains(strings.ToLower(c.label), strings.ToLower(d.text)) {
			out = append(out, c)
		}
	}
	return out
}

func (m *Model) choice(name string) tea.Cmd {
	if text, ok := strings.CutPrefix(name, copied); ok {
		m.say(false, "copied %s", text)
		return tea.SetClipboard(text)
	}
	if name == "" {
		return nil
	}
	return m.perform(name)
}

// palette offers everything that has a name.
func (m *Model) palette() dialog {
	d := dialog{kind: choiceDialog, title: "do"}
	for _, b := range bindings() {
		if b.name != "palette" {
			d.choices = append(d.choices, choice{b.name + ": " + b.help, b.name})
		}
	}
	return d
}

// copies offers what can be copied of what is selected.
func (m *Model) copies() dialog {
	d := dialog{kind: choiceDialog, title: "copy"}
	add := func(what, text string) {
		if text != "" {
			d.choices = append(d.choices, choice{what + ": " + view.Clean(text), copied + text})
		}
	}
	if t := m.snap.Task; t != nil {
		add("path", t.Worktree)
		add("branch", t.Branch)
		add("task", string(t.ID))
	}
	if key := m.talkKey(); key != "" {
		add("session", strings.TrimPrefix(key, "show "))
	}
	add("branch of the run", m.snap.Run.Branch)
	add("run", string(m.o.Run))
	return d
}

func (m *Model) editor() tea.Cmd {
	t := m.snap.Task
	if t == nil || t.Worktree == "" {
		m.say(true, "there is no worktree here: it is removed once a task has landed")
		return nil
	}
	return tea.Exec(m.o.Verbs.Edit(t.Worktree), func(err error) tea.Msg { return leftMsg{err} })
}

// editPlan lets the person change the plan that waits for them: attach asks on
// the terminal, and its answer e opens the plan in an editor.
func (m *Model) editPlan() tea.Cmd {
	for _, i := range m.snap.Inbox {
		if i.Trigger == nexus.PlanTrigger {
			return tea.Exec(m.o.Verbs.Terminal(m.ctx, []string{"attach", string(m.o.Run)}), func(err error) tea.Msg { return leftMsg{err} })
		}
	}
	m.say(true, "no plan waits for you; %s adds a task, and nexus revise replaces a criterion", m.keyOf("add"))
	return nil
}

// allowed are the commands of the command line that a typed line may be. They
// read, or leave a request; others want a terminal of their own.
func allowed() []string {
	return []string{
		"add", "answer", "approve", "checkpoint", "diagnose", "diff", "evidence", "health", "history", "lessons", "logs", "memory",
		"pause", "ps", "reject", "report", "retry", "revise", "runs", "show", "skip", "status", "stop", "tell", "trace", "verify", "config",
	}
}

// command does what was typed behind a colon.
func (m *Model) command(text string) tea.Cmd {
	words := strings.Fields(strings.TrimPrefix(text, ":"))
	if len(words) == 0 {
		return nil
	}
	name := words[0]
	if name == "task" && len(words) == 2 {
		return m.goTo(words[1])
	}
	if name == "q" {
		name = "quit"
	}
	if len(words) == 1 && (slices.Contains(views(), name) || slices.Contains(Names(), name)) {
		return m.perform(name)
	}
	if slices.Contains(allowed(), name) {
		m.busy++
		ctx, verbs := m.ctx, m.o.Verbs
		return func() tea.Msg { return doneMsg{what: name, out: verbs.Do(ctx, words), show: true} }
	}
	m.say(true, "%s is no command here; ctrl+p lists them, and nexus help those of the command line", name)
	return nil
}

// goTo selects a task by its name.
func (m *Model) goTo(id string) tea.Cmd {
	m.perform("tasks")
	for _, r := range m.rows() {
		if strings.EqualFold(string(r.task), id) {
			m.sel[TasksView], m.picked[TasksView], m.right, m.tab = r.key, true, true, OverviewTab
			return nil
		}
	}
	m.say(true, "there is no task %s", id)
	return nil
}

// help lists the keys.
func (m *Model) help() []string {
	lines := []string{m.b.Bold("Keys") + m.b.Dim("  (change them in [keys] of the configuration; none takes one away)")}
	for _, b := range bindings() {
		lines = append(lines, "  "+m.b.Bold(m.b.cell(m.keyOf(b.name), 8))+" "+b.help)
	}
	return append(lines, "",
		"  alt+1 to alt+9 pick an answer that a question offers.",
		"  Arrows, Page Up, Page Down, Home and End move, too.",
		"  Ctrl-C asks whether to leave or to stop the run; a second one leaves.")
}

// keyOf names the key of a name.
func (m *Model) keyOf(name string) string { return firstOf(m.keys.of[name], "(no key)") }
