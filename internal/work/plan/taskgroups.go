package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// groupKey returns the name of a group without differences of spaces and case.
func groupKey(name string) string { return strings.ToLower(nexus.NormalizeGroupName(name)) }

// groupMembers returns the tasks of each group, including nested ones, by [groupKey].
func groupMembers(tasks []nexus.Task) map[string][]nexus.TaskID {
	in := map[string][]nexus.TaskID{}
	for _, t := range tasks {
		for _, g := range nexus.EnclosingGroups(groupKey(t.Group)) {
			in[g] = append(in[g], t.ID)
		}
	}
	return in
}

// expandGroupNeeds replaces a need of a group by needs of all its tasks: the group is a barrier. A need
// of the task's own group, and more needs than a plan may have, stay unchanged, for [CheckPlan] to
// report.
func expandGroupNeeds(tasks []nexus.Task) {
	in := groupMembers(tasks)
	if len(in) == 0 {
		return
	}
	known := map[nexus.TaskID]bool{}
	for _, t := range tasks {
		known[t.ID] = true
	}
	left := MaxNeeds
	for i := range tasks {
		t := &tasks[i]
		expand := func(ids []nexus.TaskID) []nexus.TaskID {
			var all []nexus.TaskID
			for _, id := range ids {
				of := in[groupKey(string(id))]
				if known[id] || len(of) == 0 || slices.Contains(of, t.ID) || left < len(of) {
					all = append(all, id)
					continue
				}
				left -= len(of)
				all = append(all, of...)
				t.Ties = spreadGroupTies(t.Ties, id, of)
			}
			return cleanDistinct(all, trimTaskID)
		}
		if !slices.ContainsFunc(t.Prerequisites(), func(id nexus.TaskID) bool { return !known[id] }) {
			continue
		}
		t.Needs = expand(t.Needs)
		wants := expand(t.Wants)
		t.Wants = nil
		for _, id := range wants {
			if !slices.Contains(t.Needs, id) { // a need is stronger
				t.Wants = append(t.Wants, id)
			}
		}
	}
}

// spreadGroupTies copies the reason for a group to each of its tasks.
func spreadGroupTies(ties nexus.DependencyReasons, group nexus.TaskID, of []nexus.TaskID) nexus.DependencyReasons {
	tie, ok := ties[group]
	if !ok {
		return ties
	}
	ties = maps.Clone(ties)
	delete(ties, group)
	for _, id := range of {
		if ties[id] == "" {
			ties[id] = tie
		}
	}
	return ties
}
