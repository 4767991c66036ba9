package provider

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// RoleAgentProgram is an agent program that works in a role in place of a model.
type RoleAgentProgram struct {
	Name  string // in the configuration
	Model string // that it must use; empty: its own
}

// AgentsFor returns the agent programs for a role at a tier, best first: those that the role
// names, or that models name before their slash. Models are the replacements while no agent is
// available. Without an agent both are empty: models are picked by [ModelPicker.PickModel].
func (m *ModelPicker) AgentsFor(role nexus.Role, tier nexus.Tier, pin string) (agents []RoleAgentProgram, models []string, err error) {
	list := m.config.Roles[role].Agent
	if list == "" {
		if list, err = m.modelChain(role, tier, pin); err != nil {
			return nil, nil, nil //nolint:nilerr // who needs the model reports that
		}
	}
	agents, models = m.splitAgents(list)
	if len(agents) == 0 {
		return nil, nil, nil
	}
	if !strings.HasPrefix(list+",", strings.Join(agentNames(agents), ",")+",") {
		return nil, nil, &nexus.Error{
			Code:    nexus.CodeInvalidConfig,
			Message: fmt.Sprintf("the agents and models of the role %s are %s: an agent follows a model", role, list),
			Hint:    "Name agent programs first: an agent program cannot continue a session that a model started.",
		}
	}
	return agents, models, nil
}

// splitAgents separates agents from models.
func (m *ModelPicker) splitAgents(list string) (agents []RoleAgentProgram, models []string) {
	for name := range strings.SplitSeq(list, ",") {
		agent, model, slash := strings.Cut(name, "/")
		if !slash || m.isAgent(agent) {
			agents = append(agents, RoleAgentProgram{agent, model})
		} else {
			models = append(models, name)
		}
	}
	return agents, models
}

// isAgent reports whether a name is that of an agent program. A name that is also a provider's
// is the provider's.
func (m *ModelPicker) isAgent(name string) bool {
	_, set := m.config.Agents[name]
	return (set || agentcli.IsKnownProgram(name)) && !slices.Contains(m.providerNames(), name)
}

func agentNames(agents []RoleAgentProgram) []string {
	var all []string
	for _, a := range agents {
		name := a.Name
		if a.Model != "" {
			name += "/" + a.Model
		}
		all = append(all, name)
	}
	return all
}

// modelsOfRole returns the models of a role, without agents.
func (m *ModelPicker) modelsOfRole(role nexus.Role, tier nexus.Tier, pin string) ([]string, error) {
	if list := m.config.Roles[role].Agent; list != "" {
		if _, models := m.splitAgents(list); len(models) > 0 {
			return models, nil
		}
	}
	list, err := m.modelChain(role, tier, pin)
	if err != nil {
		return nil, err
	}
	if _, models := m.splitAgents(list); len(models) > 0 {
		return models, nil
	}
	return nil, m.missingModelError(role, tier)
}

// CheckRole returns an error unless a role at a tier has all models that it may need: a model,
// if no agent works in it, and the replacements of its agents. It does not check whether agents
// are ready.
func (m *ModelPicker) CheckRole(role nexus.Role, tier nexus.Tier, pin string) error {
	agents, models, err := m.AgentsFor(role, tier, pin)
	if err != nil || len(agents) > 0 && len(models) == 0 {
		return err
	}
	_, err = m.PickModel(role, tier, pin)
	return err
}
