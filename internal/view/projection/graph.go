package projection

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PlanGraph returns the plan as a layered graph, with the critical path and the tasks that cannot run
// at once because they touch the same files.
func (p *RunProjection) PlanGraph(now time.Time) PlanGraph {
	return p.buildGraph(p.TaskCards(now), nil)
}

// TaskRemovalForecast is the forecast without a task.
type TaskRemovalForecast struct {
	Task    nexus.TaskID   `json:"task"`
	Blocked []nexus.TaskID `json:"blocked"` // tasks that could no longer start
	Before  float64        `json:"before"`  // duration of the critical path, in seconds
	After   float64        `json:"after"`   // the same without the task and the tasks that it blocks
	Graph   PlanGraph      `json:"graph"`   // of the remaining tasks
}

// ForecastWithoutTask returns the forecast if a task were skipped, and false if there is no such task.
func (p *RunProjection) ForecastWithoutTask(id nexus.TaskID, now time.Time) (TaskRemovalForecast, bool) {
	if p.state.TaskByID(id) == nil {
		return TaskRemovalForecast{}, false
	}
	cards := p.TaskCards(now)
	w := TaskRemovalForecast{Task: id, Blocked: p.blockedWithout(id)}
	gone := map[nexus.TaskID]bool{id: true}
	for _, b := range w.Blocked {
		gone[b] = true
	}
	before := p.layoutGraph(cards, nil)
	w.Before = before.longestPath()
	after := p.layoutGraph(cards, gone)
	w.After, w.Graph = after.longestPath(), p.buildGraph(cards, gone)
	return w, true
}

// blockedWithout returns the tasks that could not start if one were skipped.
func (p *RunProjection) blockedWithout(id nexus.TaskID) []nexus.TaskID {
	needed := map[nexus.TaskID][]nexus.TaskID{}
	for _, t := range p.state.Tasks {
		for _, n := range t.Needs {
			needed[n] = append(needed[n], t.ID)
		}
	}
	gone := map[nexus.TaskID]bool{}
	for level := []nexus.TaskID{id}; len(level) > 0; {
		var next []nexus.TaskID
		for _, at := range level {
			for _, id := range needed[at] {
				if t := p.state.TaskByID(id); !gone[id] && t.Status == nexus.Pending {
					gone[id] = true
					next = append(next, id)
				}
			}
		}
		level = next
	}
	all := []nexus.TaskID{}
	for _, t := range p.state.Tasks {
		if gone[t.ID] {
			all = append(all, t.ID)
		}
	}
	return all
}

// planGraphLayout is the graph with nodes by index.
type planGraphLayout struct {
	nodes []PlanGraphNode
	after [][]int // dependencies of each node
	soft  [][]bool
}

func (p *RunProjection) layoutGraph(cards []TaskCard, gone map[nexus.TaskID]bool) planGraphLayout {
	var g planGraphLayout
	at := map[nexus.TaskID]int{}
	for _, c := range cards {
		if gone[c.ID] {
			continue
		}
		at[c.ID] = len(g.nodes)
		g.nodes = append(g.nodes, PlanGraphNode{ID: c.ID, Title: c.Title, Lane: c.Lane, Seconds: p.expectedSeconds(c), Group: p.state.TaskByID(c.ID).Group})
	}
	g.after, g.soft = make([][]int, len(g.nodes)), make([][]bool, len(g.nodes))
	for id, i := range at {
		t := p.state.TaskByID(id)
		for n, need := range t.Prerequisites() {
			for _, j := range p.nodesOf(need, at, 0) {
				g.after[i] = append(g.after[i], j)
				g.soft[i] = append(g.soft[i], n >= len(t.Needs))
			}
		}
	}
	g.assignLayers()
	return g
}

// nodesOf returns the node of a task, or those of its parts if it was split.
func (p *RunProjection) nodesOf(id nexus.TaskID, at map[nexus.TaskID]int, depth int) []int {
	if i, ok := at[id]; ok {
		return []int{i}
	}
	e := p.state.Splits.SplitOfTask(id)
	if e == nil || depth > 10 {
		return nil
	}
	var all []int
	for _, part := range e.Parts {
		all = append(all, p.nodesOf(part, at, depth+1)...)
	}
	return all
}

// expectedSeconds returns the actual or expected duration of a task, in seconds.
func (p *RunProjection) expectedSeconds(c TaskCard) float64 {
	if t := p.state.TaskByID(c.ID); !t.Ended.IsZero() {
		return c.Seconds
	}
	expected := float64(taskgraph.TaskMinutes(p.state.TaskByID(c.ID).Task) * 60)
	if c.Left != nil {
		expected = c.Seconds + (c.Left.Low+c.Left.High)/2
	}
	return max(c.Seconds, expected)
}

