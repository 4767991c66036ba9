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
func (a *AttemptState) beginSession(f nexus.SessionStarted) *AgentSessionState {
	c := &AgentSessionState{SessionStarted: f}
	if a.Warm != nil && f.After == a.Warm.Session {
		c.Messages, c.Before = slices.Clip(a.Warm.Messages), len(a.Warm.Messages)
	}
	return c
}

// SharedSessionGroupOf returns the group of tasks that shares a session with a task, or false if there is
// none.
func (s *State) SharedSessionGroupOf(id nexus.TaskID) (nexus.SharedSessionGroupFormed, bool) {
	for _, l := range slices.Backward(s.Lanes) {
		if slices.Contains(l.Tasks, id) {
			return l, true
		}
	}
	return nexus.SharedSessionGroupFormed{}, false
}

// HasLeftSharedSession reports whether a task is done without its shared session from now on: its first
// attempt was not accepted, or did not land unchanged.
func (t *TaskState) HasLeftSharedSession() bool {
	if len(t.Attempts) == 0 {
		return false
	}
	a := t.Attempts[0]
	return len(t.Attempts) > 1 || a.Refusals > 0 || a.Stage == Over && a.Outcome != nexus.Accepted
}

// applySharedSessions applies facts about reviewers' models and shared sessions.
func (s *State) applySharedSessions(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.ReviewModelChosen:
		s.Readers = append(s.Readers, f)
	case nexus.SharedSessionGroupFormed:
		s.Lanes = append(s.Lanes, f)
	default:
	}
}
