// Package plandiff compares a plan with the one before: new tasks, removed tasks, and changed
// fields of the others.
//
// Tasks are the same if their titles are, or else if their IDs are: a planner that makes
// another plan assigns new numbers.
package plandiff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PlanChangeKind is the kind of a change.
type PlanChangeKind string

// Values of Kind.
const (
	Added   PlanChangeKind = "added"
	Removed PlanChangeKind = "removed"
	Changed PlanChangeKind = "changed"
)

// TaskChange is the change of one task.
type TaskChange struct {
	Kind   PlanChangeKind    `json:"kind"`
	Task   nexus.TaskID      `json:"task"`
	Title  string            `json:"title"`
	Fields []TaskFieldChange `json:"fields,omitempty"` // of a changed task
}

// TaskFieldChange is the change of a field: the old and the new text, or the removed and the added
// items of a list.
type TaskFieldChange struct {
	Name    string   `json:"name"`
	Before  string   `json:"before,omitzero"`
	After   string   `json:"after,omitzero"`
	Removed []string `json:"removed,omitempty"`
	Added   []string `json:"added,omitempty"`
}

// DiffTasks returns the differences of a plan: first new and changed tasks, in the order of the
// plan, then removed ones.
func DiffTasks(before, after []nexus.Task) []TaskChange {
	old := matchTasks(before, after)
	names := map[nexus.TaskID]nexus.TaskID{} // present names of tasks
	kept := make([]bool, len(before))
	for i, j := range old {
		if j >= 0 {
			names[before[j].ID], kept[j] = after[i].ID, true
		}
	}
	for j, o := range before {
		if !kept[j] && slices.ContainsFunc(after, func(t nexus.Task) bool { return t.ID == o.ID }) {
			names[o.ID] = o.ID + " (gone)" // another task has its ID now
		}
	}
	var all []TaskChange
	for i, t := range after {
		if old[i] < 0 {
			all = append(all, TaskChange{Kind: Added, Task: t.ID, Title: t.Title})
		} else if fields := compareTask(before[old[i]], t, names); len(fields) > 0 {
			all = append(all, TaskChange{Kind: Changed, Task: t.ID, Title: t.Title, Fields: fields})
		}
	}
	for j, t := range before {
		if !kept[j] {
			all = append(all, TaskChange{Kind: Removed, Task: t.ID, Title: t.Title})
		}
	}
	return all
}

// matchTasks returns for each task the index of the same task before, or -1.
func matchTasks(before, after []nexus.Task) []int {
	old, taken := make([]int, len(after)), make([]bool, len(before))
	for i := range old {
		old[i] = -1
	}
	for _, same := range []func(a, b nexus.Task) bool{
		func(a, b nexus.Task) bool { return a.ID == b.ID && haveSameTitle(a, b) },
		haveSameTitle,
		func(a, b nexus.Task) bool { return a.ID == b.ID },
	} {
		for i, t := range after {
			for j, o := range before {
				if old[i] < 0 && !taken[j] && same(o, t) {
					old[i], taken[j] = j, true
				}
			}
		}
	}
	return old
}

func haveSameTitle(a, b nexus.Task) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a.Title), " "), strings.Join(strings.Fields(b.Title), " "))
}

