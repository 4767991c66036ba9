package projection

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestFold puts groups into one node each: one within another one, one that others of the
// plan stand between, and what of their edges is left.
func TestFold(t *testing.T) {
	g := PlanGraph{Layers: 4, Nodes: []PlanGraphNode{
		{ID: "T1", Group: "a", Lane: LaneDone, Critical: true},
		{ID: "T2", Group: "b / c", Lane: LaneBlocked, Layer: 1},
		{ID: "T3", Group: "a", Lane: LaneNeedsYou, Layer: 2},
		{ID: "T4", Lane: LaneReady, Layer: 3, Row: 7},
		{ID: "T5", Group: "b", Lane: LaneBlocked},
	}, Edges: []PlanGraphEdge{
		{From: "T1", To: "T2", Kind: "needs", Critical: true},
		{From: "T2", To: "T3", Kind: "needs"},
		{From: "T1", To: "T4", Kind: "needs"},
		{From: "T3", To: "T4", Kind: "needs", Critical: true},
		{From: "T1", To: "T3", Kind: "follows"},
		{From: "T1", To: "T5", Kind: "collides", Files: []string{"x"}},
		{From: "T5", To: "T3", Kind: "collides", Files: []string{"y", "x"}},
	}}
	names, tasks := g.GroupNames()
	if d := cmp.Diff([]string{"a", "b", "b / c"}, names); d != "" || tasks["b"] != 2 || tasks["b / c"] != 1 {
		t.Error(d, tasks)
	}
	got := g.FoldGroups([]string{"a"})
	want := PlanGraph{Layers: 4, Nodes: []PlanGraphNode{
		{ID: "[a]", Title: "a", Group: "a", Lane: LaneNeedsYou, Critical: true, Layer: 2, Tasks: []nexus.TaskID{"T1", "T3"}, Landed: 1},
		{ID: "T2", Group: "b / c", Lane: LaneBlocked, Layer: 1},
		{ID: "T4", Lane: LaneReady, Layer: 3},
		{ID: "T5", Group: "b", Lane: LaneBlocked},
	}, Edges: []PlanGraphEdge{
		{From: "[a]", To: "T2", Kind: "needs", Critical: true},
		{From: "T2", To: "[a]", Kind: "needs"},
		{From: "[a]", To: "T4", Kind: "needs", Critical: true},
		{From: "[a]", To: "T5", Kind: "collides", Files: []string{"x", "y"}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	all := g.FoldGroups([]string{"b / c", "b", "a", "no such"})
	var left []nexus.TaskID
	for _, n := range all.Nodes {
		left = append(left, n.ID)
	}
	if d := cmp.Diff([]nexus.TaskID{"[a]", "[b]", "T4"}, left); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(g, g.FoldGroups(nil)); d != "" {
		t.Errorf("a graph in which nothing is folded is another one: %s", d)
	}
}
