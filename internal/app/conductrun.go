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
	"github.com/nexus-ai-builder/nexus/internal/sys/dailybudget"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// RunWatcher observes a run in the process that executes it.
type RunWatcher interface {
	// Begin is called once this process holds the run; again is true if the run is resumed.
	Begin(ctx context.Context, id nexus.RunID, again bool)
	// Follow returns when the work is over. The end of ctx, which comes before the end of the
	// work, drains the run.
	Follow(ctx, work context.Context)
	// Finish is called when the work is over; the state is nil if it failed.
	Finish(ctx context.Context, final *state.State)
}

// ConductRun executes a run, new or interrupted, as far as possible, while this process holds its
// lease. The state is nil if the run could not be started. The end of ctx drains the run. The
// watcher may be nil.
func (a *App) ConductRun(ctx context.Context, p *Repository, c config.Config, o *RunOptions, w RunWatcher) (*state.State, error) {
	err := p.checkRunContinuesHere(o.Run)
	if err != nil {
		return nil, err
	}
	if o.tap, err = o.Traffic.Open(a.Mask.Mask); err != nil {
		return nil, err
	}
	defer a.closeRecording(o.tap)
	begun, c, err := a.prepareRun(ctx, p, c, o)
	if err != nil {
		return nil, err
	}
	machine, release, err := a.buildMachine(ctx, p, c, *o)
	if err != nil {
		return nil, err
	}
	lease, err := p.acquireLease(ctx, o.Run)
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
	a.reportError(errors.Join(killOrphanProcesses(ctx, p.Journal, o.Run), learned.LearnFromNewRuns(ctx)))
	keep := runResources{lease: lease, release: release, cancel: cancel}
	defer keep.releaseRun(ctx, a)
	inheritWorktrees(ctx, a, machine, o.Run)
	if err := a.recordStart(ctx, p, lease, machine.Worker.Trees, o.Run, begun); err != nil {
		return nil, err
	}
	heard := keep.startBackgroundTasks(ctx, work, a, p, o.Run, c.Limits.Alerts)
	if w != nil {
		w.Begin(ctx, o.Run, len(begun) == 0)
		watching.Go(func() { w.Follow(ctx, work) })
	}
	opening, err := startOptions(ctx, a, p, c, o.Run, len(begun) == 0)
	if err != nil {
		return nil, err
	}
	day, err := dailybudget.OpenShare(filepath.Join(a.StateHome(), "purse"), filepath.Base(p.State)+"/"+string(o.Run), a.Now)
	if err != nil {
		return nil, err
	}
	o.fillStartOptions(&opening, c, machine)
	opening.Fence, opening.DailyBudget = lease.Fence(), day
	s, err := run.ConductRun(work, leasedJournal{lease, p.Journal, o.Run, a.checkpointRefUpdater(machine.Worker.Trees, o.Run)}, machine, o.Run, opening, heard)
	a.reportError(learned.LearnFromNewRuns(context.WithoutCancel(ctx)))
	_ = day.Close() // only a lock
	keep.releaseRun(ctx, a)
	if w != nil { // other processes may resume the run already: the watcher only reads now
		w.Finish(context.WithoutCancel(ctx), s)
	}
	return s, errors.Join(err, recordKillSwitchStop(context.WithoutCancel(ctx), p.Journal, o.Run, err))
}

// runResources holds the resources of a run while a process executes it.
type runResources struct {
	lease   *journal.Lease
	release func() error            // releases the worktrees
	cancel  context.CancelCauseFunc // ends the work
	end     context.CancelCauseFunc // ends the helpers; nil before they begin
	helpers sync.WaitGroup
	gone    bool // the run is released
}

// startBackgroundTasks renews the lease, and receives the messages to the run from outside.
func (k *runResources) startBackgroundTasks(ctx, work context.Context, a *App, p *Repository, id nexus.RunID, alerts nexus.AlertThresholds) run.RunSignals {
	held, end := context.WithCancelCause(work)
	k.end = end
	requests, notices := make(chan nexus.Event), make(chan nexus.Fact)
	k.helpers.Go(func() {
		if err := renewLease(held, leaseTTL, k.lease.Renew); held.Err() == nil {
			k.cancel(err)
		}
	})
	k.helpers.Go(func() { watchKillSwitch(held, k.cancel, a.KillSwitch(p.State)) })
	k.helpers.Go(func() {
		if err := forwardRequests(held, p.eventFollower(id), requests); err != nil {
			k.cancel(err)
		}
	})
	k.helpers.Go(func() { a.watchMachine(held, p, id, alerts, notices) })
	return run.RunSignals{Requests: requests, Notices: notices, Drain: ctx.Done()}
}

