package projectionhub

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

// counting counts the events that are read of a journal.
type counting struct {
	EventJournal
	read atomic.Int64
}

func (c *counting) Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for e, err := range c.EventJournal.Events(ctx, run, after) {
			if c.read.Add(1); !yield(e, err) {
				return
			}
		}
	}
}

// The most that a fact may take until a finished run is shown: read of the journal,
// understood and folded. A run of 100,000 facts takes half a second then, as
// docs/benchmarks.md has it.
const (
	mostAllocs = 34
	mostBytes  = 2200
)

// TestOpenCost opens a finished run, and counts what that takes for a fact: each is read
// once.
func TestOpenCost(t *testing.T) {
	j, _ := book(t)
	l := acquire(t, j, "r")
	var all []nexus.Fact
	projectiontest.LargeRun(100, 13, func(e nexus.Event) { all = append(all, e.Fact) })
	all = append(all, nexus.FinalGatesStarted{}, nexus.FinalGatesJudged{}, nexus.RunEnded{Status: nexus.StatusDone})
	write(t, l, all...)
	c := &counting{EventJournal: j}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := OpenHub(t.Context(), c, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.WithProjection("r", func(p *projection.RunProjection) error {
		p.Run(projectiontest.Start())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	n := float64(len(all))
	allocs, bytes := float64(after.Mallocs-before.Mallocs)/n, float64(after.TotalAlloc-before.TotalAlloc)/n
	if t.Logf("a fact takes %.1f allocations and %.0f bytes", allocs, bytes); allocs > mostAllocs || bytes > mostBytes {
		t.Errorf("a fact takes %.1f allocations and %.0f bytes, at most %d and %d", allocs, bytes, mostAllocs, mostBytes)
	}
	if read := c.read.Load(); read != int64(len(all)) {
		t.Errorf("%d events were read of %d", read, len(all))
	}
}
