package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// BlockerIndex caches the results of [State.BlockerOf] for all tasks of a state. It is valid until
// the next event.
type BlockerIndex struct {
	s  *State
	by map[nexus.TaskID]nearestBlocker
}

// nearestBlocker is the task that blocks another one, and its distance in needs; 0 is no blocker.
type nearestBlocker struct {
	id  nexus.TaskID
	far int
}

// BlockerIndex returns the blockers of all tasks.
func (s *State) BlockerIndex() *BlockerIndex {
	b := &BlockerIndex{s, make(map[nexus.TaskID]nearestBlocker, len(s.Tasks))}
	for _, t := range s.Tasks {
		b.find(t)
	}
	return b
}

func (b *BlockerIndex) find(t *Task) nearestBlocker {
	if known, ok := b.by[t.ID]; ok {
		return known
	}
	b.by[t.ID] = nearestBlocker{} // a task that needs itself is not blocked by that
	var near nearestBlocker
	for _, id := range t.Needs {
		n := b.s.tasks[id]
		if n == nil {
			continue
		}
		at := nearestBlocker{}
		switch {
		case n.Status.HasEnded() && n.Status != nexus.Landed:
			at = nearestBlocker{id, 1}
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

// BlockerOf returns the result of [State.BlockerOf].
func (b *BlockerIndex) BlockerOf(t *Task) (nexus.TaskID, bool) {
	at := b.by[t.ID]
	return at.id, at.far > 0
}

// StatusOf returns the result of [State.StatusOf].
func (b *BlockerIndex) StatusOf(t *Task) nexus.TaskStatus {
	status := b.s.statusUnlessBlocked(t)
	if _, blocked := b.BlockerOf(t); blocked && status == nexus.Pending {
		return nexus.Blocked
	}
	return status
}
