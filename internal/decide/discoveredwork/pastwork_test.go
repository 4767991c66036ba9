package discoveredwork_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestPastCountsTries holds that a finding failed where work on it did, and not where only the
// machinery failed, and that what a fork took over counts where it was done.
func TestPastCountsTries(t *testing.T) {
	broken, tried := &state.AttemptState{Broken: true}, &state.AttemptState{}
	task := func(status nexus.TaskStatus, all ...*state.AttemptState) *state.TaskState {
		return &state.TaskState{Task: nexus.Task{ID: "T1", Files: []string{"a.go"}, Brief: discoveredwork.WorkFinding{ID: "todo/1"}.TaskBrief()}, Status: status, Attempts: all}
	}
	landed := nexus.TaskStateInherited{Task: "T1", Status: nexus.Landed, Landed: &nexus.LandingCompleted{}}
	over, again := task(nexus.Landed, tried), task(nexus.Parked, tried, tried)
	over.Inherited, again.Inherited = &landed, &landed
	for name, c := range map[string]struct {
		task           *state.TaskState
		landed, failed int
	}{
		"the machinery failed each time": {task(nexus.Parked, broken, broken), 0, 0},
		"it failed once":                 {task(nexus.Parked, broken, tried), 0, 1},
		"it failed":                      {task(nexus.Failed, tried), 0, 1},
		"nothing was begun":              {task(nexus.Failed), 0, 1},
		"it landed":                      {task(nexus.Landed, tried), 1, 0},
		"a fork took it over":            {over, 0, 0},
		"a fork worked on it":            {again, 0, 1},
	} {
		past := discoveredwork.SummarizePastWork([]*state.State{{Run: "r", Status: nexus.StatusPartial, Tasks: []*state.TaskState{c.task}}})
		if got := past.Findings["todo/1"]; got.Landed != c.landed || got.Failed != c.failed {
			t.Errorf("%s: %d landed and %d failed, want %d and %d", name, got.Landed, got.Failed, c.landed, c.failed)
		}
	}
}
