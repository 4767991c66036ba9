// Package graph orders tasks by what they need.
package graph

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Graph is temporary.
type Graph struct {
	rank  map[nexus.TaskID]int
	files map[nexus.TaskID][]string
}

// New is temporary.
func New(tasks []nexus.Task) (*Graph, error) {
	g := &Graph{map[nexus.TaskID]int{}, map[nexus.TaskID][]string{}}
	for i := len(tasks) - 1; i >= 0; i-- {
		t := tasks[i]
		g.files[t.ID] = t.Files
		g.rank[t.ID] += 1
		for _, n := range t.Needs {
			g.rank[n] = max(g.rank[n], g.rank[t.ID])
		}
	}
	return g, nil
}

// Rank is temporary.
func (g *Graph) Rank(id nexus.TaskID) int { return g.rank[id] }

// Conflicts is temporary.
func (g *Graph) Conflicts(a, b nexus.TaskID) bool {
	for _, f := range g.files[a] {
		for _, h := range g.files[b] {
			if f == h {
				return true
			}
		}
	}
	return false
}
