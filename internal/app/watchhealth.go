package app

import (
	"context"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/view/health"
)

// sampleEvery is the interval at which a run measures the machine. A measurement takes some 50
// microseconds.
const sampleEvery = 10 * time.Second

// MeasureMachine returns the memory of the machine and the free space on the disk of dir.
func MeasureMachine(dir string, now time.Time) health.MachineSample {
	s := health.MachineSample{At: now, Memory: proc.MachineMemory(), Available: proc.AvailableMemory()}
	var at syscall.Statfs_t
	if syscall.Statfs(dir, &at) == nil {
		s.Free, s.Disk = int64(at.Bavail)*int64(at.Bsize), true //nolint:unconvert // the types differ between systems
	}
	return s
}

// watchMachine monitors the machine for a run until the context ends.
func (a *App) watchMachine(ctx context.Context, p *Repository, run nexus.RunID, alerts nexus.AlertThresholds, tell chan<- nexus.Fact) {
	s, err := p.Replay(ctx, run)
	if err != nil {
		return // the run reports it
	}
	watchHealth(ctx, sampleEvery, health.NewMachineAlerts(s.Alerts.ActiveAlerts()), alerts, func() health.MachineSample { return MeasureMachine(p.State, a.Now()) }, tell)
}

// watchHealth measures at once and then at intervals until the context ends, and sends the
// facts to record.
func watchHealth(
	ctx context.Context, every time.Duration, m *health.MachineAlertDecider, a nexus.AlertThresholds, measure func() health.MachineSample, tell chan<- nexus.Fact,
) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, f := range m.ApplySample(a, measure()) {
			select {
			case tell <- f:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
