package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// requestUndo starts the revert of landed tasks, the last to land first, or refuses it if other
// landings depend on them.
func requestUndo(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	if !s.IsDeliveryOnly() || s.Status != nexus.StatusReviewing {
		return no("the run is %s: stop it first", s.Status)
	}
	tasks, why := RevertibleTasks(s, strings.FieldsFunc(r.ID, func(c rune) bool { return c == ',' }))
	if why != "" {
		return no("%s", why)
	}
	if s.Undo.IsOpen() {
		if slices.Equal(s.Undo.Asked.Tasks, tasks) {
			return yes() // a repeated request, such as after a kill, has one effect
		}
		return no("%s is being undone: ask again when that has ended", nexus.JoinWords(s.Undo.Asked.Tasks))
	}
	return yes(nexus.UndoStarted{Attempt: nexus.AttemptID(fmt.Sprintf("undo.%d", s.Undo.Tries+1)), Tasks: tasks, Onto: s.Tip, By: requesterName(r)})
}

// RevertibleTasks returns the tasks with these names in the order of their revert, or all landed
// tasks if there are no names. If they cannot be reverted, it returns the reason.
func RevertibleTasks(s *state.State, names []string) (tasks []nexus.TaskID, why string) {
	for _, name := range names {
		t := s.TaskByID(nexus.TaskID(name))
		switch {
		case t == nil:
			return nil, fmt.Sprintf("there is no task %q", name)
		case t.Landed == nil && slices.ContainsFunc(s.Undo.Done, func(f nexus.UndoLanded) bool { return slices.Contains(f.Tasks, t.ID) }):
			return nil, fmt.Sprintf("%s was undone before", t.ID)
		case t.Landed == nil:
			return nil, fmt.Sprintf("%s has not landed: it is %s", t.ID, s.StatusOf(t))
		}
	}
	for _, l := range slices.Backward(s.Landings) {
		if len(names) == 0 || slices.Contains(names, string(l.Task)) {
			tasks = append(tasks, l.Task)
		}
	}
	if len(tasks) == 0 {
		return nil, "nothing landed that could be undone"
	}
	if on := DependentLandings(s, tasks); len(on) > 0 {
		all := strings.Join(taskIDWords(append(slices.Clone(tasks), on...)), " ")
		return nil, fmt.Sprintf("%s landed later and needs it: undo both, with nexus undo %s", nexus.JoinWords(on), all)
	}
	return tasks, ""
}

func taskIDWords(ids []nexus.TaskID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = string(id)
	}
	return all
}

// DependentLandings returns the landed tasks that need one of the given tasks, directly or
// through other landed tasks, and are not among them.
func DependentLandings(s *state.State, tasks []nexus.TaskID) []nexus.TaskID {
	var on []nexus.TaskID
	gone := slices.Clone(tasks)
	for _, l := range s.Landings { // needed tasks landed earlier
		t := s.TaskByID(l.Task)
		if slices.Contains(gone, t.ID) {
			continue
		}
		if slices.ContainsFunc(t.Needs, func(id nexus.TaskID) bool { return slices.Contains(gone, id) }) {
			on, gone = append(on, t.ID), append(gone, t.ID)
		}
	}
	return on
}

// resumeUndo resumes a revert that lost its process, or refuses it with a reason.
func resumeUndo(s *state.State) []nexus.Fact {
	w, asked := s.Undo.Work, *s.Undo.Asked
	refuse := func(why string) []nexus.Fact {
		return factList(nexus.UndoRefused{Attempt: asked.Attempt, Tasks: asked.Tasks, Why: why})
	}
	switch {
	case isWorking(w):
		return nil
	case w.Broken:
		return refuse(w.Why)
	case isLostTooOften(s, w):
		return refuse(fmt.Sprintf("it was interrupted %d times", w.Losses))
	case s.Drain != nil:
		return refuse("the run is ending: " + s.Drain.Why)
	}
	return factList(asked)
}
