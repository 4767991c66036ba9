package schedule

import (
	"cmp"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// splitTask starts, once, the split of a task that would be parked otherwise, and parks it if
// the split failed. See decision 27.
func splitTask(s *state.State, t *state.TaskState, sought nexus.TaskSplitStarted) []nexus.Fact {
	leave := factList(nexus.TaskParked{Task: t.ID, Why: sought.Why, Failed: sought.Failed})
	e := s.Splits.SplitOfTask(t.ID)
	switch {
	case len(t.Refused) > 0 && (e == nil || !e.IsOpen()): // parts would land without the verifier's approval
		return parkTask(t, sought.Why)
	case len(t.BlockingComments()) > 0 && (e == nil || !e.IsOpen()):
		// parts would land without a person's requested changes
		return leave
	case s.Limits.Parts == 0, t.Depth >= s.Limits.Depth, s.Fixes.FaultOfTask(t.ID) != nil:
		// fixes have their own limits
		return leave
	case e == nil:
		sought.Attempt, sought.Task = nexus.AttemptID(fmt.Sprintf("split.%d", s.Splits.Sought+1)), t.ID
		a := t.CurrentAttempt()
		sought.Work = cmp.Or(a.Commit, a.Snapshot.Commit)
		return factList(sought)
	case !e.IsOpen():
		return parkUnsplitTask(t, sought, e.Refused)
	}
	switch a := s.AttemptByID(e.Attempt); {
	case a.Stage == state.Working:
		return nil
	case a.Stage == state.Waiting && t.OverCap != nil:
		return factList(nexus.TaskSplitFailed{Attempt: e.Attempt, Task: t.ID, Why: ReachedCapText(*t.OverCap)})
	case a.Stage == state.Waiting && !isLostTooOften(s, a):
		return factList(e.TaskSplitStarted)
	default:
		return factList(nexus.TaskSplitFailed{Attempt: e.Attempt, Task: t.ID, Why: cmp.Or(a.Why, "it was interrupted too often")})
	}
}

// parkUnsplitTask parks a task that could not be split.
func parkUnsplitTask(t *state.TaskState, sought nexus.TaskSplitStarted, why string) []nexus.Fact {
	return factList(nexus.TaskParked{Task: t.ID, Why: sought.Why + "; it was not split: " + why, Failed: sought.Failed})
}

// isSplitting reports whether a split is in progress.
func isSplitting(s *state.State) bool {
	for _, e := range s.Splits.All {
		if s.IsSplitting(e.Task) {
			return true
		}
	}
	return false
}
