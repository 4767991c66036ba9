package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// SharedSession is the session of another task in the group that a coder continues.
type SharedSession struct {
	Session  nexus.SessionID
	Task     nexus.TaskID
	Model    string
	Prompt   string   // blob: its system prompt and tools
	Messages []string // blobs of the messages
	Commit   string   // its submitted work, as accepted
}

// sharedSession returns a session of this run as one that another session continues, or nil
// if there is none.
func (s *State) sharedSession(id nexus.SessionID) *SharedSession {
	old := s.sessionByID(id)
	if old == nil {
		return nil
	}
	a := s.attempts[old.Attempt]
	return &SharedSession{Session: id, Task: a.Task, Model: old.Model, Prompt: old.Prompt, Messages: slices.Clip(old.Messages), Commit: a.Commit}
}

// beginSession returns a session at its start: empty, or with the messages of the session that it
// continues.
func (a *Attempt) beginSession(f nexus.SessionStarted) *Session {
	c := &Session{SessionStarted: f}
	if a.Warm != nil && f.After == a.Warm.Session {
		c.Messages, c.Before = slices.Clip(a.Warm.Messages), len(a.Warm.Messages)
	}
	return c
}

// LaneOf returns the group of tasks that shares a session with a task, or false if there is
// none.
func (s *State) LaneOf(id nexus.TaskID) (nexus.LaneFormed, bool) {
	for _, l := range slices.Backward(s.Lanes) {
		if slices.Contains(l.Tasks, id) {
			return l, true
		}
	}
	return nexus.LaneFormed{}, false
}

// HasLeftLane reports whether a task is done without its shared session from now on: its first
// attempt was not accepted, or did not land unchanged.
func (t *Task) HasLeftLane() bool {
	if len(t.Attempts) == 0 {
		return false
	}
	a := t.Attempts[0]
	return len(t.Attempts) > 1 || a.Refusals > 0 || a.Stage == Over && a.Outcome != nexus.Accepted
}

// applyShares applies facts about reviewers' models and shared sessions.
func (s *State) applyShares(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RoleRouted:
		s.Readers = append(s.Readers, f)
	case nexus.LaneFormed:
		s.Lanes = append(s.Lanes, f)
	default:
	}
}
