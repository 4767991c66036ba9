package agent

import (
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// StoredSessionStart is the start of a session, as stored in its transcript.
type StoredSessionStart struct {
	System string                `json:"system"`
	Tools  []llm.ToolDescription `json:"tools"`
	// name of the external agent that began the session; System is its guide
	Agent string `json:"agent,omitzero"`
}

// LoadSessionStart reads the start of a session by its hash.
func LoadSessionStart(s MessageStore, hash string) (StoredSessionStart, error) {
	var o StoredSessionStart
	data, err := s.Get(hash)
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return o, fmt.Errorf("read the system prompt: %w", err)
	}
	return o, nil
}

// LoadMessages reads messages by their hashes.
func LoadMessages(s MessageStore, hashes []string) ([]llm.Message, error) {
	messages := make([]llm.Message, len(hashes))
	for i, h := range hashes {
		data, err := s.Get(h)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		if err := json.Unmarshal(data, &messages[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return messages, nil
}

// SubmissionExchange returns a request and its submission as messages in which [AcceptedSubmissions] finds it: an
// agent that keeps its own conversation has no others.
func SubmissionExchange(asked string, handin json.RawMessage) []llm.Message {
	call := llm.ToolCall{ID: "submitted", Tool: "finish", Input: handin}
	return []llm.Message{
		llm.UserMessage(asked),
		{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &call}}},
		{From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: call.ID}}}},
	}
}

// AcceptedSubmissions returns the submissions that the tools accepted in a session, oldest first.
func AcceptedSubmissions(messages []llm.Message) []json.RawMessage {
	var handins []json.RawMessage
	for _, s := range FindSubmissions(messages) {
		if !s.Refused {
			handins = append(handins, s.Input)
		}
	}
	return handins
}

// SessionSubmission is one submission in a session.
type SessionSubmission struct {
	Input   json.RawMessage
	Refused bool // by the tool: it does not fit its schema, or a call before it failed
}

// FindSubmissions returns the submissions of a session, oldest first. Of a message with several
// accepted ones, only the last counts.
func FindSubmissions(messages []llm.Message) []SessionSubmission {
	var all []SessionSubmission
	var t repeatedCallCounter
	for _, m := range messages {
		t.countMessage(m)
		if m.From != llm.User {
			continue
		}
		for _, p := range m.Parts {
			if p.Result == nil || !p.Result.Failed {
				continue
			}
			if input, ok := t.finishing[p.Result.ID]; ok {
				all = append(all, SessionSubmission{Input: input, Refused: true})
			}
		}
		if t.Handin != nil {
			all = append(all, SessionSubmission{Input: t.Handin})
			t.Handin = nil
		}
	}
	return all
}
