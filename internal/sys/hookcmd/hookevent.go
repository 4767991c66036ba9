package hookcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// EventVersion is the version of a hook's input. It grows when a field changes its meaning or is
// removed, but not with new fields.
const EventVersion = 1

// maxEvent limits the size of an event that is read from a file.
const maxEvent = 1 << 20

// HookEvent is a hook's input: one line of JSON on standard input. Fields that do not apply to the
// hook point are left out.
type HookEvent struct {
	Version int             `json:"version"`
	Point   nexus.HookPoint `json:"hook_event_name"`
	Hook    string          `json:"hook"` // name in the configuration
	Dir     string          `json:"cwd"`  // the repository, which is its working directory
	Run     nexus.RunID     `json:"run"`
	Seq     int64           `json:"seq,omitzero"` // of the event in the journal; the same when delivered again
	At      time.Time       `json:"at,omitzero"`

	Goal    string          `json:"goal,omitzero"`
	Status  nexus.RunStatus `json:"status,omitzero"` // of the run
	Spent   nexus.Money     `json:"spent"`           // dollars so far
	Resumed bool            `json:"resumed,omitzero"`
	Tasks   int             `json:"tasks,omitzero"` // in the plan
	Task    nexus.TaskID    `json:"task,omitzero"`
	Title   string          `json:"title,omitzero"` // of the task
	Attempt nexus.AttemptID `json:"attempt,omitzero"`
	Outcome nexus.Outcome   `json:"outcome,omitzero"` // of the attempt
	Gate    string          `json:"gate,omitzero"`
	State   nexus.GateState `json:"state,omitzero"` // of the gate
	Passed  bool            `json:"passed,omitzero"`
	Review  string          `json:"review,omitzero"` // approved or rejected
	ID      string          `json:"id,omitzero"`     // of the question
	Text    string          `json:"text,omitzero"`   // of the question or the alert
	Percent int             `json:"percent,omitzero"`
	Alert   nexus.AlertKind `json:"alert,omitzero"`
	Reason  string          `json:"reason,omitzero"`
	Commit  string          `json:"commit,omitzero"`
	Base    string          `json:"base,omitzero"` // commit from which the run started
	Branch  string          `json:"branch,omitzero"`
	Target  string          `json:"target,omitzero"` // branch that moves, too
	Tree    string          `json:"tree,omitzero"`   // directory with the files of the commit
	Files   []string        `json:"files,omitempty"` // files that differ from base
}

// environ returns the event as environment variables; own is the hook's writable directory.
func (e HookEvent) environ(own string) []string {
	all := []string{
		"NEXUS_HOOK=" + e.Hook, "NEXUS_HOOK_DIR=" + own, "NEXUS_HOOK_POINT=" + string(e.Point), "NEXUS_HOOK_RUN=" + string(e.Run),
		"NEXUS_HOOK_SPENT=" + strconv.FormatFloat(float64(e.Spent)/1e9, 'f', -1, 64),
	}
	for _, v := range []struct{ name, value string }{
		{"STATUS", string(e.Status)},
		{"TASK", string(e.Task)},
		{"ATTEMPT", string(e.Attempt)},
		{"GATE", e.Gate},
		{"QUESTION", e.ID},
		{"COMMIT", e.Commit},
		{"BRANCH", e.Branch},
		{"TARGET", e.Target},
		{"TREE", e.Tree},
	} {
		if v.value != "" {
			all = append(all, "NEXUS_HOOK_"+v.name+"="+v.value)
		}
	}
	return all
}

// ParseEvent parses an event that a person wrote for a test. Unknown fields and trailing data are
// errors.
func ParseEvent(data []byte) (HookEvent, error) {
	var e HookEvent
	if len(data) > maxEvent {
		return e, fmt.Errorf("it has more than %d bytes", maxEvent)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	switch {
	case d.More():
		return e, errors.New("something follows its end")
	case e.Version != EventVersion:
		return e, fmt.Errorf("it has version %d, this program knows %d", e.Version, EventVersion)
	case !slices.Contains(nexus.HookPoints(), e.Point):
		return e, fmt.Errorf("%q is not a point of a run", string(e.Point))
	}
	return e, nil
}

// SampleEvent returns a sample event of a hook point.
func SampleEvent(p nexus.HookPoint, at time.Time) HookEvent {
	const branch = "nexus/260102-150405-abc"
	e := HookEvent{
		Version: EventVersion, Point: p, Run: "260102-150405-abc", At: at.UTC(), Goal: "Write texts",
		Status: nexus.StatusExecuting, Spent: 1_250_000_000,
	}
	if p != nexus.HookRunStart && p != nexus.HookRunLand {
		e.Seq = 42
	}
	switch p {
	case nexus.HookRunStart:
		e.Spent, e.Status, e.Base, e.Target = 0, nexus.StatusPlanning, "c0ffee", "main"
	case nexus.HookPlanReady:
		e.Tasks, e.Status = 2, nexus.StatusPlanning
	case nexus.HookBudget:
		e.Percent = 75
	case nexus.HookAlert:
		e.Alert, e.Reason = nexus.AlertFailures, "6 failures within a minute, the last: overloaded"
	case nexus.HookCalm:
		e.Alert, e.Reason = nexus.AlertFailures, "at most 2 failures within a minute"
	case nexus.HookQuestion:
		e.ID, e.Text = "q1", "May it run make deploy?"
	case nexus.HookRunLand:
		e.Status, e.Commit, e.Base, e.Branch, e.Target = nexus.StatusLanding, "abc123", "c0ffee", branch, "main"
		e.Files = []string{"a.txt"}
	case nexus.HookRunLanded:
		e.Status, e.Commit, e.Branch, e.Target = nexus.StatusLanding, "abc123", branch, "main"
	case nexus.HookRunEnd:
		e.Status = nexus.StatusDone
	default:
		e.Task, e.Title = "T1", "Write a text"
		e.fillSampleTask()
	}
	return e
}

// fillSampleTask fills in the task of a sample.
func (e *HookEvent) fillSampleTask() {
	if e.Point != nexus.HookTaskStart {
		e.Attempt = "T1.1"
	}
	switch e.Point {
	case nexus.HookAttemptEnd:
		e.Outcome = nexus.Accepted
	case nexus.HookGate:
		e.Gate, e.State = "test", nexus.Fail
	case nexus.HookReview:
		e.Review = "rejected"
	case nexus.HookTaskDone:
		e.Commit = "abc123"
	case nexus.HookTaskParked, nexus.HookTaskFailed:
		e.Attempt, e.Reason = "", "a verifier rejected the work"
	default:
	}
}
