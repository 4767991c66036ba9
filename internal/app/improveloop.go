package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// WakingLoopExecutor executes the decisions of a loop, and wakes it.
type WakingLoopExecutor interface {
	run.LoopIntentExecutor

	// Watch wakes the loop, of which it has a copy, when an awaited event happens, until the
	// context ends.
	Watch(ctx context.Context, kind string, l *improveloop.ImproveLoop, woken chan<- string)
}

// ImproveLoopOptions are the options to start or resume a loop.
type ImproveLoopOptions struct {
	Rules   nexus.ImproveRules
	Seed    string
	Traffic provider.TrafficRecordingOptions
	Hands   WakingLoopExecutor

	// Heard receives the recorded events of the loop, in order; may be nil.
	Heard func(nexus.Event)
	// Begun receives the loop's name once this process has it, and whether it is resumed.
	Begun func(ctx context.Context, id nexus.RunID, again bool)
}

// LoadLoop returns the state of a loop of the repository, with the remaining items of earlier ones.
// An empty name means the last one; its Run is empty if there was none.
func (p *Repository) LoadLoop(ctx context.Context, name nexus.RunID) (*improveloop.ImproveLoop, *journal.RecordedRun, error) {
	l, last, _, err := p.replayLoop(ctx, name)
	return l, last, err
}

// replayLoop is Loop, and also returns the last folded event of the loop.
func (p *Repository) replayLoop(ctx context.Context, name nexus.RunID) (l *improveloop.ImproveLoop, last *journal.RecordedRun, seq int64, err error) {
	l = &improveloop.ImproveLoop{}
	all, err := p.Runs(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	for n, r := range all {
		is, err := p.isLoop(ctx, r.ID)
		if err != nil {
			return nil, nil, 0, err
		}
		if !is {
			continue
		}
		last = &all[n]
		for e, err := range p.Journal.Events(ctx, r.ID, 0) {
			if err != nil {
				return nil, nil, 0, err
			}
			l.Apply(e)
			seq = e.Seq
		}
		if r.ID == name {
			break
		}
	}
	return l, last, seq, nil
}

// isLoop reports whether a run belongs to a loop.
func (p *Repository) isLoop(ctx context.Context, id nexus.RunID) (bool, error) {
	for e, err := range p.Journal.Events(ctx, id, 0) {
		if err != nil {
			return false, err
		}
		if f, ok := e.Fact.(nexus.GoalAccepted); ok {
			return f.Goal.Mode == nexus.Improve, nil
		}
	}
	return false, nil
}

// ActiveLoop returns the loop that is in progress; nil if there is none.
func (p *Repository) ActiveLoop(ctx context.Context) (*journal.RecordedRun, error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for n, r := range all {
		if r.Holder == nil {
			continue
		}
		if is, err := p.isLoop(ctx, r.ID); err != nil || is {
			return &all[n], err
		}
	}
	return nil, nil //nolint:nilnil // there is none, and that is no mistake
}

// LoopNamed returns the loop with that name or, without a name, the active one; "" if it is not a
// loop.
func (p *Repository) LoopNamed(ctx context.Context, name string) (nexus.RunID, error) {
	if name == "" {
		r, err := p.ActiveLoop(ctx)
		if err != nil || r == nil {
			return "", err
		}
		return r.ID, nil
	}
	r, err := p.FindRun(ctx, name)
	if err != nil {
		return "", err
	}
	_, last, err := p.LoadLoop(ctx, r.ID)
	if err != nil || last == nil || last.ID != r.ID {
		return "", err
	}
	return r.ID, nil
}

// ImproveRepository finds work and does it until the loop ends, while this process holds its lease. A
// loop that did not end is resumed. The end of ctx drains it.
func (a *App) ImproveRepository(ctx context.Context, p *Repository, c config.Config, o ImproveLoopOptions) (*improveloop.ImproveLoop, error) {
	if err := errors.Join(a.KillSwitch(p.State).ErrIfActive(), a.CheckSandbox(true), a.checkLoop(c, o)); err != nil {
		return nil, err
	}
	mine, err := a.claimLoop(ctx, p, c, o)
	if err != nil {
		return nil, err
	}
	l, lease, id := mine.loop, mine.lease, mine.id
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	defer func() {
		cancel(run.ErrInterrupted)
		helpers.Wait()
		_ = lease.Release(context.WithoutCancel(ctx)) // it expires by itself
	}()
	own := observedJournal{leasedJournal{Lease: lease, journal: p.Journal, run: id, pin: func(context.Context, nexus.Fact) {}}, o.Heard}
	for _, e := range mine.first {
		l.Apply(e)
		own.notifyObserver(e)
	}
	requests, woken := make(chan nexus.Event), make(chan string, 1)
	helpers.Go(func() { cancel(renewLease(work, leaseTTL, lease.Renew)) })
	helpers.Go(func() { watchKillSwitch(work, cancel, a.KillSwitch(p.State)) })
	helpers.Go(func() {
		follow := func(ctx context.Context, last int64) eventIterator {
			return p.Journal.Follow(ctx, id, max(last, mine.folded))
		}
		if err := forwardRequests(work, follow, requests); err != nil {
			cancel(err)
		}
	})
	watched := l.Clone()
	helpers.Go(func() { o.Hands.Watch(work, o.Rules.Watch, watched, woken) })
	if o.Begun != nil {
		o.Begun(ctx, id, mine.again)
	}
	err = run.RunLoop(work, own, o.Hands, l, run.LoopSignals{Requests: requests, Woken: woken, Drain: ctx.Done()})
	return l, errors.Join(err, recordKillSwitchStop(context.WithoutCancel(ctx), p.Journal, id, err))
}

// leasedImproveLoop is a loop whose lease this process holds.
type leasedImproveLoop struct {
	loop   *improveloop.ImproveLoop
	id     nexus.RunID
	lease  *journal.Lease
	first  []nexus.Event // the events that begin or resume it
	folded int64         // the last earlier event of it, which is folded
	again  bool          // it is resumed
}

// claimLoop makes this process the only one that improves the repository. Another process that
// starts at the same moment waits until the loop is known.
func (a *App) claimLoop(ctx context.Context, p *Repository, c config.Config, o ImproveLoopOptions) (mine leasedImproveLoop, err error) {
	err = filewrite.WithLock(ctx, filepath.Join(p.State, "improve.lock"), func(ctx context.Context) error {
		l, last, folded, err := p.replayLoop(ctx, "")
		if err != nil {
			return err
		}
		if last != nil && last.Holder != nil {
			return &nexus.Error{
				Code: nexus.CodeRunHeld, Message: fmt.Sprintf("process %d improves this repository already, as %s", last.Holder.PID, last.ID),
				Hint: "nexus improve --status shows it, and nexus stop ends it.",
			}
		}
		id, begun, again, err := a.loopStartFacts(ctx, p, c, o, l)
		if err != nil {
			return err
		}
		if !again {
			folded = 0
		}
		lease, err := p.acquireLease(ctx, id)
		if err != nil {
			return err
		}
		first, err := lease.Append(ctx, begun(lease.Fence())...)
		if err != nil {
			return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
		}
		mine = leasedImproveLoop{l, id, lease, first, folded, again}
		return nil
	})
	return mine, err
}

// checkLoop returns an error for settings that cannot work.
func (a *App) checkLoop(c config.Config, o ImproveLoopOptions) error {
	if c.Limits.Approval == nexus.ApproveAll {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "approval all asks a person before everything, but a loop asks no questions",
			Hint: "Use --approval commits: results then wait on their own branches.",
		}
	}
	tap, err := o.Traffic.Open(a.Mask.Mask)
	if err != nil {
		return err
	}
	defer a.closeRecording(tap)
	return a.CheckModels(c, RunOptions{Plan: &nexus.Plan{}, tap: tap})
}

