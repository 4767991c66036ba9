// Package graph orders tasks by what they need: which may start, in which
// waves, along which critical path, and which must not run at once because
// they touch the same files.
//
// A Graph never changes. Every answer is in a fixed order, the plan's unless
// said otherwise, so that the same plan always leads to the same run.
package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Graph is a plan's tasks and what they need of each other.
type Graph struct {
	tasks  []nexus.Task
	index  map[nexus.TaskID]int
	needs  [][]int // by task: those that must land before it
	needed [][]int // by task: those that wait for it
	waves  [][]int // by distance from the start; together a topological order
	touch  [][]string
}

// New returns the graph of tasks. It fails on a task without a name, two of
// one name, a need of itself or of a task that is not there, and with
// [nexus.CodeCycle] on tasks that need each other in a circle.
func New(tasks []nexus.Task) (*Graph, error) {
	g := &Graph{
		tasks: slices.Clone(tasks), index: make(map[nexus.TaskID]int, len(tasks)),
		needs: make([][]int, len(tasks)), needed: make([][]int, len(tasks)), touch: make([][]string, len(tasks)),
	}
	for i, t := range g.tasks {
		if strings.TrimSpace(string(t.ID)) == "" {
			return nil, invalid("task %d has no id", i+1)
		}
		if _, taken := g.index[t.ID]; taken {
			return nil, invalid("two tasks have the id %q", t.ID)
		}
		g.index[t.ID] = i
		g.touch[i] = touchSet(t.Files)
	}
	for i, t := range g.tasks {
		for _, id := range t.Needs {
			j, ok := g.index[id]
			switch {
			case !ok:
				return nil, invalid("task %q needs %q, which is not in the plan", t.ID, id)
			case j == i:
				return nil, invalid("task %q needs itself", t.ID)
			case !slices.Contains(g.needs[i], j):
				g.needs[i] = append(g.needs[i], j)
				g.needed[j] = append(g.needed[j], i)
			}
		}
	}
	return g, g.sort()
}

func invalid(format string, args ...any) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidPlan, Message: "plan: " + fmt.Sprintf(format, args...),
		Hint: "Correct the ids or the needs of the task.",
	}
}

// sort lays the tasks into waves, or names a circle.
func (g *Graph) sort() error {
	left := make([]int, len(g.tasks))
	var wave []int
	for i := range g.tasks {
		if left[i] = len(g.needs[i]); left[i] == 0 {
			wave = append(wave, i)
		}
	}
	sorted := 0
	for len(wave) > 0 {
		g.waves = append(g.waves, wave)
		sorted += len(wave)
		var next []int
		for _, i := range wave {
			for _, j := range g.needed[i] {
				if left[j]--; left[j] == 0 {
					next = append(next, j)
				}
			}
		}
		slices.Sort(next)
		wave = next
	}
	if sorted == len(g.tasks) {
		return nil
	}
	return g.circle(left)
}

