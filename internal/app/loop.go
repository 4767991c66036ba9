package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/improve"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// LoopHands do what a loop decided, and wake it.
type LoopHands interface {
	run.Hands

	// Watch wakes the loop, of which it has a copy, when what it waits for happens, until
	// the context ends.
	Watch(ctx context.Context, kind string, l *improve.Loop, woken chan<- string)
}

// LoopOrder is what a loop is started or taken up with.
type LoopOrder struct {
	Rules   nexus.ImproveRules
	Seed    string
	Traffic provider.Traffic
	Hands   LoopHands

	// Heard hears what is recorded of the loop, in order; nil: nobody does.
	Heard func(nexus.Event)
	// Begun hears the loop's name once this process has it, and whether it is taken up.
	Begun func(ctx context.Context, id nexus.RunID, again bool)
}

// Loop returns what is true of a loop of the repository, with what earlier ones left. An
// empty name means the last, whose Run is empty where there was none.
func (p *Place) Loop(ctx context.Context, name nexus.RunID) (*improve.Loop, *journal.Run, error) {
	l, last, _, err := p.loop(ctx, name)
	return l, last, err
}

// loop is that with the last event of the loop that is folded.
func (p *Place) loop(ctx context.Context, name nexus.RunID) (l *improve.Loop, last *journal.Run, seq int64, err error) {
	l = &improve.Loop{}
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

// isLoop reports whether a run is a loop's.
func (p *Place) isLoop(ctx context.Context, id nexus.RunID) (bool, error) {
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

// Tended returns the loop that somebody conducts; nil where nobody does.
func (p *Place) Tended(ctx context.Context) (*journal.Run, error) {
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

// Improve finds work and does it until the loop ends, as the only process that does. A
// loop that did not end is taken up. The end of ctx drains it.
func (a *App) Improve(ctx context.Context, p *Place, c config.Config, o LoopOrder) (*improve.Loop, error) {
	if err := errors.Join(a.Switch(p.State).Err(), a.Walled(true), a.loopReady(c, o)); err != nil {
		return nil, err
	}
	mine, err := a.claim(ctx, p, c, o)
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
	own := heard{held{Lease: lease, journal: p.Journal, run: id, pin: func(context.Context, nexus.Fact) {}}, o.Heard}
	for _, e := range mine.first {
		l.Apply(e)
		own.tell(e)
	}
	requests, woken := make(chan nexus.Event), make(chan string, 1)
	helpers.Go(func() { cancel(renew(work, leaseTTL, lease.Renew)) })
	helpers.Go(func() { brake(work, cancel, a.Switch(p.State)) })
	helpers.Go(func() {
		follow := func(ctx context.Context, last int64) events { return p.Journal.Follow(ctx, id, max(last, mine.folded)) }
		if err := forward(work, follow, requests); err != nil {
			cancel(err)
		}
	})
	watched := l.Clone()
	helpers.Go(func() { o.Hands.Watch(work, o.Rules.Watch, watched, woken) })
	if o.Begun != nil {
		o.Begun(ctx, id, mine.again)
	}
	err = run.Tend(work, own, o.Hands, l, run.TendSignals{Requests: requests, Woken: woken, Drain: ctx.Done()})
	return l, errors.Join(err, tellHalted(context.WithoutCancel(ctx), p.Journal, id, err))
}

// claimed is a loop that this process alone conducts.
type claimed struct {
	loop   *improve.Loop
	id     nexus.RunID
	lease  *journal.Lease
	first  []nexus.Event // with which it begins or is taken up
	folded int64         // the last event of it that was there before, and is folded
	again  bool          // it is taken up
}

// claim makes this process the only one that improves the repository: who comes at the same moment
// waits until it is known which loop that is.
func (a *App) claim(ctx context.Context, p *Place, c config.Config, o LoopOrder) (mine claimed, err error) {
	err = disk.Lock(ctx, filepath.Join(p.State, "improve.lock"), func(ctx context.Context) error {
		l, last, folded, err := p.loop(ctx, "")
		if err != nil {
			return err
		}
		if last != nil && last.Holder != nil {
			return &nexus.Error{
				Code: nexus.CodeRunHeld, Message: fmt.Sprintf("process %d improves this repository already, as %s", last.Holder.PID, last.ID),
				Hint: "nexus improve --status shows it, and nexus stop ends it.",
			}
		}
		id, begun, again, err := a.openLoop(ctx, p, c, o, l)
		if err != nil {
			return err
		}
		if !again {
			folded = 0
		}
		lease, err := p.acquire(ctx, id)
		if err != nil {
			return err
		}
		first, err := lease.Append(ctx, begun(lease.Fence())...)
		if err != nil {
			return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
		}
		mine = claimed{l, id, lease, first, folded, again}
		return nil
	})
	return mine, err
}

// loopReady refuses what could not work anyway.
func (a *App) loopReady(c config.Config, o LoopOrder) error {
	if c.Limits.Approval == nexus.ApproveAll {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "approval all asks a person before everything, but a loop asks nobody",
			Hint: "Use --approval commits: results then wait on their own branches.",
		}
	}
	tap, err := o.Traffic.Open(a.Mask.Mask)
	if err != nil {
		return err
	}
	defer a.leave(tap)
	return a.Ready(c, Order{Plan: &nexus.Plan{}, tap: tap})
}

// openLoop names the loop, and returns the facts with which it begins or is taken up.
func (a *App) openLoop(ctx context.Context, p *Place, c config.Config, o LoopOrder, l *improve.Loop) (
	id nexus.RunID, begun func(fence int64) []nexus.Fact, again bool, err error,
) {
	opened := nexus.LoopOpened{Rules: o.Rules}
	if l.Run != "" && l.Status == "" {
		return l.Run, func(fence int64) []nexus.Fact {
			taken := []nexus.Fact{nexus.RunRecovered{Process: journal.Self(), Fence: fence, Alone: true}, nexus.RunResumed{}}
			return append(append(taken, l.Unsettled()...), opened)
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
	if branch, err = p.Target(ctx, shields, cmp.Or(c.Target, branch)); err != nil {
		return "", nil, false, err
	}
	if commit, err = p.Repo.Resolve(ctx, "refs/heads/"+branch); err != nil {
		return "", nil, false, err
	}
	id, err = unused(ctx, p, a.Now(), (&Order{Seed: o.Seed}).dice())
	limits := c.Limits
	limits.RunMoney = o.Rules.Budget
	return id, func(fence int64) []nexus.Fact {
		return []nexus.Fact{
			nexus.GoalAccepted{Goal: nexus.Goal{Text: "Improve the repository", Mode: nexus.Improve}, Base: commit, Target: branch, Limits: limits},
			nexus.RunStarted{Process: journal.Self(), Fence: fence, Alone: true},
			opened,
		}
	}, false, err
}

// heard is a loop's part of the journal, of which somebody hears.
type heard struct {
	held

	hear func(nexus.Event)
}

func (h heard) tell(e nexus.Event) {
	if h.hear != nil {
		h.hear(e)
	}
}

// Append implements [run.Journal].
func (h heard) Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	all, err := h.held.Append(ctx, facts...)
	for _, e := range all {
		h.tell(e)
	}
	return all, err
}

// EndLoop ends a loop that nobody conducts and that has not ended.
func (a *App) EndLoop(ctx context.Context, p *Place, id nexus.RunID, why string) error {
	lease, err := p.acquire(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }() // it expires by itself
	l, _, err := p.Loop(ctx, id)
	if err != nil {
		return err
	}
	facts := []nexus.Fact{nexus.RunRecovered{Process: journal.Self(), Fence: lease.Fence(), Alone: true}, nexus.RunResumed{}}
	facts = append(append(facts, l.Unsettled()...), nexus.RunEnded{Status: nexus.StatusStopped, Why: why})
	_, err = lease.Append(ctx, facts...)
	return err
}

// noLoop refuses to conduct a loop as if it was a run with tasks.
func (p *Place) noLoop(ctx context.Context, id nexus.RunID) error {
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
