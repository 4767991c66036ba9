// Package health computes a run's health from its facts: the last sign of life of each
// worker, failure rates, waiting times, the cost per hour, and active alerts. It also decides
// when a measurement of the machine is an alert.
package health

import (
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// HealthReport is the health of a run.
type HealthReport struct {
	OK        bool                        `json:"ok"` // there is no active alert
	Alerts    []ActiveAlertReport         `json:"alerts"`
	Silent    float64                     `json:"silent_seconds"` // seconds since the run's last event
	Attempts  []WorkerLastActivity        `json:"attempts"`       // working attempts
	Queue     QueueLengths                `json:"queue"`
	Providers map[string]FailureCount     `json:"providers,omitempty"` // failure rate of calls, by provider
	Gates     map[string]FailureCount     `json:"gates,omitempty"`     // failure rate of judged trees, by gate
	Roles     map[nexus.Role]FailureCount `json:"roles,omitempty"`     // failure rate of sessions, by role
	// number of times that commands and gates exceeded a resource limit, by resource
	Bounds map[string]int `json:"bounds,omitempty"`
	// dollars over the last hour, or over the run if that is shorter
	Hourly float64 `json:"dollars_per_hour,omitzero"`
}

// ActiveAlertReport is an active alert.
type ActiveAlertReport struct {
	Kind    nexus.AlertKind `json:"kind"`
	Of      string          `json:"of,omitzero"`
	Why     string          `json:"why"`
	Seconds float64         `json:"seconds"` // since it was raised
}

// WorkerLastActivity is a worker's last sign of life.
type WorkerLastActivity struct {
	Attempt string  `json:"attempt"`
	Silent  float64 `json:"silent_seconds"`
	Doing   string  `json:"doing,omitzero"` // gate, or person, if it waits for one; empty: it is in a session
}

// QueueLengths describes waiting work.
type QueueLengths struct {
	Ready  int     `json:"ready"`          // tasks whose needs have landed
	Train  int     `json:"train"`          // accepted attempts in the landing queue
	People int     `json:"people"`         // questions that wait for a person
	Oldest float64 `json:"oldest_seconds"` // waiting time of the oldest of these tasks and questions, in seconds
}

// FailureCount is a failure rate.
type FailureCount struct {
	All    int     `json:"all"`
	Failed int     `json:"failed"`
	Rate   float64 `json:"rate"` // from 0 to 1
}

// span is the time over which cost is measured.
const span = time.Hour

// HealthCounters collects the data for the report. The zero value is empty; it belongs to the
// goroutine that applies the run's events.
type HealthCounters struct {
	providers, gates map[string]*FailureCount
	roles            map[nexus.Role]*FailureCount
	bounds           map[string]int
	calls            map[string]string // provider, by reservation
	sessions         map[nexus.SessionID]nexus.Role
	spent            []spendingSample // in the last hour
	began            time.Time
}

type spendingSample struct {
	at    time.Time
	money nexus.Money
}

// Apply applies an event.
func (b *HealthCounters) Apply(e nexus.Event) {
	if b.gates == nil {
		*b = HealthCounters{
			providers: map[string]*FailureCount{}, gates: map[string]*FailureCount{}, roles: map[nexus.Role]*FailureCount{}, bounds: map[string]int{},
			calls: map[string]string{}, sessions: map[nexus.SessionID]nexus.Role{}, began: e.At,
		}
	}
	switch f := e.Fact.(type) {
	case nexus.BudgetReserved:
		b.calls[f.ID] = providerOf(f.Model)
	case nexus.BudgetSettled:
		if name := b.calls[f.ID]; name != "" {
			countOutcome(b.providers, name, false)
			delete(b.calls, f.ID)
		}
		b.spent = append(b.spent, spendingSample{e.At, f.Money})
		for len(b.spent) > 0 && e.At.Sub(b.spent[0].at) > span {
			b.spent = b.spent[1:]
		}
	case nexus.ModelCallDelayed:
		if f.Try > 0 {
			countOutcome(b.providers, providerOf(f.Model), true)
		}
	case nexus.GateJudged:
		if !f.Cached && !f.Base {
			countOutcome(b.gates, f.Evidence.Gate, f.Evidence.State != nexus.Pass)
		}
		b.countExceededBound(f.Evidence.Over)
	case nexus.ToolCallEnded:
		b.countExceededBound(f.Over)
	case nexus.SessionStarted:
		b.sessions[f.Session] = f.Role
	case nexus.SessionEnded:
		countOutcome(b.roles, b.sessions[f.Session], f.Outcome != nexus.Accepted && f.Outcome != nexus.Stopped)
	default:
	}
}

func (b *HealthCounters) countExceededBound(bound string) {
	if bound != "" {
		b.bounds[bound]++
	}
}

// providerOf returns the provider of a model name.
func providerOf(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return name
}

// countOutcome counts a success or a failure for a key.
func countOutcome[K comparable](all map[K]*FailureCount, key K, failed bool) {
	s := all[key]
	if s == nil {
		s = &FailureCount{}
		all[key] = s
	}
	s.All++
	if failed {
		s.Failed++
	}
}

// failureRates returns the counts with their rates.
func failureRates[K comparable](all map[K]*FailureCount) map[K]FailureCount {
	out := map[K]FailureCount{}
	for k, s := range all {
		out[k] = FailureCount{s.All, s.Failed, float64(s.Failed) / float64(s.All)}
	}
	return out
}

// ReportFor returns the health of a run. If b is nil, no rate is known. A run that is not held has no
// conductor, so no attempt works in it.
func ReportFor(s *state.State, b *HealthCounters, held bool, now time.Time) HealthReport {
	r := HealthReport{Alerts: []ActiveAlertReport{}, Attempts: []WorkerLastActivity{}, Silent: secondsSince(s.Updated, now)}
	if !s.Status.HasEnded() {
		for _, a := range s.Alerts.ActiveAlerts() {
			r.Alerts = append(r.Alerts, ActiveAlertReport{a.Kind, a.Of, a.Why, secondsSince(a.At, now)})
		}
		for _, w := range s.Alerts.WorkerHeartbeats() {
			if !held {
				break
			}
			r.Attempts = append(r.Attempts, WorkerLastActivity{w.ID, secondsSince(w.At, now), w.Doing})
		}
		r.Queue = queueLengths(s, now)
	}
	r.OK = len(r.Alerts) == 0
	if b == nil || b.gates == nil {
		return r
	}
	r.Providers, r.Gates, r.Roles, r.Bounds = failureRates(b.providers), failureRates(b.gates), failureRates(b.roles), b.bounds
	r.Hourly = b.hourlyCost(s, now)
	return r
}

// hourlyCost returns the dollars per hour, from the last hour.
func (b *HealthCounters) hourlyCost(s *state.State, now time.Time) float64 {
	until := now
	if !s.Ended.IsZero() {
		until = s.Ended
	}
	var sum nexus.Money
	for _, x := range b.spent {
		if until.Sub(x.at) <= span {
			sum += x.money
		}
	}
	over := min(until.Sub(b.began), span)
	if over <= 0 {
		return 0
	}
	return sum.Dollars() / max(over, time.Minute).Hours() // the first minute is too short for a rate
}

// queueLengths returns the waiting work and its age.
func queueLengths(s *state.State, now time.Time) QueueLengths {
	q := QueueLengths{Train: len(s.Queue)}
	landed := map[nexus.TaskID]time.Time{}
	for _, l := range s.Landings {
		landed[l.Task] = l.At
	}
	old := func(at time.Time) { q.Oldest = max(q.Oldest, secondsSince(at, now)) }
	for _, t := range s.Tasks {
		if s.StatusOf(t) != nexus.Pending || !s.Planned {
			continue
		}
		since, free := s.Started, true
		for _, need := range t.Needs {
			at, ok := landed[need]
			if free = free && ok; at.After(since) {
				since = at
			}
		}
		if free {
			q.Ready++
			old(since)
		}
	}
	for _, a := range s.OpenQuestions() {
		q.People++
		old(a.At)
	}
	return q
}

// secondsSince returns the seconds since then, or 0 if that is unknown.
func secondsSince(then, now time.Time) float64 {
	if then.IsZero() {
		return 0
	}
	return max(now.Sub(then), 0).Seconds()
}
