// Package hook tells hooks that observe, and plugins that report, what happened
// in the runs of a repository, after it happened.
//
// Each of them follows the journal by itself, from a cursor in a file, so the
// journal is the queue: a slow hook holds up nobody, and nothing but the event
// that it is told is in memory. The cursor moves when a command has ended, so
// a process that is killed repeats one event at most, and loses none. One
// process at a time delivers what happens in a repository.
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
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sentlog"
)

// Grace is how long hooks may go on with what happened before the end of the
// process. What they do not get to is delivered by the next one.
const Grace = 20 * time.Second

// Journal is what hooks follow.
type Journal interface {
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Head(ctx context.Context) (int64, error)
}

// Observer is a hook or a plugin that is told what happens.
type Observer struct {
	Name string // of its cursor
	Who  string // for people: hook notify
	Is   func(nexus.HookPoint) bool
	// Tell tells it an event. It returns what went wrong, empty for nothing, or an
	// error where its time was over before.
	Tell func(context.Context, hookcmd.Event) (why string, err error)
	Left func() bool // reports that it is told no more by this process; nil: never
}

// Observers are those of a repository.
type Observers struct {
	Journal Journal
	All     []Observer
	Dir     string // of the cursors
	Say     func(format string, args ...any)
	Grace   time.Duration
}

// Start lets the hooks follow the journal, those that never did from what
// happens from now on. What it returns ends them, and waits for them as long as the
// grace.
func (o Observers) Start(ctx context.Context) (stop func(), err error) {
	if err := o.begin(ctx); err != nil {
		return nil, err
	}
	tell := func(err error) { o.Say("hooks: %s", err) }
	return sentlog.RunBeside(ctx, filepath.Join(o.Dir, ".lock"), o.Grace, tell, o.serve), nil
}

// begin gives hooks without a cursor one: at the journal's last event, so that
// they are told nothing old, of no run.
func (o Observers) begin(ctx context.Context) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return disk.WrapError("make a directory", err)
	}
	last, err := o.Journal.Head(ctx)
	if err != nil {
		return err
	}
	for _, h := range o.All {
		if _, ok := readCursor(o.path(h)); ok {
			continue
		}
		if err := o.move(h, last); err != nil {
			return err
		}
	}
	return nil
}

// serve lets every hook follow until life ends, and catch up until last does.
func (o Observers) serve(life, last context.Context) error {
	var all sync.WaitGroup
	failed := make(chan error, len(o.All))
	for _, h := range o.All {
		all.Go(func() { failed <- o.follow(life, last, h) })
	}
	all.Wait()
	close(failed)
	var err error
	for e := range failed {
		err = errors.Join(err, e)
	}
	return err
}

// follow tells a hook what happens.
func (o Observers) follow(life, last context.Context, h Observer) error {
	after, _ := readCursor(o.path(h))
	d := &delivery{o: o, who: h, after: after, runs: map[nexus.RunID]*state.State{}}
	for e, err := range o.Journal.Follow(life, "", after) {
		if err == nil {
			err = d.take(last, e)
		}
		if err != nil {
			return err
		}
		if h.left() {
			return o.move(h, d.after)
		}
	}
	for e, err := range o.Journal.Events(last, "", d.after) {
		if err == nil {
			err = d.take(last, e)
		}
		if last.Err() != nil {
			return nil // the next process goes on from the cursor
		}
		if err != nil {
			return err
		}
		if h.left() {
			break
		}
	}
	return o.move(h, d.after)
}

func (h Observer) left() bool { return h.Left != nil && h.Left() }

// delivery is what one observer is told, by one goroutine.
type delivery struct {
	o     Observers
	who   Observer
	after int64                        // last event that it was told, or that is none of its points
	runs  map[nexus.RunID]*state.State // nil: its events do not fit together
	told  string                       // what was said last of how it ended
}

// Hook returns a hook as an observer; run runs it.
func Hook(h hookcmd.Hook, run func(context.Context, hookcmd.Hook, hookcmd.Event) (hookcmd.Outcome, error)) Observer {
	return Observer{Name: h.Name, Who: "hook " + h.Name, Is: h.RunsAt, Tell: func(ctx context.Context, e hookcmd.Event) (string, error) {
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

// Reporter returns a plugin as an observer of every point that is not asked
// before it happens.
func Reporter(r *plugin.Reporter) Observer {
	return Observer{
		Name: "plugin." + r.Plugin.Name, // no hook has a dot in its name
		Who:  "plugin " + r.Plugin.Name,
		Is:   func(p nexus.HookPoint) bool { return !p.Refuses() },
		Tell: r.Tell,
		Left: r.HasFailed,
	}
}

// take tells the hook an event where it is one of its points.
func (d *delivery) take(ctx context.Context, e nexus.Event) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the cursor stays
	}
	s, err := d.state(ctx, e)
	if err != nil {
		return err
	}
	said := false
	if s != nil {
		for _, event := range eventsOf(s, e) {
			if !d.who.Is(event.Point) {
				continue
			}
			why, err := d.who.Tell(ctx, event)
			if err != nil {
				return nil //nolint:nilerr // its time is over, and the cursor stays
			}
			d.tell(event, why)
			said = true
			if d.who.left() {
				break
			}
		}
	}
	d.after = e.Seq
	if _, over := e.Fact.(nexus.RunEnded); over {
		delete(d.runs, e.Run) // it is read again if it goes on
	}
	if !said {
		return nil
	}
	return d.o.move(d.who, e.Seq)
}

// state returns what is true of a run after an event of it.
func (d *delivery) state(ctx context.Context, e nexus.Event) (*state.State, error) {
	s, known := d.runs[e.Run]
	if !known {
		past := d.o.Journal.Events(context.WithoutCancel(ctx), e.Run, 0)
		s = state.New(e.Run).ReadPastFrom(past)
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

// tell says what went wrong, once for the same.
func (d *delivery) tell(e hookcmd.Event, why string) {
	if why != "" && why != d.told {
		d.o.Say("%s at %s: %s", d.who.Who, e.Point, why)
	}
	d.told = why
}

// cursor is the content of a hook's file.
type cursor struct {
	After int64 `json:"after"` // last event of the journal that it need not be told any more
}

func (o Observers) path(h Observer) string { return filepath.Join(o.Dir, h.Name+".json") }

func (o Observers) move(h Observer, after int64) error {
	data, err := json.Marshal(cursor{after})
	if err != nil {
		return err
	}
	return disk.Replace(o.path(h), data)
}

// readCursor reads a hook's cursor. One that cannot be read is none.
func readCursor(path string) (after int64, ok bool) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err != nil {
		return 0, false
	}
	return parseCursor(data)
}

func parseCursor(data []byte) (after int64, ok bool) {
	var c cursor
	if json.Unmarshal(data, &c) != nil || c.After <= 0 {
		return 0, false
	}
	return c.After, true
}
