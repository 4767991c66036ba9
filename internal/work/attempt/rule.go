package attempt

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/strategy"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/cast"
)

// rule says what a role may not write in a conversation: what its own row of
// the permission matrix keeps from it, and what the attempt's strategy does.
func rule(t Talk, role cast.Role) func(file string) error {
	own, way := role.Writes.Rule(), t.Attempt.Strategy
	more := strategy.Rule(way, t.Role)
	switch {
	case role.Writes == cast.Nothing:
		return own
	case role.Writes == cast.Tests && strategy.Widens(way, t.Role):
		return more
	case own == nil:
		return more
	case more == nil:
		return own
	}
	return func(file string) error {
		if err := own(file); err != nil {
			return err
		}
		return more(file)
	}
}
