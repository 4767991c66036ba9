package taskgraph_test

import (
	"maps"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestUrgency gives a task the priority of the most important one that waits for it.
func TestUrgency(t *testing.T) {
	g := build(t, []nexus.Task{
		{ID: "a", Priority: nexus.PriorityTrivial},
		{ID: "b", Needs: []nexus.TaskID{"a"}},
		{ID: "c", Wants: []nexus.TaskID{"b"}, Priority: nexus.PriorityHigh},
		{ID: "d", Needs: []nexus.TaskID{"b"}, Priority: nexus.PriorityLow},
		{ID: "e", Priority: nexus.PriorityTrivial},
	})
	want := map[nexus.TaskID]int{"a": 800, "b": 800, "c": 800, "d": 400, "e": 200}
	if got := g.TaskUrgency(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := taskgraph.NewTaskGraph([]nexus.Task{{ID: "a", Wants: []nexus.TaskID{"b"}}, {ID: "b", Needs: []nexus.TaskID{"a"}}}); err == nil {
		t.Error("a circle of a need and a want is no error")
	}
}
