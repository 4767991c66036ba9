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
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// workerCoroutine runs an actor as a coroutine: when the actor waits, it passes a function to the
// simulation, which continues with it at some later event. So there is one thread, and an order
// of events that depends only on the seed.
type workerCoroutine struct {
	sim    *runSimulator
	work   run.RecordedIntent
	yield  func(func(turn int)) bool
	next   func() (func(turn int), bool)
	stop   func()
	turn   int   // times it waited; a wake-up for an earlier time is void
	gone   error // it was cancelled, or its process died
	failed error // result of the last wait
	answer run.WaitingWorkerReply
	spare  *repeatableWorkPeriod // its work can be repeated
	facts  []nexus.Fact
	err    error
}

// startWorker starts a worker.
func (s *runSimulator) startWorker(w run.RecordedIntent) {
	if s.workers[w.Key] != nil {
		s.reportViolation("%s has two workers", w.Key)
		return
	}
	ctx := context.Background()
	k := &workerCoroutine{sim: s, work: w}
	x := &toyworld.SimulatedWorker{SimulatedWorld: s.world, Desk: k, Nap: k.sleepVirtual, Now: func() time.Time { return s.now }, View: w.View, Open: s.audit.CheckWorktree}
	k.next, k.stop = iter.Pull(func(yield func(func(int)) bool) {
		k.yield = yield
		k.facts, k.err = x.ExecuteIntent(ctx, w.Intent)
	})
	s.workers[w.Key] = k
	s.scheduleSoon(func() { s.resumeWorker(ctx, k, 0) })
}

// resumeWorker lets a worker continue until it next waits, or is done.
func (s *runSimulator) resumeWorker(ctx context.Context, k *workerCoroutine, turn int) {
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
		s.scheduleSoon(func() {
			delete(s.workers, k.work.Key)
			s.handleError(s.core.FinishWork(ctx, k.work, k.facts, k.err))
		})
	}
}

// checkWorkerStop checks that a worker is stopped when it must be, and not if accepted work would be lost
// by it.
func (s *runSimulator) checkWorkerStop(k *workerCoroutine) {
	d := s.core.State.Drain
	switch goes := k.spare.eased != nil; {
	case s.interrupted && !goes:
		s.reportViolation("%s goes on with what it can do again, and the process is to leave", k.work.Key)
	case !s.interrupted && goes && d == nil:
		s.reportViolation("%s is let go, and nobody asked", k.work.Key)
	case !s.interrupted && goes && k.spare.paid && d.To == nexus.StatusLimit:
		s.reportViolation("%s is let go at a limit, and accepted work waits for it", k.work.Key)
	}
}

// cancelWaitingWorker ends the wait of a worker.
func (s *runSimulator) cancelWaitingWorker(ctx context.Context, k *workerCoroutine) {
	if k != nil && k.gone == nil {
		k.gone = context.Canceled
		turn := k.turn
		s.scheduleSoon(func() { s.resumeWorker(ctx, k, turn) })
	}
}

// waitFor passes a function to the simulation and returns when it was done.
func (k *workerCoroutine) waitFor(do func(turn int)) error {
	if k.gone != nil {
		return k.gone
	}
	k.turn++
	k.failed = nil
	if !k.yield(do) {
		k.gone = toyworld.ErrDead
	}
	if k.gone != nil {
		return k.gone
	}
	return k.failed
}

// repeatableWorkPeriod is a period that ends when the run stops its workers.
type repeatableWorkPeriod struct {
	paid  bool
	eased error
}

// sleepVirtual lets virtual time pass.
func (k *workerCoroutine) sleepVirtual(ctx context.Context, d time.Duration) error {
	s := k.spare
	if s != nil {
		if why := k.sim.core.StopReason(s.paid); why != nil {
			return why
		}
	}
	err := k.waitFor(func(turn int) { k.sim.scheduleAfter(d, func() { k.sim.resumeWorker(ctx, k, turn) }) })
	if err == nil && s != nil {
		err = s.eased
	}
	return err
}

// Spare implements [worker.AttemptFactRecorder].
func (k *workerCoroutine) Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc) {
	k.spare = &repeatableWorkPeriod{paid: paid}
	return ctx, func() { k.spare = nil }
}

// stopRepeatable cancels work that can be repeated, once the workers are to stop.
func (s *runSimulator) stopRepeatable(ctx context.Context) {
	for _, key := range slices.Sorted(maps.Keys(s.workers)) {
		k := s.workers[key]
		if k.spare == nil || k.spare.eased != nil || k.gone != nil {
			continue
		}
		k.spare.eased = s.core.StopReason(k.spare.paid)
		s.checkWorkerStop(k)
		if k.spare.eased != nil {
			turn := k.turn
			s.scheduleSoon(func() { s.resumeWorker(ctx, k, turn) })
		}
	}
}

// Record implements [worker.AttemptFactRecorder].
func (k *workerCoroutine) Record(ctx context.Context, facts ...nexus.Fact) error {
	return k.waitFor(func(turn int) {
		k.sim.scheduleSoon(func() {
			if k.gone == nil {
				k.sim.handleError(k.sim.core.Record(ctx, facts...))
			}
			k.sim.resumeWorker(ctx, k, turn)
		})
	})
}

// Reserve implements [worker.AttemptFactRecorder].
func (k *workerCoroutine) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]state.Guidance, error) {
	err := k.waitForAnswer(ctx, func(answer func(run.WaitingWorkerReply)) error {
		return k.sim.core.Reserve(ctx, r, done, func() bool { return k.gone != nil }, answer)
	})
	return k.answer.Guidance, err
}

// Ask implements [worker.AttemptFactRecorder].
func (k *workerCoroutine) Ask(ctx context.Context, q nexus.QuestionAsked) (string, error) {
	err := k.waitForAnswer(ctx, func(answer func(run.WaitingWorkerReply)) error {
		return k.sim.core.Ask(ctx, q, func() bool { return k.gone != nil }, answer)
	})
	return k.answer.Text, err
}

func (k *workerCoroutine) waitForAnswer(ctx context.Context, queue func(func(run.WaitingWorkerReply)) error) error {
	k.answer = run.WaitingWorkerReply{}
	return k.waitFor(func(turn int) {
		k.sim.scheduleSoon(func() {
			if k.gone != nil {
				return
			}
			k.sim.handleError(queue(func(a run.WaitingWorkerReply) {
				k.answer, k.failed = a, a.Err
				k.sim.scheduleSoon(func() { k.sim.resumeWorker(ctx, k, turn) })
			}))
		})
	})
}

// Known implements [worker.AttemptFactRecorder].
func (k *workerCoroutine) Known(_ context.Context, tree, gate string) (nexus.GateEvidence, bool) {
	return k.sim.core.State.KnownEvidence(tree, gate)
}
