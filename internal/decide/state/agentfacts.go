package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// applyAgentFact applies facts about the conversation of another maker's agent.
func (a *AttemptState) applyAgentFact(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.AgentConversationOpened:
		if s := a.SessionByID(f.Session); s != nil {
			if f.ID != s.Opened.ID {
				s.Closed = nexus.AgentProgramEnded{} // its counters start again
			}
			s.Opened = f
		}
	case nexus.AgentProgramEnded:
		if s := a.SessionByID(f.Session); s != nil {
			s.Closed, s.Pending = f, false
			if f.Fault == "" { // an agent that prints text takes no turns
				s.Unheard = 0
			}
		}
	default:
	}
}

// attemptOfAgentFact returns the attempt of a fact about another maker's agent.
func attemptOfAgentFact(f nexus.Fact) nexus.AttemptID {
	switch f := f.(type) {
	case nexus.AgentConversationOpened:
		return attemptOfSession(f.Session)
	case nexus.AgentProgramEnded:
		return attemptOfSession(f.Session)
	default:
		return ""
	}
}