// assignLayers puts each node into the layer after its last dependency.
func (g *planGraphLayout) assignLayers() {
	order, state := []int{}, make([]int, len(g.nodes))
	var visit func(int)
	visit = func(i int) {
		if state[i] != 0 {
			return
		}
		state[i] = 1
		for _, j := range g.after[i] {
			visit(j)
			g.nodes[i].Layer = max(g.nodes[i].Layer, g.nodes[j].Layer+1)
		}
		order = append(order, i)
	}
	for i := range g.nodes {
		visit(i)
	}
	g.assignRows()
}

// assignRows assigns the nodes of each layer to rows near their dependencies.
func (g *planGraphLayout) assignRows() {
	layers := map[int][]int{}
	last := 0
	for i, n := range g.nodes {
		layers[n.Layer] = append(layers[n.Layer], i)
		last = max(last, n.Layer)
	}
	for l := 0; l <= last; l++ {
		mean := map[int]float64{}
		for at, i := range layers[l] {
			mean[i] = float64(at)
			if n := len(g.after[i]); n > 0 {
				sum := 0
				for _, j := range g.after[i] {
					sum += g.nodes[j].Row
				}
				mean[i] = float64(sum) / float64(n)
			}
		}
		slices.SortStableFunc(layers[l], func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		for row, i := range layers[l] {
			g.nodes[i].Row = row
		}
	}
}

// nodesByLayer returns the nodes' indexes, those without dependencies first.
func (g *planGraphLayout) nodesByLayer() []int {
	all := make([]int, len(g.nodes))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(g.nodes[a].Layer, g.nodes[b].Layer) })
	return all
}

// longestPaths returns the duration of the longest path that ends with each node, and the node
// before it, -1 for none.
func (g *planGraphLayout) longestPaths() (total []float64, before []int) {
	total, before = make([]float64, len(g.nodes)), make([]int, len(g.nodes))
	for _, i := range g.nodesByLayer() {
		before[i] = -1
		for _, j := range g.after[i] {
			if before[i] < 0 || total[j] > total[before[i]] {
				before[i] = j
			}
		}
		total[i] = g.nodes[i].Seconds
		if before[i] >= 0 {
			total[i] += total[before[i]]
		}
	}
	return total, before
}

func (g *planGraphLayout) longestPath() float64 {
	total, _ := g.longestPaths()
	most := 0.0
	for _, t := range total {
		most = max(most, t)
	}
	return most
}

// markCritical marks the longest path, and returns the edges on it, by their end.
func (g *planGraphLayout) markCritical() map[int]int {
	total, before := g.longestPaths()
	at := -1
	for i, t := range total {
		if at < 0 || t > total[at] {
			at = i
		}
	}
	edges := map[int]int{}
	for at >= 0 {
		g.nodes[at].Critical = true
		if before[at] >= 0 {
			edges[at] = before[at]
		}
		at = before[at]
	}
	return edges
}

func (p *RunProjection) buildGraph(cards []TaskCard, gone map[nexus.TaskID]bool) PlanGraph {
	g := p.layoutGraph(cards, gone)
	critical := g.markCritical()
	out := PlanGraph{Nodes: g.nodes, Edges: []PlanGraphEdge{}}
	if out.Nodes == nil {
		out.Nodes = []PlanGraphNode{}
	}
	for i, n := range g.nodes {
		out.Layers = max(out.Layers, n.Layer+1)
		for k, j := range g.after[i] {
			e := PlanGraphEdge{From: g.nodes[j].ID, To: n.ID, Kind: "needs"}
			if g.soft[i][k] {
				e.Kind = "follows"
			}
			from, ok := critical[i]
			e.Critical = ok && from == j
			out.Edges = append(out.Edges, e)
		}
	}
	out.Edges = append(out.Edges, p.fileCollisions(g)...)
	return out
}

// fileCollisions returns the unfinished tasks that could run at once, and touch the same files.
func (p *RunProjection) fileCollisions(g planGraphLayout) []PlanGraphEdge {
	var open []nexus.Task
	var at []int
	for i, n := range g.nodes {
		if t := p.state.TaskByID(n.ID); !t.Status.HasEnded() {
			open, at = append(open, t.Task), append(at, i)
		}
	}
	var all []PlanGraphEdge
	for _, c := range taskgraph.TaskCollisions(open) {
		if i, j := at[c.A], at[c.B]; !g.dependsOn(i, j) && !g.dependsOn(j, i) {
			all = append(all, PlanGraphEdge{From: g.nodes[i].ID, To: g.nodes[j].ID, Kind: "collides", Files: c.Files})
		}
	}
	return all
}

// dependsOn reports whether a node depends on another one, directly or not.
func (g *planGraphLayout) dependsOn(node, other int) bool {
	if g.nodes[node].Layer <= g.nodes[other].Layer {
		return false
	}
	seen := map[int]bool{}
	for stack := []int{node}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range g.after[i] {
			if j == other {
				return true
			}
			if !seen[j] && g.nodes[j].Layer > g.nodes[other].Layer {
				seen[j] = true
				stack = append(stack, j)
			}
		}
	}
	return false
}