// releaseRun ends the helpers, once, and releases the run for other processes.
func (k *runResources) releaseRun(ctx context.Context, a *App) {
	if k.gone {
		return
	}
	k.gone = true
	ctx = context.WithoutCancel(ctx)
	releaseWorktrees(ctx, a, k.lease, k.release)
	if k.end != nil {
		k.end(run.ErrInterrupted)
	}
	k.helpers.Wait()
	_ = k.lease.Release(ctx) // it expires by itself
}

// fillStartOptions adds the start options that the run's options and its machine determine.
func (o *RunOptions) fillStartOptions(opening *run.StartOptions, c config.Config, m *local.LocalExecutor) {
	opening.Hooks = !o.deliver && len(hookcmd.HooksAtPoint(m.Hooks, nexus.HookRunStart)) > 0
	opening.Deliver, opening.Stop = o.deliver, o.stop
	opening.Sandbox, opening.Alone, opening.Patience = m.Worker.Site.Box.Name(), o.isUnattended(c), o.questionTimeout(c)
}

// eventFollower returns a function that follows the events of a run.
func (p *Repository) eventFollower(id nexus.RunID) func(context.Context, int64) eventIterator {
	return func(ctx context.Context, after int64) eventIterator { return p.Journal.Follow(ctx, id, after) }
}

// prepareRun returns an error if a run may not continue. Otherwise it returns the facts that
// begin it, none for a resumed one, and the settings with the lessons of earlier runs.
func (a *App) prepareRun(ctx context.Context, p *Repository, c config.Config, o *RunOptions) ([]nexus.Fact, config.Config, error) {
	err := errors.Join(
		a.KillSwitch(p.State).ErrIfActive(), a.CheckSandbox(o.Headless || !o.Person), a.CheckModels(c, *o), p.checkNotLoop(ctx, o.Run), o.checkStart(),
	)
	if err != nil {
		return nil, c, err
	}
	begun, err := newRunFacts(ctx, a, p, c, o)
	if err != nil {
		return nil, c, err
	}
	c, err = a.settingsWithRecordedLessons(ctx, p, c, *o, begun)
	return begun, c, err
}

// recordStart records the facts that begin a run, and sets its refs to the state in the
// journal.
func (a *App) recordStart(ctx context.Context, p *Repository, lease *journal.Lease, trees *worktree.Store, id nexus.RunID, begun []nexus.Fact) error {
	if len(begun) > 0 {
		if _, err := lease.Append(ctx, begun...); err != nil {
			return err
		}
	}
	return a.syncRunRefs(ctx, p, trees, id)
}

// releaseWorktrees unmounts the worktrees of a run while its lease is held, for the next
// process to use. If the lease is lost, another process has it already, and the worktrees stay
// unchanged.
func releaseWorktrees(ctx context.Context, a *App, lease *journal.Lease, release func() error) {
	if errors.Is(lease.Renew(ctx), &nexus.Error{Code: nexus.CodeLeaseLost}) {
		return
	}
	if err := release(); err != nil {
		a.reportError(err)
	}
}

// inheritWorktrees takes over the worktrees of a killed process, for a run whose lease this one
// holds.
func inheritWorktrees(ctx context.Context, a *App, m *local.LocalExecutor, id nexus.RunID) {
	ctx, cancel := context.WithTimeoutCause(ctx, inheritTimeout, errors.New("another process has been making a worktree for "+inheritTimeout.String()))
	defer cancel()
	a.reportError(m.Worker.Trees.InheritRun(ctx, id))
}

// inheritTimeout is how long a run waits for others that create worktrees before it leaves the
// incomplete ones of a killed process to [Repository.RemoveStaleWorktrees].
const inheritTimeout = 10 * time.Second

// SignalName returns the name of the signal that ended the context.
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

// endOnSIGTERM returns a function that calls end with [run.ErrInterrupted] once SIGTERM ends ctx.
// SIGTERM comes from a process manager, which kills slow processes, and not from a person at a
// terminal, who can repeat a signal.
func endOnSIGTERM(ctx context.Context) func(end func(error)) (stop func() bool) {
	return func(end func(error)) func() bool {
		return context.AfterFunc(ctx, func() {
			if SignalName(ctx) == "SIGTERM" {
				end(run.ErrInterrupted)
			}
		})
	}
}
