package local

import (
	"context"
	"fmt"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// completeTasks adds the start tiers to a planner's tasks, and the criteria that existing behaviour
// keeps working.
func (p *planningSession) completeTasks(ctx context.Context, tasks []nexus.Task, g prompt.PlanningRequest) error {
	plan.SetStartTiers(tasks, g.Repo, p.Worker.Judge.Packages)
	root, err := os.OpenRoot(p.tree.Dir) // so that no path leads out of it
	if err != nil {
		return fmt.Errorf("open the tree that is planned for: %w", err)
	}
	defer func() { _ = root.Close() }()
	gates, err := p.testingGates(ctx, root)
	if err != nil {
		return err
	}
	plan.AddRegressionCriteria(tasks, plan.ExistingTreeFiles{Gate: gates, Has: func(name string) bool {
		_, err := root.Stat(name)
		return err == nil
	}}, g.Size)
	return nil
}

// testingGates returns the gates whose tests can show that existing behaviour keeps working, by the
// directories of their packages: those of the base, if some test passes there other than the
// greeting of a skeleton, which a task may replace.
func (p *planningSession) testingGates(ctx context.Context, root *os.Root) (map[string]string, error) {
	passes, greetings := false, 0
	if stack.HasGreetingTest(root.FS()) {
		greetings = 1
	}
	for _, e := range p.Worker.Judge.Bases.Known(ctx, p.a.Base) {
		passes = passes || e.Counts.Passed > greetings
	}
	all := map[string]string{}
	if !passes {
		return all, nil
	}
	gates, err := p.Worker.Judge.Gates(p.tree.Dir)
	if err != nil {
		return nil, err
	}
	for _, g := range gates {
		if g.Tests && g.Of == "" && g.Again == "" && !g.Optional && all[g.Dir] == "" {
			all[g.Dir] = g.Name
		}
	}
	return all, nil
}
