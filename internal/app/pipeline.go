package app

import (
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// PlannedStep is a pipeline step, and the tasks of a plan that it is for.
type PlannedStep struct {
	Name     string         `json:"name"`
	Run      string         `json:"run,omitzero"`
	Ask      string         `json:"ask,omitzero"`
	Edit     string         `json:"edit,omitzero"`
	When     string         `json:"when,omitzero"`
	Required bool           `json:"required"`
	Tasks    []nexus.TaskID `json:"tasks"`
	Says     string         `json:"-"`
}

// plannedSteps returns the steps that are for tasks of a plan, in their order.
func plannedSteps(c config.Config, tasks []nexus.Task) ([]PlannedStep, error) {
	steps, err := c.Pipeline()
	if err != nil {
		return nil, err
	}
	var all []PlannedStep
	for _, s := range steps {
		p := PlannedStep{Name: s.Name, Run: s.Run, Ask: s.Ask, Edit: s.Edit, When: s.When, Required: !s.Optional, Says: s.Says()}
		for _, t := range tasks {
			if s.Is(t.Kind) {
				p.Tasks = append(p.Tasks, t.ID)
			}
		}
		if len(p.Tasks) > 0 {
			all = append(all, p)
		}
	}
	return all, nil
}

// stepItems returns what the project's own steps tell reviewers and editors: instructions, as the
// prompt of a role is. Its commands are gates, and need no trust as gates need none.
func stepItems(dir string) ([]trust.Item, error) {
	c, _, err := config.Load(config.Sources{Project: filepath.Join(dir, "nexus.toml")})
	if err != nil {
		return nil, err
	}
	steps, err := c.Pipeline()
	if err != nil {
		return nil, err
	}
	var items []trust.Item
	for _, s := range steps {
		if s.Ask != "" {
			items = append(items, trust.Item{Name: "nexus.toml pipeline." + s.Name + ".ask", Text: s.Ask + "\n"})
		}
		if s.Edit != "" {
			items = append(items, trust.Item{Name: "nexus.toml pipeline." + s.Name + ".edit", Text: s.Edit + "\n"})
		}
	}
	return items, nil
}
