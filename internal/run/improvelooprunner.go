package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// LoopIntentExecutor executes the decisions of a loop.
type LoopIntentExecutor interface {
	// DecisionInputs returns the inputs of a decision: the time, and the settings of people.
	DecisionInputs() improveloop.LoopDecisionInputs
	// TimerAt returns a channel that delivers once at or after t, nil for never.
	TimerAt(t time.Time) <-chan time.Time
	// ExecuteIntent executes the intent and returns the facts that confirm it. It may be called again for
	// an intent that a dead process did not confirm, and then first checks which parts are
	// done. The loop is a copy. If the context was cancelled, the error is its cause. Facts
	// that cannot wait until the end go to tell: they are recorded when tell returns.
	ExecuteIntent(ctx context.Context, intent nexus.Fact, l *improveloop.ImproveLoop, tell LoopRecordFunc) ([]nexus.Fact, error)
}

// LoopRecordFunc records facts about work in progress.
type LoopRecordFunc func(facts ...nexus.Fact) error

// LoopSignals are the channels of inputs from outside while a loop runs. A nil channel never
// delivers.
type LoopSignals struct {
	Requests <-chan nexus.Event
	Woken    <-chan string   // why a pause ends early
	Drain    <-chan struct{} // closed to interrupt all work, which can be resumed later
}

// ErrStopped is the cause with which the work of a loop is cancelled when a person stopped the
// loop.
var ErrStopped = errors.New("the loop was stopped")

// RunLoop finds and does work, from the loop's current state, until the loop ends. Like
// [ConductRun], it decides from the facts, records the decision, and only then acts on it. The
// caller must not use the loop until RunLoop returns.
func RunLoop(ctx context.Context, j Journal, h LoopIntentExecutor, l *improveloop.ImproveLoop, sig LoopSignals) error {
	t := &improveLoopRunner{journal: j, hands: h, loop: l, inbox: make(chan loopIntentResult), stops: map[WorkKey]context.CancelCauseFunc{}}
	err := t.serveUntilDone(ctx, sig)
	t.drainWork(context.WithoutCancel(ctx), err == nil || errors.Is(err, ErrInterrupted))
	if err == nil && l.Status == "" {
		err = ErrInterrupted
	}
	return err
}

// improveLoopRunner is owned by the goroutine in serve; workers reach it through the inbox.
type improveLoopRunner struct {
	journal Journal
	hands   LoopIntentExecutor
	loop    *improveloop.ImproveLoop
	inbox   chan loopIntentResult
	workers sync.WaitGroup
	stops   map[WorkKey]context.CancelCauseFunc // of the work in progress
	woken   string
	drained bool
	seen    int64 // the last request
}

// loopIntentResult is the result of an intent.
type loopIntentResult struct {
	key    WorkKey
	intent nexus.Fact
	facts  []nexus.Fact
	err    error
	cause  error // of the context's end; nil: it did not end

	told chan<- error // receives the result of recording while the work continues; nil: the work is over
}

