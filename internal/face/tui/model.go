package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// Model is the state of the interface. Bubble Tea's loop owns it.
type Model struct {
	ctx  context.Context //nolint:containedctx // of the commands, which Bubble Tea starts without one
	o    Options
	b    stylePainter
	keys keymap

	width, height int
	snap          RunSnapshot
	version       int   // of the snapshot; 0: none yet
	fatal         error // ends the interface

	view   MainScreenView
	tab    DetailTab
	right  bool                      // keys move in the details
	sel    map[MainScreenView]string // key of the selected row
	picked map[MainScreenView]bool   // the person selected it; else it is the first, which is the most urgent
	moved  bool                      // the row that the person selected disappeared since the last key
	top    map[MainScreenView]int    // first line of a list
	scroll int                       // first line of the details, or of a text view
	filter string
	follow bool // the end of a growing text stays visible
	wrap   bool
	stamps bool
	split  int // columns that the list has more, or less, than by default

	open     map[int]bool // turns that the person folded or opened
	turn     int          // the selected one
	turnLine int          // its line
	talked   int          // number of turns

	listed    listRowCache
	reviewing reviewTab       // the change under review
	marked    map[string]bool // keys of marked rows

	docs    map[string]*commandOutputDocument
	reading bool
	busy    int  // actions in progress
	goes    bool // the person leaves after they end
	ticking bool
	cut     bool // Ctrl-C was forwarded

	pressed time.Time // time of the last key
	dialog  dialog
	typed   *dialog // the person's text, while its action is in progress
	unkept  *dialog // a text whose action failed, until it can be shown
	notice  string
	bad     bool // the notice is about a failure
}

// NewModel returns the model of a run before its first snapshot.
func NewModel(ctx context.Context, o Options) *Model {
	m := &Model{
		ctx: ctx, o: o, b: stylePainter{o.Style}, width: 80, height: 24, view: TasksView, follow: true, stamps: true,
		sel: map[MainScreenView]string{}, picked: map[MainScreenView]bool{}, top: map[MainScreenView]int{}, open: map[int]bool{}, docs: map[string]*commandOutputDocument{},
		marked: map[string]bool{}, reviewing: reviewTab{from: -1, turned: map[string]bool{}},
	}
	m.keys, m.fatal = o.Keys.newKeymap()
	return m
}

// Messages of commands.
type (
	snapshotReadMsg struct {
		snap RunSnapshot
		ask  SnapshotRequest
		err  error
		next bool // it is the read that waits for changes
	}
	commandDoneMsg struct {
		what string
		out  CommandOutcome
		show bool // its output is the result
		bare bool // marks are removed

		typed *dialog // the person's text for the action, if it is not stored elsewhere
	}
	terminalCommandEndedMsg struct{ err error } // the command that used the terminal ended
	clockTickMsg            struct{}
)

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd {
	if m.fatal != nil {
		return tea.Quit
	}
	return m.readSnapshotNow(true)
}

// snapshotRequest returns the required parts of the next snapshot.
func (m *Model) snapshotRequest() SnapshotRequest {
	r, _ := m.selectedRow()
	a := SnapshotRequest{Run: m.o.Run, Task: r.task, View: m.view, Mark: m.markedTaskIDs()}
	if m.view.isList() {
		a.Tab = m.tab
	}
	return a
}

// readSnapshotNow returns the command that reads a snapshot now.
func (m *Model) readSnapshotNow(next bool) tea.Cmd {
	ctx, source, ask := m.ctx, m.o.Source, m.snapshotRequest()
	return func() tea.Msg {
		s, err := source.Read(ctx, ask)
		return snapshotReadMsg{s, ask, err, next}
	}
}

// readAfterChange returns the command that reads a snapshot after the next change, at least a tenth of a
// second after the last one.
func (m *Model) readAfterChange() tea.Cmd {
	ctx, source, ask := m.ctx, m.o.Source, m.snapshotRequest()
	changed := source.Changed(m.o.Run)
	return func() tea.Msg {
		pause := time.NewTimer(time.Second / frames)
		defer pause.Stop()
		for _, c := range []<-chan struct{}{closeWhenFired(pause), changed} {
			select {
			case <-c:
			case <-ctx.Done():
				return nil
			}
		}
		s, err := source.Read(ctx, ask)
		return snapshotReadMsg{s, ask, err, true}
	}
}

func closeWhenFired(t *time.Timer) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		<-t.C
		close(c)
	}()
	return c
}

