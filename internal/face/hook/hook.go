// Package hook runs the hooks that observe: commands that are told what
// happened in the runs of a repository, after it happened.
//
// Each hook follows the journal by itself, from a cursor in a file, so the
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
	"github.com/nexus-ai-builder/nexus/internal/sys/sentlog"
)

// Grace is how long hooks may go on with what happened before the end of the
// process. What they do not get to is delivered by the next one.
const Grace = 20 * time.Second

// turnWait is how long a process that is over waits for one that delivers: it
// may be over, too, and not have seen the last event.
const turnWait = 1500 * time.Millisecond

// Journal is what hooks follow.
type Journal interface {
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
}

// Observers are the hooks of a repository that observe.
type Observers struct {
	Journal Journal
	Hooks   []hookcmd.Hook
	Run     func(context.Context, hookcmd.Hook, hookcmd.Event) (hookcmd.Outcome, error)
	Dir     string // of the cursors
	Say     func(format string, args ...any)
	Grace   time.Duration
}

// Start lets the hooks follow the journal, those that never did from what
// happens to a run from now on. What it returns ends them, and waits for them
// as long as the grace.
func (o Observers) Start(ctx context.Context, run nexus.RunID) (stop func(), err error) {
	if err := o.begin(ctx, run); err != nil {
		return nil, err
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	last, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	turn, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { // waited for by stop
		defer close(done)
		err := sentlog.Alone(turn, filepath.Join(o.Dir, ".lock"), func(context.Context) error { return o.serve(life, last) })
		if err != nil {
			o.Say("hooks: %s", err)
		}
	}()
	return func() {
		end(errors.New("the run is over"))
		timer := time.AfterFunc(o.Grace, func() { kill(errors.New("the grace for hooks is over")) })
		defer timer.Stop()
		late := time.AfterFunc(turnWait, func() { leave(errors.New("another process delivers")) })
		defer late.Stop()
		<-done
		leave(context.Canceled)
		kill(context.Canceled)
	}, nil
}

// begin gives hooks without a cursor one: at the journal's last event, so that
// they are told nothing old, of no run.
func (o Observers) begin(ctx context.Context, run nexus.RunID) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return disk.Fail("make a directory", err)
	}
	var last int64
	for _, h := range o.Hooks {
		if _, ok := readCursor(o.path(h)); ok {
			continue
		}
		if last == 0 {
			for _, of := range []nexus.RunID{run, ""} { // from the run's last event on, there are few
				for e, err := range o.Journal.Events(ctx, of, last) {
					if err != nil {
						return err
					}
					last = e.Seq
				}
			}
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
	failed := make(chan error, len(o.Hooks))
	for _, h := range o.Hooks {
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
func (o Observers) follow(life, last context.Context, h hookcmd.Hook) error {
	after, _ := readCursor(o.path(h))
	d := &delivery{o: o, hook: h, after: after, runs: map[nexus.RunID]*state.State{}}
	for e, err := range o.Journal.Follow(life, "", after) {
		if err == nil {
			err = d.take(last, e)
		}
		if err != nil {
			return err
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
	}
	return o.move(h, d.after)
}

// delivery is what one hook is told, by one goroutine.
type delivery struct {
	o     Observers
	hook  hookcmd.Hook
	after int64                        // last event that it was told, or that is none of its points
	runs  map[nexus.RunID]*state.State // nil: its events do not fit together
	told  string                       // what was said last of how it ended
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
			if !d.hook.Is(event.Point) {
				continue
			}
			o, err := d.o.Run(ctx, d.hook, event)
			if err != nil {
				return nil //nolint:nilerr // its time is over, and the cursor stays
			}
			d.tell(event, o)
			said = true
		}
	}
	d.after = e.Seq
	if _, over := e.Fact.(nexus.RunEnded); over {
		delete(d.runs, e.Run) // it is read again if it goes on
	}
	if !said {
		return nil
	}
	return d.o.move(d.hook, e.Seq)
}

// state returns what is true of a run after an event of it.
func (d *delivery) state(ctx context.Context, e nexus.Event) (*state.State, error) {
	s, known := d.runs[e.Run]
	if !known {
		s = state.New(e.Run)
		for old, err := range d.o.Journal.Events(ctx, e.Run, 0) {
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

// tell says how a hook ended that did not end well, once for the same.
func (d *delivery) tell(e hookcmd.Event, o hookcmd.Outcome) {
	if o.State == nexus.HookOK {
		d.told = ""
		return
	}
	text := string(o.State) + ": " + o.Why
	if o.State == nexus.HookRefused {
		text = "it exited with 2, but nothing can be refused here: " + o.Why
	}
	if text != d.told {
		d.o.Say("hook %s at %s: %s", d.hook.Name, e.Point, text)
	}
	d.told = text
}

// cursor is the content of a hook's file.
type cursor struct {
	After int64 `json:"after"` // last event of the journal that it need not be told any more
}

func (o Observers) path(h hookcmd.Hook) string { return filepath.Join(o.Dir, h.Name+".json") }

func (o Observers) move(h hookcmd.Hook, after int64) error {
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
