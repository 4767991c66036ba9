package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Clone returns a copy that shares no mutable data.
func (a *AttemptState) Clone() *AttemptState {
	if a == nil {
		return nil
	}
	c := *a
	c.Network, c.Tried, c.Looks, c.Heard = clipCapacity(a.Network), clipCapacity(a.Tried), clipCapacity(a.Looks), clipCapacity(a.Heard)
	c.Rounds = make([]*AttemptRound, len(a.Rounds))
	for i, r := range a.Rounds {
		round := *r
		round.Evidence, round.Reviews, round.Broken = clipCapacity(r.Evidence), clipCapacity(r.Reviews), clipCapacity(r.Broken)
		c.Rounds[i] = &round
	}
	c.Sessions = make([]*AgentSessionState, len(a.Sessions))
	for i, s := range a.Sessions {
		session := *s
		session.Messages, session.asks, session.Looked = clipCapacity(s.Messages), clipCapacity(s.asks), clipCapacity(s.Looked)
		c.Sessions[i] = &session
	}
	return &c
}

// JoinSession copies a session, and its side effects, from a clone that ran it in parallel
// with others. Network is the length of the attempt's Network when it was cloned.
func (a *AttemptState) JoinSession(c *AttemptState, id nexus.SessionID, network int) {
	s := c.SessionByID(id)
	if s == nil {
		return
	}
	if i := slices.IndexFunc(a.Sessions, func(o *AgentSessionState) bool { return o.Session == id }); i >= 0 {
		a.Sessions[i] = s
	} else {
		a.Sessions = append(a.Sessions, s)
	}
	a.Network = append(a.Network, c.Network[network:]...)
	a.Moved = a.Moved || c.Moved
	if c.Rested > a.Rested { // they waited at the same time
		a.Rested, a.Rests = c.Rested, c.Rests
	}
}

// clipCapacity limits the capacity, so that appending to the copy does not change the original.
func clipCapacity[T any](s []T) []T { return s[:len(s):len(s)] }
