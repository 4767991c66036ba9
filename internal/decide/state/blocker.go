package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Blockers caches the results of [State.Blocker] for all tasks of a state. It is valid until
// the next event.
type Blockers struct {
	s  *State
	by map[nexus.TaskID]blocker
}

// blocker is the task that blocks another one, and its distance in needs; 0 is no blocker.
type blocker struct {
	id  nexus.TaskID
	far int
}

// Blockers returns the blockers of all tasks.
func (s *State) Blockers() *Blockers {
	b := &Blockers{s, make(map[nexus.TaskID]blocker, len(s.Tasks))}
	for _, t := range s.Tasks {
		b.find(t)
	}
	return b
}

func (b *Blockers) find(t *Task) blocker {
	if known, ok := b.by[t.ID]; ok {
		return known
	}
	b.by[t.ID] = blocker{} // a task that needs itself is not blocked by that
	var near blocker
	for _, id := range t.Needs {
		n := b.s.tasks[id]
		if n == nil {
			continue
		}
		at := blocker{}
		switch {
		case n.Status.Ended() && n.Status != nexus.Landed:
			at = blocker{id, 1}
		case n.Status == nexus.Pending:
			if at = b.find(n); at.far > 0 {
				at.far++
			}
		}
		if at.far > 0 && (near.far == 0 || at.far < near.far) {
			near = at
		}
	}
	b.by[t.ID] = near
	return near
}

// Blocker returns the result of [State.Blocker].
func (b *Blockers) Blocker(t *Task) (nexus.TaskID, bool) {
	at := b.by[t.ID]
	return at.id, at.far > 0
}

// StatusOf returns the result of [State.StatusOf].
func (b *Blockers) StatusOf(t *Task) nexus.TaskStatus {
	status := b.s.unblocked(t)
	if _, blocked := b.Blocker(t); blocked && status == nexus.Pending {
		return nexus.Blocked
	}
	return status
}
