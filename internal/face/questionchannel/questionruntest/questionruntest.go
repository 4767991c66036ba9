// Package questionruntest simulates runs that ask people, for the tests of channels: a journal in
// memory, and a conductor that settles requests as the real one does.
package questionruntest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Run is the ID of the only run.
const Run nexus.RunID = "r1"

// InMemoryRunJournal stores the events of a run in memory. It is safe for concurrent use.
type InMemoryRunJournal struct {
	now func() time.Time

	mu     sync.Mutex // guards the fields below
	events []nexus.Event
	grown  chan struct{}
	state  *state.State
	away   bool // no process works on the run
}

// NewJournal returns the journal of a run that is in progress.
func NewJournal(now func() time.Time) *InMemoryRunJournal {
	j := &InMemoryRunJournal{now: now, grown: make(chan struct{}), state: state.NewState(Run)}
	j.Append(
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Do it"}, Base: "c0"},
		nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Add"}}, nexus.PlanApproved{By: "policy"},
	)
	return j
}

// RunAll runs all functions at once, such as an inbox and its channel, until stop is called or
// the test ends. An error of one of them fails the test.
func RunAll(tb testing.TB, all ...func(context.Context) error) (stop func()) {
	tb.Helper()
	ctx, end := context.WithCancelCause(tb.Context())
	over := make(chan error, len(all))
	for _, f := range all {
		go func() { over <- f(ctx) }() // stop waits for it
	}
	stop = sync.OnceFunc(func() {
		end(nil)
		for range all {
			if err := <-over; err != nil {
				tb.Error(err)
			}
		}
	})
	tb.Cleanup(stop)
	return stop
}

// Append appends facts.
func (j *InMemoryRunJournal) Append(facts ...nexus.Fact) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range facts {
		j.append(f)
	}
}

func (j *InMemoryRunJournal) append(f nexus.Fact) nexus.Event {
	e := nexus.Event{Seq: int64(len(j.events) + 1), Run: Run, At: j.now(), Fact: f}
	if err := j.state.Apply(e); err != nil {
		panic(fmt.Sprintf("questionruntest: %v", err)) // a mistake in a test
	}
	j.events = append(j.events, e)
	close(j.grown)
	j.grown = make(chan struct{})
	return e
}

// AskQuestion appends a question to the journal.
func (j *InMemoryRunJournal) AskQuestion(id, trigger, text string) {
	j.Append(nexus.QuestionAsked{ID: id, Text: text, Fallback: "as I think", Trigger: trigger})
}

// StopConducting removes the conductor from the run, so that requests wait.
func (j *InMemoryRunJournal) StopConducting() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.away = true
}

// IsConducted reports whether a process conducts the run.
func (j *InMemoryRunJournal) IsConducted(context.Context, nexus.RunID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.away
}

// Ask appends a request, and settles it if the run has a conductor.
func (j *InMemoryRunJournal) Ask(_ context.Context, _ nexus.RunID, r nexus.Request) (nexus.Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.append(nexus.RequestMade{Request: r})
	if !j.away {
		for _, f := range schedule.NextFacts(j.state, j.now()) {
			j.append(f)
		}
	}
	return e, nil
}

// Answer answers a question as a person on another channel does.
func (j *InMemoryRunJournal) Answer(id, text, by string) {
	j.Append(nexus.QuestionAnswered{ID: id, Text: text, By: by})
}

// Answers returns the answers so far, as "ID by BY: TEXT".
func (j *InMemoryRunJournal) Answers() []string {
	var all []string
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if f, ok := e.Fact.(nexus.QuestionAnswered); ok {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s by %s: %s", f.ID, f.By, f.Text)))
		}
	}
	return all
}

// Head returns the number of the last event.
func (j *InMemoryRunJournal) Head(context.Context) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return int64(len(j.events)), nil
}

// Events returns the events so far.
func (j *InMemoryRunJournal) Events(_ context.Context, _ nexus.RunID, after int64) iter.Seq2[nexus.Event, error] {
	j.mu.Lock()
	all := slices.Clone(j.events[after:])
	j.mu.Unlock()
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Follow returns the events so far, and then each new one.
func (j *InMemoryRunJournal) Follow(ctx context.Context, _ nexus.RunID, after int64) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for {
			j.mu.Lock()
			all, grown := slices.Clone(j.events[after:]), j.grown
			j.mu.Unlock()
			for _, e := range all {
				if after = e.Seq; !yield(e, nil) {
					return
				}
			}
			select {
			case <-grown:
			case <-ctx.Done():
				return
			}
		}
	}
}