func (t *improveLoopRunner) serveUntilDone(ctx context.Context, sig LoopSignals) error {
	for {
		world, err := t.decideAndStart(ctx)
		if err != nil || t.loop.Status != "" {
			return err
		}
		if t.drained && len(t.stops) == 0 {
			return ErrInterrupted
		}
		select {
		case d := <-t.inbox:
			err = t.receiveResult(ctx, d)
		case e, ok := <-sig.Requests:
			if !ok {
				sig.Requests = nil
				continue
			}
			if e.Seq > t.seen {
				t.seen = e.Seq
				t.loop.Apply(e)
			}
		case why := <-sig.Woken:
			t.woken = why
		case <-t.nextAlarm(world):
		case <-sig.Drain:
			sig.Drain = nil
			t.drained = true
			t.cancelWork(ErrInterrupted, true)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func (t *improveLoopRunner) nextAlarm(w improveloop.LoopDecisionInputs) <-chan time.Time {
	at := t.loop.NextWakeTime(w)
	if at.IsZero() || t.drained {
		return nil
	}
	return t.hands.TimerAt(at)
}

// decideAndStart decides until nothing more follows, and starts the decided work.
func (t *improveLoopRunner) decideAndStart(ctx context.Context) (improveloop.LoopDecisionInputs, error) {
	w := t.hands.DecisionInputs()
	for !t.drained {
		w.Woken = t.woken
		facts := t.loop.NextFacts(w)
		if len(facts) == 0 {
			break
		}
		if err := t.record(ctx, facts...); err != nil {
			return w, err
		}
		if _, ok := facts[len(facts)-1].(nexus.ImproveCycleStarted); ok {
			t.woken = "" // reasons to wake during a cycle are handled after it
		}
		w = t.hands.DecisionInputs()
	}
	if t.drained || t.loop.Status != "" {
		return w, nil
	}
	for _, intent := range t.loop.OpenIntents() {
		t.startIntent(ctx, intent)
	}
	if t.loop.Drain != "" {
		t.cancelWork(ErrStopped, false)
	}
	return w, nil
}

// cancelWork cancels the work in progress: on items, or all of it.
func (t *improveLoopRunner) cancelWork(why error, all bool) {
	for key, stop := range t.stops {
		if i := t.loop.ItemByID(nexus.RunID(key)); all || i == nil || i.Stage == improveloop.Working {
			stop(why)
		}
	}
}

// workKeyOf returns the item of an intent: no item has two workers at once.
func workKeyOf(intent nexus.Fact) WorkKey { return WorkKey(improveloop.ItemOfIntent(intent)) }

func (t *improveLoopRunner) startIntent(ctx context.Context, intent nexus.Fact) {
	key := workKeyOf(intent)
	if t.stops[key] != nil {
		return
	}
	ctx, stop := context.WithCancelCause(ctx)
	t.stops[key] = stop
	loop := t.loop.Clone()
	t.workers.Go(func() {
		facts, err := t.hands.ExecuteIntent(ctx, intent, loop, func(facts ...nexus.Fact) error {
			told := make(chan error, 1)
			t.inbox <- loopIntentResult{key: key, intent: intent, facts: facts, told: told}
			return <-told
		})
		t.inbox <- loopIntentResult{key: key, intent: intent, facts: facts, err: err, cause: context.Cause(ctx)}
	})
}

// receiveResult records the result of an intent. Interrupted work is done by the process that
// resumes the loop.
func (t *improveLoopRunner) receiveResult(ctx context.Context, d loopIntentResult) error {
	if d.told != nil {
		err := t.record(ctx, d.facts...)
		d.told <- err
		return err
	}
	t.stops[d.key](nil)
	delete(t.stops, d.key)
	switch {
	case d.err == nil:
		return t.record(ctx, d.facts...)
	case errors.Is(d.cause, ErrStopped):
		return t.record(ctx, append(d.facts, improveloop.FailureFacts(d.intent, "the loop was stopped")...)...)
	case d.cause != nil:
		return nil //nolint:nilerr // it was let go, and nothing failed
	}
	return t.record(ctx, append(d.facts, improveloop.FailureFacts(d.intent, d.err.Error())...)...)
}

func (t *improveLoopRunner) record(ctx context.Context, facts ...nexus.Fact) error {
	if len(facts) == 0 {
		return nil
	}
	events, err := t.journal.Append(ctx, facts...)
	if err != nil {
		return fmt.Errorf("record %s: %w", nexus.FactKind(facts[0]), err)
	}
	for _, e := range events {
		t.loop.Apply(e)
	}
	return nil
}

// drainWork waits for the work in progress, and records its last facts if the journal is reliable.
func (t *improveLoopRunner) drainWork(ctx context.Context, record bool) {
	gone := make(chan struct{})
	go func() {
		t.workers.Wait()
		close(gone)
	}()
	t.drained = true
	t.cancelWork(ErrInterrupted, true)
	for {
		select {
		case d := <-t.inbox:
			switch {
			case record && t.receiveResult(ctx, d) != nil:
				record = false
			case !record && d.told != nil:
				d.told <- ErrInterrupted
			}
		case <-gone:
			return
		}
	}
}