// compareTask returns the differences of a task. A need for a task with a new name is the same
// need.
func compareTask(a, b nexus.Task, names map[nexus.TaskID]nexus.TaskID) []TaskFieldChange {
	var all []TaskFieldChange
	text := func(name, before, after string) {
		if before != after {
			all = append(all, TaskFieldChange{Name: name, Before: before, After: after})
		}
	}
	list := func(name string, before, after []string) {
		gone, came := listDifference(before, after), listDifference(after, before)
		if len(gone)+len(came) > 0 {
			all = append(all, TaskFieldChange{Name: name, Removed: gone, Added: came})
		}
	}
	text("id", string(a.ID), string(b.ID))
	text("title", a.Title, b.Title)
	list("needs", renameIDs(a.Needs, names), renameIDs(b.Needs, nil))
	list("wants", renameIDs(a.Wants, names), renameIDs(b.Wants, nil))
	list("ties", dependencyReasonTexts(a, names), dependencyReasonTexts(b, nil))
	list("files", a.Files, b.Files)
	list("criteria", criteriaTexts(a), criteriaTexts(b))
	text("brief", a.Brief, b.Brief)
	text("minutes", minutesText(a.Minutes), minutesText(b.Minutes))
	text("kind", string(a.Kind), string(b.Kind))
	text("group", a.Group, b.Group)
	text("package", a.Package, b.Package)
	text("priority", string(a.Priority), string(b.Priority))
	text("complexity", string(a.Complexity), string(b.Complexity))
	text("tier", string(a.Tier), string(b.Tier))
	text("model", a.Model, b.Model)
	text("strategy", string(a.Strategy), string(b.Strategy))
	text("reason", a.Reason, b.Reason)
	list("covers", a.Covers, b.Covers)
	list("tags", a.Tags, b.Tags)
	list("keep", a.Keep, b.Keep)
	return all
}

func renameIDs(ids []nexus.TaskID, names map[nexus.TaskID]nexus.TaskID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		if now, ok := names[id]; ok {
			id = now
		}
		all[i] = string(id)
	}
	return all
}

// dependencyReasonTexts returns the reasons for a task's dependencies, if it gives any.
func dependencyReasonTexts(t nexus.Task, names map[nexus.TaskID]nexus.TaskID) []string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(t.Ties)) {
		all = append(all, renameIDs([]nexus.TaskID{id}, names)[0]+": "+string(t.Ties[id]))
	}
	return all
}

func criteriaTexts(t nexus.Task) []string {
	all := make([]string, len(t.Criteria))
	for i, c := range t.Criteria {
		if all[i] = c.Text; c.Check != "" && c.Check != c.Text {
			all[i] += " (check: " + c.Check + ")"
		}
	}
	return all
}

func minutesText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// listDifference returns the items of a list that another list does not have.
func listDifference(list, other []string) []string {
	var all []string
	for _, s := range list {
		if !slices.Contains(other, s) && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// String formats a change in one line: a mark, the task, and the differences.
func (c TaskChange) String() string {
	text := fmt.Sprintf("%s %s %s", c.MarkCharacter(), c.Task, c.Title)
	words := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		words[i] = f.String()
	}
	if len(words) > 0 {
		text += ": " + strings.Join(words, "; ")
	}
	return text
}

// MarkCharacter returns + for new, - for removed and ~ for changed tasks.
func (c TaskChange) MarkCharacter() string {
	switch c.Kind {
	case Added:
		return "+"
	case Removed:
		return "-"
	default:
		return "~"
	}
}

// String describes the difference. A brief is too long to be included.
func (f TaskFieldChange) String() string {
	switch {
	case f.Name == "brief":
		return "another brief"
	case f.Name == "title" || f.Name == "id":
		return fmt.Sprintf("%s was %s", f.Name, f.Before)
	case len(f.Removed)+len(f.Added) > 0:
		var words []string
		for _, s := range f.Added {
			words = append(words, "+"+s)
		}
		for _, s := range f.Removed {
			words = append(words, "-"+s)
		}
		return f.Name + " " + strings.Join(words, " ")
	case f.After == "":
		return "no " + f.Name
	case f.Before == "":
		return f.Name + " " + f.After
	default:
		return fmt.Sprintf("%s %s, was %s", f.Name, f.After, f.Before)
	}
}

// SummaryText returns a short summary of all changes, for people who are asked about the plan.
func SummaryText(all []TaskChange) string {
	if len(all) == 0 {
		return "the tasks are the same"
	}
	words := make([]string, len(all))
	for i, c := range all {
		switch words[i] = c.MarkCharacter() + " " + string(c.Task); c.Kind {
		case Changed:
			names := make([]string, len(c.Fields))
			for j, f := range c.Fields {
				names[j] = f.Name
			}
			words[i] += " (" + strings.Join(names, ", ") + ")"
		case Added, Removed:
			words[i] += " " + c.Title
		}
	}
	return strings.Join(words, "; ")
}
