package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// agent folds what is known of the conversation that another maker's agent has.
func (a *Attempt) agent(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.AgentOpened:
		if s := a.Session(f.Session); s != nil {
			if f.ID != s.Opened.ID {
				s.Closed = nexus.AgentEnded{} // its counts start again
			}
			s.Opened = f
		}
	case nexus.AgentEnded:
		if s := a.Session(f.Session); s != nil {
			s.Closed, s.Pending = f, false
			if f.Fault == "" { // one that prints text takes no turns
				s.Unheard = 0
			}
		}
	default:
	}
}

// attemptOfAgentFact returns the attempt that a fact of another maker's agent is part of.
func attemptOfAgentFact(f nexus.Fact) nexus.AttemptID {
	switch f := f.(type) {
	case nexus.AgentOpened:
		return attemptOfSession(f.Session)
	case nexus.AgentEnded:
		return attemptOfSession(f.Session)
	default:
		return ""
	}
}
