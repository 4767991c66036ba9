package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// groupKey is the name of a group whatever its blanks and case.
func groupKey(name string) string { return strings.ToLower(nexus.CleanGroup(name)) }

// members returns the tasks of each group, and of those within it, by [groupKey].
func members(tasks []nexus.Task) map[string][]nexus.TaskID {
	in := map[string][]nexus.TaskID{}
	for _, t := range tasks {
		for _, g := range nexus.Groups(groupKey(t.Group)) {
			in[g] = append(in[g], t.ID)
		}
	}
	return in
}

// byGroup lets a task that needs a group by its name need all tasks of it: the group is a
// barrier. One that the task is in, and more needs than a plan may have, stay as they are, for
// [Check] to name.
func byGroup(tasks []nexus.Task) {
	in := members(tasks)
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
				t.Ties = tiesOf(t.Ties, id, of)
			}
			return distinct(all, trimID)
		}
		if !slices.ContainsFunc(t.After(), func(id nexus.TaskID) bool { return !known[id] }) {
			continue
		}
		t.Needs = expand(t.Needs)
		wants := expand(t.Wants)
		t.Wants = nil
		for _, id := range wants {
			if !slices.Contains(t.Needs, id) { // a need is more
				t.Wants = append(t.Wants, id)
			}
		}
	}
}

// tiesOf gives the reason for a group to each of its tasks.
func tiesOf(ties nexus.Ties, group nexus.TaskID, of []nexus.TaskID) nexus.Ties {
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
