// Package metrics writes the results and the progress of runs for Prometheus, in its text format
// 0.0.4: counters over all runs of a repository, and gauges of unfinished runs. Its labels are
// names of runs, gates and repositories; it contains no goals, titles or other texts of people
// and agents.
package metrics

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ContentType is the content type of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// MetricsInput is the input of the text.
type MetricsInput struct {
	Version string
	Past    []runhistory.RunRecord  // results of all runs
	Going   []view.UnfinishedRunRow // unfinished runs
}

// metricFamily is a metric with its samples.
type metricFamily struct {
	description *prometheus.Desc
	kind        prometheus.ValueType
	samples     []prometheus.Metric
}

func newFamily(name string, kind prometheus.ValueType, help string, labels ...string) metricFamily {
	return metricFamily{description: prometheus.NewDesc(name, help, labels, nil), kind: kind}
}

// add adds a sample with the values of the family's labels.
func (f *metricFamily) add(value float64, labels ...string) {
	values := make([]string, len(labels))
	for i, l := range labels {
		values[i] = cleanLabel(l)
	}
	m, err := prometheus.NewConstMetric(f.description, f.kind, value, values...)
	if err != nil {
		m = prometheus.NewInvalidMetric(f.description, err)
	}
	f.samples = append(f.samples, m)
}

// FormatMetrics returns the text, sorted by the names of metrics and labels.
func FormatMetrics(o MetricsInput) (string, error) {
	info := newFamily("nexus_build_info", prometheus.GaugeValue, "The version of Nexus that answers.", "version")
	info.add(1, cmp.Or(o.Version, "unknown"))
	registry := prometheus.NewRegistry()
	err := registry.Register(prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
		for _, f := range slices.Concat([]metricFamily{info}, pastFamilies(o.Past), openRunFamilies(o.Going)) {
			for _, s := range f.samples {
				out <- s
			}
		}
	}))
	if err != nil {
		return "", err
	}
	// Two repositories with the same name may have a run with the same ID: the first one counts.
	families, err := registry.Gather()
	if len(families) == 0 {
		return "", err
	}
	var b strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// pastFamilies returns the metrics over all runs.
func pastFamilies(all []runhistory.RunRecord) []metricFamily {
	f := runhistory.SummarizeRuns(all)
	runs := newFamily("nexus_runs", prometheus.GaugeValue, "Runs by status, including those that have ended.", "status")
	count := map[string]int{}
	for _, r := range all {
		count[string(r.Status)]++
	}
	for _, status := range slices.Sorted(maps.Keys(count)) {
		runs.add(float64(count[status]), cmp.Or(status, "unknown"))
	}
	tasks := newFamily("nexus_tasks", prometheus.GaugeValue, "Tasks of all runs by how they ended.", "status")
	tasks.add(float64(f.Of.Landed), "landed")
	tasks.add(float64(f.Of.Failed), "failed")
	tasks.add(float64(f.Of.Parked), "parked")
	tasks.add(float64(max(f.Of.Tasks-f.Of.Landed-f.Of.Failed-f.Of.Parked, 0)), "other")
	one := func(name, help string, value float64) metricFamily {
		f := newFamily(name, prometheus.CounterValue, help)
		f.add(value)
		return f
	}
	judged := newFamily("nexus_gate_judged_total", prometheus.CounterValue, "Judgements of a gate.", "gate")
	failed := newFamily("nexus_gate_failed_total", prometheus.CounterValue, "Judgements of a gate that were red.", "gate")
	took := newFamily("nexus_gate_seconds_total", prometheus.CounterValue, "Time that a gate took.", "gate")
	for _, g := range f.Gates {
		judged.add(float64(g.Judged), g.Name)
		failed.add(float64(g.Failed), g.Name)
		took.add(g.Seconds*float64(g.Judged), g.Name)
	}
	return []metricFamily{
		runs, tasks,
		one("nexus_attempts_total", "Attempts at tasks.", float64(f.Of.Attempts)),
		one("nexus_rounds_total", "Rounds of writing.", float64(f.Of.Rounds)),
		one("nexus_escalations_total", "Times that a task moved to a stronger tier.", float64(f.Of.Raised)),
		one("nexus_spent_usd_total", "Money that runs cost, in dollars.", f.Money.Dollars()),
		one("nexus_tokens_total", "Tokens of the tasks of runs.", float64(f.Of.Tokens)),
		judged, failed, took,
	}
}

// openRunFamilies returns the metrics of each unfinished run.
func openRunFamilies(all []view.UnfinishedRunRow) []metricFamily {
	ofRun := []string{"repository", "run"}
	waiting := newFamily("nexus_waiting_for_people", prometheus.GaugeValue, "Questions and tasks that wait for a person.", ofRun...)
	held := newFamily("nexus_run_conducted", prometheus.GaugeValue, "1 if the run is in progress, 0 if not.", ofRun...)
	seconds := newFamily("nexus_run_seconds", prometheus.GaugeValue, "Time worked in the run, without pauses, waits for consent and times without a process.", ofRun...)
	spent := newFamily("nexus_run_spent_usd", prometheus.GaugeValue, "Money that the run cost so far, in dollars.", ofRun...)
	limit := newFamily("nexus_run_limit_usd", prometheus.GaugeValue, "Money that the run may cost, in dollars.", ofRun...)
	reserved := newFamily("nexus_run_reserved_usd", prometheus.GaugeValue, "Money reserved for calls in progress, in dollars.", ofRun...)
	tokens := newFamily("nexus_run_tokens", prometheus.GaugeValue, "Tokens of the run so far.", "repository", "run", "type")
	tasks := newFamily("nexus_run_tasks", prometheus.GaugeValue, "Tasks of the run by status.", "repository", "run", "status")
	alerts := newFamily("nexus_run_alerts", prometheus.GaugeValue, "Active alerts of the run.", ofRun...)
	for _, r := range all {
		at := []string{filepath.Base(r.Repository), string(r.ID)}
		with := func(more ...string) []string { return slices.Concat(at, more) }
		waiting.add(float64(r.Waiting), at...)
		held.add(map[bool]float64{true: 1}[r.Held != nil], at...)
		seconds.add(r.Seconds, at...)
		spent.add(r.Money.Spent.Dollars(), at...)
		limit.add(r.Money.Limit.Dollars(), at...)
		reserved.add(r.Money.Reserved.Dollars(), at...)
		alerts.add(float64(len(r.ActiveAlerts())), at...)
		for _, u := range []struct {
			name string
			n    int64
		}{{"input", r.Usage.Input}, {"output", r.Usage.Output}, {"cache_read", r.Usage.CacheRead}, {"cache_write", r.Usage.CacheWrite}} {
			tokens.add(float64(u.n), with(u.name)...)
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
			tasks.add(float64(t.n), with(t.status)...)
		}
	}
	return []metricFamily{waiting, held, seconds, spent, reserved, limit, tokens, tasks, alerts}
}

// maxLabel limits the length of a label's value, in characters.
const maxLabel = 128

// cleanLabel returns the value of a label. Characters that would reverse or hide text are written out,
// for dashboards that draw it.
func cleanLabel(s string) string {
	if all := []rune(s); len(all) > maxLabel {
		s = string(all[:maxLabel])
	}
	return strings.ToValidUTF8(sanitize.RevealHidden(s), "?")
}
