package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// taskAmendment is a change of one task of the plan before. Fields that it does not set stay.
type taskAmendment struct {
	Task     nexus.TaskID   `json:"task"`
	Remove   bool           `json:"remove"`
	Title    *string        `json:"title"`
	Brief    *string        `json:"brief"`
	Needs    []nexus.TaskID `json:"needs"`
	Covers   []string       `json:"covers"`
	Files    []string       `json:"files"`
	Minutes  *int           `json:"minutes"`
	Criteria []struct {
		Number int    `json:"number"` // task that it replaces, from 1; 0: it is new
		Text   string `json:"text"`
		Check  string `json:"check"`

		Kind nexus.CriterionKind `json:"kind"`
	} `json:"criteria"`
	Drop []int `json:"drop"` // numbers of criteria to remove
}

// applyAmendments returns the plan before with a planner's changes, and the changes that are not
// possible.
func applyAmendments(before nexus.Plan, h plannerSubmission) (p nexus.Plan, problems []string) {
	p = withoutTrialResults(before)
	at := func(id nexus.TaskID) int {
		return slices.IndexFunc(p.Tasks, func(t nexus.Task) bool { return t.ID == id })
	}
	for _, t := range NormaliseTasks(h.Tasks) {
		if i := at(t.ID); i >= 0 {
			p.Tasks[i] = t
		} else {
			p.Tasks = append(p.Tasks, t)
		}
	}
	for n, a := range h.Amend {
		i := at(a.Task)
		switch {
		case i < 0:
			problems = append(problems, fmt.Sprintf("amend[%d] names %q, which is not a task of the plan; there are %s", n, a.Task, joinTaskIDs(p.Tasks)))
		case a.Remove:
			p.Tasks = slices.Delete(p.Tasks, i, i+1)
		default:
			problems = append(problems, a.applyToTask(&p.Tasks[i])...)
		}
	}
	return p, problems
}

// joinTaskIDs returns the IDs of tasks as text.
func joinTaskIDs(tasks []nexus.Task) string {
	all := make([]nexus.TaskID, len(tasks))
	for i, t := range tasks {
		all[i] = t.ID
	}
	return nexus.JoinWords(all)
}

// applyToTask changes a task, and returns the changes that are not possible. Numbers are those of
// the criteria before.
func (a taskAmendment) applyToTask(t *nexus.Task) (problems []string) {
	has := func(n int) bool {
		if n < 1 || n > len(t.Criteria) {
			problems = append(problems, fmt.Sprintf("there is no criterion %s/AC-%d; it has %d", t.ID, n, len(t.Criteria)))
			return false
		}
		return true
	}
	assignIfSet(&t.Title, a.Title)
	assignIfSet(&t.Brief, a.Brief)
	assignIfSet(&t.Minutes, a.Minutes)
	for _, l := range []struct{ to, from *[]string }{{&t.Covers, &a.Covers}, {&t.Files, &a.Files}} {
		if *l.from != nil {
			*l.to = *l.from
		}
	}
	if a.Needs != nil {
		t.Needs = a.Needs
		t.Ties = maps.Clone(t.Ties)
		maps.DeleteFunc(t.Ties, func(id nexus.TaskID, _ nexus.DependencyReason) bool {
			return !slices.Contains(t.Needs, id) && !slices.Contains(t.Wants, id)
		})
	}
	gone := map[int]bool{}
	for _, n := range a.Drop {
		gone[n-1] = has(n)
	}
	all, fresh := slices.Clone(t.Criteria), []nexus.Criterion(nil)
	for _, c := range a.Criteria {
		one := nexus.Criterion{Text: c.Text, Check: c.Check, Kind: c.Kind}
		if c.Number == 0 {
			fresh = append(fresh, one)
		} else if has(c.Number) {
			all[c.Number-1] = one
		}
	}
	t.Criteria = nil
	for i, c := range all {
		if !gone[i] {
			t.Criteria = append(t.Criteria, c)
		}
	}
	t.Criteria = append(t.Criteria, fresh...)
	return problems
}

func assignIfSet[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// withoutTrialResults returns a plan without the results of its checks, so that it may be changed. Its
// source stays.
func withoutTrialResults(p nexus.Plan) nexus.Plan {
	p.Tasks = slices.Clone(p.Tasks)
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Criteria = slices.Clone(t.Criteria)
		for j := range t.Criteria {
			t.Criteria[j].Tried, t.Criteria[j].Unfit = "", false
		}
	}
	return p
}

// submittedPlans returns the submitted plans of a conversation up to the last one, oldest first,
// each with its problems. An amendment applies to the last readable plan before it, including
// one that the tool refused, or to the plan from before the conversation.
func submittedPlans(messages []llm.Message, g prompt.PlanningRequest) (all []checkedPlanSubmission) {
	before, refused := g.Prior, false
	for _, s := range agent.FindSubmissions(messages) {
		if s.Refused {
			if p, ok := parseRefusedDraft(s.Input); ok {
				before, refused = p, true
			}
			continue
		}
		var r checkedPlanSubmission
		r.plan, r.err = parseAndCheckSubmission(s.Input, g.Text, g.Size, before)
		if r.err == nil && refused {
			r.err = schemaProblem(r.plan)
		}
		if all = append(all, r); len(r.plan.Tasks) > 0 {
			before = r.plan
		}
	}
	return all
}

// parseRefusedDraft returns the readable part of a plan that the tool refused, for the planner to amend. A
// refused amendment has none: its changes were not applied, and are submitted again.
func parseRefusedDraft(data []byte) (nexus.Plan, bool) {
	var h plannerSubmission
	if len(data) > maxHandin || json.Unmarshal(tool.ValidPartOfInput(handinSchema, data), &h) != nil || h.Keep || len(h.Amend) > 0 || len(h.Tasks) == 0 {
		return nexus.Plan{}, false
	}
	p := nexus.Plan{Version: Version, Tasks: NormaliseTasks(h.Tasks), Assumptions: h.Assumptions, Foreseen: h.Risks}
	normaliseAssumptionsAndRisks(&p)
	return p, true
}

// schemaProblem returns an error if the schema refuses a plan: the rest of a refused draft was
// never checked.
func schemaProblem(p nexus.Plan) error {
	data, err := json.Marshal(plannerSubmission{Tasks: p.Tasks})
	if err == nil {
		_, err = tool.FitInputToSchema(handinSchema, tool.ValidPartOfInput(handinSchema, data))
	}
	if err != nil {
		return newPlanError(nexus.CodeInvalidPlan, err.Error())
	}
	return nil
}

// checkedPlanSubmission is a submitted plan with its problems.
type checkedPlanSubmission struct {
	plan nexus.Plan
	err  error
}
