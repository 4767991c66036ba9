// Package projectionhub keeps the projections of all runs of a repository up to date with its journal, for
// interfaces that show several runs to several people: pages, their API, and the terminal
// interface.
package projectionhub

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// EventJournal is the part of a journal that a hub reads.
type EventJournal interface {
	Runs(ctx context.Context) ([]journal.RecordedRun, error)
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Head(ctx context.Context) (int64, error)
	RunHolders(ctx context.Context) (map[nexus.RunID]nexus.RunProcess, error)
}

// Options configure a hub.
type Options struct {
	Repository string                                                  // its directory, for lists of several
	Now        func() time.Time                                        // required
	Earlier    func(ctx context.Context) *route.PastRunStatistics      // durations of earlier runs; nil: unknown
	Place      func(nexus.RunID, nexus.AttemptID) (dir, branch string) // of an attempt's worktree; nil: unknown
	Idle       time.Duration                                           // time until an unused projection is released; 0: a minute
}

// ProjectionHub stores the projections of the runs of a repository. They are built when they are read, kept
// up to date by [ProjectionHub.Follow], and released when they are no longer read. A hub is safe for
// concurrent use; a slow reader delays only other readers of the same run.
type ProjectionHub struct {
	j    EventJournal
	o    Options
	ctx  context.Context //nolint:containedctx // of what reads the journal for a reader
	mu   sync.Mutex      // guards the fields below
	runs map[nexus.RunID]*hubRun
	ids  []nexus.RunID // the latest last
	wake chan struct{} // closed at any change; nil: nobody waits
}

// hubRun is a run of a hub. The hub's lock guards all but p.
type hubRun struct {
	id     nexus.RunID
	latest bool
	holder *nexus.RunProcess
	known  bool // holder was read since the run was added
	wake   chan struct{}
	queue  []nexus.Event // events that p has not applied
	behind bool          // p must read the journal: it is new, or the queue was too long
	used   time.Time
	over   *runSummary // of a finished run, if nothing has happened since

	mu sync.Mutex                // guards p; taken before the hub's lock
	p  *projection.RunProjection // nil: not in use
}

// runSummary is the part of a run that lists of all runs show.
type runSummary struct {
	run    view.RunView
	items  []projection.InboxItem
	latest bool
}

// maxQueue is the number of queued events above which a reader must read the journal.
const maxQueue = 1000

// OpenHub returns a hub for the runs of a journal, which it reads until the context
// ends.
func OpenHub(ctx context.Context, j EventJournal, o Options) (*ProjectionHub, error) {
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	h := &ProjectionHub{j: j, o: o, ctx: ctx, runs: map[nexus.RunID]*hubRun{}}
	runs, err := j.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		e := h.runEntryOf(r.ID)
		e.holder, e.known = r.Holder, true
	}
	return h, nil
}

// runEntryOf returns the entry of a run, which is the latest if it is new. The caller
// holds the lock.
func (h *ProjectionHub) runEntryOf(id nexus.RunID) *hubRun {
	if e := h.runs[id]; e != nil {
		return e
	}
	if n := len(h.ids); n > 0 {
		h.runs[h.ids[n-1]].latest = false
	}
	e := &hubRun{id: id, behind: true, latest: true}
	h.runs[id] = e
	h.ids = append(h.ids, id)
	return e
}

