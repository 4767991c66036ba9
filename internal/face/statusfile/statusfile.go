// Package statusfile keeps a small JSON file up to date with a run, for scripts and tools that
// prefer a file to a journal. The format is fixed: version 1.
package statusfile

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/health"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// File is the file's content. Its names are those that tools read.
type File struct {
	Version       int             `json:"version"`
	Run           StatusRun       `json:"run"`
	Progress      TaskProgress    `json:"progress"`
	Cost          StatusCost      `json:"cost"`
	Current       *CurrentTask    `json:"current"`    // null while no task is in progress
	Iterations    int             `json:"iterations"` // attempts started
	UpdatedAt     MillisecondTime `json:"updatedAt"`
	DurationMs    int64           `json:"durationMs"`
	LastHeartbeat MillisecondTime `json:"lastHeartbeat"`
	Parallel      ParallelWork    `json:"parallel"`

	Questions []StatusQuestion `json:"questions,omitempty"` // questions that wait for a person

	Health health.HealthReport `json:"health"` // without the shares of failures
}

// StatusQuestion is a question that waits for a person.
type StatusQuestion struct {
	ID       string          `json:"id"` // argument of nexus approve, reject and answer
	StoryID  nexus.TaskID    `json:"storyId,omitzero"`
	Text     string          `json:"text"`
	Choices  []string        `json:"choices,omitempty"` // the only answers; none: any text
	AskedAt  MillisecondTime `json:"askedAt"`
	Deadline MillisecondTime `json:"deadline,omitzero"` // when the run continues without an answer
}

// StatusRun identifies the run and describes its status.
type StatusRun struct {
	ID          nexus.RunID     `json:"id"`
	Feature     string          `json:"feature"`
	StartedAt   MillisecondTime `json:"startedAt"`
	Status      Status          `json:"status"`
	DryRun      bool            `json:"dryRun"`
	PID         int             `json:"pid"`
	CrashedAt   MillisecondTime `json:"crashedAt,omitzero"`
	CrashSignal string          `json:"crashSignal,omitzero"`
}

// Status is the status of a run, in the file's words.
type Status string

// The statuses of a run.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Stalled   Status = "stalled" // the rest waits for a person
	Crashed   Status = "crashed" // its process was killed
	Unready   Status = "precheck-failed"
)

