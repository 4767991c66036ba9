// Package health says how a run is doing in figures that follow from its facts:
// who was last heard of when, how much of what fails, how long tasks wait, what
// the work costs an hour, and which alerts hold. It also decides when what was
// measured of the machine is an alert.
package health

import (
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Report is how a run is doing.
type Report struct {
	OK        bool                 `json:"ok"` // no alert holds
	Alerts    []Alert              `json:"alerts"`
	Silent    float64              `json:"silent_seconds"` // since anything was heard of the run
	Attempts  []Heartbeat          `json:"attempts"`       // that work
	Queue     Queue                `json:"queue"`
	Providers map[string]Share     `json:"providers,omitempty"`       // of calls
	Gates     map[string]Share     `json:"gates,omitempty"`           // of trees that were judged
	Roles     map[nexus.Role]Share `json:"roles,omitempty"`           // of sessions
	Bounds    map[string]int       `json:"bounds,omitempty"`          // how often commands and gates used too much of what
	Hourly    float64              `json:"dollars_per_hour,omitzero"` // over the last hour, or the run if that is shorter
}

// Alert is an alert that holds.
type Alert struct {
	Kind    nexus.AlertKind `json:"kind"`
	Of      string          `json:"of,omitzero"`
	Why     string          `json:"why"`
	Seconds float64         `json:"seconds"` // since it was raised
}

// Heartbeat says when somebody who works was last heard of.
type Heartbeat struct {
	Attempt string  `json:"attempt"`
	Silent  float64 `json:"silent_seconds"`
	Doing   string  `json:"doing,omitzero"` // gate, or person, where it waits for one; empty: it talks
}

// Queue is what waits for its turn.
type Queue struct {
	Ready  int     `json:"ready"`          // tasks that need nothing else
	Train  int     `json:"train"`          // accepted work that waits to land
	People int     `json:"people"`         // questions that wait for a person
	Oldest float64 `json:"oldest_seconds"` // how long the oldest of the tasks and questions has waited
}

// Share is how many of something failed.
type Share struct {
	All    int     `json:"all"`
	Failed int     `json:"failed"`
	Rate   float64 `json:"rate"` // from 0 to 1
}

// span is the time over which cost is measured.
const span = time.Hour

// Counters keeps what the figures are made from. The zero Book has heard nothing; it
// belongs to whoever folds the run's events.
type Counters struct {
	providers, gates map[string]*Share
	roles            map[nexus.Role]*Share
	bounds           map[string]int
	calls            map[string]string // provider by reservation
	sessions         map[nexus.SessionID]nexus.Role
	spent            []spending // of the last hour
	began            time.Time
}

type spending struct {
	at    time.Time
	money nexus.Money
}

// Apply folds an event.
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

// provider returns the provider of a model's name.
func provider(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return name
}

// count counts one of something.
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

// shares returns what was counted, with rates.
func shares[K comparable](all map[K]*Share) map[K]Share {
	out := map[K]Share{}
	for k, s := range all {
		out[k] = Share{s.All, s.Failed, float64(s.Failed) / float64(s.All)}
	}
	return out
}

// Of returns how a run is doing. The book may be nil: then no rate is known.
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

// hourly returns the dollars of an hour, at the pace of the last one.
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
	return sum.Float() / max(over, time.Minute).Hours() // the first minute is no pace
}

// queue returns what waits, and how long.
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

// age returns the seconds since then, 0 for a time that is not known.
func age(then, now time.Time) float64 {
	if then.IsZero() {
		return 0
	}
	return max(now.Sub(then), 0).Seconds()
}
