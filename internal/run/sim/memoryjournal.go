package sim

import (
	"context"
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
)

var _ run.Journal = (*memoryJournal)(nil)

// memoryJournal is a run's journal in memory. It outlives every process.
type memoryJournal struct {
	run    nexus.RunID
	now    func() time.Time
	events []nexus.Event
	booked func(nexus.Event) // receives each event that became durable
	fault  func() error      // fails an append; an append that fails afterwards is durable
	other  func()            // another process may append here
}

// appendForeign appends facts of another process, or of no process in particular.
func (j *memoryJournal) appendForeign(facts ...nexus.Fact) []nexus.Event {
	from := len(j.events)
	for _, f := range facts {
		e := nexus.Event{Seq: int64(len(j.events) + 1), Run: j.run, At: j.now(), Fact: f}
		j.events = append(j.events, e)
		j.booked(e)
	}
	return j.events[from:len(j.events):len(j.events)]
}

// Append implements [playToEnd.Journal].
func (j *memoryJournal) Append(_ context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	if err := j.fault(); err != nil {
		return nil, err
	}
	j.other()
	events := j.appendForeign(facts...)
	return events, j.fault()
}

// Events implements [playToEnd.Journal].
func (j *memoryJournal) Events(_ context.Context, after int64) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range j.events[after:] {
			if !yield(e, nil) {
				return
			}
		}
	}
}
