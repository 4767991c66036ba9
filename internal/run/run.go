// Package run executes a run: it decides from the state, records the decision, acts on it, and
// records the result, until nothing is left to do. Starting a run and resuming one after a
// crash are the same call.
//
//	journal -- replay --> state -- schedule.Next --> facts -- append --> journal
//	                        ^                                    |
//	                        +--- fold <-- workers' facts <-- World.Act
//
// A [RunCore] makes every decision and accesses nothing but the journal; it has no goroutine and
// no clock, so the simulator drives the very same one. [ConductRun] connects it to workers, time
// and people.
package run

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// Journal is one run's part of the journal, while this process has the run's lease.
type Journal interface {
	// Append makes the facts durable, all or none.
	Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error)
	// Events returns the run's events after a sequence number.
	Events(ctx context.Context, after int64) iter.Seq2[nexus.Event, error]
}

// IntentExecutor executes decisions.
type IntentExecutor interface {
	// Now returns the time.
	Now() time.Time
	// TimerAt returns a channel that delivers once at or after t, nil for never.
	TimerAt(t time.Time) <-chan time.Time
	// ExecuteIntent executes the intent and returns the facts that confirm it. It may be called again for
	// an intent that a dead process did not confirm, and then first checks which parts are
	// done. An error means that the machinery failed; if the context was cancelled it is the
	// cause.
	ExecuteIntent(ctx context.Context, intent nexus.Fact, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error)
}

// DailyBudget is the money of a day that all runs share, in any process and repository.
type DailyBudget interface {
	// Claim sets the amount that this run has spent and reserved today, if the sum with all
	// other runs is within the limit; a limit of 0 is none. It returns the amount of the
	// others, and whether the claim succeeded.
	Claim(ctx context.Context, own, limit nexus.Money) (nexus.OtherRunsSpendingRecorded, bool, error)
}

// ErrInterrupted is returned by a run that was drained. It can be resumed.
var ErrInterrupted = errors.New("interrupted; the run can be resumed")

// workerStoppedError is the cause with which a worker is cancelled when it must not continue.
type workerStoppedError struct{ why string }

func (e workerStoppedError) Error() string { return "stopped: " + e.why }

// IsWorkerStop reports whether an error means that a worker must stop, rather than that something
// failed.
func IsWorkerStop(err error) bool {
	_, ok := errors.AsType[workerStoppedError](err)
	return ok || errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled)
}
