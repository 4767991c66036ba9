package accept

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Group is what is known of the tasks of a plan that make one feature. It is
// done when all of them have landed and each of their criteria is met on the
// tree that did, or waived.
type Group struct {
	Name    string `json:"name"`
	Tasks   int    `json:"tasks"`
	Landed  int    `json:"landed"`
	Met     int    `json:"met"`
	Unmet   int    `json:"unmet"`
	Unknown int    `json:"unknown"`
	Done    bool   `json:"done"`
	Why     string `json:"why,omitzero"` // why not done: the first reason
}

// groups returns what is known of the groups that a run's tasks belong to, in
// the order in which the plan names them. A task without one is in none.
func (t Table) groups(s *state.State) []Group {
	var all []Group
	for _, task := range s.Tasks {
		if task.Group == "" || task.Status == nexus.Split {
			continue
		}
		i := slices.IndexFunc(all, func(g Group) bool { return g.Name == task.Group })
		if i < 0 {
			i = len(all)
			all = append(all, Group{Name: task.Group, Done: true})
		}
		g := &all[i]
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
	return all
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