// readConductors reads the conductors of the runs.
func (h *ProjectionHub) readConductors(ctx context.Context) error {
	all, err := h.j.RunHolders(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, e := range h.runs {
		by, held := all[id]
		was := e.holder
		first := !e.known
		e.known = true
		if e.holder = nil; held {
			e.holder = &by
		}
		if first || (was == nil) != (e.holder == nil) {
			h.wakeWaiters(e)
		}
	}
	return nil
}

// wakeWaiters wakes the waiters for a change of a run. The caller holds the lock.
func (h *ProjectionHub) wakeWaiters(e *hubRun) {
	for _, c := range []*chan struct{}{&e.wake, &h.wake} {
		if *c != nil {
			close(*c)
			*c = nil
		}
	}
}

// Changed returns a channel that is closed at the next change of a run, or of any run if the ID
// is empty or unknown. A caller that gets the channel before it reads misses no change.
func (h *ProjectionHub) Changed(run nexus.RunID) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &h.wake
	if e := h.runs[run]; e != nil {
		c = &e.wake
	}
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

// Follow keeps the hub up to date with the journal until the context ends.
func (h *ProjectionHub) Follow(ctx context.Context) error {
	head, err := h.j.Head(ctx)
	if err == nil {
		err = h.markMissedEvents(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	looking, stop := context.WithCancelCause(ctx)
	var beat sync.WaitGroup
	defer beat.Wait()
	defer stop(errors.New("the journal is no longer followed"))
	beat.Go(func() { h.refreshLoop(looking) })
	for e, err := range h.j.Follow(ctx, "", head) {
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		h.enqueueEvent(e)
	}
	return nil
}

// markMissedEvents marks the events between [OpenHub] and the number from which the hub follows.
func (h *ProjectionHub) markMissedEvents(ctx context.Context) error {
	runs, err := h.j.Runs(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range runs {
		e := h.runEntryOf(r.ID)
		e.queue, e.behind, e.over, e.holder = nil, true, nil, r.Holder
		h.wakeWaiters(e)
	}
	return nil
}

// refreshLoop reads the conductors of the runs once a second, and releases idle projections.
func (h *ProjectionHub) refreshLoop(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		_ = h.readConductors(ctx) // the next round tries again
		h.releaseIdleProjections()
	}
}

// enqueueEvent adds an event to the queue of its run.
func (h *ProjectionHub) enqueueEvent(e nexus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.runEntryOf(e.Run)
	switch {
	case x.behind:
	case len(x.queue) >= maxQueue:
		x.queue, x.behind = nil, true
	default:
		x.queue = append(x.queue, e)
	}
	x.over = nil
	h.wakeWaiters(x)
}

// releaseIdleProjections releases projections that were not used for a while.
func (h *ProjectionHub) releaseIdleProjections() {
	for _, id := range h.RunIDs() {
		h.mu.Lock()
		e := h.runs[id]
		h.mu.Unlock()
		if !e.mu.TryLock() {
			continue // in use
		}
		h.mu.Lock()
		if e.p != nil && h.o.Now().Sub(e.used) > h.o.Idle {
			e.dropProjection()
		}
		h.mu.Unlock()
		e.mu.Unlock()
	}
}

// dropProjection releases the projection. The caller holds both locks.
func (e *hubRun) dropProjection() { e.p, e.queue, e.behind = nil, nil, true }

// WithProjection passes a run, as of the last event that the hub knows, to a function. No other function
// sees the run at the same time, and none may keep the projection.
func (h *ProjectionHub) WithProjection(run nexus.RunID, see func(*projection.RunProjection) error) error {
	h.mu.Lock()
	e := h.runs[run]
	h.mu.Unlock()
	if e == nil {
		return &nexus.Error{Code: nexus.CodeNotFound, Message: "there is no run " + view.EscapeForTerminal(string(run)), Hint: "nexus runs lists them."}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := h.catchUp(e); err != nil {
		return err
	}
	return see(e.p)
}

// catchUp brings the projection of an entry up to date. The caller holds the entry's lock.
func (h *ProjectionHub) catchUp(e *hubRun) error {
	h.mu.Lock()
	queue, behind := e.queue, e.behind
	e.queue, e.behind, e.used = nil, false, h.o.Now()
	e.over = nil // the journal may contain more than the events that the hub received
	holder, known, latest := e.holder, e.known, e.latest
	h.mu.Unlock()
	if err := h.applyEvent(e, e.id, queue, behind); err != nil {
		h.mu.Lock()
		e.dropProjection()
		h.mu.Unlock()
		return err
	}
	if known { // the conductor of a run that just began is read next
		e.p.SetConductor(holder)
	}
	if !latest {
		e.p.MarkLaterRunExists()
	}
	return nil
}

func (h *ProjectionHub) applyEvent(e *hubRun, id nexus.RunID, queue []nexus.Event, behind bool) error {
	if e.p == nil {
		e.p, behind = projection.NewProjection(id, h.projectionOptions(id)), true
	}
	if behind {
		for x, err := range h.j.Events(h.ctx, id, e.p.LastSeq()) {
			if err != nil {
				return err
			}
			if err := e.p.Apply(x); err != nil {
				return err
			}
		}
	}
	for _, x := range queue {
		if err := e.p.Apply(x); err != nil {
			return err
		}
	}
	return nil
}

// projectionOptions returns the options of a run's projection.
func (h *ProjectionHub) projectionOptions(id nexus.RunID) projection.Options {
	o := projection.Options{Past: func(after int64) iter.Seq2[nexus.Event, error] { return h.j.Events(h.ctx, id, after) }}
	if h.o.Earlier != nil {
		o.Earlier = func() *route.PastRunStatistics { return h.o.Earlier(h.ctx) }
	}
	if h.o.Place != nil {
		o.Place = func(a nexus.AttemptID) (dir, branch string) { return h.o.Place(id, a) }
	}
	return o
}

// RunIDs returns the runs, the latest first.
func (h *ProjectionHub) RunIDs() []nexus.RunID {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := slices.Clone(h.ids)
	slices.Reverse(ids)
	return ids
}

// Runs returns all runs, the latest first. Unreadable runs are left out, and the error names the
// first one.
func (h *ProjectionHub) Runs(now time.Time) ([]view.UnfinishedRunRow, error) {
	all := []view.UnfinishedRunRow{}
	err := h.forEachRun(now, func(g runSummary) {
		all = append(all, view.UnfinishedRunRow{Repository: h.o.Repository, RunView: g.run})
	})
	return all, err
}

// Inbox returns the items that wait for a person in all runs, the oldest first, and then the
// notices.
func (h *ProjectionHub) Inbox(now time.Time) ([]projection.InboxItem, error) {
	all := []projection.InboxItem{}
	err := h.forEachRun(now, func(g runSummary) { all = append(all, g.items...) })
	return sortItems(all), err
}

// forEachRun passes the summaries of all runs, the latest first.
func (h *ProjectionHub) forEachRun(now time.Time, take func(runSummary)) error {
	var failed error
	for _, id := range h.RunIDs() {
		g, err := h.summarizeRun(id, now)
		switch {
		case err == nil:
			take(g)
		case failed == nil:
			failed = fmt.Errorf("run %s: %w", id, err)
		}
	}
	return failed
}

// summarizeRun returns the summary of a run for lists. The summary of a finished run is kept
// instead of its projection.
func (h *ProjectionHub) summarizeRun(id nexus.RunID, now time.Time) (runSummary, error) {
	h.mu.Lock()
	e := h.runs[id]
	if g := e.over; g != nil && g.latest == e.latest {
		h.mu.Unlock()
		return *g, nil
	}
	h.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	looked := e.p != nil
	if err := h.catchUp(e); err != nil {
		return runSummary{}, err
	}
	g := runSummary{e.p.Run(now), e.p.InboxItems(now), !e.p.HasLaterRun()}
	if !g.run.Status.HasEnded() {
		return g, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(e.queue) == 0 && !e.behind && e.latest == g.latest {
		e.over = &g
	}
	if !looked {
		e.dropProjection()
	}
	return g, nil
}

// sortItems puts waiting items before notices, each the oldest first.
func sortItems(all []projection.InboxItem) []projection.InboxItem {
	slices.SortStableFunc(all, func(a, b projection.InboxItem) int {
		if a.Notice != b.Notice {
			if b.Notice {
				return -1
			}
			return 1
		}
		return humaninput.CompareAsked(a.WaitingItem, b.WaitingItem)
	})
	return all
}
