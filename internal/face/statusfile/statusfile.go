// Package statusfile keeps a small JSON file in step with a run, for scripts
// and tools that would rather read a file than follow a journal. The shape is
// fixed: version 1.
package statusfile

import (
	"cmp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/health"
	"github.com/nexus-ai-builder/nexus/internal/decide/people"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// File is the file's content. The names are those of tools that read it.
type File struct {
	Version       int      `json:"version"`
	Run           Run      `json:"run"`
	Progress      Progress `json:"progress"`
	Cost          Cost     `json:"cost"`
	Current       *Current `json:"current"`    // null while no task is worked on
	Iterations    int      `json:"iterations"` // attempts started
	UpdatedAt     Stamp    `json:"updatedAt"`
	DurationMs    int64    `json:"durationMs"`
	LastHeartbeat Stamp    `json:"lastHeartbeat"`
	Parallel      Parallel `json:"parallel"`

	Questions []Question `json:"questions,omitempty"` // that wait for a person

	Health health.Report `json:"health"` // without the shares of what fails
}

// Question waits for a person.
type Question struct {
	ID       string       `json:"id"` // what nexus approve, reject and answer take
	StoryID  nexus.TaskID `json:"storyId,omitzero"`
	Text     string       `json:"text"`
	Choices  []string     `json:"choices,omitempty"` // the only answers; none: any text
	AskedAt  Stamp        `json:"askedAt"`
	Deadline Stamp        `json:"deadline,omitzero"` // when the run continues without an answer
}

// Run says which run it is and how it stands.
type Run struct {
	ID          nexus.RunID `json:"id"`
	Feature     string      `json:"feature"`
	StartedAt   Stamp       `json:"startedAt"`
	Status      Status      `json:"status"`
	DryRun      bool        `json:"dryRun"`
	PID         int         `json:"pid"`
	CrashedAt   Stamp       `json:"crashedAt,omitzero"`
	CrashSignal string      `json:"crashSignal,omitzero"`
}

// Status is how a run stands, in the file's words.
type Status string

// The states of a run.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Stalled   Status = "stalled" // what is left waits for a person
	Crashed   Status = "crashed" // its process was ended from outside
	Unready   Status = "precheck-failed"
)

