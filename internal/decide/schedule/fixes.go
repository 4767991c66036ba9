package schedule

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// fixUnmetCriteria lets somebody find out why a criterion is not met on what landed, and
// plans the tasks that fix it, before the run gives up on it. It returns
// nothing where that is over, or of no use.
func fixUnmetCriteria(s *state.State) []nexus.Fact {
	m := s.Mending
	if s.IsDeliveryOnly() {
		return nil // what landed is delivered as it is
	}
	if fs := planFixes(s); fs != nil {
		return fs
	}
	sought := nexus.FaultsSought{}
	switch {
	case m != nil && m.Stage == state.Waiting && m.Base == s.Tip && !tooOften(s, m):
		sought = nexus.FaultsSought{Attempt: m.ID, Faults: s.Fixes.LastFaults()}
	case s.Fixes.Rounds < s.Limits.Fixes:
		sought = nexus.FaultsSought{Attempt: nexus.AttemptID(fmt.Sprintf("fix.%d", s.Fixes.Rounds+1)), Faults: accept.Faults(s)}
	}
	switch {
	case len(sought.Faults) == 0:
		return nil
	case s.OverCap != nil:
		return facts(nexus.RunDrained{To: nexus.StatusLimit, Why: OverCap(*s.OverCap)})
	}
	return facts(sought)
}

// planFixes plans a task for each fault that was found and is still there.
func planFixes(s *state.State) []nexus.Fact {
	if !s.Fixes.Found {
		return nil
	}
	var fs []nexus.Fact
	planned := nexus.FixesPlanned{Round: s.Fixes.Rounds}
	for _, f := range s.Fixes.LastFaults() {
		if !accept.IsFaultOpen(s, f) || s.Task(nexus.TaskID(f.Task)) != nil {
			continue
		}
		fs = append(fs, nexus.TaskPlanned{Task: accept.FixTask(s, f)})
		planned.Tasks = append(planned.Tasks, nexus.TaskID(f.Task))
	}
	if fs == nil {
		return nil
	}
	return append(fs, planned)
}
