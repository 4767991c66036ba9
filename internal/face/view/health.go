package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/health"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// Vitals are what is told of how a run is doing.
type Vitals struct {
	health.Report
	Machine   health.Sample         `json:"machine"`
	Total     proc.Usage            `json:"total"`                // of all processes of the run, with the conductor
	Conductor *proc.Usage           `json:"conductor,omitempty"`  // none where nobody conducts the run on this machine
	Processes map[string]proc.Usage `json:"by_attempt,omitempty"` // what agents and gates have started, by attempt
	Disk      map[string]int64      `json:"disk_by_attempt,omitempty"`
}

// Health draws how a run is doing.
func Health(s Style, v Vitals) string {
	var b strings.Builder
	word := s.Good("healthy")
	if !v.OK {
		word = s.Bad(Count(len(v.Alerts), "alert"))
	}
	fmt.Fprintf(&b, "\nhealth  %s, last heard of %s ago, $%.2f an hour\n", word, Clock(v.Silent), v.Hourly)
	for _, a := range v.Alerts {
		of := ""
		if a.Of != "" {
			of = ", " + a.Of
		}
		b.WriteString(s.Fit(fmt.Sprintf("  %s %s for %s: %s", s.Bad(string(a.Kind)), Clean(of), Clock(a.Seconds), Clean(a.Why))) + "\n")
	}
	if m := v.Machine; m.Memory > 0 {
		fmt.Fprintf(&b, "  machine   %s of %s memory can be used, %s free on the disk\n", sandbox.Size(m.Available), sandbox.Size(m.Memory), sandbox.Size(m.Free))
	}
	q := v.Queue
	fmt.Fprintf(&b, "  queue     %s ready, %d to land, %s open; the oldest waits for %s\n", Count(q.Ready, "task"), q.Train, Count(q.People, "question"), Clock(q.Oldest))
	if len(v.Bounds) > 0 {
		b.WriteString("  killed    for using too much:")
		for _, name := range slices.Sorted(maps.Keys(v.Bounds)) {
			fmt.Fprintf(&b, " %s %d", name, v.Bounds[name])
		}
		b.WriteString("\n")
	}
	b.WriteString("\n" + used(s, v))
	return b.String() + failing(s, v.Report)
}

// used is the table of who uses what.
func used(s Style, v Vitals) string {
	rows := [][]string{}
	row := func(name string, u proc.Usage, disk int64, heard string) {
		rows = append(rows, []string{name, sandbox.Size(u.Memory), Clock(u.CPU.Seconds()), fmt.Sprint(u.Processes), fmt.Sprint(u.Threads), fmt.Sprint(u.Files), sandbox.Size(disk), heard})
	}
	names := map[string]string{}
	for _, a := range v.Attempts {
		names[a.Attempt] = strings.TrimSpace(Clock(a.Silent) + " ago " + a.Doing)
	}
	for name := range v.Processes {
		if _, ok := names[name]; !ok {
			names[name] = ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row(Clean(name), v.Processes[name], v.Disk[name], names[name])
	}
	if v.Conductor != nil {
		row("nexus", *v.Conductor, 0, "")
	}
	var disk int64
	for _, n := range v.Disk {
		disk += n
	}
	row("total", v.Total, disk, "")
	return Table(s, []string{"", "memory", "cpu", "processes", "threads", "files", "disk", "heard of"}, rows)
}

// failing is the table of what fails.
func failing(s Style, r health.Report) string {
	rows := [][]string{}
	add := func(what, name string, x health.Share) {
		rows = append(rows, []string{what, Clean(name), fmt.Sprint(x.All), fmt.Sprint(x.Failed), fmt.Sprintf("%.0f %%", x.Rate*100)})
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
	return "\n" + Table(s, []string{"", "name", "all", "failed", "rate"}, rows)
}
