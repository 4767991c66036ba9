// Package taskgraph orders tasks by their needs: it computes the time of the work after each
// task, and which tasks must not run at the same time because they touch the same files.
//
// A Graph never changes. Every result is in a fixed order, the plan's unless stated
// otherwise, so that the same plan always leads to the same run.
package taskgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TaskGraph is the graph of a plan's tasks and their needs.
type TaskGraph struct {
	tasks  []taskNode
	index  map[nexus.TaskID]int
	needs  [][]int // by task: the tasks that it waits for, because it needs or wants them
	needed [][]int // by task: the tasks that wait for it
	waves  [][]int // by distance from the start; in sequence a topological order
	touch  [][]string
}

// taskNode is a task in a graph.
type taskNode struct {
	id      nexus.TaskID
	minutes int // at least 1
	score   int // of its priority
}

// NewTaskGraph returns the graph of tasks. It fails on a task without a name, on a duplicate name, on
// a need for itself or for a missing task, and with [nexus.CodeCycle] on a cycle of needs.
func NewTaskGraph(tasks []nexus.Task) (*TaskGraph, error) {
	g := &TaskGraph{
		tasks: make([]taskNode, len(tasks)), index: make(map[nexus.TaskID]int, len(tasks)),
		needs: make([][]int, len(tasks)), needed: make([][]int, len(tasks)), touch: make([][]string, len(tasks)),
	}
	locks := manifestPatternsByLanguage()
	for i, t := range tasks {
		if strings.TrimSpace(string(t.ID)) == "" {
			return nil, invalidPlanError("task %d has no id", i+1)
		}
		if _, taken := g.index[t.ID]; taken {
			return nil, invalidPlanError("two tasks have the id %q", t.ID)
		}
		g.index[t.ID], g.tasks[i] = i, taskNode{t.ID, TaskMinutes(t), t.Priority.NumericScore()}
		g.touch[i] = append(normalizePaths(t.Files), sharedLockFiles(t.Files, locks)...)
	}
	for i, t := range tasks {
		for _, id := range t.Prerequisites() {
			j, ok := g.index[id]
			switch {
			case !ok:
				return nil, invalidPlanError("task %q needs %q, which is not in the plan", t.ID, id)
			case j == i:
				return nil, invalidPlanError("task %q needs itself", t.ID)
			case !slices.Contains(g.needs[i], j):
				g.needs[i] = append(g.needs[i], j)
				g.needed[j] = append(g.needed[j], i)
			}
		}
	}
	return g, g.layOutWaves()
}

func invalidPlanError(format string, args ...any) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidPlan, Message: "plan: " + fmt.Sprintf(format, args...),
		Hint: "Correct the ids or the needs of the task.",
	}
}

// layOutWaves sorts the tasks into waves, or returns an error with a cycle.
func (g *TaskGraph) layOutWaves() error {
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
	return g.cycleError(left)
}

// cycleError returns an error with a cycle among the tasks that are left.
func (g *TaskGraph) cycleError(left []int) error {
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
		// each task that is left waits for another one that is left
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

// CriticalPathLength returns the duration of the critical path: the tasks, each needing the
// one before, that together take longest. Took returns the duration of the i-th task, from 0;
// negative durations count as 0.
func (g *TaskGraph) CriticalPathLength(took func(i int) int) int {
	longest := 0
	for _, r := range g.longestRemainingPaths(took) {
		longest = max(longest, r)
	}
	return longest
}

// CriticalPath returns the tasks of the critical path, each needing the one before. If
// several paths take equally long, it returns the one whose tasks come first in the plan.
func (g *TaskGraph) CriticalPath() []nexus.TaskID {
	rank := g.longestRemainingPaths(g.minutesOf)
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

// TaskMinutes is a task's estimate, at least 1.
func TaskMinutes(t nexus.Task) int { return max(1, t.Minutes) }

// minutesOf returns the estimate of the i-th task.
func (g *TaskGraph) minutesOf(i int) int { return g.tasks[i].minutes }

// LongestPathMinutes returns for each task the minutes of the longest path that starts with it: tasks with
// higher values start first if not all can start.
func (g *TaskGraph) LongestPathMinutes() map[nexus.TaskID]int {
	by := make(map[nexus.TaskID]int, len(g.tasks))
	for i, r := range g.longestRemainingPaths(g.minutesOf) {
		by[g.tasks[i].id] = r
	}
	return by
}

// TaskUrgency returns for each task the highest score of its own priority and the priorities of
// the tasks that wait for it, directly or not: an important task does not wait behind an
// unimportant one.
func (g *TaskGraph) TaskUrgency() map[nexus.TaskID]int {
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

// longestRemainingPaths returns the longest remaining path of each task.
func (g *TaskGraph) longestRemainingPaths(took func(i int) int) []int {
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
