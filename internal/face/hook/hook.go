// Package hook notifies observing hooks, and reporting plugins, of events in the runs of a
// repository, after they happened.
//
// Each observer follows the journal separately, from a cursor in a file, so the journal is the
// queue: a slow hook delays no other, and only its current event is in memory. The cursor moves
// when a command has ended, so a killed process repeats at most one event, and loses none. One
// process at a time delivers the events of a repository.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sentmessages"
)

// Grace limits how long hooks may process earlier events after the end of the process. The next
// process delivers the rest.
const Grace = 20 * time.Second

// EventJournal is the journal that hooks follow.
type EventJournal interface {
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Head(ctx context.Context) (int64, error)
}

// EventObserver is a hook or a plugin that receives events.
type EventObserver struct {
	Name string // of its cursor
	Who  string // for people: hook notify
	Is   func(nexus.HookPoint) bool
	// Tell sends it an event. It returns the problem, empty for none, or an error if ctx ended
	// before.
	Tell func(context.Context, hookcmd.HookEvent) (why string, err error)
	Left func() bool // reports that this process sends it no more events; nil: never
}

// RepositoryObservers are the observers of a repository.
type RepositoryObservers struct {
	Journal EventJournal
	All     []EventObserver
	Dir     string // of the cursors
	Say     func(format string, args ...any)
	Grace   time.Duration
}

// Start lets the observers follow the journal; new ones start with the next event. The returned
// function stops them, and waits for them up to the grace period.
func (o RepositoryObservers) Start(ctx context.Context) (stop func(), err error) {
	if err := o.initCursors(ctx); err != nil {
		return nil, err
	}
	tell := func(err error) { o.Say("hooks: %s", err) }
	return sentmessages.RunBeside(ctx, filepath.Join(o.Dir, ".lock"), o.Grace, tell, o.serveObservers), nil
}

// initCursors gives observers without a cursor one at the journal's last event, so that they receive no
// old events.
func (o RepositoryObservers) initCursors(ctx context.Context) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return filewrite.WrapError("make a directory", err)
	}
	last, err := o.Journal.Head(ctx)
	if err != nil {
		return err
	}
	for _, h := range o.All {
		if _, ok := readCursor(o.cursorPath(h)); ok {
			continue
		}
		if err := o.writeCursor(h, last); err != nil {
			return err
		}
	}
	return nil
}

// serveObservers lets every observer follow the journal until life ends, and catch up until last does.
func (o RepositoryObservers) serveObservers(life, last context.Context) error {
	var all sync.WaitGroup
	failed := make(chan error, len(o.All))
	for _, h := range o.All {
		all.Go(func() { failed <- o.followJournal(life, last, h) })
	}
	all.Wait()
	close(failed)
	var err error
	for e := range failed {
		err = errors.Join(err, e)
	}
	return err
}

// followJournal sends the events to an observer.
func (o RepositoryObservers) followJournal(life, last context.Context, h EventObserver) error {
	after, _ := readCursor(o.cursorPath(h))
	d := &observerDelivery{o: o, who: h, after: after, runs: map[nexus.RunID]*state.State{}}
	for e, err := range o.Journal.Follow(life, "", after) {
		if err == nil {
			err = d.handleEvent(last, e)
		}
		if err != nil {
			return err
		}
		if h.hasLeft() {
			return o.writeCursor(h, d.after)
		}
	}
	for e, err := range o.Journal.Events(last, "", d.after) {
		if err == nil {
			err = d.handleEvent(last, e)
		}
		if last.Err() != nil {
			return nil // the next process continues from the cursor
		}
		if err != nil {
			return err
		}
		if h.hasLeft() {
			break
		}
	}
	return o.writeCursor(h, d.after)
}

func (h EventObserver) hasLeft() bool { return h.Left != nil && h.Left() }

// observerDelivery is the delivery to one observer, by one goroutine.
type observerDelivery struct {
	o     RepositoryObservers
	who   EventObserver
	after int64                        // last event that was sent, or is for none of its points
	runs  map[nexus.RunID]*state.State // nil: its events are inconsistent
	told  string                       // the last reported problem
}

