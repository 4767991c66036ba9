package escalationreport

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// unfixedReport returns the report of a landed task in an ended run if tasks were to fix one
// of its criteria and did not, or nil.
func unfixedReport(s *state.State, t *state.TaskState) *EscalationReport {
	if !s.Status.HasEnded() {
		return nil
	}
	var why, names []string
	r := newReport(s, t, "")
	for _, row := range accept.BuildCriteriaTable(s, nil).Rows {
		if row.Task != t.ID || row.State != accept.Unmet || len(row.Fixes) == 0 {
			continue
		}
		names = append(names, row.ID)
		why = append(why, fmt.Sprintf("%s is not met on what landed: %s", row.ID, row.Why))
		r.Errors = append(r.Errors, checkFaults(s, t, row)...)
		for _, fix := range row.Fixes {
			if task := s.TaskByID(nexus.TaskID(fix.Task)); task != nil {
				r.addAttempts(task)
				r.Spent += task.Spent
			}
			if fix.Why != "" {
				why = append(why, fmt.Sprintf("for %s: %s", fix.Task, fix.Why))
			}
		}
	}
	if names == nil {
		return nil
	}
	r.Errors = r.Errors[:min(len(r.Errors), most)]
	r.Reason = strings.Join(why, "; ")
	r.Suggestions = []string{
		"read what the fixes changed and what the check asks: two tasks may contradict each other, and one must change",
		"fix it by hand on the run's branch",
		"after a change, allow more rounds: raise acceptance.fixes, then nexus resume",
		fmt.Sprintf("nexus approve %s --why TEXT waives it", names[0]),
	}
	return r
}

// checkFaults returns the last faults that the check found.
func checkFaults(s *state.State, t *state.TaskState, row accept.CriterionRow) []UniqueError {
	at := UniqueError{Round: 1, From: row.Evidence.Gate, Message: row.Why, Seen: 1}
	if a := t.CurrentAttempt(); a != nil {
		at.Attempt, at.Round = a.ID, max(1, len(a.Rounds))
	}
	var all []UniqueError
	for _, e := range s.Result.Verdict.Evidence {
		if e.Gate != row.Evidence.Gate {
			continue
		}
		for _, f := range e.Findings {
			x := at
			x.File, x.Line, x.Test, x.Message = f.File, f.Line, f.Test, cmp.Or(f.Message, row.Why)
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return []UniqueError{at}
	}
	return all
}
