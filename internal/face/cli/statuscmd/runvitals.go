package statuscmd

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/health"
)

// runVitals are the measurements of a run's health.
type runVitals struct {
	health.HealthReport
	Machine   health.MachineSample          `json:"machine"`
	Total     proc.ResourceUsage            `json:"total"`                // of all processes, including the conductor
	Conductor *proc.ResourceUsage           `json:"conductor,omitempty"`  // nil if the run is not in progress here
	Processes map[string]proc.ResourceUsage `json:"by_attempt,omitempty"` // processes of agents and gates, by attempt
	Disk      map[string]int64              `json:"disk_by_attempt,omitempty"`
}

// drawVitals draws the health of a run.
func drawVitals(s view.OutputStyle, v runVitals) string {
	var b strings.Builder
	word := s.Good("healthy")
	if !v.OK {
		word = s.Bad(view.CountWithNoun(len(v.Alerts), "alert"))
	}
	fmt.Fprintf(&b, "\nhealth  %s, last active %s ago, $%.2f an hour\n", word, view.FormatSeconds(v.Silent), v.Hourly)
	for _, a := range v.Alerts {
		of := ""
		if a.Of != "" {
			of = ", " + a.Of
		}
		line := fmt.Sprintf("  %s%s for %s: %s", s.Bad(string(a.Kind)), view.EscapeForTerminal(of), view.FormatSeconds(a.Seconds), view.EscapeForTerminal(a.Why))
		b.WriteString(s.TruncateLine(line) + "\n")
	}
	if m := v.Machine; m.Memory > 0 {
		fmt.Fprintf(&b, "  machine   %s of %s memory can be used, %s free on the disk\n",
			sandbox.FormatSize(m.Available), sandbox.FormatSize(m.Memory), sandbox.FormatSize(m.Free))
	}
	q := v.Queue
	fmt.Fprintf(&b, "  queue     %s ready, %d to land, %s open; the oldest waits for %s\n",
		view.CountWithNoun(q.Ready, "task"), q.Train, view.CountWithNoun(q.People, "question"), view.FormatSeconds(q.Oldest))
	if len(v.Bounds) > 0 {
		b.WriteString("  killed    for using too much:")
		for _, name := range slices.Sorted(maps.Keys(v.Bounds)) {
			fmt.Fprintf(&b, " %s %d", name, v.Bounds[name])
		}
		b.WriteString("\n")
	}
	b.WriteString("\n" + usageTable(s, v))
	return b.String() + failureTable(s, v.HealthReport)
}

// usageTable draws the table of resource usage.
func usageTable(s view.OutputStyle, v runVitals) string {
	rows := [][]string{}
	row := func(name string, u proc.ResourceUsage, disk int64, heard string) {
		rows = append(rows, []string{
			name, sandbox.FormatSize(u.Memory), view.FormatSeconds(u.CPU.Seconds()),
			fmt.Sprint(u.Processes), fmt.Sprint(u.Threads), fmt.Sprint(u.Files), sandbox.FormatSize(disk), heard,
		})
	}
	names := map[string]string{}
	for _, a := range v.Attempts {
		names[a.Attempt] = strings.TrimSpace(view.FormatSeconds(a.Silent) + " ago " + a.Doing)
	}
	for name := range v.Processes {
		if _, ok := names[name]; !ok {
			names[name] = ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row(view.EscapeForTerminal(name), v.Processes[name], v.Disk[name], names[name])
	}
	if v.Conductor != nil {
		row("nexus", *v.Conductor, 0, "")
	}
	var disk int64
	for _, n := range v.Disk {
		disk += n
	}
	row("total", v.Total, disk, "")
	return view.DrawTable(s, []string{"", "memory", "cpu", "processes", "threads", "files", "disk", "last active"}, rows)
}

// failureTable draws the table of failures.
func failureTable(s view.OutputStyle, r health.HealthReport) string {
	rows := [][]string{}
	add := func(what, name string, x health.FailureCount) {
		rows = append(rows, []string{what, view.EscapeForTerminal(name), fmt.Sprint(x.All), fmt.Sprint(x.Failed), view.FormatPercent(x.Rate)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Providers)) {
		add("provider", name, r.Providers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Gates)) {
		add("gate", name, r.Gates[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Roles)) {
		add("role", string(name), r.Roles[name])
	}
	if len(rows) == 0 {
		return ""
	}
	return "\n" + view.DrawTable(s, []string{"", "name", "all", "failed", "rate"}, rows)
}

// measureUsage measures the resources of a run whose state is in dir.
func (v *runVitals) measureUsage(dir string, r journal.RecordedRun, working []state.WorkerHeartbeat) {
	v.Processes, v.Disk = proc.UsageByOwner(string(r.ID)), map[string]int64{}
	for _, u := range v.Processes {
		v.Total.Add(u)
	}
	if r.Holder != nil && r.Holder.Host == journal.CallingProcess().Host {
		if u, ok := proc.ProcessUsage(r.Holder.PID); ok {
			v.Conductor = &u
			v.Total.Add(u)
		}
	}
	for _, a := range working {
		if n := diskUsage(filepath.Join(dir, "trees", string(r.ID), a.ID)); n > 0 {
			v.Disk[a.ID] = n
		}
	}
}

// mostFiles limits the files of an attempt that are measured.
const mostFiles = 200_000

// diskUsage returns the disk usage below a directory, in bytes.
func diskUsage(dir string) (sum int64) {
	n := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if n++; n > mostFiles {
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
			sum += at.Blocks * 512 // the kernel's unit, for every disk
		}
		return nil
	})
	return sum
}

// measureRun measures a run and derives its health from its events.
func measureRun(ctx context.Context, p *app.Repository, r journal.RecordedRun, s *state.State, now time.Time) (*runVitals, error) {
	var book health.HealthCounters
	for e, err := range p.Journal.Events(ctx, r.ID, 0) {
		if err != nil {
			return nil, err
		}
		book.Apply(e)
	}
	v := &runVitals{HealthReport: health.ReportFor(s, &book, r.Holder != nil, now), Machine: app.MeasureMachine(p.State, now)}
	v.measureUsage(p.State, r, s.Alerts.WorkerHeartbeats())
	return v, nil
}
