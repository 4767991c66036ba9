package app

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
)

// PlannedPipelineStep is a pipeline step, and the tasks of a plan that it is for.
type PlannedPipelineStep struct {
	Name     string         `json:"name"`
	Run      string         `json:"run,omitzero"`
	Ask      string         `json:"ask,omitzero"`
	Edit     string         `json:"edit,omitzero"`
	Role     string         `json:"role,omitzero"`
	When     string         `json:"when,omitzero"`
	Required bool           `json:"required"`
	Tasks    []nexus.TaskID `json:"tasks"`
	Says     string         `json:"-"`
}

// plannedSteps returns the steps for tasks of a plan, in their order.
func (a *App) plannedSteps(c config.Config, tasks []nexus.Task) ([]PlannedPipelineStep, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	cast, err := a.loadPipeline(WorkTreeRoot(dir), c)
	if err != nil {
		return nil, err
	}
	steps := cast.steps
	var all []PlannedPipelineStep
	for _, s := range steps {
		p := PlannedPipelineStep{
			Name: s.Name, Run: s.Run, Ask: s.Ask, Edit: s.Edit, Role: s.Role, When: s.When,
			Required: !s.Optional, Says: s.Summary(),
		}
		for _, t := range tasks {
			if s.AppliesTo(t.Kind) {
				p.Tasks = append(p.Tasks, t.ID)
			}
		}
		if len(p.Tasks) > 0 {
			all = append(all, p)
		}
	}
	return all, nil
}

// stepTrustItems returns the instructions of the project's own steps for reviewers and editors as
// items to agree to, like the prompt of a role. Commands of steps are gates, and gates need no
// trust.
func stepTrustItems(dir string) ([]trust.TrustItem, error) {
	c, _, err := config.LoadSources(config.SettingSources{Project: filepath.Join(dir, "nexus.toml")})
	if err != nil {
		return nil, err
	}
	steps, err := c.PipelineSteps()
	if err != nil {
		return nil, err
	}
	var items []trust.TrustItem
	for _, s := range steps {
		if s.Ask != "" {
			items = append(items, trust.TrustItem{Name: "nexus.toml pipeline." + s.Name + ".ask", Text: s.Ask + "\n"})
		}
		if s.Edit != "" {
			items = append(items, trust.TrustItem{Name: "nexus.toml pipeline." + s.Name + ".edit", Text: s.Edit + "\n"})
		}
	}
	return items, nil
}

// resolvedPipeline is the pipeline, with the steps that use a role of the project resolved.
type resolvedPipeline struct {
	steps  []config.NamedPipelineStep
	roles  map[nexus.Role]agent.RoleDefinition
	agents []rules.Skill // of .claude/agents, that the pipeline uses
}

// pipelineRoles returns the roles that steps of the pipeline name.
func pipelineRoles(c config.Config) (all []nexus.Role) {
	for _, name := range slices.Sorted(maps.Keys(c.Steps)) {
		if role := c.Steps[name].Role; role != "" {
			all = append(all, nexus.Role(role))
		}
	}
	return all
}

func (a *App) loadPipeline(dir string, c config.Config) (resolvedPipeline, error) {
	return resolvePipeline(dir, c, func() (*rules.RuleSet, error) { return a.AgentRules(dir, c) })
}

// trustedPipeline returns the pipeline of the repository at dir, if a person agreed to all of
// its roles and agents.
func trustedPipeline(dir string, c config.Config, said *rules.RuleSet) (resolvedPipeline, error) {
	all, err := resolvePipeline(dir, c, func() (*rules.RuleSet, error) { return said, nil })
	for _, k := range all.agents {
		if err == nil {
			err = checkTrusted(k)
		}
	}
	return all, err
}

// resolvePipeline returns the pipeline of the repository at dir. A step that no role can do as
// declared is an error. It calls said if a role may be an agent of .claude/agents.
func resolvePipeline(dir string, c config.Config, said func() (*rules.RuleSet, error)) (all resolvedPipeline, err error) {
	if all.steps, err = c.PipelineSteps(); err != nil {
		return all, err
	}
	if all.roles, err = LoadRoleDefinitions(dir, c); err != nil {
		return all, err
	}
	ours, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		return all, err
	}
	for i := range all.steps {
		s := &all.steps[i]
		if s.Role == "" {
			continue
		}
		role, known := all.roles[nexus.Role(s.Role)]
		if _, is := ours[nexus.Role(s.Role)]; is {
			return all, stepError(*s, "the role "+s.Role+" is one of Nexus's own; give your role another name")
		}
		if !known {
			set, err := said()
			if err != nil {
				return all, err
			}
			k, ok := set.FindSkill(rules.AgentKind, s.Role)
			if !ok {
				return all, stepError(*s, fmt.Sprintf(
					"there is no role %q: write .nexus/roles/%s.md, or name an agent of .claude/agents", s.Role, s.Role))
			}
			if role = roleFromSkill(k, ours[nexus.Editor]); role.Writes == agent.WriteNothing {
				role = roleFromSkill(k, ours[nexus.Reviewer])
			}
			all.roles[nexus.Role(s.Role)] = role
			all.agents = append(all.agents, k)
		}
		if why := assignStepRole(s, role); why != "" {
			return all, stepError(*s, why)
		}
	}
	return all, nil
}

// assignStepRole makes the step one for a reader or an editor, or returns why a role cannot do it.
func assignStepRole(s *config.NamedPipelineStep, role agent.RoleDefinition) string {
	reads := role.Writes == agent.WriteNothing
	switch {
	case reads && s.Edit != "":
		return "the role " + s.Role + " only reads (writes: none), so it cannot edit; use ask, or let it write"
	case !reads && s.Ask != "":
		return fmt.Sprintf("the role %s edits (writes: %s), and ask is for one that only reads; use edit, or writes: none",
			s.Role, role.Writes)
	case reads && s.Optional:
		return "the role " + s.Role + " only reads, and its findings count by their severity, so required has no effect; remove it"
	case reads:
		s.Ask = cmp.Or(s.Ask, config.RoleInstruction)
	default:
		s.Edit = cmp.Or(s.Edit, config.RoleInstruction)
	}
	return ""
}

func stepError(s config.NamedPipelineStep, why string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("pipeline.%s.role: %s", s.Name, why),
		Hint: "docs/gates.md explains what a role of your own may do.",
	}
}
