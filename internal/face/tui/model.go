package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Model is all that the interface shows. Bubble Tea's loop owns it.
type Model struct {
	ctx  context.Context //nolint:containedctx // of the commands, which Bubble Tea starts without one
	o    Options
	b    painter
	keys keymap

	width, height int
	snap          Snapshot
	version       int   // of the snapshot; 0: none came yet
	fatal         error // ends the interface

	view   View
	tab    Tab
	right  bool            // keys move in the details
	sel    map[View]string // key of the selected row
	picked map[View]bool   // the person selected it; else the first is, which needs them most
	moved  bool            // what the person selected is gone since the last key
	top    map[View]int    // first line of a list
	scroll int             // first line of the details, or of a view that is a text
	filter string
	follow bool // the end of a text is shown as it grows
	wrap   bool
	stamps bool
	split  int // columns that the list has more, or less, than usual

	open     map[int]bool // turns whose fold the person changed
	turn     int          // the selected one
	turnLine int          // its line
	talked   int          // how many there are

	listed    rowCache
	reviewing reviewTab       // the change that is reviewed
	marked    map[string]bool // keys of rows that are marked

	docs    map[string]*document
	reading bool
	busy    int  // verbs that have not ended
	goes    bool // the person leaves once they have
	ticking bool
	cut     bool // Ctrl-C was handed on

	pressed time.Time // when a key was pressed last
	dialog  dialog
	typed   *dialog // what the person wrote, while it is being done
	unkept  *dialog // what they wrote that could not be done, until it can be shown
	notice  string
	bad     bool // the notice is about something that failed
}

// New returns the model of a run before its first snapshot.
func New(ctx context.Context, o Options) *Model {
	m := &Model{
		ctx: ctx, o: o, b: painter{o.Style}, width: 80, height: 24, view: TasksView, follow: true, stamps: true,
		sel: map[View]string{}, picked: map[View]bool{}, top: map[View]int{}, open: map[int]bool{}, docs: map[string]*document{},
		marked: map[string]bool{}, reviewing: reviewTab{from: -1, turned: map[string]bool{}},
	}
	m.keys, m.fatal = o.Keys.bind()
	return m
}

// Messages of commands.
type (
	snapMsg struct {
		snap Snapshot
		ask  SnapshotRequest
		err  error
		next bool // it is the one that waits for changes
	}
	doneMsg struct {
		what string
		out  Outcome
		show bool // what it printed is the result
		bare bool // marks are taken away

		typed *dialog // in which the person wrote what it was about, where that is kept nowhere
	}
	leftMsg struct{ err error } // what had the terminal ended
	tickMsg struct{}
)

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd {
	if m.fatal != nil {
		return tea.Quit
	}
	return m.read(true)
}

// snapshotRequest returns what the next snapshot must have.
func (m *Model) snapshotRequest() SnapshotRequest {
	r, _ := m.selected()
	a := SnapshotRequest{Run: m.o.Run, Task: r.task, View: m.view, Mark: m.marks()}
	if m.view.lists() {
		a.Tab = m.tab
	}
	return a
}

// read returns the command that reads a snapshot now.
func (m *Model) read(next bool) tea.Cmd {
	ctx, source, ask := m.ctx, m.o.Source, m.snapshotRequest()
	return func() tea.Msg {
		s, err := source.Read(ctx, ask)
		return snapMsg{s, ask, err, next}
	}
}

// wait returns the command that reads a snapshot after the next change, and a
// tenth of a second after the last one at the earliest.
func (m *Model) wait() tea.Cmd {
	ctx, source, ask := m.ctx, m.o.Source, m.snapshotRequest()
	changed := source.Changed(m.o.Run)
	return func() tea.Msg {
		pause := time.NewTimer(time.Second / frames)
		defer pause.Stop()
		for _, c := range []<-chan struct{}{fired(pause), changed} {
			select {
			case <-c:
			case <-ctx.Done():
				return nil
			}
		}
		s, err := source.Read(ctx, ask)
		return snapMsg{s, ask, err, true}
	}
}

func fired(t *time.Timer) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		<-t.C
		close(c)
	}()
	return c
}

