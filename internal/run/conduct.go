package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunSignals are the channels of inputs from outside while a run is in progress. A nil channel
// never delivers.
type RunSignals struct {
	Requests <-chan nexus.Event // requests of any process, in order
	Notices  <-chan nexus.Fact  // measurements to record
	Drain    <-chan struct{}    // closed to stop the workers at their next turn
}

// ConductRun executes a run, new or interrupted, until nothing is left to do.
//
// Every pass decides from the state, records the decision, and only then acts on it, so a crash
// loses no decision and repeats none. The returned state is valid even if there is an error; it
// is nil only if the run could not be started.
func ConductRun(ctx context.Context, j Journal, w IntentExecutor, run nexus.RunID, o StartOptions, sig RunSignals) (*state.State, error) {
	core, err := BeginRun(ctx, j, run, o)
	if err != nil {
		return nil, err
	}
	work, cancel := context.WithCancelCause(ctx)
	h := &runConductor{
		core: core, world: w, inbox: make(chan workerMessage), stops: map[WorkKey]context.CancelCauseFunc{},
		spare: newCancelScope(work), paid: newCancelScope(work),
	}
	err = h.serveUntilDone(ctx, work, sig)
	cancel(context.Canceled)
	h.drainWorkers(context.WithoutCancel(ctx), err == nil || ctx.Err() != nil)
	err = errors.Join(err, core.reportFinalSpending(context.WithoutCancel(ctx)))
	if err == nil && core.drained && !core.State.Status.HasEnded() {
		err = ErrInterrupted
	}
	return core.State, err
}

// runConductor connects the workers to the core. The goroutine in serveUntilDone owns the core; workers
// reach it through the inbox.
type runConductor struct {
	core    *RunCore
	world   IntentExecutor
	inbox   chan workerMessage
	workers sync.WaitGroup
	stops   map[WorkKey]context.CancelCauseFunc
	spare   workCancelScope // of work that can be repeated
	paid    workCancelScope // the same for work that paid work depends on
}

// workCancelScope cancels all work of a kind, of all workers.
type workCancelScope struct {
	ctx context.Context //nolint:containedctx // it is the workers' and ends with them
	end context.CancelCauseFunc
}

func newCancelScope(ctx context.Context) workCancelScope {
	ctx, end := context.WithCancelCause(ctx)
	return workCancelScope{ctx, end}
}

// cancelCause returns the cause of the cancellation, nil before.
func (b workCancelScope) cancelCause() error { return context.Cause(b.ctx) }

// workerMessage is a message of a worker: notes to record, or a function handle to run on the
// goroutine that owns the core. An error of handle ends the run.
type workerMessage struct {
	notes  []nexus.Fact
	heard  chan<- error // receives the result of recording the notes
	handle func(ctx context.Context) error
}

// receiveMessages handles a message together with the notes of all workers that wait at that
// moment: one append makes them durable together.
func (h *runConductor) receiveMessages(ctx context.Context, m workerMessage) error {
	var group []workerMessage
	for waiting := true; waiting; {
		if m.handle != nil {
			if err := h.recordMessages(ctx, group); err != nil {
				return err
			}
			return m.handle(ctx)
		}
		group = append(group, m)
		select {
		case m = <-h.inbox:
		default:
			waiting = false
		}
	}
	return h.recordMessages(ctx, group)
}

