package shop

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/work/agent/cast"
)

// codeMap returns the map for a role, as the smallest of the models holds it
// that its session may go on with.
func (s *Shop) codeMap(ctx context.Context, t Talk, role cast.Role, m Model) (string, error) {
	if !role.Map || s.Maps == nil {
		return "", nil
	}
	holds := m.Context
	for _, other := range m.Else {
		if other.Context > 0 && (holds <= 0 || other.Context < holds) {
			holds = other.Context
		}
	}
	return s.Maps.Draw(ctx, s.Trees.Git(), t.Base, holds)
}
