package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// AgentSessionState returns the session with this ID, nil when there is none.
func (s *State) Session(id nexus.SessionID) *AgentSessionState { return s.sessions[id] }

// Logged returns how many events the state keeps in memory.
func (s *State) Logged() int { return len(s.log) }