// recordMessages records the notes of a group in one append, or one worker's notes at a time if
// they cannot all be valid.
func (h *runConductor) recordMessages(ctx context.Context, group []workerMessage) error {
	var all []nexus.Fact
	for _, m := range group {
		all = append(all, m.notes...)
	}
	if len(group) > 1 && h.core.State.CheckFacts(all...) != nil {
		for i := range group {
			if err := h.recordMessages(ctx, group[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	err := h.core.Record(ctx, all...)
	for _, m := range group {
		m.heard <- err
	}
	if isFatal(err) {
		return err
	}
	return nil
}

// serveUntilDone runs passes and receives messages until the run is over. The workers have a context of
// their own, which ends after the last message was received.
func (h *runConductor) serveUntilDone(ctx, work context.Context, sig RunSignals) error {
	for {
		start, cancel, err := h.core.DecideUntilDone(ctx, h.world.Now())
		if err != nil {
			return err
		}
		for _, w := range start {
			h.startWorker(work, w)
		}
		h.stopOnDrain()
		for _, key := range cancel {
			if stop := h.stops[key]; stop != nil {
				stop(workerStoppedError{"somebody asked"})
			}
		}
		if h.core.IsOver() {
			return nil
		}
		select {
		case m := <-h.inbox:
			err = h.receiveMessages(ctx, m)
		case e, ok := <-sig.Requests:
			if !ok {
				sig.Requests = nil
				continue
			}
			err = h.core.ApplyRequest(e)
		case f := <-sig.Notices:
			if err = h.core.Record(ctx, f); !isFatal(err) {
				err = nil // it is reported another time
			}
		case <-h.nextAlarm():
		case <-sig.Drain:
			sig.Drain = nil
			h.core.DrainWorkers()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// stopOnDrain cancels the work that can be repeated once the workers are to stop.
func (h *runConductor) stopOnDrain() {
	if why := h.core.StopReason(false); why != nil {
		h.spare.end(why)
	}
	if why := h.core.StopReason(true); why != nil {
		h.paid.end(why)
	}
}

func (h *runConductor) nextAlarm() <-chan time.Time {
	at := h.core.NextWakeTime()
	if at.IsZero() {
		return nil
	}
	return h.world.TimerAt(at)
}

// startWorker gives work to a goroutine, which drainWorkers waits for.
func (h *runConductor) startWorker(ctx context.Context, w RecordedIntent) {
	ctx, stop := context.WithCancelCause(ctx)
	h.stops[w.Key] = stop
	h.workers.Go(func() {
		facts, err := h.world.ExecuteIntent(ctx, w.Intent, w.View, workerCoreConnection{h})
		switch cause := context.Cause(ctx); {
		case err != nil && cause != nil:
			err = cause
		case errors.Is(err, context.Canceled) && h.spare.cancelCause() != nil:
			err = h.spare.cancelCause()
		case errors.Is(err, context.Canceled):
			err = fmt.Errorf("%v", err) //nolint:errorlint // nobody cancelled this worker, so it is a failure like any other
		}
		h.inbox <- workerMessage{handle: func(ctx context.Context) error {
			stop(nil)
			delete(h.stops, w.Key)
			return h.core.FinishWork(ctx, w, facts, err)
		}}
	})
}

// drainWorkers waits for the workers. Their last messages are recorded if the journal is
// reliable, so that the next process finds the work released and not lost.
func (h *runConductor) drainWorkers(ctx context.Context, record bool) {
	gone := make(chan struct{})
	go func() {
		h.workers.Wait()
		close(gone)
	}()
	h.core.DrainWorkers()
	h.stopOnDrain()
	for {
		select {
		case m := <-h.inbox:
			if record && h.receiveMessages(ctx, m) != nil {
				record = false
			}
		case <-gone:
			return
		}
	}
}

// workerCoreConnection is a worker's connection to the core.
type workerCoreConnection struct{ h *runConductor }

// callCore sends a message and waits until it was handled.
func (d workerCoreConnection) callCore(ctx context.Context, handle func(context.Context) error) error {
	heard := make(chan error, 1)
	return d.sendMessage(ctx, heard, workerMessage{handle: func(ctx context.Context) error {
		err := handle(ctx)
		heard <- err
		if isFatal(err) {
			return err
		}
		return nil
	}})
}

func (d workerCoreConnection) sendMessage(ctx context.Context, heard <-chan error, m workerMessage) error {
	select {
	case d.h.inbox <- m:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-heard:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Record implements [worker.AttemptFactRecorder].
func (d workerCoreConnection) Record(ctx context.Context, facts ...nexus.Fact) error {
	if areSessionNotes(facts) {
		heard := make(chan error, 1)
		return d.sendMessage(ctx, heard, workerMessage{notes: facts, heard: heard})
	}
	return d.callCore(ctx, func(ctx context.Context) error { return d.h.core.Record(ctx, facts...) })
}

// Reserve implements [worker.AttemptFactRecorder].
func (d workerCoreConnection) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]state.Guidance, error) {
	a, err := d.waitForAnswer(ctx, func(own context.Context, answer func(WaitingWorkerReply)) error {
		return d.h.core.Reserve(own, r, done, func() bool { return ctx.Err() != nil }, answer)
	})
	return a.Guidance, err
}

// Ask implements [worker.AttemptFactRecorder].
func (d workerCoreConnection) Ask(ctx context.Context, q nexus.QuestionAsked) (string, error) {
	a, err := d.waitForAnswer(ctx, func(own context.Context, answer func(WaitingWorkerReply)) error {
		return d.h.core.Ask(own, q, func() bool { return ctx.Err() != nil }, answer)
	})
	return a.Text, err
}

func (d workerCoreConnection) waitForAnswer(ctx context.Context, queue func(context.Context, func(WaitingWorkerReply)) error) (WaitingWorkerReply, error) {
	answers := make(chan WaitingWorkerReply, 1)
	err := d.callCore(ctx, func(ctx context.Context) error {
		return queue(ctx, func(a WaitingWorkerReply) { answers <- a })
	})
	if err != nil {
		return WaitingWorkerReply{}, err
	}
	select {
	case a := <-answers:
		return a, a.Err
	case <-ctx.Done():
		return WaitingWorkerReply{}, context.Cause(ctx)
	}
}

// Spare implements [worker.AttemptFactRecorder].
func (d workerCoreConnection) Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc) {
	b := d.h.spare
	if paid {
		b = d.h.paid
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.ctx, func() { cancel(b.cancelCause()) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// Known implements [worker.AttemptFactRecorder].
func (d workerCoreConnection) Known(ctx context.Context, tree, gate string) (nexus.GateEvidence, bool) {
	found := make(chan nexus.GateEvidence, 1) // a cancelled worker no longer reads it
	err := d.callCore(ctx, func(context.Context) error {
		if e, ok := d.h.core.State.KnownEvidence(tree, gate); ok {
			found <- e
		}
		return nil
	})
	if err != nil {
		return nexus.GateEvidence{}, false
	}
	select {
	case e := <-found:
		return e, true
	default:
		return nexus.GateEvidence{}, false
	}
}
