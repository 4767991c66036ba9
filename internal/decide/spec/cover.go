package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// maxLooked is how many statements one second look can go through.
const maxLooked = 200

// Looks reports whether a plan for a goal is held against it.
func Looks(set nexus.SecondLook, statements []Statement) bool {
	switch set {
	case nexus.LookNever:
		return false
	case nexus.LookAlways:
		return len(statements) > 0
	default:
		return len(statements) > 1
	}
}

// TooLong says why a goal says too much for a second look, nothing where it does not.
func TooLong(statements []Statement) string {
	if len(statements) <= maxLooked {
		return ""
	}
	return fmt.Sprintf("the goal says %d things, a second look goes through at most %d", len(statements), maxLooked)
}

// Finding is what somebody who looked at a plan says about one statement.
type Finding struct {
	ID       string         `json:"id"`
	Tasks    []nexus.TaskID `json:"tasks"`
	Criteria []string       `json:"criteria"` // T1/AC-1
	Missing  string         `json:"missing"`  // what the plan does not cover
	There    string         `json:"there"`    // where the repository does it already
	Asks     *bool          `json:"asks"`     // nothing is to be done for it: false
}

// Weigh says what covers each statement, by what somebody found who looked at the plan. What the plan itself
// claims does not count. A statement that is served by no task of the plan is not covered, and one that nobody
// said anything about leaves the whole unsure.
func Weigh(statements []Statement, tasks []nexus.Task, found []Finding) nexus.PlanCover {
	c := nexus.PlanCover{State: nexus.CoverFull}
	var silent []string
	for _, s := range statements {
		i := slices.IndexFunc(found, func(f Finding) bool { return strings.EqualFold(strings.TrimSpace(f.ID), s.ID) })
		if i < 0 {
			silent = append(silent, s.ID)
			c.Statements = append(c.Statements, nexus.StatementCover{ID: s.ID, Text: s.Text, Asks: true})
			continue
		}
		one := weigh(s, tasks, found[i])
		if one.Missing != "" {
			c.State = nexus.CoverGaps
		}
		c.Statements = append(c.Statements, one)
	}
	if len(silent) > 0 {
		c.Why = "the checker said nothing about " + strings.Join(silent, ", ")
		if c.State == nexus.CoverFull {
			c.State = nexus.CoverUnsure
		}
	}
	return c
}

func weigh(s Statement, tasks []nexus.Task, f Finding) nexus.StatementCover {
	one := nexus.StatementCover{ID: s.ID, Text: s.Text, Asks: f.Asks == nil || *f.Asks, Missing: line(f.Missing), There: line(f.There)}
	for _, t := range tasks {
		if slices.Contains(f.Tasks, t.ID) {
			one.Tasks = append(one.Tasks, t.ID)
		}
		for n := range t.Criteria {
			if id := fmt.Sprintf("%s/AC-%d", t.ID, n+1); slices.Contains(f.Criteria, id) {
				one.Criteria = append(one.Criteria, id)
				if !slices.Contains(one.Tasks, t.ID) {
					one.Tasks = append(one.Tasks, t.ID)
				}
			}
		}
	}
	switch {
	case !one.Asks:
		one.Tasks, one.Criteria, one.Missing, one.There = nil, nil, "", ""
	case len(one.Tasks) == 0 && one.Missing == "" && one.There == "":
		one.Missing = "no task serves it"
	}
	return one
}

// Claimed returns the tasks that claim to serve a statement.
func Claimed(id string, tasks []nexus.Task) (all []nexus.TaskID) {
	for _, t := range tasks {
		if slices.Contains(t.Covers, id) {
			all = append(all, t.ID)
		}
	}
	return all
}
