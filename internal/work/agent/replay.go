package agent

import (
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// SessionStart is the start of a session, as stored in its transcript.
type SessionStart struct {
	System string     `json:"system"`
	Tools  []llm.Tool `json:"tools"`
	// name of the external agent that began the session; System is its guide
	Agent string `json:"agent,omitzero"`
}

// LoadSessionStart reads the start of a session by its hash.
func LoadSessionStart(s Store, hash string) (SessionStart, error) {
	var o SessionStart
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
func LoadMessages(s Store, hashes []string) ([]llm.Message, error) {
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

// Exchange returns a request and its submission as messages in which [Handins] finds it: an
// agent that keeps its own conversation has no others.
func Exchange(asked string, handin json.RawMessage) []llm.Message {
	call := llm.Call{ID: "submitted", Tool: "finish", Input: handin}
	return []llm.Message{
		llm.UserMessage(asked),
		{From: llm.Assistant, Parts: []llm.Part{{Call: &call}}},
		{From: llm.User, Parts: []llm.Part{{Result: &llm.Result{ID: call.ID}}}},
	}
}

// Handins returns the submissions that the tools accepted in a session, oldest first.
func Handins(messages []llm.Message) []json.RawMessage {
	var handins []json.RawMessage
	for _, s := range Submissions(messages) {
		if !s.Refused {
			handins = append(handins, s.Input)
		}
	}
	return handins
}

// Submission is one submission in a session.
type Submission struct {
	Input   json.RawMessage
	Refused bool // by the tool: it does not fit its schema, or a call before it failed
}

// Submissions returns the submissions of a session, oldest first. Of a message with several
// accepted ones, only the last counts.
func Submissions(messages []llm.Message) []Submission {
	var all []Submission
	var t repetition
	for _, m := range messages {
		t.see(m)
		if m.From != llm.User {
			continue
		}
		for _, p := range m.Parts {
			if p.Result == nil || !p.Result.Failed {
				continue
			}
			if input, ok := t.finishing[p.Result.ID]; ok {
				all = append(all, Submission{Input: input, Refused: true})
			}
		}
		if t.Handin != nil {
			all = append(all, Submission{Input: t.Handin})
			t.Handin = nil
		}
	}
	return all
}