// NewHookObserver returns a hook as an observer; run runs it.
func NewHookObserver(h hookcmd.DeclaredHook, run func(context.Context, hookcmd.DeclaredHook, hookcmd.HookEvent) (hookcmd.HookOutcome, error)) EventObserver {
	return EventObserver{Name: h.Name, Who: "hook " + h.Name, Is: h.RunsAt, Tell: func(ctx context.Context, e hookcmd.HookEvent) (string, error) {
		o, err := run(ctx, h, e)
		switch {
		case err != nil || o.State == nexus.HookOK:
			return "", err
		case o.State == nexus.HookRefused:
			return "it exited with 2, but nothing can be refused here: " + o.Why, nil
		default:
			return string(o.State) + ": " + o.Why, nil
		}
	}}
}

// NewPluginObserver returns a plugin as an observer of every point after an action.
func NewPluginObserver(r *plugin.EventReporter) EventObserver {
	return EventObserver{
		Name: "plugin." + r.Plugin.Name, // no hook has a dot in its name
		Who:  "plugin " + r.Plugin.Name,
		Is:   func(p nexus.HookPoint) bool { return !p.CanRefuse() },
		Tell: r.SendEvent,
		Left: r.HasFailed,
	}
}

// handleEvent sends an event to the observer if it is at one of its points.
func (d *observerDelivery) handleEvent(ctx context.Context, e nexus.Event) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the cursor stays
	}
	s, err := d.stateAfter(ctx, e)
	if err != nil {
		return err
	}
	said := false
	if s != nil {
		for _, event := range hookEventsOf(s, e) {
			if !d.who.Is(event.Point) {
				continue
			}
			why, err := d.who.Tell(ctx, event)
			if err != nil {
				return nil //nolint:nilerr // its time is over, and the cursor stays
			}
			d.reportFailure(event, why)
			said = true
			if d.who.hasLeft() {
				break
			}
		}
	}
	d.after = e.Seq
	if _, over := e.Fact.(nexus.RunEnded); over {
		delete(d.runs, e.Run) // it is read again if the run continues
	}
	if !said {
		return nil
	}
	return d.o.writeCursor(d.who, e.Seq)
}

// stateAfter returns the state of a run after an event.
func (d *observerDelivery) stateAfter(ctx context.Context, e nexus.Event) (*state.State, error) {
	s, known := d.runs[e.Run]
	if !known {
		past := d.o.Journal.Events(context.WithoutCancel(ctx), e.Run, 0)
		s = state.NewState(e.Run).ReadPastFrom(past)
		for old, err := range past {
			if err != nil {
				return nil, err
			}
			if old.Seq >= e.Seq || s.Apply(old) != nil {
				break
			}
		}
	}
	if s != nil && s.Apply(e) != nil {
		s = nil
	}
	d.runs[e.Run] = s
	return s, nil
}

// reportFailure reports a problem; the same one only once.
func (d *observerDelivery) reportFailure(e hookcmd.HookEvent, why string) {
	if why != "" && why != d.told {
		d.o.Say("%s at %s: %s", d.who.Who, e.Point, why)
	}
	d.told = why
}

// observerCursor is the content of an observer's cursor file.
type observerCursor struct {
	After int64 `json:"after"` // last journal event that need not be sent again
}

func (o RepositoryObservers) cursorPath(h EventObserver) string {
	return filepath.Join(o.Dir, h.Name+".json")
}

func (o RepositoryObservers) writeCursor(h EventObserver, after int64) error {
	data, err := json.Marshal(observerCursor{after})
	if err != nil {
		return err
	}
	return filewrite.ReplaceFile(o.cursorPath(h), data)
}

// readCursor reads a cursor. An unreadable one counts as missing.
func readCursor(path string) (after int64, ok bool) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err != nil {
		return 0, false
	}
	return parseCursor(data)
}

func parseCursor(data []byte) (after int64, ok bool) {
	var c observerCursor
	if json.Unmarshal(data, &c) != nil || c.After <= 0 {
		return 0, false
	}
	return c.After, true
}
