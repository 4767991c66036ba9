package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyInherited folds what became of a task in the run that this one was forked from.
func (s *State) applyInherited(f nexus.TaskInherited, e nexus.Event) {
	t := s.tasks[f.Task]
	t.Status, t.Why, t.Inherited = f.Status, f.Why, &f
	if f.Status.Ended() {
		t.Ended = e.At
	}
	if f.Landed != nil {
		t.Landed = f.Landed
		s.Tip = f.Landed.Commit
		s.Landings = append(s.Landings, &Landing{*f.Landed, e.At, e.Seq})
	}
	if f.Status == nexus.Split {
		s.splitInto(t, f.Parts, e.At)
	}
}

// splitInto lets parts stand in the place of a task.
func (s *State) splitInto(t *Task, parts []nexus.TaskID, at time.Time) {
	t.Status, t.Why, t.Ended = nexus.Split, "split into "+nexus.Join(parts), at
	for _, other := range s.Tasks {
		replaceNeed(&other.Task, t.ID, parts)
	}
}