// loopStartFacts names the loop, and returns the facts that begin or resume it.
func (a *App) loopStartFacts(ctx context.Context, p *Repository, c config.Config, o ImproveLoopOptions, l *improveloop.ImproveLoop) (
	id nexus.RunID, begun func(fence int64) []nexus.Fact, again bool, err error,
) {
	opened := nexus.LoopRulesSet{Rules: o.Rules}
	if l.Run != "" && l.Status == "" {
		return l.Run, func(fence int64) []nexus.Fact {
			taken := []nexus.Fact{nexus.RunRecovered{Process: journal.CallingProcess(), Fence: fence, Alone: true}, nexus.RunResumed{}}
			return append(append(taken, l.LostCallFacts()...), opened)
		}, true, nil
	}
	commit, branch, err := p.Repo.Head(ctx)
	if err != nil {
		return "", nil, false, err
	}
	shields := c.Protected
	if !o.Rules.Direct {
		shields = nil
	}
	if branch, err = p.ResolveTarget(ctx, shields, cmp.Or(c.Target, branch)); err != nil {
		return "", nil, false, err
	}
	if commit, err = p.Repo.Resolve(ctx, "refs/heads/"+branch); err != nil {
		return "", nil, false, err
	}
	id, err = unusedRunID(ctx, p, a.Now(), (&RunOptions{Seed: o.Seed}).seededRandom())
	limits := c.Limits
	limits.RunMoney = o.Rules.Budget
	return id, func(fence int64) []nexus.Fact {
		return []nexus.Fact{
			nexus.GoalAccepted{Goal: nexus.Goal{Text: "Improve the repository", Mode: nexus.Improve}, Base: commit, Target: branch, Limits: limits},
			nexus.RunStarted{Process: journal.CallingProcess(), Fence: fence, Alone: true},
			opened,
		}
	}, false, err
}

// observedJournal is a loop's part of the journal, with an observer.
type observedJournal struct {
	leasedJournal

	hear func(nexus.Event)
}

func (h observedJournal) notifyObserver(e nexus.Event) {
	if h.hear != nil {
		h.hear(e)
	}
}

// Append implements [run.Journal].
func (h observedJournal) Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	all, err := h.leasedJournal.Append(ctx, facts...)
	for _, e := range all {
		h.notifyObserver(e)
	}
	return all, err
}

// EndLoop ends a loop that is not running and that has not ended.
func (a *App) EndLoop(ctx context.Context, p *Repository, id nexus.RunID, why string) error {
	lease, err := p.acquireLease(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }() // it expires by itself
	l, _, err := p.LoadLoop(ctx, id)
	if err != nil {
		return err
	}
	facts := []nexus.Fact{nexus.RunRecovered{Process: journal.CallingProcess(), Fence: lease.Fence(), Alone: true}, nexus.RunResumed{}}
	facts = append(append(facts, l.LostCallFacts()...), nexus.RunEnded{Status: nexus.StatusStopped, Why: why})
	_, err = lease.Append(ctx, facts...)
	return err
}

// checkNotLoop returns an error for a loop, which cannot be executed as a run with tasks.
func (p *Repository) checkNotLoop(ctx context.Context, id nexus.RunID) error {
	if id == "" {
		return nil
	}
	is, err := p.isLoop(ctx, id)
	if err == nil && is {
		err = &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is a loop, and has no tasks of its own", id),
			Hint: "nexus improve continues it, and nexus improve --status shows it.",
		}
	}
	return err
}
