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
	Act(ctx context.Context, intent nexus.Fact, v state.View, d Desk) ([]nexus.Fact, error)
}

// Purse is the money of a day that all runs share, whatever process and
// repository they are in.
type Purse interface {
	// Claim sets what this run has spent and reserved today, if that with what
	// all others have stays within the limit; a limit of 0 is none. It returns
	// what the others have, and whether the claim was granted.
	Claim(ctx context.Context, own, limit nexus.Money) (nexus.BudgetShared, bool, error)
}

// Desk is where a worker records what happened and asks for leave.
type Desk interface {
	// Record appends facts, all or none, and returns when they are durable.
	Record(ctx context.Context, facts ...nexus.Fact) error
	// Reserve asks leave for one call of a model and sets its worst case
	// aside. It waits while the run is paused. It returns what people left
	// for the task's agent to know. What was done before is recorded first, in
	// one append with it where leave is given at once.
	Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]state.Guidance, error)
	// Ask puts a question to a person and waits for the answer.
	Ask(ctx context.Context, q nexus.QuestionAsked) (string, error)
	// Known returns what a gate already said of exactly this tree.
	Known(ctx context.Context, tree, gate string) (nexus.Evidence, bool)
	// Spare bounds what costs nothing to do again, a gate or a wait: its
	// context ends with ctx, and once the run lets its workers go. Where paid
	// work hangs on it, only an interrupt and a person who stops the run end it.
	Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc)
}

// ErrInterrupted is returned by a run that was told to drain. It can be taken
// up again.
var ErrInterrupted = errors.New("interrupted; the run can be resumed")

// stopped is the cause that a worker hears when it must not go on.
type stopped struct{ why string }

func (e stopped) Error() string { return "stopped: " + e.why }

// Stops reports whether an error tells a worker to stop, rather than that
// something failed.
func Stops(err error) bool {
	_, ok := errors.AsType[stopped](err)
	return ok || errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled)
}