// circle names a circle among the tasks that still wait for something.
func (g *Graph) circle(left []int) error {
	at := slices.IndexFunc(left, func(n int) bool { return n > 0 })
	seen := map[int]int{}
	var path []int
	for {
		if from, again := seen[at]; again {
			path = path[from:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		// Whatever waits, waits for something that waits too.
		at = g.needs[at][slices.IndexFunc(g.needs[at], func(n int) bool { return left[n] > 0 })]
	}
	first := slices.Index(path, slices.Min(path))
	path = slices.Concat(path[first:], path[:first+1])
	const most = 40
	var names []string
	for i, t := range path {
		if len(path) > most && i == most/2 {
			names = append(names, fmt.Sprintf("(%d more)", len(path)-most))
		}
		if len(path) <= most || i < most/2 || i >= len(path)-most/2 {
			names = append(names, string(g.tasks[t].ID))
		}
	}
	return &nexus.Error{
		Code: nexus.CodeCycle, Message: "tasks need each other in a circle: " + strings.Join(names, " needs "),
		Hint: "Remove one of these needs from the plan, or merge the tasks.",
	}
}

// Tasks returns all tasks in the plan's order.
func (g *Graph) Tasks() []nexus.Task { return slices.Clone(g.tasks) }

// Task returns a task by its name.
func (g *Graph) Task(id nexus.TaskID) (nexus.Task, bool) {
	i, ok := g.index[id]
	if !ok {
		return nexus.Task{}, false
	}
	return g.tasks[i], true
}

// Ready returns the tasks that may start: neither done nor busy, with all
// needs done, and with no file that a busy task touches. Two of them may still
// conflict with each other: start one, then ask again.
func (g *Graph) Ready(done, busy func(nexus.TaskID) bool) []nexus.TaskID {
	is := make([]bool, len(g.tasks))
	var at []int // busy ones
	for i, t := range g.tasks {
		is[i] = done(t.ID)
		if !is[i] && busy(t.ID) {
			at = append(at, i)
		}
	}
	var ready []nexus.TaskID
	for i, t := range g.tasks {
		waits := func(n int) bool { return !is[n] }
		clash := func(b int) bool { return b == i || clash(g.touch[i], g.touch[b]) }
		if !is[i] && !slices.ContainsFunc(g.needs[i], waits) && !slices.ContainsFunc(at, clash) {
			ready = append(ready, t.ID)
		}
	}
	return ready
}

// Waves returns the tasks by the earliest moment at which they could start if
// every task took equally long and files did not matter.
func (g *Graph) Waves() [][]nexus.TaskID {
	waves := make([][]nexus.TaskID, len(g.waves))
	for i, w := range g.waves {
		waves[i] = g.ids(w)
	}
	return waves
}

func (g *Graph) ids(of []int) []nexus.TaskID {
	ids := make([]nexus.TaskID, len(of))
	for i, t := range of {
		ids[i] = g.tasks[t].ID
	}
	return ids
}

// Minutes is a task's estimate, at least 1. It is what Longest and Rank take
// where they are given nil.
func Minutes(t nexus.Task) int { return max(1, t.Minutes) }

// Longest returns the critical path and its length: the tasks, each needing
// the one before, that together take longest. Negative minutes count as none.
func (g *Graph) Longest(minutes func(nexus.Task) int) (path []nexus.TaskID, total int) {
	rank, next := g.rank(minutes)
	at := -1
	for i, r := range rank {
		if at < 0 || r > rank[at] {
			at = i
		}
	}
	if at < 0 {
		return nil, 0
	}
	total = rank[at]
	for ; at >= 0; at = next[at] {
		path = append(path, g.tasks[at].ID)
	}
	return path, total
}

// Rank returns for each task how long the longest path takes that begins with
// it: what starts first when not everything can.
func (g *Graph) Rank(minutes func(nexus.Task) int) map[nexus.TaskID]int {
	rank, _ := g.rank(minutes)
	by := make(map[nexus.TaskID]int, len(rank))
	for i, r := range rank {
		by[g.tasks[i].ID] = r
	}
	return by
}

// rank returns the longest remaining path of each task and the task that
// follows on it, -1 at the end.
func (g *Graph) rank(minutes func(nexus.Task) int) (rank, next []int) {
	if minutes == nil {
		minutes = Minutes
	}
	rank, next = make([]int, len(g.tasks)), make([]int, len(g.tasks))
	for _, wave := range slices.Backward(g.waves) {
		for _, i := range wave {
			next[i] = -1
			longest := 0
			for _, j := range g.needed[i] {
				if next[i] < 0 || rank[j] > longest {
					longest, next[i] = rank[j], j
				}
			}
			rank[i] = longest + max(0, minutes(g.tasks[i]))
		}
	}
	return rank, next
}

// Dependants returns every task that needs id, directly or through others.
func (g *Graph) Dependants(id nexus.TaskID) []nexus.TaskID {
	start, ok := g.index[id]
	if !ok {
		return nil
	}
	found := map[int]bool{start: true}
	var all []int
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, j := range g.needed[queue[0]] {
			if !found[j] {
				found[j] = true
				all = append(all, j)
				queue = append(queue, j)
			}
		}
	}
	slices.Sort(all)
	return g.ids(all)
}
