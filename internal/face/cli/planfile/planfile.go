// Package planfile reads plans, and checks them: the sizes, needs and criteria of their tasks.
package planfile

import (
	"bytes"
	"cmp"
	"errors"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// Load reads a plan whose tasks are within the size limit of the settings.
func Load(a *console.Console, data []byte) (nexus.Plan, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nexus.Plan{}, err
	}
	read := plan.LoadMarkdown // also for other texts, so that a user of Markdown gets no errors about JSON
	if text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF"))); len(text) == 0 || text[0] == '{' || text[0] == '[' {
		read = plan.LoadPlan
	}
	p, err := read(data, settings.Limits.Size)
	if err != nil {
		return p, err
	}
	repo, err := WorkTreePackages(a)
	if err == nil {
		err = plan.AssignPackages(p.Tasks, repo)
		plan.SetStartTiers(p.Tasks, repo, settings.Gates.Packages)
	}
	return p, err
}

// Check reports whether the tasks of a plan file fit: their sizes, needs and criteria.
func Check(a *console.Console, file string) error {
	data, err := a.ReadInput(file)
	if err != nil {
		return err
	}
	_, err = Load(a, data)
	return err
}

// LoadReplacement reads a plan that is to replace the plan of a goal: it passes the checks of every
// plan, and the results of checks that the earlier plan tried are kept. goal is the text of the goal
// for a plan that states none.
func LoadReplacement(a *console.Console, data []byte, was nexus.Plan, of nexus.Goal, goal string) (*nexus.Plan, error) {
	p, err := Load(a, data)
	if err != nil {
		return nil, err
	}
	p.Goal = cmp.Or(p.Goal, goal)
	if err := errors.Join(plan.CheckGoal(p.Goal), forbiddenphrases.Check(a, p.Goal, &p), SetTierAndStrategy(&p, of)); err != nil {
		return nil, err
	}
	plan.CopyTrialResults(&p, was)
	return &p, nil
}

// ReadReplacement reads the plan in a file that is to replace a run's plan.
func ReadReplacement(a *console.Console, file string, s *state.State) (*nexus.Plan, error) {
	data, err := a.ReadInput(file)
	if err != nil {
		return nil, err
	}
	return LoadReplacement(a, data, app.PlanOfRun(s), s.Goal.Goal, s.Goal.Goal.Text)
}

// SetTierAndStrategy sets the tier and the strategy of tasks that have none; for a plan that is yet to be
// made, the goal carries them.
func SetTierAndStrategy(p *nexus.Plan, g nexus.Goal) error {
	switch {
	case g.Tier != "" && !g.Tier.IsKnown():
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown tier " + view.QuoteForTerminal(string(g.Tier)),
			Hint: "Use fast, balanced or strong.",
		}
	case g.Strategy != "" && !g.Strategy.IsKnown():
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown strategy " + view.QuoteForTerminal(string(g.Strategy)),
			Hint: "Use one of " + nexus.JoinWords(nexus.Strategies()) + ".",
		}
	case p == nil:
		return nil
	}
	for i := range p.Tasks {
		p.Tasks[i].SetStartTier(g.Tier, g.Strategy, false)
	}
	return nil
}

// WorkTreePackages returns the packages of the working tree.
func WorkTreePackages(a *console.Console) (*monorepo.PackageGraph, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	return monorepo.ReadPackageGraph(os.DirFS(app.WorkTreeRoot(dir))), nil
}
