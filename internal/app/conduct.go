package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/daybudget"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// Watcher follows a run in the process that conducts it.
type Watcher interface {
	// Begin is called once the run is held; again says that it is taken up.
	Begin(ctx context.Context, id nexus.RunID, again bool)
	// Follow returns when the work is over. The end of ctx, which comes before
	// the end of the work, drains the run.
	Follow(ctx, work context.Context)
	// Finish is called when the work is over; the state is nil where it failed.
	Finish(ctx context.Context, final *state.State)
}

// Conduct takes a run, new or interrupted, as far as it goes, as the only
// process that does. The state is nil when the run could not be taken up. The
// end of ctx drains the run. The watcher may be nil.
func (a *App) Conduct(ctx context.Context, p *Place, c config.Config, o *Order, w Watcher) (*state.State, error) {
	err := p.ours(o.Run)
	if err != nil {
		return nil, err
	}
	if o.tap, err = o.Traffic.Open(a.Mask.Mask); err != nil {
		return nil, err
	}
	defer a.leave(o.tap)
	begun, c, err := a.ready(ctx, p, c, o)
	if err != nil {
		return nil, err
	}
	machine, release, err := a.machine(ctx, p, c, *o)
	if err != nil {
		return nil, err
	}
	lease, err := p.acquire(ctx, o.Run)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	defer func() {
		cancel(run.ErrInterrupted)
		watching.Wait()
	}()
	shown := false
	begin := func() {
		if w == nil {
			return
		}
		w.Begin(ctx, o.Run, len(begun) == 0)
		watching.Go(func() { w.Follow(ctx, work) })
		shown = true
	}
	s, err := a.conduct(ctx, work, p, c, o, conductor{lease, machine, release, cancel, begun}, begin)
	if shown { // others may take the run already: who still looks at it only reads
		w.Finish(context.WithoutCancel(ctx), s)
	}
	return s, errors.Join(err, tellHalted(context.WithoutCancel(ctx), p.Journal, o.Run, err))
}

// conductor is what one process has, while it is the only one that conducts a run.
type conductor struct {
	lease   *journal.Lease
	machine *local.Machine
	release func() error            // lets go of the worktrees
	cancel  context.CancelCauseFunc // ends the work
	begun   []nexus.Fact            // that begin the run; none: it is taken up
}

// conduct takes a run that is held as far as it goes, and lets go of it.
func (a *App) conduct(ctx, work context.Context, p *Place, c config.Config, o *Order, by conductor, begin func()) (*state.State, error) {
	learned := by.machine.Worker.Sessions.Memory
	a.complain(errors.Join(sweepDead(ctx, p.Journal, o.Run), learned.CatchUp(ctx)))
	keep, end := context.WithCancelCause(work)
	var helpers sync.WaitGroup
	defer func() {
		end(run.ErrInterrupted)
		helpers.Wait()
		_ = by.lease.Release(context.WithoutCancel(ctx)) // it expires by itself
	}()
	defer letGo(context.WithoutCancel(ctx), a, by.lease, by.release)
	inherit(ctx, a, by.machine, o.Run)
	if err := a.enter(ctx, p, by.lease, by.machine.Worker.Trees, o.Run, by.begun); err != nil {
		return nil, err
	}
	requests, notices := make(chan nexus.Event), make(chan nexus.Fact)
	helpers.Go(func() {
		if err := renew(keep, leaseTTL, by.lease.Renew); keep.Err() == nil {
			by.cancel(err)
		}
	})
	helpers.Go(func() { brake(keep, by.cancel, a.Switch(p.State)) })
	helpers.Go(func() {
		if err := forward(keep, p.follows(o.Run), requests); err != nil {
			by.cancel(err)
		}
	})
	begin()
	day, err := daybudget.Open(filepath.Join(a.StateHome(), "purse"), filepath.Base(p.State)+"/"+string(o.Run), a.Now)
	if err != nil {
		return nil, err
	}
	defer day.Close() //nolint:errcheck // only a lock
	opening, err := opening(ctx, a, p, c, o.Run, len(by.begun) == 0)
	if err != nil {
		return nil, err
	}
	o.opens(&opening, c, by.machine)
	opening.Fence, opening.Purse = by.lease.Fence(), day
	helpers.Go(func() { a.measure(keep, p, o.Run, c.Limits.Alerts, notices) })
	heard := run.Signals{Requests: requests, Notices: notices, Drain: ctx.Done()}
	s, err := run.Conduct(work, held{by.lease, p.Journal, o.Run, a.pins(by.machine.Worker.Trees, o.Run)}, by.machine, o.Run, opening, heard)
	a.complain(learned.CatchUp(context.WithoutCancel(ctx)))
	return s, err
}

