package agent

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// ParseRole reads a role by itself, without one that it overrides.
func ParseRole(name nexus.Role, data []byte) (RoleDefinition, error) {
	r, err := parseRole(data, RoleDefinition{})
	if err != nil {
		return RoleDefinition{}, invalidRoleError(name, err)
	}
	r.Name = name
	return r, nil
}
