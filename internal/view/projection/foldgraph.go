package projection

import (
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// GroupNames returns the groups of the tasks, with their parent groups, and the number of tasks in
// each.
func (g PlanGraph) GroupNames() (names []string, tasks map[string]int) {
	tasks = map[string]int{}
	for _, n := range g.Nodes {
		for _, name := range nexus.EnclosingGroups(n.Group) {
			tasks[name]++
		}
	}
	return slices.Sorted(maps.Keys(tasks)), tasks
}

// FoldGroups returns the graph with one node instead of each named group, with new positions. A group
// is as urgent as its most urgent task.
func (g PlanGraph) FoldGroups(groups []string) PlanGraph {
	if len(groups) == 0 {
		return g
	}
	at, in := map[nexus.TaskID]int{}, map[string]int{}
	var p planGraphLayout
	for _, n := range g.Nodes {
		name := outermostGroup(n.Group, groups)
		i, known := in[name]
		if name == "" || !known {
			i = len(p.nodes)
			node := n
			if node.Layer, node.Row = 0, 0; name != "" {
				in[name] = i
				node = PlanGraphNode{ID: nexus.TaskID("[" + name + "]"), Title: name, Lane: n.Lane, Group: name}
			}
			p.nodes = append(p.nodes, node)
		}
		if at[n.ID] = i; name != "" {
			p.nodes[i].addTaskToGroup(n)
		}
	}
	out := PlanGraph{Edges: []PlanGraphEdge{}}
	seen := map[[3]string]int{}
	p.after = make([][]int, len(p.nodes))
	for _, e := range g.Edges {
		from, to := at[e.From], at[e.To]
		if from > to && e.Kind == "collides" { // it has no direction
			from, to = to, from
		}
		if from == to {
			continue
		}
		e.From, e.To = p.nodes[from].ID, p.nodes[to].ID
		key := [3]string{string(e.From), string(e.To), e.Kind}
		if i, again := seen[key]; again {
			o := &out.Edges[i]
			o.Critical, o.Files = o.Critical || e.Critical, slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.Files, e.Files))))
			continue
		}
		seen[key] = len(out.Edges)
		out.Edges = append(out.Edges, e)
		if e.Kind != "collides" {
			p.after[to] = append(p.after[to], from)
		}
	}
	p.assignLayers()
	out.Nodes = p.nodes
	for _, n := range p.nodes {
		out.Layers = max(out.Layers, n.Layer+1)
	}
	return out
}

// outermostGroup returns the outermost of some groups that contains a group, empty for none.
func outermostGroup(group string, groups []string) string {
	for _, name := range nexus.EnclosingGroups(group) {
		if slices.Contains(groups, name) {
			return name
		}
	}
	return ""
}

// addTaskToGroup adds a task to a folded group.
func (n *PlanGraphNode) addTaskToGroup(task PlanGraphNode) {
	n.Tasks, n.Critical = append(n.Tasks, task.ID), n.Critical || task.Critical
	if task.Lane == LaneDone {
		n.Landed++
	}
	if slices.Index(Lanes, task.Lane) < slices.Index(Lanes, n.Lane) {
		n.Lane = task.Lane
	}
}