// TaskProgress counts tasks. Pending is the total without the others.
type TaskProgress struct {
	Total   int `json:"total"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Paused  int `json:"paused"` // by a person, parked or skipped
	Blocked int `json:"blocked"`
	Pending int `json:"pending"`
}

// StatusCost is in US dollars.
type StatusCost struct {
	Spent nexus.Money  `json:"spent"`
	Limit *nexus.Money `json:"limit"` // null without a limit
}

// CurrentTask is the task that was started last and is still in progress.
type CurrentTask struct {
	StoryID     nexus.TaskID          `json:"storyId"`
	Title       string                `json:"title"`
	Complexity  string                `json:"complexity"` // simple, medium, complex, expert
	TDDStrategy nexus.WritingStrategy `json:"tddStrategy"`
	Model       string                `json:"model"`
	Attempt     int                   `json:"attempt"` // from 1
	Phase       string                `json:"phase"`   // routing, test-write, implement, verify, review
}

// ParallelWork counts the tasks that are in progress at once.
type ParallelWork struct {
	Enabled        bool           `json:"enabled"`
	MaxConcurrency int            `json:"maxConcurrency"`
	ActiveStories  []nexus.TaskID `json:"activeStories"`
}

// MillisecondTime is a time in UTC, written with milliseconds.
type MillisecondTime struct{ time.Time }

// MarshalText writes the time.
func (s MillisecondTime) MarshalText() ([]byte, error) {
	return []byte(s.UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// MarshalJSON writes the time as a string.
func (s MillisecondTime) MarshalJSON() ([]byte, error) {
	text, err := s.MarshalText()
	return []byte(`"` + string(text) + `"`), err
}

// NewStatusFile returns the file for a run's state.
func NewStatusFile(s *state.State, o Options, now time.Time) File {
	r := projection.BuildRunView(s, projection.RunFactsOutsideJournal{}, now)
	f := File{
		Health:  health.ReportFor(s, nil, true, now),
		Version: 1,
		Run: StatusRun{
			ID: s.Run, Feature: featureText(s.Goal.Goal.Text), StartedAt: MillisecondTime{s.Accepted},
			Status: statusOf(s.Status), DryRun: o.DryRun, PID: o.PID,
		},
		Progress:   progressOf(r),
		Cost:       StatusCost{Spent: r.Money.Spent, Limit: &r.Money.Limit},
		Current:    currentStory(s, r),
		Iterations: s.Starts, UpdatedAt: MillisecondTime{now}, LastHeartbeat: MillisecondTime{now},
		Parallel: ParallelWork{Enabled: s.Limits.Parallel > 1, MaxConcurrency: max(s.Limits.Parallel, 1), ActiveStories: []nexus.TaskID{}},
	}
	f.DurationMs = int64(math.Round(r.Seconds * 1000))
	for _, t := range r.Tasks {
		if isActive(t) {
			f.Parallel.ActiveStories = append(f.Parallel.ActiveStories, t.ID)
		}
	}
	for _, q := range r.Asks {
		f.Questions = append(f.Questions, StatusQuestion{
			ID: q.ID, StoryID: q.Task, Text: q.Text, Choices: q.Choices, AskedAt: MillisecondTime{q.Asked}, Deadline: MillisecondTime{q.Deadline},
		})
	}
	return f
}

func featureText(goal string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(spec.GoalTitle(goal), goal)), "\n")
	return sanitize.TruncateText(strings.ToValidUTF8(line, "\uFFFD"), 120)
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

func progressOf(r view.RunView) TaskProgress {
	held := 0
	for _, t := range r.Tasks {
		if t.Paused != "" && t.Status != nexus.Blocked {
			held++
		}
	}
	c := r.Counts
	return TaskProgress{
		Total: c.Total, Passed: c.Landed, Failed: c.Failed, Paused: c.Parked + c.Skipped + held, Blocked: c.Blocked,
		Pending: c.Active + c.Pending - held,
	}
}

func isActive(t view.TaskView) bool {
	return t.Status == nexus.Running || t.Status == nexus.Reviewing || t.Status == nexus.Boarding
}

func currentStory(s *state.State, r view.RunView) *CurrentTask {
	var t *state.TaskState
	var row view.TaskView
	for _, x := range r.Tasks {
		c := s.TaskByID(x.ID)
		if isActive(x) && c.CurrentAttempt() != nil && (t == nil || c.CurrentAttempt().Began.After(t.CurrentAttempt().Began)) {
			t, row = c, x
		}
	}
	if t == nil {
		return nil
	}
	a := t.CurrentAttempt()
	c := &CurrentTask{
		StoryID: t.ID, Title: t.Title, Complexity: complexityOf(t),
		TDDStrategy: cmp.Or(a.Strategy, nexus.TestAfter), Model: string(a.Tier), Attempt: len(t.Attempts), Phase: phaseOf(row, a),
	}
	if s := a.CurrentSession(); s != nil {
		c.Model = s.Model
	}
	return c
}

// complexityOf returns the estimated difficulty of a task. If it was never routed, that follows
// from the tier with which work on it begins.
func complexityOf(t *state.TaskState) string {
	if t.Route != nil {
		return string(t.Route.Complexity)
	}
	switch cmp.Or(t.Task.Tier, t.CurrentAttempt().Tier) {
	case nexus.Strong:
		return "complex"
	case nexus.Balanced:
		return "medium"
	default:
		return "simple"
	}
}

// phaseOf returns the activity in an attempt: the role of the session, or the gates.
func phaseOf(t view.TaskView, a *state.AttemptState) string {
	judged := t.Now != nil && (t.Now.What == view.DoingGate || t.Now.What == view.DoingLanding)
	switch {
	case judged, t.Role == nexus.Verifier:
		return "verify"
	case t.Role == nexus.Tester:
		return "test-write"
	case t.Role == nexus.Reviewer:
		return "review"
	case t.Role != "":
		return "implement"
	case a.CurrentSession() == nil:
		return "routing"
	default:
		return "verify"
	}
}
