// Package metrics writes the results and the progress of runs for Prometheus, in its text format
// 0.0.4: counters over all runs of a repository, and gauges of unfinished runs. Its labels are
// names of runs, gates and repositories; it contains no goals, titles or other texts of people
// and agents.
package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// ContentType is the content type of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// MetricsInput is the input of the text.
type MetricsInput struct {
	Version string
	Past    []history.RunRecord  // results of all runs
	Going   []view.RepositoryRun // unfinished runs
}

// metricFamily is a metric with its samples.
type metricFamily struct {
	name, kind, help string
	samples          []metricSample
}

// metricSample is a value with its labels, each as a name and a value.
type metricSample struct {
	labels []string
	value  float64
}

func (f *metricFamily) add(value float64, labels ...string) {
	f.samples = append(f.samples, metricSample{labels, value})
}

// FormatMetrics returns the text. Families and samples have the same order each time.
func FormatMetrics(o MetricsInput) string {
	info := metricFamily{name: "nexus_build_info", kind: "gauge", help: "The version of Nexus that answers."}
	info.add(1, "version", cmp.Or(o.Version, "unknown"))
	var b strings.Builder
	for _, f := range slices.Concat([]metricFamily{info}, pastFamilies(o.Past), openRunFamilies(o.Going)) {
		f.write(&b)
	}
	return b.String()
}

// pastFamilies returns the metrics over all runs.
func pastFamilies(all []history.RunRecord) []metricFamily {
	f := history.SummarizeRuns(all)
	runs := metricFamily{name: "nexus_runs", kind: "gauge", help: "Runs by status, including those that have ended."}
	count := map[string]int{}
	for _, r := range all {
		count[string(r.Status)]++
	}
	for _, status := range slices.Sorted(maps.Keys(count)) {
		runs.add(float64(count[status]), "status", cmp.Or(status, "unknown"))
	}
	tasks := metricFamily{name: "nexus_tasks", kind: "gauge", help: "Tasks of all runs by how they ended."}
	tasks.add(float64(f.Of.Landed), "status", "landed")
	tasks.add(float64(f.Of.Failed), "status", "failed")
	tasks.add(float64(f.Of.Parked), "status", "parked")
	tasks.add(float64(max(f.Of.Tasks-f.Of.Landed-f.Of.Failed-f.Of.Parked, 0)), "status", "other")
	one := func(name, help string, value float64) metricFamily {
		f := metricFamily{name: name, kind: "counter", help: help}
		f.add(value)
		return f
	}
	judged := metricFamily{name: "nexus_gate_judged_total", kind: "counter", help: "Judgements of a gate."}
	failed := metricFamily{name: "nexus_gate_failed_total", kind: "counter", help: "Judgements of a gate that were red."}
	took := metricFamily{name: "nexus_gate_seconds_total", kind: "counter", help: "Time that a gate took."}
	for _, g := range f.Gates {
		judged.add(float64(g.Judged), "gate", g.Name)
		failed.add(float64(g.Failed), "gate", g.Name)
		took.add(g.Seconds*float64(g.Judged), "gate", g.Name)
	}
	return []metricFamily{
		runs, tasks,
		one("nexus_attempts_total", "Attempts at tasks.", float64(f.Of.Attempts)),
		one("nexus_rounds_total", "Rounds of writing.", float64(f.Of.Rounds)),
		one("nexus_escalations_total", "Times that a task moved to a stronger tier.", float64(f.Of.Raised)),
		one("nexus_spent_usd_total", "Money that runs cost, in dollars.", f.Money.Float()),
		one("nexus_tokens_total", "Tokens of the tasks of runs.", float64(f.Of.Tokens)),
		judged, failed, took,
	}
}

// openRunFamilies returns the metrics of each unfinished run.
func openRunFamilies(all []view.RepositoryRun) []metricFamily {
	waiting := metricFamily{name: "nexus_waiting_for_people", kind: "gauge", help: "Questions and tasks that wait for a person."}
	held := metricFamily{name: "nexus_run_conducted", kind: "gauge", help: "1 if the run is in progress, 0 if not."}
	seconds := metricFamily{name: "nexus_run_seconds", kind: "gauge", help: "Time since the run was accepted."}
	spent := metricFamily{name: "nexus_run_spent_usd", kind: "gauge", help: "Money that the run cost so far, in dollars."}
	limit := metricFamily{name: "nexus_run_limit_usd", kind: "gauge", help: "Money that the run may cost, in dollars."}
	reserved := metricFamily{name: "nexus_run_reserved_usd", kind: "gauge", help: "Money reserved for calls in progress, in dollars."}
	tokens := metricFamily{name: "nexus_run_tokens", kind: "gauge", help: "Tokens of the run so far."}
	tasks := metricFamily{name: "nexus_run_tasks", kind: "gauge", help: "Tasks of the run by status."}
	alerts := metricFamily{name: "nexus_run_alerts", kind: "gauge", help: "Active alerts of the run."}
	for _, r := range all {
		at := []string{"repository", filepath.Base(r.Repository), "run", string(r.ID)}
		with := func(more ...string) []string { return slices.Concat(at, more) }
		waiting.add(float64(r.Waiting), at...)
		held.add(map[bool]float64{true: 1}[r.Held != nil], at...)
		seconds.add(r.Seconds, at...)
		spent.add(r.Money.Spent.Float(), at...)
		limit.add(r.Money.Limit.Float(), at...)
		reserved.add(r.Money.Reserved.Float(), at...)
		alerts.add(float64(len(r.Alerts)), at...)
		for _, u := range []struct {
			name string
			n    int64
		}{{"input", r.Usage.Input}, {"output", r.Usage.Output}, {"cache_read", r.Usage.CacheRead}, {"cache_write", r.Usage.CacheWrite}} {
			tokens.add(float64(u.n), with("type", u.name)...)
		}
		c := r.Counts
		for _, t := range []struct {
			status string
			n      int
		}{
			{"landed", c.Landed},
			{"active", c.Active},
			{"pending", c.Pending},
			{"blocked", c.Blocked},
			{"parked", c.Parked},
			{"failed", c.Failed},
			{"skipped", c.Skipped},
		} {
			tasks.add(float64(t.n), with("status", t.status)...)
		}
	}
	return []metricFamily{waiting, held, seconds, spent, reserved, limit, tokens, tasks, alerts}
}

// write writes a family if it has samples.
func (f metricFamily) write(b *strings.Builder) {
	if len(f.samples) == 0 {
		return
	}
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
	for _, s := range f.samples {
		b.WriteString(f.name)
		for i := 0; i < len(s.labels); i += 2 {
			open := ","
			if i == 0 {
				open = "{"
			}
			fmt.Fprintf(b, `%s%s="%s"`, open, s.labels[i], escapeLabel(s.labels[i+1]))
		}
		if len(s.labels) > 0 {
			b.WriteByte('}')
		}
		b.WriteString(" " + strconv.FormatFloat(s.value, 'g', -1, 64) + "\n")
	}
}

// longest limits the length of a label's value.
const longest = 128

// escapeLabel escapes the value of a label. Characters that would reverse or hide text are written out,
// for dashboards that draw it.
func escapeLabel(s string) string {
	if all := []rune(s); len(all) > longest {
		s = string(all[:longest])
	}
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(sanitize.RevealHidden(s), "?"))
}
