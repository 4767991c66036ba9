// Package traceability connects the statements of a goal with the tasks, tests and commits of a run
// that serve them, and computes the progress of each.
package traceability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// StatementStage is the progress of a requirement, or of a statement of a goal.
type StatementStage string

// Stages, in order.
const (
	Captured    StatementStage = "captured"    // it is wanted
	Validated   StatementStage = "validated"   // an approved plan has tasks for it
	Implemented StatementStage = "implemented" // all its tasks landed
	Verified    StatementStage = "verified"    // evidence shows it
)

// GoalTrace is the progress of each statement of a goal.
type GoalTrace struct {
	Run   nexus.RunID         `json:"run,omitzero"` // the run; empty: no run has planned it
	Title string              `json:"title,omitzero"`
	Rows  []StatementProgress `json:"rows"`
	Gaps  int                 `json:"gaps"`         // rows with a gap
	Why   string              `json:"why,omitzero"` // why there is nothing to trace, so that missing gaps mean nothing
}

// StatementProgress is a statement with its progress.
type StatementProgress struct {
	spec.GoalStatement

	Stage    StatementStage            `json:"stage"`
	Priority nexus.RequirementPriority `json:"priority,omitzero"`
	Later    bool                      `json:"later,omitzero"`  // not in the first version
	Asks     bool                      `json:"asks"`            // false: it asks for nothing
	Tasks    []StatementTask           `json:"tasks,omitempty"` // tasks that serve it
	Run      nexus.RunID               `json:"run,omitzero"`    // the run of the tasks, if it differs from the trace's
	// the source of that assignment: planner, checker; empty: a goal of one statement
	By       string               `json:"by,omitzero"`
	Criteria []StatementCriterion `json:"criteria,omitempty"`
	Tests    []string             `json:"tests,omitempty"`
	Commits  []string             `json:"commits,omitempty"`
	Note     string               `json:"note,omitzero"`
	Gap      string               `json:"gap,omitzero"` // the part that is missing until it is verified
}

// StatementTask is a task that serves a statement.
type StatementTask struct {
	ID     nexus.TaskID     `json:"id"`
	Status nexus.TaskStatus `json:"status"`
}

// StatementCriterion is a criterion that could show a statement.
type StatementCriterion struct {
	ID    string                `json:"id"`
	State accept.CriterionState `json:"state"`
}

// Sources of the assignment of tasks to statements.
const (
	ByPlanner = "planner"
	ByChecker = "checker"
)

// TraceGoal returns the progress of each statement of a goal in a run, whose goal may be an
// older version of it. Without a run nothing is planned. The criteria are those of the run.
func TraceGoal(goal string, s *state.State, criteria []accept.CriterionRow) GoalTrace {
	t := GoalTrace{Rows: []StatementProgress{}}
	var said map[string]statementVersionText // of the run's goal
	if s != nil {
		t.Run, said = s.Run, statementsByID(s.Goal.Goal.Text)
	}
	is := statementsByID(goal)
	now := map[string]nexus.Requirement{}
	var later []nexus.Requirement
	if read, ok := spec.ReadIfValid(goal); ok {
		t.Title = read.Title
		for _, r := range read.Requirements {
			if now[r.ID] = r; r.Later {
				later = append(later, r)
			}
		}
	}
	all := spec.StatementsOf(goal)
	if len(all) == 0 {
		t.Why = "the goal has no statement that could be traced"
	}
	for _, one := range all {
		row := StatementProgress{GoalStatement: one, Stage: Captured, Asks: true, Priority: now[one.ID].Priority}
		switch was, known := said[one.ID]; {
		case s == nil:
			row.Gap = "no run has planned it"
		case !known:
			row.Gap = "it is new since run " + string(s.Run)
		case was != is[one.ID]:
			row.Gap = "it was changed since run " + string(s.Run)
		default:
			row.fillFromRun(s, criteria, len(all) == 1)
		}
		if row.Gap != "" {
			t.Gaps++
		}
		t.Rows = append(t.Rows, row)
	}
	for _, r := range later {
		of := spec.GoalStatement{ID: r.ID, Text: strings.Join(strings.Fields(r.Text), " ")}
		t.Rows = append(t.Rows, StatementProgress{GoalStatement: of, Stage: Captured, Priority: r.Priority, Later: true, Asks: true})
	}
	return t
}

// statementVersionText is a statement with its check and requirements: if one of them changes, it is
// another statement.
type statementVersionText struct{ text, check, of string }

func statementsByID(goal string) map[string]statementVersionText {
	all := map[string]statementVersionText{}
	for _, one := range spec.StatementsOf(goal) {
		all[one.ID] = statementVersionText{text: one.Text}
	}
	read, _ := spec.ReadIfValid(goal)
	for _, c := range read.Criteria {
		if one, ok := all[c.ID]; ok {
			one.check, one.of = c.Check, strings.Join(slices.Sorted(slices.Values(c.Of)), " ")
			all[c.ID] = one
		}
	}
	return all
}

