package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// stateIndex finds the parts of a run by their names.
type stateIndex struct {
	tasks    map[nexus.TaskID]*Task
	attempts map[nexus.AttemptID]*Attempt
	sessions map[nexus.SessionID]*Session
	evidence map[evidenceKey]nexus.Evidence
	void     map[nexus.TaskID][]*Attempt // attempts at tasks that a rewind removed
}

type evidenceKey struct{ tree, gate string }

func newStateIndex() stateIndex {
	return stateIndex{
		tasks: map[nexus.TaskID]*Task{}, attempts: map[nexus.AttemptID]*Attempt{},
		sessions: map[nexus.SessionID]*Session{}, evidence: map[evidenceKey]nexus.Evidence{},
	}
}

// TaskByID returns the task with this ID, or nil if there is none.
func (s *stateIndex) TaskByID(id nexus.TaskID) *Task { return s.tasks[id] }

// AttemptByID returns the attempt with this ID, or nil if there is none.
func (s *stateIndex) AttemptByID(id nexus.AttemptID) *Attempt { return s.attempts[id] }

// KnownEvidence returns a gate's last evidence on exactly this tree.
func (s *stateIndex) KnownEvidence(tree, gate string) (nexus.Evidence, bool) {
	e, ok := s.evidence[evidenceKey{tree, gate}]
	return e, ok
}
