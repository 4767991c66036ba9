// Package tui is the terminal interface: it shows a run on the whole screen, and people act on it
// by keys.
//
// One [Model] contains the state. Its parts have methods, but only Update changes the state, and
// Update does no I/O. Slow operations are commands of Bubble Tea, at most one of a kind at once.
// One of them waits for the next change of the run and reads a [RunSnapshot], so the screen is drawn
// at most ten times a second, however much happens, and not at all while nothing happens.
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

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// SnapshotSource provides the displayed data.
type SnapshotSource interface {
	// Changed returns a channel that is closed at the next change of a run. A caller that gets
	// the channel before it reads misses no change.
	Changed(run nexus.RunID) <-chan struct{}
	Read(ctx context.Context, ask SnapshotRequest) (RunSnapshot, error)
}

// CommandLineRunner runs people's command lines of the program.
type CommandLineRunner interface {
	// Do runs a command line in this process, without a terminal, with the given standard input.
	Do(ctx context.Context, args []string, stdin string) CommandOutcome
	// Edit opens a file or directory in the person's editor.
	Edit(path string) TerminalCommand
	// Terminal runs a command line with the terminal, until it ends.
	Terminal(ctx context.Context, args []string) TerminalCommand
}

// TerminalCommand is a command that uses the terminal until it ends.
type TerminalCommand = tea.ExecCommand

// CommandOutcome is the result of a command line.
type CommandOutcome struct {
	Text   string          // its output
	Data   json.RawMessage // the JSON object that it printed
	Said   string          // its last message
	Failed string          // the failure and the next step; empty: success
}

// SnapshotRequest selects the parts of a snapshot.
type SnapshotRequest struct {
	Run  nexus.RunID
	Task nexus.TaskID // task whose details are included; empty: none
	View MainScreenView
	Tab  DetailTab // tab on the screen
	Mark string    // marked tasks, each with a line end; their actions are also included
}

// RunSnapshot is the drawn data of a run at one moment.
type RunSnapshot struct {
	Now         time.Time
	Seq         int64 // of the latest event
	Run         view.RunView
	Interrupted bool
	Inbox       []projection.InboxItem
	Lanes       []projection.BoardLaneCards
	Task        *projection.TaskDetailView
	Actions     []projection.PersonAction // of the run
	Marked      map[nexus.TaskID][]projection.PersonAction
	Graph       projection.PlanGraph
	WhatIf      *projection.TaskRemovalForecast
	Timeline    projection.RunTimeline
	Cost        projection.RunCostView
	Checks      projection.GateResultTable
	Sessions    []projection.SessionView
	Log         []projection.EventLogLine
}

// keptLog limits the shown lines of the log.
const keptLog = 500

// TakeSnapshot takes a snapshot of a run.
func TakeSnapshot(p *projection.RunProjection, ask SnapshotRequest, now time.Time) (RunSnapshot, error) {
	s := RunSnapshot{Now: now, Seq: p.LastSeq(), Run: p.Run(now), Interrupted: p.IsInterrupted(), Actions: p.RunActions()}
	s.Inbox, s.Lanes = p.InboxItems(now), p.BoardLanes(now)
	if t, ok := p.TaskDetailView(ask.Task, now); ask.Task != "" && ok {
		s.Task = &t
	}
	for id := range strings.Lines(ask.Mark) {
		if s.Marked == nil {
			s.Marked = map[nexus.TaskID][]projection.PersonAction{}
		}
		id := nexus.TaskID(strings.TrimSuffix(id, "\n"))
		s.Marked[id] = p.TaskActions(id)
	}
	var err error
	switch {
	case ask.Tab == ChecksTab:
		s.Checks = p.GateResults()
	case ask.Tab == CostTab && ask.Task == "":
		s.Cost = p.Cost(now)
	case ask.Tab == LogTab && ask.Task == "":
		s.Log, err = p.EventLog(max(p.LastSeq()-keptLog, 0), keptLog)
	}
	switch ask.View {
	case GraphView:
		s.Graph = p.PlanGraph(now)
		if w, ok := p.ForecastWithoutTask(ask.Task, now); ask.Task != "" && ok {
			s.WhatIf = &w
		}
	case TimelineView:
		s.Timeline = p.Timeline(now)
	case CostView:
		s.Cost = p.Cost(now)
	case AgentsView:
		s.Sessions = p.Sessions(now)
	case LogView:
		s.Log, err = p.EventLog(max(p.LastSeq()-keptLog, 0), keptLog)
	default:
	}
	return s, err
}

// Options configure the interface.
type Options struct {
	Run       nexus.RunID
	Place     string // repository and branch, for the header
	Source    SnapshotSource
	Verbs     CommandLineRunner
	Style     view.OutputStyle
	Keys      KeyBindings
	Interrupt func() // handles Ctrl-C if this process conducts the run, whose end closes the screen; nil: it does not
	In        io.Reader
	Out       io.Writer
	Clock     func() time.Time // measures reading times; nil: not measured
	Environ   []string
}

// ErrInterrupted is the error after a signal.
var ErrInterrupted = errors.New("a signal came")

// RunInterface shows a run on the whole screen until the person leaves. It returns the last snapshot. It
// never ends the run.
func RunInterface(ctx context.Context, o Options) (RunSnapshot, error) {
	profile := colorprofile.ANSI256
	if !o.Style.Color {
		profile = colorprofile.ASCII
	}
	m := NewModel(ctx, o)
	p := tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithFPS(frames),
		tea.WithEnvironment(o.Environ), tea.WithColorProfile(profile), tea.WithoutSignalHandler())
	// With a context of its own, the program would not wait for the reader of its keys, which
	// would then consume the first key of the next reader.
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

// frames limits the redraws per second.
const frames = 10
