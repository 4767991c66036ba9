package schedule

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// fixUnmetCriteria starts a search for the reasons why criteria are not met on the landed
// tree, and plans the tasks that fix them, before the run ends without success. It returns
// nothing if that is finished or useless.
func fixUnmetCriteria(s *state.State) []nexus.Fact {
	m := s.Mending
	if s.IsDeliveryOnly() {
		return nil // the landed commits are delivered as they are
	}
	if fs := planFixes(s); fs != nil {
		return fs
	}
	sought := nexus.CriterionDiagnosisStarted{}
	switch {
	case m != nil && m.Stage == state.Waiting && m.Base == s.Tip && !isLostTooOften(s, m):
		sought = nexus.CriterionDiagnosisStarted{Attempt: m.ID, Faults: s.Fixes.LastFaults()}
	case s.Fixes.Rounds < s.Limits.Fixes:
		sought = nexus.CriterionDiagnosisStarted{Attempt: nexus.AttemptID(fmt.Sprintf("fix.%d", s.Fixes.Rounds+1)), Faults: accept.UnmetCriteria(s)}
	}
	switch {
	case len(sought.Faults) == 0:
		return nil
	case s.OverCap != nil:
		return factList(nexus.RunDrainStarted{To: nexus.StatusLimit, Why: ReachedCapText(*s.OverCap)})
	}
	return factList(sought)
}

// planFixes plans a task for each fault that was found and still exists.
func planFixes(s *state.State) []nexus.Fact {
	if !s.Fixes.Found {
		return nil
	}
	var fs []nexus.Fact
	planned := nexus.FixTasksPlanned{Round: s.Fixes.Rounds}
	for _, f := range s.Fixes.LastFaults() {
		if !accept.IsFaultOpen(s, f) || s.TaskByID(nexus.TaskID(f.Task)) != nil {
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
