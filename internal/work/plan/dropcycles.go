package plan

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// maxSteps limits the search for soft needs that close a cycle. In a larger plan, all soft
// needs that may close one are dropped.
const maxSteps = 10_000_000

// DropSoftCycles drops each soft need that closes a cycle, and reports it to dropped: an
// optional need is no reason to refuse a plan. A cycle of hard needs stays, for a person to
// decide. All needed tasks must exist.
func DropSoftCycles(tasks []nexus.Task, dropped func(of, to nexus.TaskID)) {
	at := map[nexus.TaskID]int{}
	for k, t := range tasks {
		at[t.ID] = k
	}
	after := make([][]int, len(tasks))
	for k, t := range tasks {
		for _, id := range t.Prerequisites() {
			after[k] = append(after[k], at[id])
		}
	}
	left := tasksInCycles(after)
	if !slices.Contains(left, true) {
		return
	}
	g := taskWaitGraph{after: make([][]int, len(after)), left: left}
	for k, t := range tasks {
		for _, id := range t.Needs {
			g.after[k] = append(g.after[k], at[id])
		}
	}
	for k := range tasks {
		t := &tasks[k]
		t.Wants = slices.DeleteFunc(t.Wants, func(id nexus.TaskID) bool {
			if left[k] && left[at[id]] && g.waitsFor(at[id], k) {
				dropped(t.ID, id)
				return true
			}
			g.after[k] = append(g.after[k], at[id])
			return false
		})
		if len(t.Wants) == 0 {
			t.Wants = nil
		}
	}
}

// tasksInCycles marks the tasks that are in a cycle, or between two cycles.
func tasksInCycles(after [][]int) []bool {
	before := make([][]int, len(after))
	for k, ids := range after {
		for _, id := range ids {
			before[id] = append(before[id], k)
		}
	}
	left := make([]bool, len(after))
	for k := range left {
		left[k] = true
	}
	removeFreeTasks(after, before, left)
	removeFreeTasks(before, after, left)
	return left
}

// removeFreeTasks removes tasks that wait for no remaining task, until there are no more.
func removeFreeTasks(after, before [][]int, left []bool) {
	waits := make([]int, len(after))
	var free []int
	for k, ids := range after {
		for _, id := range ids {
			if left[id] {
				waits[k]++
			}
		}
		if waits[k] == 0 && left[k] {
			free = append(free, k)
		}
	}
	for len(free) > 0 {
		k := free[len(free)-1]
		free, left[k] = free[:len(free)-1], false
		for _, o := range before[k] {
			if waits[o]--; waits[o] == 0 && left[o] {
				free = append(free, o)
			}
		}
	}
}

// taskWaitGraph is the graph of remaining tasks and the tasks for which they wait.
type taskWaitGraph struct {
	after [][]int
	left  []bool
	steps int
}

// waitsFor reports whether a task waits for another one, directly or indirectly.
func (g *taskWaitGraph) waitsFor(from, to int) bool {
	seen := map[int]bool{from: true}
	for next := []int{from}; len(next) > 0; {
		k := next[len(next)-1]
		next = next[:len(next)-1]
		if k == to {
			return true
		}
		for _, o := range g.after[k] {
			if g.steps++; g.steps > maxSteps {
				return true
			}
			if g.left[o] && !seen[o] {
				seen[o] = true
				next = append(next, o)
			}
		}
	}
	return false
}
