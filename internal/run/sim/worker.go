package sim

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toy"
)

// coroutine runs an actor as a coroutine: when the actor waits, it passes a function to the
// simulation, which continues with it at some later event. So there is one thread, and an order
// of events that depends only on the seed.
type coroutine struct {
	sim    *sim
	work   run.WorkItem
	yield  func(func(turn int)) bool
	next   func() (func(turn int), bool)
	stop   func()
	turn   int   // times it waited; a wake-up for an earlier time is void
	gone   error // it was cancelled, or its process died
	failed error // result of the last wait
	answer run.Answer
	spare  *spare // its work can be repeated
	facts  []nexus.Fact
	err    error
}

// hire starts a worker.
func (s *sim) hire(w run.WorkItem) {
	if s.workers[w.Key] != nil {
		s.wrong("%s has two workers", w.Key)
		return
	}
	ctx := context.Background()
	k := &coroutine{sim: s, work: w}
	x := &toy.Actor{Environment: s.world, Desk: k, Nap: k.nap, Now: func() time.Time { return s.now }, View: w.View, Open: s.audit.Opened}
	k.next, k.stop = iter.Pull(func(yield func(func(int)) bool) {
		k.yield = yield
		k.facts, k.err = x.Act(ctx, w.Intent)
	})
	s.workers[w.Key] = k
	s.soon(func() { s.resume(ctx, k, 0) })
}

// resume lets a worker continue until it next waits, or is done.
func (s *sim) resume(ctx context.Context, k *coroutine, turn int) {
	if k.turn != turn || s.workers[k.work.Key] != k || s.dead {
		return
	}
	wait, going := k.next()
	switch {
	case s.dead:
	case going:
		wait(k.turn)
	default:
		k.turn++
		s.soon(func() {
			delete(s.workers, k.work.Key)
			s.check(s.core.FinishWork(ctx, k.work, k.facts, k.err))
		})
	}
}

// eased checks that a worker is stopped when it must be, and not if accepted work would be lost
// by it.
func (s *sim) eased(k *coroutine) {
	d := s.core.State.Drain
	switch goes := k.spare.eased != nil; {
	case s.interrupted && !goes:
		s.wrong("%s goes on with what it can do again, and the process is to leave", k.work.Key)
	case !s.interrupted && goes && d == nil:
		s.wrong("%s is let go, and nobody asked", k.work.Key)
	case !s.interrupted && goes && k.spare.paid && d.To == nexus.StatusLimit:
		s.wrong("%s is let go at a limit, and accepted work waits for it", k.work.Key)
	}
}

// cancel ends the wait of a worker.
func (s *sim) cancel(ctx context.Context, k *coroutine) {
	if k != nil && k.gone == nil {
		k.gone = context.Canceled
		turn := k.turn
		s.soon(func() { s.resume(ctx, k, turn) })
	}
}

// wait passes a function to the simulation and returns when it was done.
func (k *coroutine) wait(do func(turn int)) error {
	if k.gone != nil {
		return k.gone
	}
	k.turn++
	k.failed = nil
	if !k.yield(do) {
		k.gone = toy.ErrDead
	}
	if k.gone != nil {
		return k.gone
	}
	return k.failed
}

// spare is a period that ends when the run stops its workers.
type spare struct {
	paid  bool
	eased error
}

// nap lets virtual time pass.
func (k *coroutine) nap(ctx context.Context, d time.Duration) error {
	s := k.spare
	if s != nil {
		if why := k.sim.core.StopReason(s.paid); why != nil {
			return why
		}
	}
	err := k.wait(func(turn int) { k.sim.in(d, func() { k.sim.resume(ctx, k, turn) }) })
	if err == nil && s != nil {
		err = s.eased
	}
	return err
}

// Spare implements [worker.Desk].
func (k *coroutine) Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc) {
	k.spare = &spare{paid: paid}
	return ctx, func() { k.spare = nil }
}

// ease cancels work that can be repeated, once the workers are to stop.
func (s *sim) ease(ctx context.Context) {
	for _, key := range slices.Sorted(maps.Keys(s.workers)) {
		k := s.workers[key]
		if k.spare == nil || k.spare.eased != nil || k.gone != nil {
			continue
		}
		k.spare.eased = s.core.StopReason(k.spare.paid)
		s.eased(k)
		if k.spare.eased != nil {
			turn := k.turn
			s.soon(func() { s.resume(ctx, k, turn) })
		}
	}
}

// Record implements [worker.Desk].
func (k *coroutine) Record(ctx context.Context, facts ...nexus.Fact) error {
	return k.wait(func(turn int) {
		k.sim.soon(func() {
			if k.gone == nil {
				k.sim.check(k.sim.core.Record(ctx, facts...))
			}
			k.sim.resume(ctx, k, turn)
		})
	})
}

// Reserve implements [worker.Desk].
func (k *coroutine) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]state.Guidance, error) {
	err := k.ask(ctx, func(answer func(run.Answer)) error {
		return k.sim.core.Reserve(ctx, r, done, func() bool { return k.gone != nil }, answer)
	})
	return k.answer.Guidance, err
}

// Ask implements [worker.Desk].
func (k *coroutine) Ask(ctx context.Context, q nexus.QuestionAsked) (string, error) {
	err := k.ask(ctx, func(answer func(run.Answer)) error {
		return k.sim.core.Ask(ctx, q, func() bool { return k.gone != nil }, answer)
	})
	return k.answer.Text, err
}

func (k *coroutine) ask(ctx context.Context, queue func(func(run.Answer)) error) error {
	k.answer = run.Answer{}
	return k.wait(func(turn int) {
		k.sim.soon(func() {
			if k.gone != nil {
				return
			}
			k.sim.check(queue(func(a run.Answer) {
				k.answer, k.failed = a, a.Err
				k.sim.soon(func() { k.sim.resume(ctx, k, turn) })
			}))
		})
	})
}

// Known implements [worker.Desk].
func (k *coroutine) Known(_ context.Context, tree, gate string) (nexus.Evidence, bool) {
	return k.sim.core.State.KnownEvidence(tree, gate)
}
