package projection

import (
	"runtime"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkApply folds a run of 10,000 tasks and a million facts. It prints the
// time for a fact, and what the projection holds in the end.
func BenchmarkApply(b *testing.B) {
	for b.Loop() {
		before := heap()
		p := NewProjection("r", Options{Past: nothing})
		var took time.Duration
		n := projectiontest.LargeRun(10_000, 13, func(e nexus.Event) {
			t := time.Now()
			if err := p.Apply(e); err != nil {
				b.Fatal(err)
			}
			took += time.Since(t)
		})
		held := heap() - before
		b.ReportMetric(float64(n), "facts")
		b.ReportMetric(float64(took.Nanoseconds())/float64(n), "ns/fact")
		b.ReportMetric(float64(held)/(1<<20), "MiB")
		now := projectiontest.Start().Add(time.Hour)
		for name, f := range map[string]func(){
			"cards": func() { p.TaskCards(now) }, "run": func() { p.Run(now) }, "graph": func() { p.PlanGraph(now) }, "timeline": func() { p.Timeline(now) },
			"cost": func() { p.Cost(now) }, "checks": func() { p.GateResults() }, "inbox": func() { p.InboxItems(now) }, "task": func() { p.TaskDetailView("T9", now) },
		} {
			t := time.Now()
			f()
			b.ReportMetric(float64(time.Since(t).Microseconds())/1000, name+"-ms")
		}
		runtime.KeepAlive(p)
	}
}
