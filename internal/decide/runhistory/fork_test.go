package runhistory_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestAForkCountsItsOwnWork: what it took over counts in the run that did it; what it took
// over and did not leave so counts in it.
func TestAForkCountsItsOwnWork(t *testing.T) {
	inherited := func(status nexus.TaskStatus) *nexus.TaskStateInherited {
		f := &nexus.TaskStateInherited{Task: "T1", Status: status}
		if status == nexus.Landed {
			f.Landed = &nexus.LandingCompleted{Task: "T1"}
		}
		return f
	}
	one := &state.AttemptState{Stage: state.Over, Outcome: nexus.Accepted}
	s := state.NewState("fork")
	s.Tasks = []*state.TaskState{
		{Task: nexus.Task{ID: "T1"}, Status: nexus.Landed, Attempts: []*state.AttemptState{one}, Inherited: inherited(nexus.Landed)},
		{Task: nexus.Task{ID: "T2"}, Status: nexus.Skipped, Inherited: inherited(nexus.Skipped)},
		{Task: nexus.Task{ID: "T3"}, Status: nexus.Landed, Attempts: []*state.AttemptState{one, one}, Inherited: inherited(nexus.Landed)},
		{Task: nexus.Task{ID: "T4"}, Status: nexus.Landed, Attempts: []*state.AttemptState{one}, Inherited: inherited(nexus.Pending)},
		{Task: nexus.Task{ID: "T5"}, Status: nexus.Landed, Attempts: []*state.AttemptState{one}},
	}
	var got []nexus.TaskID
	for _, t := range runhistory.SummarizeRun(s).Tasks {
		got = append(got, t.ID)
	}
	if nexus.JoinWords(got) != "T3, T4, T5" {
		t.Errorf("it counts %s", nexus.JoinWords(got))
	}
}
