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

// Report is the health of a run.
type Report struct {
	OK        bool                 `json:"ok"` // there is no active alert
	Alerts    []Alert              `json:"alerts"`
	Silent    float64              `json:"silent_seconds"` // seconds since the run's last event
	Attempts  []Heartbeat          `json:"attempts"`       // working attempts
	Queue     Queue                `json:"queue"`
	Providers map[string]Share     `json:"providers,omitempty"` // failure rate of calls, by provider
	Gates     map[string]Share     `json:"gates,omitempty"`     // failure rate of judged trees, by gate
	Roles     map[nexus.Role]Share `json:"roles,omitempty"`     // failure rate of sessions, by role
	// number of times that commands and gates exceeded a resource limit, by resource
	Bounds map[string]int `json:"bounds,omitempty"`
	// dollars over the last hour, or over the run if that is shorter
	Hourly float64 `json:"dollars_per_hour,omitzero"`
}

// Alert is an active alert.
type Alert struct {
	Kind    nexus.AlertKind `json:"kind"`
	Of      string          `json:"of,omitzero"`
	Why     string          `json:"why"`
	Seconds float64         `json:"seconds"` // since it was raised
}

// Heartbeat is a worker's last sign of life.
type Heartbeat struct {
	Attempt string  `json:"attempt"`
	Silent  float64 `json:"silent_seconds"`
	Doing   string  `json:"doing,omitzero"` // gate, or person, if it waits for one; empty: it is in a session
}

// Queue describes waiting work.
type Queue struct {
	Ready  int     `json:"ready"`          // tasks whose needs have landed
	Train  int     `json:"train"`          // accepted attempts in the landing queue
	People int     `json:"people"`         // questions that wait for a person
	Oldest float64 `json:"oldest_seconds"` // waiting time of the oldest of these tasks and questions, in seconds
}

// Share is a failure rate.
type Share struct {
	All    int     `json:"all"`
	Failed int     `json:"failed"`
	Rate   float64 `json:"rate"` // from 0 to 1
}

// span is the time over which cost is measured.
const span = time.Hour

// Counters collects the data for the report. The zero Counters is empty; it belongs to the
// goroutine that applies the run's events.
type Counters struct {
	providers, gates map[string]*Share
	roles            map[nexus.Role]*Share
	bounds           map[string]int
	calls            map[string]string // provider, by reservation
	sessions         map[nexus.SessionID]nexus.Role
	spent            []spending // in the last hour
	began            time.Time
}

type spending struct {
	at    time.Time
	money nexus.Money
}

// Apply applies an event.
func (b *Counters) Apply(e nexus.Event) {
	if b.gates == nil {
		*b = Counters{
			providers: map[string]*Share{}, gates: map[string]*Share{}, roles: map[nexus.Role]*Share{}, bounds: map[string]int{},
			calls: map[string]string{}, sessions: map[nexus.SessionID]nexus.Role{}, began: e.At,
		}
	}
	switch f := e.Fact.(type) {
	case nexus.BudgetReserved:
		b.calls[f.ID] = provider(f.Model)
	case nexus.BudgetSpent:
		if name := b.calls[f.ID]; name != "" {
			count(b.providers, name, false)
			delete(b.calls, f.ID)
		}
		b.spent = append(b.spent, spending{e.At, f.Money})
		for len(b.spent) > 0 && e.At.Sub(b.spent[0].at) > span {
			b.spent = b.spent[1:]
		}
	case nexus.CallDelayed:
		if f.Try > 0 {
			count(b.providers, provider(f.Model), true)
		}
	case nexus.GateJudged:
		if !f.Cached && !f.Base {
			count(b.gates, f.Evidence.Gate, f.Evidence.State != nexus.Pass)
		}
		b.over(f.Evidence.Over)
	case nexus.ToolAnswered:
		b.over(f.Over)
	case nexus.SessionStarted:
		b.sessions[f.Session] = f.Role
	case nexus.SessionEnded:
		count(b.roles, b.sessions[f.Session], f.Outcome != nexus.Accepted && f.Outcome != nexus.Stopped)
	default:
	}
}

func (b *Counters) over(bound string) {
	if bound != "" {
		b.bounds[bound]++
	}
}

// provider returns the provider of a model name.
func provider(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return name
}

// count counts a success or a failure for a key.
func count[K comparable](all map[K]*Share, key K, failed bool) {
	s := all[key]
	if s == nil {
		s = &Share{}
		all[key] = s
	}
	s.All++
	if failed {
		s.Failed++
	}
}

// shares returns the counts with their rates.
func shares[K comparable](all map[K]*Share) map[K]Share {
	out := map[K]Share{}
	for k, s := range all {
		out[k] = Share{s.All, s.Failed, float64(s.Failed) / float64(s.All)}
	}
	return out
}

// Of returns the health of a run. If b is nil, no rate is known.
func Of(s *state.State, b *Counters, now time.Time) Report {
	r := Report{Alerts: []Alert{}, Attempts: []Heartbeat{}, Silent: age(s.Updated, now)}
	if !s.Status.Ended() {
		for _, a := range s.Alerts.Active() {
			r.Alerts = append(r.Alerts, Alert{a.Kind, a.Of, a.Why, age(a.At, now)})
		}
		for _, w := range s.Alerts.Heartbeats() {
			r.Attempts = append(r.Attempts, Heartbeat{w.ID, age(w.At, now), w.Doing})
		}
		r.Queue = queue(s, now)
	}
	r.OK = len(r.Alerts) == 0
	if b == nil || b.gates == nil {
		return r
	}
	r.Providers, r.Gates, r.Roles, r.Bounds = shares(b.providers), shares(b.gates), shares(b.roles), b.bounds
	r.Hourly = b.hourly(s, now)
	return r
}

// hourly returns the dollars per hour, from the last hour.
func (b *Counters) hourly(s *state.State, now time.Time) float64 {
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
	return sum.Float() / max(over, time.Minute).Hours() // the first minute is too short for a rate
}

// queue returns the waiting work and its age.
func queue(s *state.State, now time.Time) Queue {
	q := Queue{Train: len(s.Queue)}
	landed := map[nexus.TaskID]time.Time{}
	for _, l := range s.Landings {
		landed[l.Task] = l.At
	}
	old := func(at time.Time) { q.Oldest = max(q.Oldest, age(at, now)) }
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

// age returns the seconds since then, or 0 if that is unknown.
func age(then, now time.Time) float64 {
	if then.IsZero() {
		return 0
	}
	return max(now.Sub(then), 0).Seconds()
}
