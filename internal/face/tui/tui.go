// Package tui is the terminal interface: a run on the whole screen, and by keys
// what people do about it.
//
// One [Model] holds what is shown. Its parts have methods, and none changes
// itself: Update does, and it reads and writes nothing. What takes time is a
// command of Bubble Tea, at most one of a kind at once: one waits for the next
// change of the run and reads a [Snapshot], so that however much happens, the
// screen is drawn ten times a second at most, and not at all while nothing does.
package tui

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Source is where what is shown comes from.
type Source interface {
	// Changed returns a channel that is closed at the next change of a run. Who takes
	// it before it reads misses none.
	Changed(run nexus.RunID) <-chan struct{}
	Read(ctx context.Context, ask SnapshotRequest) (Snapshot, error)
}

// CommandRunner does what people ask for: command lines of the program.
type CommandRunner interface {
	// Do runs a command line in this process, without a terminal, which reads what is
	// given on standard input.
	Do(ctx context.Context, args []string, stdin string) Outcome
	// Edit opens a file or directory in the person's editor.
	Edit(path string) Command
	// Terminal runs a command line with the terminal, which it has until it ends.
	Terminal(ctx context.Context, args []string) Command
}

// Command has the terminal until it ends.
type Command = tea.ExecCommand

// Outcome is what a command line came to.
type Outcome struct {
	Text   string          // what it printed
	Data   json.RawMessage // the object that it printed, with --json
	Said   string          // its last message
	Failed string          // why it could not do it, and what to do next; empty: it did
}

// SnapshotRequest says what a snapshot is to have.
type SnapshotRequest struct {
	Run  nexus.RunID
	Task nexus.TaskID // whose details it has; empty: nobody's
	View View
	Tab  Tab    // that is on the screen
	Mark string // tasks that are marked, each with a line end; what can be done with them is read, too
}

// Snapshot is all that is drawn of a run at a moment.
type Snapshot struct {
	Now         time.Time
	Seq         int64 // of the latest event
	Run         view.Run
	Interrupted bool
	Inbox       []projection.Item
	Lanes       []projection.LaneCards
	Task        *projection.Task
	Actions     []projection.Action // of the run
	Marked      map[nexus.TaskID][]projection.Action
	Graph       projection.Graph
	WhatIf      *projection.WhatIf
	Timeline    projection.Timeline
	Cost        projection.Cost
	Checks      projection.Checks
	Sessions    []projection.Session
	Log         []projection.LogLine
}

// keptLog is how many lines of the log are shown.
const keptLog = 500

// TakeSnapshot takes a snapshot of a run.
func TakeSnapshot(p *projection.Projection, ask SnapshotRequest, now time.Time) (Snapshot, error) {
	s := Snapshot{Now: now, Seq: p.Seq(), Run: p.Run(now), Interrupted: p.Interrupted(), Actions: p.RunActions()}
	s.Inbox, s.Lanes = p.Inbox(now), p.Lanes(now)
	if t, ok := p.Task(ask.Task, now); ask.Task != "" && ok {
		s.Task = &t
	}
	for id := range strings.Lines(ask.Mark) {
		if s.Marked == nil {
			s.Marked = map[nexus.TaskID][]projection.Action{}
		}
		id := nexus.TaskID(strings.TrimSuffix(id, "\n"))
		s.Marked[id] = p.TaskActions(id)
	}
	var err error
	switch {
	case ask.Tab == ChecksTab:
		s.Checks = p.Checks()
	case ask.Tab == CostTab && ask.Task == "":
		s.Cost = p.Cost(now)
	case ask.Tab == LogTab && ask.Task == "":
		s.Log, err = p.Log(max(p.Seq()-keptLog, 0), keptLog)
	}
	switch ask.View {
	case GraphView:
		s.Graph = p.Graph(now)
		if w, ok := p.WithoutTask(ask.Task, now); ask.Task != "" && ok {
			s.WhatIf = &w
		}
	case TimelineView:
		s.Timeline = p.Timeline(now)
	case CostView:
		s.Cost = p.Cost(now)
	case AgentsView:
		s.Sessions = p.Sessions(now)
	case LogView:
		s.Log, err = p.Log(max(p.Seq()-keptLog, 0), keptLog)
	default:
	}
	return s, err
}

// Options say what is shown, and how.
type Options struct {
	Run       nexus.RunID
	Place     string // repository and branch, for the header
	Source    Source
	Verbs     CommandRunner
	Style     view.Style
	Keys      Keys
	Interrupt func() // this process conducts the run: what Ctrl-C does there. The screen closes when the run is over. Nil: another one does
	In        io.Reader
	Out       io.Writer
	Clock     func() time.Time // how long reading takes; nil: that is not known
	Environ   []string
}

// ErrInterrupted is the end of what a signal ended.
var ErrInterrupted = errors.New("a signal came")

// Watch shows a run on the whole screen until the person leaves. It returns what
// was shown last. It never ends the run.
func Watch(ctx context.Context, o Options) (Snapshot, error) {
	profile := colorprofile.ANSI256
	if !o.Style.Color {
		profile = colorprofile.ASCII
	}
	m := New(ctx, o)
	p := tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithFPS(frames),
		tea.WithEnvironment(o.Environ), tea.WithColorProfile(profile), tea.WithoutSignalHandler())
	// With a context of its own, the program would not wait for what reads its keys,
	// which then takes the first key from whoever reads next.
	defer context.AfterFunc(ctx, p.Quit)()
	last, err := p.Run()
	if shown, ok := last.(*Model); ok {
		m = shown
	}
	if ctx.Err() != nil {
		return m.snap, ErrInterrupted
	}
	if err == nil {
		err = m.fatal
	}
	return m.snap, err
}

// frames is how often a second the screen is drawn at most.
const frames = 10
