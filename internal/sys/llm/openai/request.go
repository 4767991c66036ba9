package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// chatRequest is the body of a call. The growing fields are last.
type chatRequest struct {
	Model         string           `json:"model"`
	MaxCompletion int64            `json:"max_completion_tokens,omitempty"`
	MaxTokens     int64            `json:"max_tokens,omitempty"`
	Stream        bool             `json:"stream"`
	StreamOptions *streamOptions   `json:"stream_options,omitempty"`
	Usage         *usageOption     `json:"usage,omitempty"`
	Effort        string           `json:"reasoning_effort,omitempty"`
	Reasoning     *reasoningOption `json:"reasoning,omitempty"`
	Format        *responseFormat  `json:"response_format,omitempty"`
	Choice        any              `json:"tool_choice,omitempty"`
	Tools         []chatTool       `json:"tools,omitempty"`
	Messages      []chatMessage    `json:"messages"`
	Family        string           `json:"prompt_cache_key,omitempty"` // last, because it differs from run to run
}

type streamOptions struct {
	Usage bool `json:"include_usage"`
}

type usageOption struct {
	Include bool `json:"include"`
}

type reasoningOption struct {
	Effort string `json:"effort"`
}

type responseFormat struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict,omitempty"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Answers string          `json:"tool_call_id,omitempty"`
	Content *string         `json:"content"`
	Thought json.RawMessage `json:"reasoning_content,omitempty"`
	Details json.RawMessage `json:"reasoning_details,omitempty"`
	Calls   []chatToolCall  `json:"tool_calls,omitempty"`
}

type chatToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content,omitempty"` // Google's signatures
}

// storedServerPart is a server's own data in a message, stored as a raw part.
type storedServerPart struct {
	Chat *storedServerFields `json:"chat"` // marks the part as ours
}

type storedServerFields struct {
	Thought json.RawMessage            `json:"reasoning_content,omitempty"`
	Details json.RawMessage            `json:"reasoning_details,omitempty"`
	Extra   map[string]json.RawMessage `json:"extra_content,omitempty"` // by call id
}

func (m *chatModel) encodeRequest(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.ModelCallError{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	q := chatRequest{Model: r.Model, Stream: true, Messages: []chatMessage{}}
	m.adaptRequest(&q, r)
	if r.Schema != nil {
		q.Format = &responseFormat{Type: "json_schema"}
		q.Format.Schema.Name, q.Format.Schema.Schema = "answer", r.Schema
		q.Format.Schema.Strict = providerhttp.IsStrictSchema(r.Schema)
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, chatTool{Type: "function", Function: toolFunction{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	if strings.TrimSpace(r.System) != "" {
		q.Messages = append(q.Messages, chatMessage{Role: "system", Content: &r.System})
	}
	for _, said := range r.Messages {
		if said.From == llm.Assistant {
			q.Messages = append(q.Messages, encodeModelMessage(said)...)
		} else {
			q.Messages = append(q.Messages, encodeUserMessage(said)...)
		}
	}
	return providerhttp.EncodeJSON(q)
}

// adaptRequest sets the fields that differ between servers.
func (m *chatModel) adaptRequest(q *chatRequest, r llm.Request) {
	if m.server.Limit == "max_completion_tokens" || strings.HasPrefix(r.Model, "gpt-") { // it refuses the older name; others refuse the newer one
		q.MaxCompletion = r.MaxTokens
	} else {
		q.MaxTokens = r.MaxTokens
	}
	if !m.server.NoOptions {
		q.StreamOptions = &streamOptions{Usage: true}
	}
	if m.server.CacheKey {
		q.Family = providerhttp.CacheKey(r.Family)
	}
	if m.server.Cost {
		q.Usage = &usageOption{true}
	}
	switch effort := cmp.Or(r.Effort, m.effort); {
	case effort == "" || m.server.Effort == "":
	case m.server.Effort == "reasoning":
		q.Reasoning = &reasoningOption{effort}
	default:
		q.Effort = effort
	}
	switch r.Force {
	case "":
	case llm.AnyTool:
		q.Choice = "required"
	default:
		q.Choice = map[string]any{"type": "function", "function": map[string]string{"name": r.Force}}
	}
}

// encodeUserMessage returns a message for each result, then one for the text.
func encodeUserMessage(m llm.Message) []chatMessage {
	var out []chatMessage
	for _, p := range m.Parts {
		if p.Result != nil {
			text := p.Result.Text
			out = append(out, chatMessage{Role: "tool", Answers: p.Result.ID, Content: &text})
		}
	}
	if text := m.Text(); strings.TrimSpace(text) != "" {
		out = append(out, chatMessage{Role: "user", Content: &text})
	}
	return out
}

// encodeModelMessage returns the model's message unchanged, or none if it has no part that can be sent.
func encodeModelMessage(m llm.Message) []chatMessage {
	out := chatMessage{Role: "assistant"}
	var own storedServerFields
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			c := chatToolCall{ID: p.Call.ID, Type: "function"}
			c.Function.Name, c.Function.Arguments = p.Call.Tool, string(p.Call.Input)
			out.Calls = append(out.Calls, c)
		case p.Raw != nil:
			var q storedServerPart
			if json.Unmarshal(p.Raw, &q) == nil && q.Chat != nil { // else it belongs to another provider
				own = *q.Chat
			}
		}
	}
	out.Thought, out.Details = own.Thought, own.Details
	for i := range out.Calls {
		out.Calls[i].Extra = own.Extra[out.Calls[i].ID]
	}
	if text := m.Text(); strings.TrimSpace(text) != "" {
		out.Content = &text
	}
	if out.Content == nil && len(out.Calls) == 0 {
		return nil
	}
	return []chatMessage{out}
}
