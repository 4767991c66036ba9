package projection_test

import (
	"iter"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

// TestUntil holds that a run is shown as it was after exactly one event, also where its
// numbers begin later than 1 and where the number means none of its events.
func TestUntil(t *testing.T) {
	const before = 40
	tape := projectiontest.SampleRun()
	for i := range tape {
		tape[i].Seq += before
	}
	events := func() iter.Seq2[nexus.Event, error] {
		return func(yield func(nexus.Event, error) bool) {
			for _, e := range tape {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	first, last := tape[0].Seq, tape[len(tape)-1].Seq
	for number, want := range map[int64]int64{1: first, first: first, first + 7: first + 7, last: last, 0: last, last + 1: last} {
		p, at, err := projection.ReplayUntil(tape[0].Run, events(), number, last)
		if err != nil {
			t.Fatal(err)
		}
		e := tape[want-first]
		if at.At != want || p.LastSeq() != want || at.First != first || at.Last != last || !at.Time.Equal(e.At) || at.Line == "" {
			t.Errorf("%d: %+v, folded to %d, want %d", number, at, p.LastSeq(), want)
		}
	}
}
