package runhistory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunDifference is a difference between two runs.
type RunDifference struct {
	About string       `json:"about"`         // goal, settings, plan, models, result or task
	Task  nexus.TaskID `json:"task,omitzero"` // empty: the run itself
	What  string       `json:"what"`
	A     string       `json:"a"` // value in the first run; empty: none
	B     string       `json:"b"`
}

// CompareRuns returns the differences between two runs: in goal and settings, plan, models and
// results.
func CompareRuns(a, b *state.State) []RunDifference {
	all := []RunDifference{}
	add := func(about string, task nexus.TaskID, what, x, y string) {
		if x != y {
			all = append(all, RunDifference{about, task, what, x, y})
		}
	}
	add("goal", "", "text", a.Goal.Goal.Text, b.Goal.Goal.Text)
	add("goal", "", "mode", string(a.Goal.Goal.Mode), string(b.Goal.Goal.Mode))
	add("goal", "", "base", a.Goal.Base, b.Goal.Base)
	add("goal", "", "target", a.Goal.Target, b.Goal.Target)
	x, y := runSettings(a), runSettings(b)
	for _, key := range unionKeys(x, y) {
		add("settings", "", key, x[key], y[key])
	}
	x, y = roleModels(a), roleModels(b)
	for _, key := range unionKeys(x, y) {
		add("models", "", key, x[key], y[key])
	}
	for _, id := range tasksOf(a, b) {
		s, t := a.TaskByID(id), b.TaskByID(id)
		if s == nil || t == nil {
			add("plan", id, "task", taskTitle(s), taskTitle(t))
			continue
		}
		x, y := plannedFields(s), plannedFields(t)
		for _, key := range unionKeys(x, y) {
			add("plan", id, key, x[key], y[key])
		}
		x, y = taskOutcome(a, s), taskOutcome(b, t)
		for _, key := range unionKeys(x, y) {
			add("task", id, key, x[key], y[key])
		}
	}
	x, y = resultFields(a), resultFields(b)
	for _, key := range unionKeys(x, y) {
		add("result", "", key, x[key], y[key])
	}
	return all
}

func unionKeys(x, y map[string]string) []string {
	all := maps.Clone(x)
	maps.Copy(all, y)
	return slices.Sorted(maps.Keys(all))
}

// runSettings returns a run's settings, by dotted names. Lessons from earlier runs are not
// included.
func runSettings(s *state.State) map[string]string {
	r := s.Goal.Routing
	r.Past, r.Experience = nil, nil
	data, err := json.Marshal(map[string]any{
		"limits": s.Goal.Limits, "routing": r, "gates": s.Goal.Gates,
		"land": s.Goal.Land, "consent": s.Goal.Consent,
	})
	if err != nil {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	all := map[string]string{}
	flattenFields(all, "", fields)
	return all
}

func flattenFields(into map[string]string, prefix string, fields map[string]any) {
	for name, v := range fields {
		switch v := v.(type) {
		case map[string]any:
			flattenFields(into, prefix+name+".", v)
		case float64:
			into[prefix+name] = strconv.FormatFloat(v, 'f', -1, 64)
		default:
			data, _ := json.Marshal(v) // it was just decoded from JSON
			into[prefix+name] = strings.Trim(string(data), `"`)
		}
	}
}

// roleModels returns the models of each role.
func roleModels(s *state.State) map[string]string {
	of := map[string][]string{}
	for _, t := range s.Tasks {
		for _, a := range t.Attempts {
			for _, c := range a.Sessions {
				if role := string(c.Role); !slices.Contains(of[role], c.Model) {
					of[role] = append(of[role], c.Model)
				}
			}
		}
	}
	all := map[string]string{}
	for role, names := range of {
		slices.Sort(names)
		all[role] = strings.Join(names, ", ")
	}
	return all
}

// tasksOf returns the tasks of two runs: those of the first in its order, then those that
// only the second has.
func tasksOf(a, b *state.State) []nexus.TaskID {
	var ids []nexus.TaskID
	for _, s := range []*state.State{a, b} {
		for _, t := range s.Tasks {
			if !slices.Contains(ids, t.ID) {
				ids = append(ids, t.ID)
			}
		}
	}
	return ids
}

func taskTitle(t *state.TaskState) string {
	if t == nil {
		return ""
	}
	return cmp.Or(t.Title, string(t.ID))
}

// plannedFields returns a task's fields in the plan.
func plannedFields(t *state.TaskState) map[string]string {
	var needs, criteria []string
	for _, n := range t.Needs {
		needs = append(needs, string(n))
	}
	for _, c := range t.Criteria {
		criteria = append(criteria, c.Text)
	}
	return map[string]string{
		"title": t.Title, "brief": t.Brief, "kind": string(t.Kind), "files": strings.Join(t.Files, ", "),
		"needs": strings.Join(needs, ", "), "criteria": strings.Join(criteria, "; "),
	}
}

// taskOutcome returns the outcome of a task.
func taskOutcome(s *state.State, t *state.TaskState) map[string]string {
	all := map[string]string{
		"status": string(s.StatusOf(t)), "why": t.Why, "tier": string(startTier(t)),
		"attempts": strconv.Itoa(len(t.Attempts)), "rounds": strconv.Itoa(t.Rounds),
		"money": t.Spent.String(), "time": t.Worked.Round(time.Second).String(),
	}
	if a := t.CurrentAttempt(); a != nil {
		all["strategy"] = string(a.Strategy)
		if r := a.LastRound(); r != nil && r.Verdict != nil {
			all["verdict"] = strings.TrimSpace(string(r.Verdict.State) + " " + r.Verdict.Gate)
		}
	}
	if t.Landed != nil {
		all["commit"], all["tree"] = t.Landed.Commit, t.Landed.Tree
	}
	return all
}

// resultFields returns the result of a run.
func resultFields(s *state.State) map[string]string {
	attempts, rounds := 0, 0
	for _, t := range s.Tasks {
		attempts, rounds = attempts+len(t.Attempts), rounds+t.Rounds
	}
	all := map[string]string{
		"status": string(s.Status), "landed": fmt.Sprintf("%d of %d", len(s.Landings), len(s.Tasks)),
		"attempts": strconv.Itoa(attempts), "rounds": strconv.Itoa(rounds),
		"money": s.Ledger.SpentMoney().String(), "tip": s.Tip,
	}
	if !s.Ended.IsZero() {
		all["time"] = s.WorkedTime(s.Ended).Round(time.Second).String()
	}
	if s.Result != nil {
		all["verdict"] = "red"
		if s.Result.Verdict.Passed {
			all["verdict"] = "passed"
		}
	}
	return all
}
