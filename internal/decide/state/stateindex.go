package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// stateIndex finds the parts of a run by their names.
type stateIndex struct {
	tasks    map[nexus.TaskID]*TaskState
	attempts map[nexus.AttemptID]*AttemptState
	sessions map[nexus.SessionID]*AgentSessionState
	evidence map[evidenceKey]nexus.GateEvidence
	void     map[nexus.TaskID][]*AttemptState // attempts at tasks that a rewind removed
}

type evidenceKey struct{ tree, gate string }

func newStateIndex() stateIndex {
	return stateIndex{
		tasks: map[nexus.TaskID]*TaskState{}, attempts: map[nexus.AttemptID]*AttemptState{},
		sessions: map[nexus.SessionID]*AgentSessionState{}, evidence: map[evidenceKey]nexus.GateEvidence{},
	}
}

// TaskByID returns the task with this ID, or nil if there is none.
func (s *stateIndex) TaskByID(id nexus.TaskID) *TaskState { return s.tasks[id] }

// AttemptByID returns the attempt with this ID, or nil if there is none.
func (s *stateIndex) AttemptByID(id nexus.AttemptID) *AttemptState { return s.attempts[id] }

// KnownEvidence returns a gate's last evidence on exactly this tree.
func (s *stateIndex) KnownEvidence(tree, gate string) (nexus.GateEvidence, bool) {
	e, ok := s.evidence[evidenceKey{tree, gate}]
	return e, ok
}
