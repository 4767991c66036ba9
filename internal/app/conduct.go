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
	learned := machine.Worker.Sessions.Memory
	a.complain(errors.Join(sweepDead(ctx, p.Journal, o.Run), learned.CatchUp(ctx)))
	keep := keeping{lease: lease, release: release, cancel: cancel}
	defer keep.letGo(ctx, a)
	inherit(ctx, a, machine, o.Run)
	if err := a.enter(ctx, p, lease, machine.Worker.Trees, o.Run, begun); err != nil {
		return nil, err
	}
	heard := keep.begin(ctx, work, a, p, o.Run, c.Limits.Alerts)
	if w != nil {
		w.Begin(ctx, o.Run, len(begun) == 0)
		watching.Go(func() { w.Follow(ctx, work) })
	}
	opening, err := opening(ctx, a, p, c, o.Run, len(begun) == 0)
	if err != nil {
		return nil, err
	}
	day, err := daybudget.Open(filepath.Join(a.StateHome(), "purse"), filepath.Base(p.State)+"/"+string(o.Run), a.Now)
	if err != nil {
		return nil, err
	}
	o.opens(&opening, c, machine)
	opening.Fence, opening.Purse = lease.Fence(), day
	s, err := run.Conduct(work, held{lease, p.Journal, o.Run, a.pins(machine.Worker.Trees, o.Run)}, machine, o.Run, opening, heard)
	a.complain(learned.CatchUp(context.WithoutCancel(ctx)))
	_ = day.Close() // only a lock
	keep.letGo(ctx, a)
	if w != nil { // others may take the run already: who still looks at it only reads
		w.Finish(context.WithoutCancel(ctx), s)
	}
	return s, errors.Join(err, tellHalted(context.WithoutCancel(ctx), p.Journal, o.Run, err))
}

// keeping is what goes on while a process holds a run.
type keeping struct {
	lease   *journal.Lease
	release func() error            // lets go of the worktrees
	cancel  context.CancelCauseFunc // ends the work
	end     context.CancelCauseFunc // ends the helpers; nil before they begin
	helpers sync.WaitGroup
	gone    bool // the run is let go
}

// begin keeps the lease, and hears what a run is told from outside.
func (k *keeping) begin(ctx, work context.Context, a *App, p *Place, id nexus.RunID, alerts nexus.Alerts) run.Signals {
	held, end := context.WithCancelCause(work)
	k.end = end
	requests, notices := make(chan nexus.Event), make(chan nexus.Fact)
	k.helpers.Go(func() {
		if err := renew(held, leaseTTL, k.lease.Renew); held.Err() == nil {
			k.cancel(err)
		}
	})
	k.helpers.Go(func() { brake(held, k.cancel, a.Switch(p.State)) })
	k.helpers.Go(func() {
		if err := forward(held, p.follows(id), requests); err != nil {
			k.cancel(err)
		}
	})
	k.helpers.Go(func() { a.measure(held, p, id, alerts, notices) })
	return run.Signals{Requests: requests, Notices: notices, Drain: ctx.Done()}
}

// letGo ends that, once, and lets others take the run.
func (k *keeping) letGo(ctx context.Context, a *App) {
	if k.gone {
		return
	}
	k.gone = true
	ctx = context.WithoutCancel(ctx)
	letGo(ctx, a, k.lease, k.release)
	if k.end != nil {
		k.end(run.ErrInterrupted)
	}
	k.helpers.Wait()
	_ = k.lease.Release(ctx) // it expires by itself
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
