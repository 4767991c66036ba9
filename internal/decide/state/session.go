package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// answered counts an answer, and the time that a person took for it.
func (s *Session) answered(f nexus.ToolAnswered) {
	s.Tally = s.Tally.WithAnswer(f.Failed)
	if slices.Contains(s.asks, f.Call) {
		s.asked += f.Duration
	}
}

// settle ends the time of the call with this ID, if it is the one under way.
func (s *Session) settle(id string, at time.Time) {
	if s.call == id && id != "" {
		s.lap(at)
	}
}

// lap adds the time of the step under way, less what people took.
func (s *Session) lap(at time.Time) {
	if !s.since.IsZero() {
		s.Elapsed += max(0, at.Sub(s.since)-s.asked)
	}
	s.halt()
}

// halt forgets the step under way: it is over, or its process is gone.
func (s *Session) halt() { s.call, s.since, s.asks, s.asked = "", time.Time{}, nil, 0 }

// Step returns what the session waits for, and since when: "model" for the
// answer to a call, "tools" for its tools, empty for neither.
func (s *Session) Step() (what string, since time.Time) {
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