// Progress counts tasks. Pending is the total without the others.
type Progress struct {
	Total   int `json:"total"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Paused  int `json:"paused"` // parked or skipped
	Blocked int `json:"blocked"`
	Pending int `json:"pending"`
}

// Cost is in US dollars.
type Cost struct {
	Spent nexus.Money  `json:"spent"`
	Limit *nexus.Money `json:"limit"` // null without a limit
}

// Current is the task that was taken up last and is still worked on.
type Current struct {
	StoryID     nexus.TaskID   `json:"storyId"`
	Title       string         `json:"title"`
	Complexity  string         `json:"complexity"` // simple, medium, complex, expert
	TDDStrategy nexus.Strategy `json:"tddStrategy"`
	Model       string         `json:"model"`
	Attempt     int            `json:"attempt"` // from 1
	Phase       string         `json:"phase"`   // routing, test-write, implement, verify, review
}

// Parallel says how many tasks are worked on at once.
type Parallel struct {
	Enabled        bool           `json:"enabled"`
	MaxConcurrency int            `json:"maxConcurrency"`
	ActiveStories  []nexus.TaskID `json:"activeStories"`
}

// Stamp is a moment in UTC, written with milliseconds.
type Stamp struct{ time.Time }

// MarshalText writes the moment.
func (s Stamp) MarshalText() ([]byte, error) {
	return []byte(s.UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// MarshalJSON writes the moment as a string.
func (s Stamp) MarshalJSON() ([]byte, error) {
	text, err := s.MarshalText()
	return []byte(`"` + string(text) + `"`), err
}

// Of returns the file for a run's state.
func Of(s *state.State, o Options, now time.Time) File {
	limit := s.Limits.RunMoney
	f := File{
		Health:  health.Of(s, nil, now),
		Version: 1,
		Run: Run{
			ID: s.Run, Feature: feature(s.Goal.Goal.Text), StartedAt: Stamp{s.Accepted},
			Status: statusOf(s.Status), DryRun: o.DryRun, PID: o.PID,
		},
		Progress:   progressOf(s),
		Cost:       Cost{Spent: s.Ledger.Spent(), Limit: &limit},
		Current:    currentOf(s),
		Iterations: s.Starts, UpdatedAt: Stamp{now}, LastHeartbeat: Stamp{now},
		Parallel: Parallel{Enabled: s.Limits.Parallel > 1, MaxConcurrency: max(s.Limits.Parallel, 1), ActiveStories: []nexus.TaskID{}},
	}
	until := now
	if !s.Ended.IsZero() {
		until = s.Ended
	}
	if !s.Accepted.IsZero() {
		f.DurationMs = max(until.Sub(s.Accepted).Milliseconds(), 0)
	}
	for _, t := range s.Tasks {
		if active(s, t) {
			f.Parallel.ActiveStories = append(f.Parallel.ActiveStories, t.ID)
		}
	}
	for _, q := range s.Asks() {
		one := Question{ID: q.ID, Text: q.Text, Choices: people.FindTrigger(q.Trigger).Choices, AskedAt: Stamp{q.At}}
		if !q.Left {
			one.Deadline = Stamp{q.Deadline}
		}
		if t := s.Asker(q); t != nil {
			one.StoryID = t.ID
		}
		f.Questions = append(f.Questions, one)
	}
	return f
}

func feature(goal string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(spec.Title(goal), goal)), "\n")
	return legible.Cut(strings.ToValidUTF8(line, "\uFFFD"), 120)
}

func statusOf(s nexus.RunStatus) Status {
	switch s {
	case nexus.StatusDone:
		return Completed
	case nexus.StatusFailed, nexus.StatusLimit:
		return Failed
	case nexus.StatusPartial, nexus.StatusStopped, nexus.StatusWaiting:
		return Stalled
	default:
		return Running
	}
}

func progressOf(s *state.State) Progress {
	p := Progress{Total: len(s.Tasks)}
	for _, t := range s.Tasks {
		switch s.StatusOf(t) {
		case nexus.Split:
			p.Total-- // its parts count
		case nexus.Landed:
			p.Passed++
		case nexus.Failed:
			p.Failed++
		case nexus.Parked, nexus.Skipped:
			p.Paused++
		case nexus.Blocked:
			p.Blocked++
		default:
			p.Pending++
		}
	}
	return p
}

func active(s *state.State, t *state.Task) bool {
	switch s.StatusOf(t) {
	case nexus.Running, nexus.Reviewing, nexus.Boarding:
		return true
	default:
		return false
	}
}

func currentOf(s *state.State) *Current {
	var t *state.Task
	for _, c := range s.Tasks {
		if active(s, c) && c.Current() != nil && (t == nil || c.Current().Began.After(t.Current().Began)) {
			t = c
		}
	}
	if t == nil {
		return nil
	}
	a := t.Current()
	c := &Current{
		StoryID: t.ID, Title: t.Title, Complexity: complexity(t),
		TDDStrategy: cmp.Or(a.Strategy, nexus.TestAfter), Model: string(a.Tier), Attempt: len(t.Attempts), Phase: phase(a),
	}
	if s := a.Present(); s != nil {
		c.Model = s.Model
	}
	return c
}

// complexity says how hard a task is thought to be. Of one that was never
// routed it follows the tier where work on it begins.
func complexity(t *state.Task) string {
	if t.Route != nil {
		return string(t.Route.Complexity)
	}
	switch cmp.Or(t.Task.Tier, t.Current().Tier) {
	case nexus.Strong:
		return "complex"
	case nexus.Balanced:
		return "medium"
	default:
		return "simple"
	}
}

// phase says what happens in an attempt: whoever talks, or the gates.
func phase(a *state.Attempt) string {
	c := a.Present()
	switch {
	case c == nil:
		return "routing"
	case c.Over, c.Role == nexus.Verifier:
		return "verify"
	case c.Role == nexus.Tester:
		return "test-write"
	case c.Role == nexus.Reviewer:
		return "review"
	default:
		return "implement"
	}
}
