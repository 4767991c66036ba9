package state

import (
	"maps"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TaskSplitState is the split of one task, requested or done.
type TaskSplitState struct {
	nexus.TaskSplitStarted
	Parts   []nexus.TaskID // tasks that replace it; empty while the split is open
	Refused string         // why it is not split; empty while the split is open
}

// IsOpen reports whether the split has no result yet.
func (e *TaskSplitState) IsOpen() bool { return len(e.Parts) == 0 && e.Refused == "" }

// TaskSplitHistory records the tasks that were to be split when nothing else helped, and the results.
// The zero value is empty.
//
// A task is split at most once, unless a person retries it.
type TaskSplitHistory struct {
	All    []*TaskSplitState // in order, the last of each task
	Sought int               // number of requested splits
}

// Apply applies a fact. It ignores facts about anything else.
func (b *TaskSplitHistory) Apply(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.TaskSplitStarted:
		if e := b.SplitOfTask(f.Task); e == nil || e.Attempt != f.Attempt {
			b.forgetTask(f.Task)
			b.All, b.Sought = append(b.All, &TaskSplitState{TaskSplitStarted: f}), b.Sought+1
		}
	case nexus.TaskSplitCompleted:
		if e := b.SplitOfTask(f.Task); e != nil {
			e.Parts = f.Parts
		}
	case nexus.TaskSplitFailed:
		if e := b.SplitOfTask(f.Task); e != nil && e.Attempt == f.Attempt {
			e.Refused = f.Why
		}
	case nexus.TaskRetried:
		b.forgetTask(f.Task)
	default:
	}
}

func (b *TaskSplitHistory) forgetTask(task nexus.TaskID) {
	b.All = slices.DeleteFunc(b.All, func(e *TaskSplitState) bool { return e.Task == task })
}

// SplitOfTask returns the split of a task, or nil if none was requested, or a person has retried
// the task since.
func (b *TaskSplitHistory) SplitOfTask(task nexus.TaskID) *TaskSplitState {
	for _, e := range b.All {
		if e.Task == task {
			return e
		}
	}
	return nil
}

// replaceNeed replaces a need or want of a task by the parts of the needed task.
func replaceNeed(t *nexus.Task, whole nexus.TaskID, parts []nexus.TaskID) {
	t.Needs, t.Wants = ReplaceNeedByParts(t.Needs, whole, parts), ReplaceNeedByParts(t.Wants, whole, parts)
	if tie, ok := t.Ties[whole]; ok {
		t.Ties = maps.Clone(t.Ties)
		delete(t.Ties, whole)
		for _, id := range parts {
			t.Ties[id] = tie
		}
	}
}

// ReplaceNeedByParts returns a task's needs after one of them was replaced by its parts.
func ReplaceNeedByParts(needs []nexus.TaskID, task nexus.TaskID, parts []nexus.TaskID) []nexus.TaskID {
	at := slices.Index(needs, task)
	if at < 0 {
		return needs
	}
	all := slices.Clone(needs[:at])
	for _, id := range slices.Concat(parts, needs[at+1:]) {
		if id != task && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// applySplit applies facts about the split of a stuck task. Tasks that needed it need its
// parts instead.
func (s *State) applySplit(f nexus.Fact, at time.Time) {
	s.Splits.Apply(f)
	switch f := f.(type) {
	case nexus.TaskSplitStarted:
		if s.attempts[f.Attempt] == nil {
			s.attempts[f.Attempt] = &AttemptState{ID: f.Attempt, Base: s.Tip, Began: at, Active: at}
		}
		s.attempts[f.Attempt].Stage = Working
	case nexus.TaskSplitCompleted:
		a, t := s.attempts[f.Attempt], s.tasks[f.Task]
		a.Stage, a.Finished = Over, at
		s.replaceByParts(t, f.Parts, at)
		s.orderTasks()
	case nexus.TaskSplitFailed:
		a := s.attempts[f.Attempt]
		a.Stage, a.Finished, a.Why = Over, at, f.Why
	default:
	}
}
