package accept

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FeatureProgress is the state of the tasks of a plan that make one feature, including the groups
// within it. It is done when all of them have landed and each of their criteria is met on the
// landed tree, or waived.
type FeatureProgress struct {
	Name    string `json:"name"`
	Tasks   int    `json:"tasks"`
	Landed  int    `json:"landed"`
	Met     int    `json:"met"`
	Unmet   int    `json:"unmet"`
	Unknown int    `json:"unknown"`
	Done    bool   `json:"done"`
	Why     string `json:"why,omitzero"` // why it is not done: the first reason
}

// featureGroups returns the state of the groups of a run's tasks, in the plan's order, each after
// the group that contains it. A task without a group is in none.
func (t CriteriaTable) featureGroups(s *state.State) []FeatureProgress {
	var all []*FeatureProgress
	by := map[string]*FeatureProgress{}
	for _, task := range s.Tasks {
		if task.Group == "" || task.Status == nexus.Split {
			continue
		}
		outer := ""
		for _, name := range nexus.EnclosingGroups(task.Group) {
			g := by[name]
			if g == nil {
				g = &FeatureProgress{Name: name, Done: true}
				by[name] = g
				all = slices.Insert(all, insertionIndex(all, outer), g)
			}
			t.countTask(g, s, task)
			outer = name
		}
	}
	if len(all) == 0 {
		return nil
	}
	groups := make([]FeatureProgress, len(all))
	for i, g := range all {
		groups[i] = *g
	}
	return groups
}

// insertionIndex returns the position of a new group: after all of the outer group, or at the end if
// there is no outer group.
func insertionIndex(all []*FeatureProgress, outer string) int {
	for i, g := range slices.Backward(all) {
		if outer != "" && slices.Contains(nexus.EnclosingGroups(g.Name), outer) {
			return i + 1
		}
	}
	return len(all)
}

// countTask adds a task to the counts of a group.
func (t CriteriaTable) countTask(g *FeatureProgress, s *state.State, task *state.TaskState) {
	if g.Tasks++; task.Status == nexus.Landed {
		g.Landed++
	} else {
		g.markIncomplete(fmt.Sprintf("%s is %s", task.ID, s.StatusOf(task)))
	}
	for _, r := range t.Rows {
		if r.Task == task.ID {
			g.countRow(r)
		}
	}
}

func (g *FeatureProgress) countRow(r CriterionRow) {
	switch r.State {
	case Met:
		g.Met++
		return
	case Unmet:
		g.Unmet++
	default:
		g.Unknown++
	}
	if r.Waived == nil {
		g.markIncomplete(fmt.Sprintf("%s is %s", r.ID, r.State))
	}
}

func (g *FeatureProgress) markIncomplete(why string) {
	if g.Done {
		g.Done, g.Why = false, why
	}
}