// Update implements [tea.Model]. It reads and writes nothing outside the model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
	case tea.KeyPressMsg:
		if m.o.Clock != nil {
			m.pressed = m.o.Clock()
		}
		m.goes = m.goes && m.keys.does[msg.String()] == "quit"
		before := m.snapshotRequest()
		cmd := m.press(msg)
		m.moved = false
		m.reopen()
		if now := m.snapshotRequest(); now != before {
			if now.Task != before.Task || now.View != before.View {
				m.scroll, m.turn = 0, 0
			}
			return m, tea.Batch(cmd, m.read(false))
		}
		return m, tea.Batch(cmd, m.load())
	case tea.PasteMsg:
		m.dialog.field.insert(msg.Content)
	case snapMsg:
		return m, m.applySnapshot(msg)
	case *document:
		m.reading = false
		m.docs[msg.key] = msg
		if len(m.docs) > 20 {
			m.docs = map[string]*document{msg.key: msg}
		}
	case doneMsg:
		if m.handleOutcome(msg); m.goes && m.busy == 0 {
			return m, tea.Quit
		}
		return m, m.read(false)
	case leftMsg:
		m.refresh()
		if msg.err != nil {
			m.showNotice(true, "%s", msg.err)
		}
		return m, m.read(false)
	case tickMsg:
		m.ticking = false
		return m, m.read(false)
	}
	return m, nil
}

// applySnapshot takes over a snapshot, and returns what comes next.
func (m *Model) applySnapshot(msg snapMsg) tea.Cmd {
	if msg.err != nil {
		m.fatal = RunGoneError(msg.err, m.o.Run)
		return tea.Quit
	}
	if msg.ask == m.snapshotRequest() || m.version == 0 {
		m.snap = msg.snap
		m.version++
	}
	m.ensureSelection()
	if m.canClose() {
		return tea.Quit
	}
	cmds := []tea.Cmd{m.load(), m.tick()}
	if msg.next {
		cmds = append(cmds, m.wait())
	}
	if msg.ask != m.snapshotRequest() {
		cmds = append(cmds, m.read(false))
	}
	return tea.Batch(cmds...)
}

// RunGoneError words why a run cannot be shown any more.
func RunGoneError(err error, run nexus.RunID) error {
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		return e
	}
	return fmt.Errorf("run %s can no longer be shown: %w", run, err)
}

// tick returns the command that draws again in a second, while a clock is on the
// screen that goes.
func (m *Model) tick() tea.Cmd {
	if m.ticking || m.o.Interrupt == nil && (m.snap.Interrupted || m.snap.Run.Status.Ended()) && !m.behind() {
		return nil
	}
	m.ticking = true
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}

// lingers is how long after the last key the screen of a run that is over stays.
const lingers = 10 * time.Second

// canClose reports whether the run of this process is over and nobody uses the screen any
// more: what came of it is told in lines.
func (m *Model) canClose() bool {
	if m.o.Interrupt == nil || !m.snap.Run.Status.Ended() {
		return false
	}
	if m.dialog.kind == noDialog && m.busy == 0 && m.o.Clock().Sub(m.pressed) >= lingers {
		return true
	}
	if m.notice == "" {
		m.showNotice(false, "the run is over; %s leaves and prints the report", m.keyOf("quit"))
	}
	return false
}

// ensureSelection selects a row where none is, or the one that was is gone.
func (m *Model) ensureSelection() {
	all := m.rows()
	for _, r := range all {
		if r.key != "" && r.key == m.sel[m.view] && (m.picked[m.view] || m.right) {
			return
		}
	}
	m.moved = m.moved || m.sel[m.view] != "" && (m.picked[m.view] || m.right)
	delete(m.sel, m.view)
	delete(m.picked, m.view)
	for _, r := range all {
		if r.key != "" {
			m.sel[m.view] = r.key
			return
		}
	}
}

// selected returns the row that keys act on.
func (m *Model) selected() (row, bool) {
	for _, r := range m.rows() {
		if r.key != "" && r.key == m.sel[m.view] {
			return r, true
		}
	}
	return row{}, false
}

// item returns the selected item of the inbox; nil: none is.
func (m *Model) item() *projection.Item {
	if r, ok := m.selected(); ok {
		return r.item
	}
	return nil
}

// handleOutcome takes over what a verb came to.
func (m *Model) handleOutcome(msg doneMsg) {
	m.busy = max(m.busy-1, 0)
	m.refresh()
	if msg.bare {
		m.marked = map[string]bool{}
	}
	switch {
	case msg.out.Failed != "":
		m.goes, m.unkept = false, cmp.Or(msg.typed, m.unkept)
		m.reopen()
		m.showNotice(true, "%s: %s", msg.what, msg.out.Failed)
	case msg.show && msg.out.Text != "":
		m.dialog = dialog{kind: textDialog, title: msg.what, body: m.b.printed(msg.out.Text, m.width, false)}
	default:
		m.showNotice(false, "%s: %s", msg.what, oneLine(firstOf(msg.out.Text, msg.out.Said, "done")))
	}
}

// reopen shows what the person wrote and could not be done, so that it is not lost.
func (m *Model) reopen() {
	if m.unkept != nil && m.dialog.kind == noDialog {
		m.dialog, m.unkept = *m.unkept, nil
	}
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

func (m *Model) showNotice(bad bool, format string, args ...any) {
	m.notice, m.bad = oneLine(fmt.Sprintf(format, args...)), bad
}
