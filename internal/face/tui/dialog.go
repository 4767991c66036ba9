package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// dialogKind is the kind of a dialog on top of the screen.
type dialogKind int

const (
	noDialog dialogKind = iota
	inputDialog
	confirmDialog
	choiceDialog
	textDialog
)

// dialog receives the keys while it is open.
type dialog struct {
	kind    dialogKind
	title   string
	field   textField     // the typed text
	hint    string        // other keys
	must    bool          // it may not be empty
	turn    func(*dialog) // action of the tab key; nil: none
	then    func(text string) tea.Cmd
	choices []dialogChoice
	at      int
	body    []string
	top     int
}

// dialogChoice is one entry: a name that perform knows, or a text to copy.
type dialogChoice struct {
	label, name string
	then        func() tea.Cmd // its action; nil: the one of its name
}

// copied is the prefix of a choice that is copied.
const copied = "copy:"

// handleDialogKey handles a key while a dialog is open.
func (m *Model) handleDialogKey(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	if name == "ctrl+c" {
		m.dialog = dialog{}
		if m.o.Interrupt != nil {
			return m.forwardInterrupt()
		}
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
		m.showNotice(false, "nothing was done")
	case textDialog:
		m.handleTextDialogKey(name)
	case choiceDialog:
		return m.handleChoiceKey(key)
	default:
		return m.handleTextFieldKey(key)
	}
	return nil
}

func (m *Model) handleTextDialogKey(name string) {
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

func (m *Model) handleTextFieldKey(key tea.KeyPressMsg) tea.Cmd {
	d := &m.dialog
	switch name := key.String(); {
	case name == "enter":
		text := strings.TrimSpace(d.field.text())
		switch {
		case d.field.several && d.must:
			text = strings.Trim(d.field.text(), "\n")
		case d.field.several: // lines of a file, unchanged
			text = d.field.text()
		}
		if d.must && strings.TrimSpace(text) == "" {
			m.showNotice(true, "it may not be empty; esc cancels")
			return nil
		}
		written := *d
		m.dialog, m.typed = dialog{}, &written
		cmd := written.then(text)
		m.typed = nil
		return cmd
	case name == "tab" && d.turn != nil:
		d.turn(d)
	default:
		d.field.handleKey(key)
	}
	return nil
}

func (m *Model) handleChoiceKey(key tea.KeyPressMsg) tea.Cmd {
	d := &m.dialog
	some := d.choicesMatchingText()
	switch key.String() {
	case "down", "ctrl+n", "tab":
		d.at = min(d.at+1, max(len(some)-1, 0))
	case "up", "ctrl+p":
		d.at = max(d.at-1, 0)
	case "enter":
		at := min(d.at, len(some)-1)
		m.dialog = dialog{}
		if at >= 0 {
			return m.performChoice(some[at])
		}
	default:
		if d.field.handleKey(key) {
			d.at = 0
		}
	}
	return nil
}

// choicesMatchingText returns the choices that match the typed text.
func (d dialog) choicesMatchingText() []dialogChoice {
	var out []dialogChoice
	for _, c := range d.choices {
		if strings.Contains(strings.ToLower(c.label), strings.ToLower(d.field.text())) {
			out = append(out, c)
		}
	}
	return out
}

func (m *Model) performChoice(c dialogChoice) tea.Cmd {
	if c.then != nil {
		return c.then()
	}
	name := c.name
	if text, ok := strings.CutPrefix(name, copied); ok {
		m.showNotice(false, "copied %s", text)
		return tea.SetClipboard(text)
	}
	if name == "" {
		return nil
	}
	return m.runBinding(name)
}

// commandPalette offers everything that has a name.
func (m *Model) commandPalette() dialog {
	d := dialog{kind: choiceDialog, title: "do"}
	for _, b := range defaultBindings() {
		if b.name != "palette" && !b.diff {
			d.choices = append(d.choices, dialogChoice{label: b.name + ": " + b.help, name: b.name})
		}
	}
	d.choices = append(d.choices, m.typedChoices()...)
	return d
}

// copyDialog offers the texts of the selection that can be copied.
func (m *Model) copyDialog() dialog {
	d := dialog{kind: choiceDialog, title: "copy"}
	add := func(what, text string) {
		if text != "" {
			d.choices = append(d.choices, dialogChoice{label: what + ": " + view.EscapeForTerminal(text), name: copied + text})
		}
	}
	if t := m.snap.Task; t != nil {
		add("path", t.Worktree)
		add("branch", t.Branch)
		add("task", string(t.ID))
	}
	if key := m.transcriptKey(); key != "" {
		add("session", strings.TrimPrefix(key, "status "))
	}
	add("branch of the run", m.snap.Run.Branch)
	add("run", string(m.o.Run))
	return d
}

func (m *Model) openEditor() tea.Cmd {
	t := m.snap.Task
	if t == nil || t.Worktree == "" {
		m.showNotice(true, "there is no worktree here: it is removed once a task has landed")
		return nil
	}
	return tea.Exec(m.o.Verbs.Edit(t.Worktree), func(err error) tea.Msg { return terminalCommandEndedMsg{err} })
}

// helpDialog lists the keys.
func (m *Model) helpDialog() []string {
	lines := []string{m.b.Bold("Keys") + m.b.Dim("  (change them in [keys] of the configuration; none removes a key)")}
	diff := false
	for _, b := range defaultBindings() {
		if b.diff && !diff {
			diff = true
			lines = append(lines, "", m.b.Bold("In a change"))
		}
		lines = append(lines, "  "+m.b.Bold(m.b.padLine(m.keyOf(b.name), 8))+" "+b.help)
	}
	lines = append(lines,
		"  "+m.b.Bold(m.b.padLine(m.keyOf("diff"), 8))+" only the changes since your last review, or all of it",
		"  "+m.b.Bold(m.b.padLine(m.keyOf("open"), 8))+" fold a file, edit a draft, or reply to a comment",
		"  "+m.b.Bold(m.b.padLine(m.keyOf("reject"), 8))+" discard a draft")
	return append(append(lines, m.typedHelp()...), "",
		"  alt+1 to alt+9 pick an answer that a question offers.",
		"  Arrows, Page Up, Page Down, Home and End work, too.",
		"  Ctrl-C asks whether to leave or to stop the run; a second one leaves.")
}

// keyOf returns the key of a name.
func (m *Model) keyOf(name string) string { return firstNonEmpty(m.keys.of[name], "(no key)") }
