package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// SharedSession is the session of another task of the same lane that a coder goes on in.
type SharedSession struct {
	Session  nexus.SessionID
	Task     nexus.TaskID
	Model    string
	Prompt   string   // blob: its system prompt and tools
	Messages []string // blobs of what was said
	Commit   string   // the work that it submitted, as it was accepted
}

// sharedSession returns a session of this run as one that another goes on in, nil where there is none.
func (s *State) sharedSession(id nexus.SessionID) *SharedSession {
	old := s.session(id)
	if old == nil {
		return nil
	}
	a := s.attempts[old.Attempt]
	return &SharedSession{Session: id, Task: a.Task, Model: old.Model, Prompt: old.Prompt, Messages: slices.Clip(old.Messages), Commit: a.Commit}
}

// begin returns a session as it begins: empty, or with what was said in the one
// that it goes on in.
func (a *Attempt) begin(f nexus.SessionStarted) *Session {
	c := &Session{SessionStarted: f}
	if a.Warm != nil && f.After == a.Warm.Session {
		c.Messages, c.Before = slices.Clip(a.Warm.Messages), len(a.Warm.Messages)
	}
	return c
}

// LaneOf returns the lane of a task, false where it is in none.
func (s *State) LaneOf(id nexus.TaskID) (nexus.LaneFormed, bool) {
	for _, l := range slices.Backward(s.Lanes) {
		if slices.Contains(l.Tasks, id) {
			return l, true
		}
	}
	return nexus.LaneFormed{}, false
}

// LeftLane reports whether a task of a lane is done alone from here on: its first
// attempt was not accepted, or did not land as it was.
func (t *Task) LeftLane() bool {
	if len(t.Attempts) == 0 {
		return false
	}
	a := t.Attempts[0]
	return len(t.Attempts) > 1 || a.Refusals > 0 || a.Stage == Over && a.Outcome != nexus.Accepted
}

// applyShares folds who reads for a role, and which tasks share a session.
func (s *State) applyShares(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RoleRouted:
		s.Readers = append(s.Readers, f)
	case nexus.LaneFormed:
		s.Lanes = append(s.Lanes, f)
	default:
	}
}
