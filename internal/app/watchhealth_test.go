package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/health"
)

// TestWatch measures every 10 seconds of virtual time, tells when the disk is
// nearly full, and ends with its context while nobody listens.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		samples, tell, done := 0, make(chan nexus.Fact), make(chan struct{})
		go func() {
			defer close(done)
			watchHealth(ctx, sampleEvery, health.NewMachineAlerts(nil), nexus.AlertThresholds{Disk: 100, Lasting: 30 * time.Second}, func() health.MachineSample {
				samples++
				return health.MachineSample{At: time.Now(), Free: 1, Disk: true}
			}, tell)
		}()
		began := time.Now()
		if f, ok := (<-tell).(nexus.AlertRaised); !ok || f.Kind != nexus.AlertDisk || time.Since(began) != 30*time.Second || samples != 4 {
			t.Errorf("%v after %s and %d samples", f, time.Since(began), samples)
		}
		cancel(context.Canceled)
		<-done
	})
}

// BenchmarkMeasure shows what one sample of the machine costs; a run takes one
// every 10 seconds.
func BenchmarkMeasure(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		MeasureMachine(dir, time.Time{})
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/sampleEvery.Seconds(), "%cpu")
}
