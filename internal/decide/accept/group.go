package accept

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Group is the state of the tasks of a plan that make one feature, including the groups
// within it. It is done when all of them have landed and each of their criteria is met on the
// landed tree, or waived.
type Group struct {
	Name    string `json:"name"`
	Tasks   int    `json:"tasks"`
	Landed  int    `json:"landed"`
	Met     int    `json:"met"`
	Unmet   int    `json:"unmet"`
	Unknown int    `json:"unknown"`
	Done    bool   `json:"done"`
	Why     string `json:"why,omitzero"` // why it is not done: the first reason
}

// groups returns the state of the groups of a run's tasks, in the plan's order, each after
// the group that contains it. A task without a group is in none.
func (t Table) groups(s *state.State) []Group {
	var all []*Group
	by := map[string]*Group{}
	for _, task := range s.Tasks {
		if task.Group == "" || task.Status == nexus.Split {
			continue
		}
		outer := ""
		for _, name := range nexus.Groups(task.Group) {
			g := by[name]
			if g == nil {
				g = &Group{Name: name, Done: true}
				by[name] = g
				all = slices.Insert(all, behind(all, outer), g)
			}
			t.sum(g, s, task)
			outer = name
		}
	}
	if len(all) == 0 {
		return nil
	}
	groups := make([]Group, len(all))
	for i, g := range all {
		groups[i] = *g
	}
	return groups
}

// behind returns the position of a new group: after all of the outer group, or at the end if
// there is no outer group.
func behind(all []*Group, outer string) int {
	for i, g := range slices.Backward(all) {
		if outer != "" && slices.Contains(nexus.Groups(g.Name), outer) {
			return i + 1
		}
	}
	return len(all)
}

// sum adds a task to the counts of a group.
func (t Table) sum(g *Group, s *state.State, task *state.Task) {
	if g.Tasks++; task.Status == nexus.Landed {
		g.Landed++
	} else {
		g.lacks(fmt.Sprintf("%s is %s", task.ID, s.StatusOf(task)))
	}
	for _, r := range t.Rows {
		if r.Task == task.ID {
			g.count(r)
		}
	}
}

func (g *Group) count(r Row) {
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
		g.lacks(fmt.Sprintf("%s is %s", r.ID, r.State))
	}
}

func (g *Group) lacks(why string) {
	if g.Done {
		g.Done, g.Why = false, why
	}
}
