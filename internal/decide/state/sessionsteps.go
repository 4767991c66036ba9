package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyToolAnswer counts a tool's answer, and the time that a person took for it.
func (s *AgentSessionState) applyToolAnswer(f nexus.ToolCallEnded) {
	s.Tally = s.Tally.WithAnswer(f.Failed)
	if slices.Contains(s.asks, f.Call) {
		s.asked += f.Duration
	}
}

// endCall ends the time of the call with this ID, if it is running.
func (s *AgentSessionState) endCall(id string, at time.Time) {
	if s.call == id && id != "" {
		s.addStepTime(at)
	}
}

// addStepTime adds the time of the running step, without the time that people took.
func (s *AgentSessionState) addStepTime(at time.Time) {
	if !s.since.IsZero() {
		s.Elapsed += max(0, at.Sub(s.since)-s.asked)
	}
	s.clearStep()
}

// clearStep forgets the running step: it has ended, or its process is gone.
func (s *AgentSessionState) clearStep() { s.call, s.since, s.asks, s.asked = "", time.Time{}, nil, 0 }

// CurrentStep returns the kind of the session's running step and its start: "model" for a call,
// "tools" for its tools, "" for none.
func (s *AgentSessionState) CurrentStep() (what string, since time.Time) {
	switch {
	case s.since.IsZero():
		return "", s.since
	case s.call != "":
		return "model", s.since
	case s.Pending:
		return "tools", s.since
	}
	return "", time.Time{}
}
