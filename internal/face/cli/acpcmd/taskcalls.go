package acpcmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// maxSaid limits the lines of a task's history that are shown with it.
const maxSaid = 30

// maxAgain limits the diffs, in bytes, that are sent again when only the text of their task
// changed. Larger ones are sent again when they or the task's status change.
const maxAgain = 64 << 10

// taskCall is the tool call of a task.
type taskCall struct {
	said    []string
	diffs   []acpserver.FileDiff
	size    int        // of the diffs, in bytes
	version int        // of the diffs
	left    string     // the part of the change that is not shown
	shown   *shownTask // nil: not shown yet
}

// shownTask is the part of a task that the client was shown. It is small, so that each event can
// be compared with it.
type shownTask struct {
	title, status, text, files string
	version                    int
}

// taskCall returns the tool call of a task.
func (t *runTracker) taskCall(id nexus.TaskID) *taskCall {
	if t.calls[id] == nil {
		t.calls[id] = &taskCall{}
	}
	return t.calls[id]
}

// planEntry returns a task as an entry of the plan. A task that was split has no entry: its parts
// have.
func (t *runTracker) planEntry(task view.TaskView, needed bool) (acpserver.AgentPlanEntry, bool) {
	e := acpserver.AgentPlanEntry{Content: t.s.escapeText(string(task.ID) + ": " + task.Title), Priority: entryPriority(needed), Status: "pending"}
	switch task.Status {
	case nexus.Landed:
		e.Status = "completed"
	case nexus.Running, nexus.Reviewing, nexus.Boarding:
		e.Status = "in_progress"
	case nexus.Parked, nexus.Failed, nexus.Skipped, nexus.Blocked:
		e.Content += " (" + string(task.Status) + ")" // the protocol has no such status
	case nexus.Split:
		return e, false
	default:
	}
	return e, true
}

// showTask shows a task as a tool call if it differs from the shown one.
func (t *runTracker) showTask(v view.RunView, task view.TaskView) {
	if one, changed := t.updateCall(v, task); changed {
		t.s.showCall(one)
	}
}

// updateCall renders a task as a tool call, and records it as shown. The diffs are always sent
// together with the text, because an editor replaces both.
func (t *runTracker) updateCall(v view.RunView, task view.TaskView) (one acpserver.ToolCallView, changed bool) {
	c := t.taskCall(task.ID)
	now := shownTask{title: t.s.escapeText(string(task.ID) + ": " + task.Title), status: callStatus(v, task), version: c.version}
	now.files = strings.Join(t.plannedFiles(task.ID), "\n")
	now.text = strings.Join(c.said, "\n")
	if task.Why != "" && !strings.Contains(now.text, view.EscapeForTerminal(task.Why)) {
		now.text += fmt.Sprintf("\n%s: %s", task.Status, view.EscapeForTerminal(task.Why))
	}
	now.text += c.left
	before := c.shown
	if before != nil && c.size > maxAgain && now.version == before.version && now.status == before.status && !t.over {
		now.text = before.text // sent with the next change
	}
	if before != nil && now == *before {
		return one, false
	}
	c.shown = &now
	one = acpserver.ToolCallView{ID: string(v.ID) + "/" + string(task.ID), Title: now.title, Kind: "edit", Status: now.status}
	if before == nil || now.text != before.text || now.version != before.version {
		if strings.TrimSpace(now.text) != "" {
			one.Content = append(one.Content, acpserver.ContentBlock(fenceText(t.mask(now.text))))
		}
		for _, d := range c.diffs {
			one.Content, one.Places = append(one.Content, d), append(one.Places, acpserver.FileLocation{Path: d.Path, Line: firstLine(d)})
		}
	}
	if len(c.diffs) == 0 && now.files != "" {
		for file := range strings.SplitSeq(now.files, "\n") {
			one.Places = append(one.Places, acpserver.FileLocation{Path: filepath.Join(t.s.top, filepath.FromSlash(file))})
		}
	}
	return one, true
}

// callStatus returns the status of a task as a tool call.
func callStatus(v view.RunView, task view.TaskView) string {
	switch task.Status {
	case nexus.Running, nexus.Reviewing, nexus.Boarding:
		if v.Held != nil { // else it is not running and can be continued
			return acpserver.CallWorking
		}
	case nexus.Landed, nexus.Split:
		return acpserver.CallDone
	case nexus.Parked, nexus.Failed, nexus.Skipped:
		return acpserver.CallFailed
	case nexus.Blocked:
		if v.Status.HasEnded() {
			return acpserver.CallFailed
		}
	default:
	}
	return acpserver.CallPending
}

// plannedFiles returns the files that a task is planned to touch.
func (t *runTracker) plannedFiles(id nexus.TaskID) []string {
	var all []string
	if task := t.state.TaskByID(id); task != nil {
		for _, file := range task.Files {
			if filepath.IsLocal(file) && !strings.ContainsAny(file, "*?[") {
				all = append(all, file)
			}
		}
	}
	return all
}
