package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// SplitStuckTask lets the planner turn a stuck task into smaller ones, which replace it. Problems with
// them are returned to it in the same session, twice at most. Taken are the existing IDs of
// tasks.
func SplitStuckTask(ctx context.Context, q prompt.SplitRequest, taken []nexus.TaskID, begun bool, talk PlannerSendFunc) ([]nexus.Task, error) {
	var parts []nexus.Task
	err := askUntilAccepted(ctx, q.FirstMessage(), begun, talk, func(out agent.SessionStretchResult) (again string, err error) {
		parts, err = ParseParts(out.Handin, q, taken)
		if err == nil || len(agent.AcceptedSubmissions(out.Messages)) >= maxTries || errors.Is(err, &nexus.Error{Code: nexus.CodeNothingProposed}) {
			return "", err
		}
		return err.Error() + "\n\nFix this and submit all parts again.", err
	})
	return parts, err
}

// ParseParts parses a planner's submission for a task that is to be split, and checks it. The
// parts inherit the task's needs, its method, and each of its criteria that no part has.
func ParseParts(data []byte, q prompt.SplitRequest, taken []nexus.TaskID) ([]nexus.Task, error) {
	p, err := parsePlanSubmission(data, nexus.Plan{})
	if err != nil {
		return nil, err
	}
	whole := q.Task
	for i := range p.Tasks { // its needs have landed
		t := &p.Tasks[i]
		landed := func(id nexus.TaskID) bool {
			return (id == whole.ID || slices.Contains(whole.Prerequisites(), id)) && !slices.ContainsFunc(p.Tasks, func(t nexus.Task) bool { return t.ID == id })
		}
		t.Needs, t.Wants = slices.DeleteFunc(t.Needs, landed), slices.DeleteFunc(t.Wants, landed)
		maps.DeleteFunc(t.Ties, func(id nexus.TaskID, _ nexus.DependencyReason) bool { return landed(id) })
		t.Keep, t.Covers = nil, nil // the parts use those of the whole task
	}
	least := 2
	if q.Rescope {
		least = 1
	}
	switch n := len(p.Tasks); {
	case n < least || n > q.Parts:
		return nil, newPlanError(nexus.CodeInvalidPlan, fmt.Sprintf("it has %d tasks, not %d to %d; if splitting would not help, submit none and the reason", n, least, q.Parts))
	case n == 1 && p.Tasks[0].Brief == whole.Brief && slices.Equal(p.Tasks[0].Files, whole.Files):
		return nil, newPlanError(nexus.CodeInvalidPlan, "it is the same task again")
	}
	if err := CheckPlan(p, q.Size); err != nil {
		return nil, err
	}
	assignMissingCriteria(p.Tasks, whole.Criteria)
	renameParts(p.Tasks, whole.ID, taken)
	for i := range p.Tasks {
		inheritTaskSettings(&p.Tasks[i], whole)
	}
	if err := CheckPlan(p, q.Size); err != nil {
		return nil, err
	}
	for i := range p.Tasks {
		inheritDependencies(&p.Tasks[i], whole)
	}
	return p.Tasks, nil
}

// inheritDependencies makes a part that waits for no other one wait for the tasks for which the whole
// waited.
func inheritDependencies(t *nexus.Task, whole nexus.Task) {
	if len(t.Prerequisites()) > 0 {
		return
	}
	t.Needs, t.Wants, t.Ties = slices.Clone(whole.Needs), slices.Clone(whole.Wants), maps.Clone(whole.Ties)
}

// assignMissingCriteria adds the criteria that no part has to the last part that no other needs, which then
// needs all others.
func assignMissingCriteria(parts []nexus.Task, criteria []nexus.Criterion) {
	var left []nexus.Criterion
	for _, c := range criteria {
		if !slices.ContainsFunc(parts, func(t nexus.Task) bool {
			return slices.ContainsFunc(t.Criteria, func(o nexus.Criterion) bool { return coversCriterion(o, c) })
		}) {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return
	}
	last := len(parts) - 1
	for slices.ContainsFunc(parts, func(t nexus.Task) bool { return slices.Contains(t.Prerequisites(), parts[last].ID) }) {
		last-- // needs and wants form no cycle, so there is one
	}
	t := &parts[last]
	t.Criteria = append(t.Criteria, left...)
	for _, o := range parts {
		if o.ID != t.ID && !slices.Contains(t.Needs, o.ID) {
			t.Needs = append(t.Needs, o.ID)
			// a need is stronger
			t.Wants = slices.DeleteFunc(t.Wants, func(id nexus.TaskID) bool { return id == o.ID })
		}
	}
}

// coversCriterion reports whether a criterion includes all of another one.
func coversCriterion(c, of nexus.Criterion) bool {
	if of.Check != "" {
		return c.Check == of.Check
	}
	return strings.EqualFold(strings.Join(strings.Fields(c.Text), " "), strings.Join(strings.Fields(of.Text), " "))
}

// renameParts names the parts after the whole task.
func renameParts(parts []nexus.Task, whole nexus.TaskID, taken []nexus.TaskID) {
	used := map[string]bool{}
	for _, id := range taken {
		used[strings.ToLower(string(id))] = true
	}
	stem, n := string(whole), 0
	if most := 28; len(stem) > most { // with a number it is still a valid ID
		stem = stem[:most]
	}
	names := map[nexus.TaskID]nexus.TaskID{}
	for i := range parts {
		id := ""
		for id == "" || used[strings.ToLower(id)] {
			n++
			id = fmt.Sprintf("%s-%d", stem, n)
		}
		names[parts[i].ID], parts[i].ID = nexus.TaskID(id), nexus.TaskID(id)
	}
	for i := range parts {
		t := &parts[i]
		for _, ids := range [][]nexus.TaskID{t.Needs, t.Wants} {
			for j, id := range ids {
				ids[j] = names[id]
			}
		}
		if len(t.Ties) == 0 {
			continue
		}
		ties := nexus.DependencyReasons{}
		for id, tie := range t.Ties {
			ties[names[id]] = tie
		}
		t.Ties = ties
	}
}

// inheritTaskSettings copies the settings of people or the plan for the whole to a part.
func inheritTaskSettings(t *nexus.Task, whole nexus.Task) {
	t.Priority, t.Covers = whole.Priority, whole.Covers
	t.Group, t.Package, t.Tags, t.Keep, t.Depth = whole.Group, cmp.Or(t.Package, whole.Package), whole.Tags, whole.Keep, whole.Depth+1
	t.Tier, t.Model, t.Covers = whole.Tier, whole.Model, whole.Covers
	if whole.Strategy != "" {
		t.Strategy, t.Reason = whole.Strategy, whole.Reason
	}
}
