// Package graph orders tasks by what they need: how long what follows each of
// them takes, and which must not run at once because they touch the same files.
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
	tasks  []node
	index  map[nexus.TaskID]int
	needs  [][]int // by task: those that it waits for, as it needs or wants them
	needed [][]int // by task: those that wait for it
	waves  [][]int // by distance from the start; together a topological order
	touch  [][]string
}

// node is what a graph keeps of a task.
type node struct {
	id      nexus.TaskID
	minutes int // at least 1
	score   int // of its priority
}

// New returns the graph of tasks. It fails on a task without a name, two of
// one name, a need of itself or of a task that is not there, and with
// [nexus.CodeCycle] on tasks that need each other in a circle.
func New(tasks []nexus.Task) (*Graph, error) {
	g := &Graph{
		tasks: make([]node, len(tasks)), index: make(map[nexus.TaskID]int, len(tasks)),
		needs: make([][]int, len(tasks)), needed: make([][]int, len(tasks)), touch: make([][]string, len(tasks)),
	}
	locks := lockGroups()
	for i, t := range tasks {
		if strings.TrimSpace(string(t.ID)) == "" {
			return nil, invalid("task %d has no id", i+1)
		}
		if _, taken := g.index[t.ID]; taken {
			return nil, invalid("two tasks have the id %q", t.ID)
		}
		g.index[t.ID], g.tasks[i] = i, node{t.ID, Minutes(t), t.Priority.Score()}
		g.touch[i] = append(touchSet(t.Files), locked(t.Files, locks)...)
	}
	for i, t := range tasks {
		for _, id := range t.After() {
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
			names = append(names, string(g.tasks[t].id))
		}
	}
	return &nexus.Error{
		Code: nexus.CodeCycle, Message: "tasks need each other in a circle: " + strings.Join(names, " needs "),
		Hint: "Remove one of these needs from the plan, or merge the tasks.",
	}
}

// CriticalPathLength returns how long the critical path takes: the tasks, each needing the
// one before, that together take longest. Took says how long the i-th task takes,
// from 0; what takes less than nothing takes none.
func (g *Graph) CriticalPathLength(took func(i int) int) int {
	longest := 0
	for _, r := range g.rank(took) {
		longest = max(longest, r)
	}
	return longest
}

// CriticalPath returns the tasks of the critical path, each needing the one before. Of
// paths that take equally long it is the one whose tasks come first in the plan.
func (g *Graph) CriticalPath() []nexus.TaskID {
	rank := g.rank(g.minutes)
	next := func(of []int) int {
		at := -1
		for _, i := range of {
			if at < 0 || rank[i] > rank[at] || rank[i] == rank[at] && i < at {
				at = i
			}
		}
		return at
	}
	var all []nexus.TaskID
	if len(g.waves) == 0 {
		return nil
	}
	for at := next(g.waves[0]); at >= 0; at = next(g.needed[at]) {
		all = append(all, g.tasks[at].id)
	}
	return all
}

// Minutes is a task's estimate, at least 1.
func Minutes(t nexus.Task) int { return max(1, t.Minutes) }

// minutes returns the estimate of the i-th task.
func (g *Graph) minutes(i int) int { return g.tasks[i].minutes }

// Rank returns for each task how many minutes the longest path takes that begins
// with it: what starts first when not everything can.
func (g *Graph) Rank() map[nexus.TaskID]int {
	by := make(map[nexus.TaskID]int, len(g.tasks))
	for i, r := range g.rank(g.minutes) {
		by[g.tasks[i].id] = r
	}
	return by
}

// Urgency returns for each task the highest score of its priority and those of the tasks that
// wait for it, directly or not: what matters much does not wait behind what does not.
func (g *Graph) Urgency() map[nexus.TaskID]int {
	score := make([]int, len(g.tasks))
	by := make(map[nexus.TaskID]int, len(g.tasks))
	for _, wave := range slices.Backward(g.waves) {
		for _, i := range wave {
			score[i] = g.tasks[i].score
			for _, j := range g.needed[i] {
				score[i] = max(score[i], score[j])
			}
			by[g.tasks[i].id] = score[i]
		}
	}
	return by
}

// rank returns the longest remaining path of each task.
func (g *Graph) rank(took func(i int) int) []int {
	rank := make([]int, len(g.tasks))
	for _, wave := range slices.Backward(g.waves) {
		for _, i := range wave {
			for _, j := range g.needed[i] {
				rank[i] = max(rank[i], rank[j])
			}
			rank[i] += max(0, took(i))
		}
	}
	return rank
}
