package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// BlockerCache caches the results of [State.BlockerOf] for all tasks of a state. It is valid until
// the next event.
type BlockerCache struct {
	s  *State
	by map[nexus.TaskID]nearestBlockingTask
}

// nearestBlockingTask is the task that blocks another one, and its distance in needs; 0 is no blocker.
type nearestBlockingTask struct {
	id  nexus.TaskID
	far int
}

// BlockerIndex returns the blockers of all tasks.
func (s *State) BlockerIndex() *BlockerCache {
	b := &BlockerCache{s, make(map[nexus.TaskID]nearestBlockingTask, len(s.Tasks))}
	for _, t := range s.Tasks {
		b.findNearestBlocker(t)
	}
	return b
}

func (b *BlockerCache) findNearestBlocker(t *TaskState) nearestBlockingTask {
	if known, ok := b.by[t.ID]; ok {
		return known
	}
	b.by[t.ID] = nearestBlockingTask{} // a task that needs itself is not blocked by that
	var near nearestBlockingTask
	for _, id := range t.Needs {
		n := b.s.tasks[id]
		if n == nil {
			continue
		}
		at := nearestBlockingTask{}
		switch {
		case n.Status.HasEnded() && n.Status != nexus.Landed:
			at = nearestBlockingTask{id, 1}
		case n.Status == nexus.Pending:
			if at = b.findNearestBlocker(n); at.far > 0 {
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
func (b *BlockerCache) BlockerOf(t *TaskState) (nexus.TaskID, bool) {
	at := b.by[t.ID]
	return at.id, at.far > 0
}

// StatusOf returns the result of [State.StatusOf].
func (b *BlockerCache) StatusOf(t *TaskState) nexus.TaskStatus {
	status := b.s.statusUnlessBlocked(t)
	if _, blocked := b.BlockerOf(t); blocked && status == nexus.Pending {
		return nexus.Blocked
	}
	return status
}