// Update implements [tea.Model]. It does no I/O.
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
		cmd := m.handleKey(msg)
		m.moved = false
		m.reopenFailedDialog()
		if now := m.snapshotRequest(); now != before {
			if now.Task != before.Task || now.View != before.View {
				m.scroll, m.turn = 0, 0
			}
			return m, tea.Batch(cmd, m.readSnapshotNow(false))
		}
		return m, tea.Batch(cmd, m.loadVisibleDocument())
	case tea.PasteMsg:
		m.dialog.field.insertText(msg.Content)
	case snapshotReadMsg:
		return m, m.applySnapshot(msg)
	case *commandOutputDocument:
		m.reading = false
		m.docs[msg.key] = msg
		if len(m.docs) > 20 {
			m.docs = map[string]*commandOutputDocument{msg.key: msg}
		}
	case commandDoneMsg:
		if m.handleOutcome(msg); m.goes && m.busy == 0 {
			return m, tea.Quit
		}
		return m, m.readSnapshotNow(false)
	case terminalCommandEndedMsg:
		m.invalidateDocuments()
		if msg.err != nil {
			m.showNotice(true, "%s", msg.err)
		}
		return m, m.readSnapshotNow(false)
	case clockTickMsg:
		m.ticking = false
		return m, m.readSnapshotNow(false)
	}
	return m, nil
}

// applySnapshot applies a snapshot, and returns the next command.
func (m *Model) applySnapshot(msg snapshotReadMsg) tea.Cmd {
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
	cmds := []tea.Cmd{m.loadVisibleDocument(), m.scheduleTick()}
	if msg.next {
		cmds = append(cmds, m.readAfterChange())
	}
	if msg.ask != m.snapshotRequest() {
		cmds = append(cmds, m.readSnapshotNow(false))
	}
	return tea.Batch(cmds...)
}

// RunGoneError returns the error for a run that can no longer be shown.
func RunGoneError(err error, run nexus.RunID) error {
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		return e
	}
	return fmt.Errorf("run %s can no longer be shown: %w", run, err)
}

// scheduleTick returns the command that redraws in a second, while a running clock is on the screen.
func (m *Model) scheduleTick() tea.Cmd {
	if m.ticking || m.o.Interrupt == nil && (m.snap.Interrupted || m.snap.Run.Status.HasEnded()) && !m.isVisibleDocumentOutdated() {
		return nil
	}
	m.ticking = true
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return clockTickMsg{} })
}

// lingers is how long after the last key the screen of a finished run stays.
const lingers = 10 * time.Second

// canClose reports whether this process's run has ended and the screen is no longer used: the
// result is printed in lines.
func (m *Model) canClose() bool {
	if m.o.Interrupt == nil || !m.snap.Run.Status.HasEnded() {
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

// ensureSelection selects a row if none is selected, or the selected one has disappeared.
func (m *Model) ensureSelection() {
	all := m.currentRows()
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

// selectedRow returns the row that keys act on.
func (m *Model) selectedRow() (listRow, bool) {
	for _, r := range m.currentRows() {
		if r.key != "" && r.key == m.sel[m.view] {
			return r, true
		}
	}
	return listRow{}, false
}

// selectedItem returns the selected item of the inbox; nil: none.
func (m *Model) selectedItem() *projection.InboxItem {
	if r, ok := m.selectedRow(); ok {
		return r.item
	}
	return nil
}

// handleOutcome handles the result of an action.
func (m *Model) handleOutcome(msg commandDoneMsg) {
	m.busy = max(m.busy-1, 0)
	m.invalidateDocuments()
	if msg.bare {
		m.marked = map[string]bool{}
	}
	switch {
	case msg.out.Failed != "":
		m.goes, m.unkept = false, cmp.Or(msg.typed, m.unkept)
		m.reopenFailedDialog()
		m.showNotice(true, "%s: %s", msg.what, msg.out.Failed)
	case msg.show && msg.out.Text != "":
		m.dialog = dialog{kind: textDialog, title: msg.what, body: m.b.formatOutput(msg.out.Text, m.width, false)}
	default:
		m.showNotice(false, "%s: %s", msg.what, oneLine(firstNonEmpty(msg.out.Text, msg.out.Said, "done")))
	}
}

// reopenFailedDialog shows the person's text of a failed action again, so that it is not lost.
func (m *Model) reopenFailedDialog() {
	if m.unkept != nil && m.dialog.kind == noDialog {
		m.dialog, m.unkept = *m.unkept, nil
	}
}

func firstNonEmpty(all ...string) string {
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
