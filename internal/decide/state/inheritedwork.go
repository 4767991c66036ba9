package state

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyInherited applies the state of a task in the run from which this one was forked.
func (s *State) applyInherited(f nexus.TaskStateInherited, e nexus.Event) {
	t := s.tasks[f.Task]
	t.Status, t.Why, t.Inherited = f.Status, f.Why, &f
	if f.Status.HasEnded() {
		t.Ended = e.At
	}
	for _, n := range f.Waived {
		s.waived = append(s.waived, fmt.Sprintf("%s/AC-%d", f.Task, n))
	}
	if f.Landed != nil {
		a := &AttemptState{
			ID: f.Landed.Attempt, Task: f.Task, Base: f.Landed.Parent, Stage: Over, Outcome: nexus.Accepted, Commit: f.Landed.Commit, Tree: f.Landed.Tree,
			Began: e.At, Finished: e.At, Active: e.At,
		}
		if f.Checks != nil {
			a.Checks = *f.Checks
		}
		if f.Weighed != nil {
			a.Weighed = *f.Weighed
		}
		t.Attempts, s.attempts[a.ID] = append(t.Attempts, a), a
		t.Landed = f.Landed
		s.Tip = f.Landed.Commit
		s.Landings = append(s.Landings, &CompletedLanding{*f.Landed, e.At, e.Seq})
	}
	if f.Status == nexus.Split {
		s.replaceByParts(t, f.Parts, e.At)
	}
}

// IsTakenOver reports whether the work on a task had ended in the run from which this one was
// forked, and has not been changed since.
func (t *TaskState) IsTakenOver() bool {
	own := len(t.Attempts)
	if t.Inherited != nil && t.Inherited.Landed != nil {
		own--
	}
	return t.Inherited != nil && t.Inherited.Status.HasEnded() && own == 0
}

// forgetInheritedWork forgets a task's inherited work.
func (t *TaskState) forgetInheritedWork() {
	if t.Inherited != nil {
		left := *t.Inherited
		left.Work, left.Base = "", ""
		t.Inherited = &left
	}
}

// replaceByParts replaces a task by its parts.
func (s *State) replaceByParts(t *TaskState, parts []nexus.TaskID, at time.Time) {
	t.Status, t.Why, t.Ended = nexus.Split, "split into "+nexus.JoinWords(parts), at
	for _, other := range s.Tasks {
		replaceNeed(&other.Task, t.ID, parts)
	}
}

// InheritableFacts returns the facts that a forked run inherits from this one: landings in
// order, skipped and split tasks, and the state of the work on other tasks.
func (s *State) InheritableFacts() []nexus.Fact {
	var all []nexus.Fact
	for _, l := range s.Landings {
		t := s.tasks[l.Task]
		f := nexus.TaskStateInherited{Task: t.ID, Status: nexus.Landed, Landed: t.Landed, Waived: s.waivedCriteria(t.ID)}
		if a := s.attempts[l.Attempt]; a != nil && a.Checks.Attempt != "" {
			f.Checks = &a.Checks
		}
		if a := s.attempts[l.Attempt]; a != nil && a.Weighed.Attempt != "" {
			f.Weighed = &a.Weighed
		}
		all = append(all, f)
	}
	for _, t := range s.Tasks {
		f := nexus.TaskStateInherited{Task: t.ID, Status: nexus.Pending, Waived: s.waivedCriteria(t.ID)}
		best, ok := BestTree(t.Attempts[min(t.Fresh, len(t.Attempts)):])
		switch {
		case t.Status == nexus.Landed:
			continue
		case t.Status == nexus.Split && s.Splits.SplitOfTask(t.ID) != nil:
			f.Status, f.Parts = nexus.Split, s.Splits.SplitOfTask(t.ID).Parts
		case t.Status == nexus.Skipped:
			f.Status, f.Why = t.Status, t.Why
		case ok:
			f.Work, f.Base = best.At, best.Base
		case t.Inherited != nil:
			f.Work, f.Base = t.Inherited.Work, t.Inherited.Base
		}
		if f.Status != nexus.Pending || f.Work != "" || len(f.Waived) > 0 {
			all = append(all, f)
		}
	}
	return all
}

func (s *State) waivedCriteria(id nexus.TaskID) []int {
	var all []int
	for _, name := range s.waived {
		if task, n, ok := strings.Cut(name, "/AC-"); ok && task == string(id) {
			if number, err := strconv.Atoi(n); err == nil {
				all = append(all, number)
			}
		}
	}
	return all
}
