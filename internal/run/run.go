// Package run conducts a run: it decides from the state, records the
// decision, acts on it, and records what came of it, until nothing is left
// to do. Starting a run and taking one up after a crash are the same call.
//
//	journal ── replay ──▶ state ── schedule.Next ──▶ facts ── append ──▶ journal
//	                        ▲                                    │
//	                        └── fold ◀── workers' facts ◀── World.Act
//
// A [Core] makes every decision and touches nothing but the journal; it has
// no goroutine and no clock, so the simulator drives the very same one.
// [Conduct] gives it workers, time and people.
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

// Journal is one run's part of the journal, held by this process alone.
type Journal interface {
	// Append makes the facts durable, all or none.
	Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error)
	// Events returns the run's events after a sequence number.
	Events(ctx context.Context, after int64) iter.Seq2[nexus.Event, error]
}

// World does what was decided.
type World interface {
	// Now returns the time.
	Now() time.Time
	// Alarm returns a channel that delivers once at or after t, nil for never.
	Alarm(t time.Time) <-chan time.Time
	// Act does what the intent says and returns the facts that confirm it.
	// It may be called again for an intent that a dead process left
	// unconfirmed, and then first looks for what is done already. An error
	// means that the machinery failed; when the context was cancelled it is
	// the cause.
	Act(ctx context.Context, intent nexus.Fact, v state.View, d worker.Desk) ([]nexus.Fact, error)
}

// DailyBudget is the money of a day that all runs share, whatever process and
// repository they are in.
type DailyBudget interface {
	// Claim sets what this run has spent and reserved today, if that with what
	// all others have stays within the limit; a limit of 0 is none. It returns
	// what the others have, and whether the claim was granted.
	Claim(ctx context.Context, own, limit nexus.Money) (nexus.BudgetShared, bool, error)
}

// ErrInterrupted is returned by a run that was told to drain. It can be taken
// up again.
var ErrInterrupted = errors.New("interrupted; the run can be resumed")

// stoppedError is the cause that a worker hears when it must not continue.
type stoppedError struct{ why string }

func (e stoppedError) Error() string { return "stopped: " + e.why }

// IsStop reports whether an error tells a worker to stop, rather than that
// something failed.
func IsStop(err error) bool {
	_, ok := errors.AsType[stoppedError](err)
	return ok || errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled)
}
