package agent

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// ParseRole reads a role by itself, without one that it overrides.
func ParseRole(name nexus.Role, data []byte) (Role, error) {
	r, err := parseRole(data, Role{})
	if err != nil {
		return Role{}, badRole(name, err)
	}
	r.Name = name
	return r, nil
}
