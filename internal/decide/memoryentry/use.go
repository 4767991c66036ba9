package memoryentry

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Gate is the name of what refuses a change that edits the memory.
const Gate = "memory"

// Use is how often agents were told of an episode, and when last.
type Use struct {
	Hits int
	Last time.Time
}

// CountUses adds the uses of a run to those of others, by ID.
func CountUses(all map[string]Use, s *state.State) {
	attempts := []*state.Attempt{s.Planning}
	for _, t := range s.Tasks {
		attempts = append(attempts, t.Attempts...)
	}
	for _, a := range attempts {
		if a == nil {
			continue
		}
		for _, session := range a.Sessions {
			for _, m := range session.Memory {
				if m.Left != "" {
					continue
				}
				u := all[m.ID]
				if u.Hits++; a.Began.After(u.Last) {
					u.Last = a.Began
				}
				all[m.ID] = u
			}
		}
	}
}

// Remembered returns what becomes of a choice as a fact has it.
func (c Choice) Remembered() nexus.Remembered {
	return nexus.Remembered{ID: c.ID, Why: c.Why, Tokens: c.Tokens, Left: c.Left}
}