// opens fills in what an order and its machine say of how a run opens.
func (o *Order) opens(opening *run.Opening, c config.Config, m *local.Machine) {
	opening.Hooks = !o.deliver && len(hookcmd.At(m.Hooks, nexus.HookRunStart)) > 0
	opening.Deliver, opening.Stop = o.deliver, o.stop
	opening.Sandbox, opening.Alone, opening.Patience = m.Worker.Site.Box.Name(), o.alone(c), o.patience(c)
}

// follows returns what follows the events of a run.
func (p *Place) follows(id nexus.RunID) func(context.Context, int64) events {
	return func(ctx context.Context, after int64) events { return p.Journal.Follow(ctx, id, after) }
}

// ready reports why a run may not go on, and returns the facts that begin it, none for
// one that is taken up, and the settings with what earlier runs taught.
func (a *App) ready(ctx context.Context, p *Place, c config.Config, o *Order) ([]nexus.Fact, config.Config, error) {
	err := errors.Join(
		a.Switch(p.State).Err(), a.Walled(o.Headless || !o.Person), a.Ready(c, *o), p.noLoop(ctx, o.Run), o.check(),
	)
	if err != nil {
		return nil, c, err
	}
	begun, err := begin(ctx, a, p, c, o)
	if err != nil {
		return nil, c, err
	}
	c, err = a.taught(ctx, p, c, *o, begun)
	return begun, c, err
}

// enter records the facts that begin a run, and makes true what the journal has of its points.
func (a *App) enter(ctx context.Context, p *Place, lease *journal.Lease, trees *worktree.Store, id nexus.RunID, begun []nexus.Fact) error {
	if len(begun) > 0 {
		if _, err := lease.Append(ctx, begun...); err != nil {
			return err
		}
	}
	return a.settle(ctx, p, trees, id)
}

// letGo releases the worktrees of a run while it is held: they are unmounted,
// and the next who holds it uses them. One that is lost has its next holder
// already, so that they stay as they are.
func letGo(ctx context.Context, a *App, lease *journal.Lease, release func() error) {
	if errors.Is(lease.Renew(ctx), &nexus.Error{Code: nexus.CodeLeaseLost}) {
		return
	}
	if err := release(); err != nil {
		a.complain(err)
	}
}

// inherit takes over the worktrees that a killed process left of a run that
// this one holds.
func inherit(ctx context.Context, a *App, m *local.Machine, id nexus.RunID) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("another process has been making a worktree for "+patience.String()))
	defer cancel()
	a.complain(m.Worker.Trees.Inherit(ctx, id))
}

// patience is how long a run waits for others who make worktrees before it
// leaves to [Place.Sweep] what a killed process had half made.
const patience = 10 * time.Second

// SignalName names the signal that ended the context.
func SignalName(ctx context.Context) string {
	cause := context.Cause(ctx)
	switch {
	case cause == nil:
		return ""
	case strings.Contains(cause.Error(), "terminated"):
		return "SIGTERM"
	case strings.Contains(cause.Error(), "hangup"):
		return "SIGHUP"
	default:
		return "SIGINT"
	}
}

// hurry returns how to hear that the process is told to end soon: not by a
// person at a terminal, who can say it again, but by what manages processes and
// kills those that take long.
func hurry(ctx context.Context) func(end func(error)) (stop func() bool) {
	return func(end func(error)) func() bool {
		return context.AfterFunc(ctx, func() {
			if SignalName(ctx) == "SIGTERM" {
				end(run.ErrInterrupted)
			}
		})
	}
}
