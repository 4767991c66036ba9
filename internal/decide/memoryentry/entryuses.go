package memoryentry

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Gate is the name of the gate that refuses a change of the memory.
const Gate = "memory"

// EntryUsage counts the uses of an entry by agents, with the last time.
type EntryUsage struct {
	Hits int
	Last time.Time
}

// CountUses adds the uses in a run to those in others, by ID.
func CountUses(all map[string]EntryUsage, s *state.State) {
	attempts := []*state.AttemptState{s.Planning}
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

// ToFact converts a choice to its form in a fact.
func (c EntryDecision) ToFact() nexus.RelevantMemoryEntry {
	return nexus.RelevantMemoryEntry{ID: c.ID, Why: c.Why, Tokens: c.Tokens, Left: c.Left}
}
