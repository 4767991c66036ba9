package app

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/health"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// sampleEvery is how often a run measures the machine: it takes some 50
// microseconds.
const sampleEvery = 10 * time.Second

// Measure measures the machine.
func Measure(dir string, now time.Time) health.Sample {
	s := health.Sample{At: now, Memory: proc.MachineMemory(), Available: proc.Available()}
	var at syscall.Statfs_t
	if syscall.Statfs(dir, &at) == nil {
		s.Free, s.Disk = int64(at.Bavail)*int64(at.Bsize), true //nolint:unconvert // the types differ between systems
	}
	return s
}

// measure watches the machine for a run until the context ends.
func (a *App) measure(ctx context.Context, p *Place, run nexus.RunID, alerts nexus.Alerts, tell chan<- nexus.Fact) {
	s, err := p.Replay(ctx, run)
	if err != nil {
		return // the run says so
	}
	watch(ctx, sampleEvery, health.Raised(s.Alerts.Active()), alerts, func() health.Sample { return Measure(p.State, a.Now()) }, tell)
}

// watch measures at once and then now and again until the context ends, and hands
// over what is to be recorded.
func watch(ctx context.Context, every time.Duration, m *health.Machine, a nexus.Alerts, measure func() health.Sample, tell chan<- nexus.Fact) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, f := range m.Measured(a, measure()) {
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

// Usage is what a run uses of the machine now.
type Usage struct {
	Machine   health.Sample
	Total     proc.Usage            // of all processes of the run, with the conductor
	Conductor *proc.Usage           // nil where nobody conducts the run on this machine
	Processes map[string]proc.Usage // what agents and gates have started, by attempt
	Disk      map[string]int64      // bytes of worktrees, by attempt
}

// UsageOf measures what a run uses.
func UsageOf(p *Place, r journal.Run, working []state.Beat, now time.Time) Usage {
	h := Usage{Machine: Measure(p.State, now), Processes: proc.Owned(string(r.ID)), Disk: map[string]int64{}}
	for _, u := range h.Processes {
		h.Total.Add(u)
	}
	if r.Holder != nil && r.Holder.Host == journal.Self().Host {
		if u, ok := proc.One(r.Holder.PID); ok {
			h.Conductor = &u
			h.Total.Add(u)
		}
	}
	for _, a := range working {
		if n := size(filepath.Join(p.State, "trees", string(r.ID), a.ID)); n > 0 {
			h.Disk[a.ID] = n
		}
	}
	return h
}

// most bounds how many files of an attempt are looked at.
const most = 200_000

// size returns the bytes on disk below a directory.
func size(dir string) (sum int64) {
	n := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if n++; n > most {
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // what is gone takes no room
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		if at, ok := info.Sys().(*syscall.Stat_t); ok {
			sum += at.Blocks * 512 // the kernel's unit, whatever the disk's
		}
		return nil
	})
	return sum
}
