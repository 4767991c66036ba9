package statusfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestProgressOfPausedTasks counts each task once: a paused one is paused whatever else it would be,
// except that a blocked one stays blocked.
func TestProgressOfPausedTasks(t *testing.T) {
	got := progressOf(view.RunView{
		Tasks: []view.TaskView{
			{Status: nexus.Running, Paused: "ada"},
			{Status: nexus.Running},
			{Status: nexus.Pending, Paused: "ada"},
			{Status: nexus.Blocked, Paused: "ada"},
			{Status: nexus.Landed},
			{Status: nexus.Skipped},
		},
		Counts: view.TaskCounts{Total: 6, Active: 2, Pending: 1, Blocked: 1, Landed: 1, Skipped: 1},
	})
	want := TaskProgress{Total: 6, Passed: 1, Paused: 3, Blocked: 1, Pending: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if sum := got.Passed + got.Failed + got.Paused + got.Blocked + got.Pending; sum != got.Total {
		t.Errorf("%d of %d tasks are counted", sum, got.Total)
	}
}