// fillFromRun fills in a run's progress on a statement.
func (r *StatementProgress) fillFromRun(s *state.State, criteria []accept.CriterionRow, alone bool) {
	tasks, shows := r.servingTasks(s, alone)
	if !r.Asks {
		r.Note = "it asks for nothing"
		return
	}
	landed := 0
	for _, t := range tasks {
		status := s.StatusOf(t)
		r.Tasks = append(r.Tasks, StatementTask{t.ID, status})
		if t.Landed != nil && status == nexus.Landed {
			landed++
			r.Commits = append(r.Commits, t.Landed.Commit)
		} else if r.Gap == "" {
			r.Gap = fmt.Sprintf("%s is %s", t.ID, status)
		}
	}
	missing := r.fillEvidence(tasks, shows, criteria)
	switch {
	case len(tasks) == 0 && r.Note != "" && s.Planned: // the repository does it already
		r.Gap = ""
	case len(tasks) == 0 && r.Note == "":
		r.Gap = "no task serves it"
	case !s.Planned:
		r.Gap = "its plan is not approved"
	case landed < len(tasks):
		r.Stage = Validated
	case missing != "":
		r.Stage, r.Gap = Implemented, missing
	default:
		r.Stage, r.Gap = Verified, ""
	}
	if i := s.Cover; i != nil {
		for _, c := range i.UncoveredStatements() {
			if c.ID == r.ID {
				r.Stage, r.Gap = Captured, "the plan does not cover it: "+c.Missing
			}
		}
	}
}

// servingTasks returns the tasks that serve a statement, and the criteria that are assigned to it.
// A checker's findings take precedence over the planner's claims.
func (r *StatementProgress) servingTasks(s *state.State, alone bool) (tasks []*state.TaskState, shows []string) {
	c := coverageOfStatement(s.Cover, r.ID)
	c.There = spec.MeaningfulText(c.There)
	if r.Asks = c.Asks || !spec.MayNeedNoWork(r.ID); !r.Asks {
		return nil, nil
	}
	if c.There != "" {
		r.Note = "the repository does it already: " + c.There
	}
	if len(c.Tasks) > 0 || c.Missing != "" || c.There != "" {
		r.By = ByChecker
		return resolveSplits(s, c.Tasks), c.Criteria
	}
	var ids []nexus.TaskID
	for _, t := range s.Tasks {
		if slices.Contains(t.Covers, r.ID) {
			ids = append(ids, t.ID)
			r.By = ByPlanner
		} else if alone && r.By == "" {
			ids = append(ids, t.ID)
		}
	}
	return resolveSplits(s, ids), nil
}

// coverageOfStatement returns the coverage check's result for a statement, if there is one.
func coverageOfStatement(c *nexus.PlanCoverage, id string) nexus.StatementCoverage {
	if c != nil {
		for _, one := range c.Statements {
			if one.ID == id {
				return one
			}
		}
	}
	return nexus.StatementCoverage{ID: id, Asks: true}
}

// resolveSplits returns tasks, with a split task replaced by its parts.
func resolveSplits(s *state.State, ids []nexus.TaskID) (all []*state.TaskState) {
	for _, id := range ids {
		t := s.TaskByID(id)
		switch {
		case t == nil || slices.Contains(all, t):
		case t.Status == nexus.Split:
			for _, e := range s.Splits.All {
				if e.Task == id {
					for _, part := range resolveSplits(s, e.Parts) {
						if !slices.Contains(all, part) {
							all = append(all, part)
						}
					}
				}
			}
		default:
			all = append(all, t)
		}
	}
	return all
}

// fillEvidence fills in the criteria that show a statement: for each of its tasks those that a
// checker named, or else all. No checker saw the parts of a split task. It returns the
// evidence that is still missing.
func (r *StatementProgress) fillEvidence(tasks []*state.TaskState, shows []string, criteria []accept.CriterionRow) (missing string) {
	named := map[nexus.TaskID]bool{}
	for _, c := range criteria {
		named[c.Task] = named[c.Task] || slices.Contains(shows, c.ID)
	}
	of := func(c accept.CriterionRow) bool {
		return slices.ContainsFunc(tasks, func(t *state.TaskState) bool { return t.ID == c.Task }) &&
			(!named[c.Task] || slices.Contains(shows, c.ID))
	}
	for _, c := range criteria {
		if !of(c) {
			continue
		}
		r.Criteria = append(r.Criteria, StatementCriterion{c.ID, c.State})
		if test := strings.TrimSpace(c.Test + " " + c.File); test != "" && !slices.Contains(r.Tests, test) {
			r.Tests = append(r.Tests, test)
		}
		if c.Shown != nil {
			for _, test := range c.Shown.Tests {
				if !slices.Contains(r.Tests, test) {
					r.Tests = append(r.Tests, test)
				}
			}
		}
		signed := c.Waived != nil && c.Waived.Signed
		switch {
		case missing != "" || c.State == accept.Met || signed:
		case c.State == accept.Unmet:
			missing = c.ID + " is not met"
		default:
			missing = "nothing shows " + c.ID
		}
	}
	if len(r.Criteria) == 0 {
		return "no criterion shows it"
	}
	return missing
}
