package openai

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// request is the body of a call. What grows stands last.
type request struct {
	Model         string    `json:"model"`
	MaxCompletion int64     `json:"max_completion_tokens,omitempty"`
	MaxTokens     int64     `json:"max_tokens,omitempty"`
	Stream        bool      `json:"stream"`
	StreamOptions options   `json:"stream_options"`
	Effort        string    `json:"reasoning_effort,omitempty"`
	Format        *format   `json:"response_format,omitempty"`
	Tools         []tool    `json:"tools,omitempty"`
	Messages      []message `json:"messages"`
}

type options struct {
	Usage bool `json:"include_usage"`
}

type format struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict,omitempty"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type message struct {
	Role    string          `json:"role"`
	Answers string          `json:"tool_call_id,omitempty"`
	Content *string         `json:"content"`
	Thought json.RawMessage `json:"reasoning_content,omitempty"`
	Details json.RawMessage `json:"reasoning_details,omitempty"`
	Calls   []call          `json:"tool_calls,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content,omitempty"` // Google's signatures
}

// private is what a server adds to a message for itself, kept as a raw part.
type private struct {
	Chat *kept `json:"chat"` // marks the part as ours
}

type kept struct {
	Thought json.RawMessage            `json:"reasoning_content,omitempty"`
	Details json.RawMessage            `json:"reasoning_details,omitempty"`
	Extra   map[string]json.RawMessage `json:"extra_content,omitempty"` // by call id
}

func (m *model) encode(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.Error{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a bound on its answer")}
	}
	q := request{Model: r.Model, Stream: true, StreamOptions: options{Usage: true}, Effort: m.effort, Messages: []message{}}
	if m.own || strings.HasPrefix(r.Model, "gpt-") { // the older name is refused there, the newer one elsewhere
		q.MaxCompletion = r.MaxTokens
	} else {
		q.MaxTokens = r.MaxTokens
	}
	if r.Schema != nil {
		q.Format = &format{Type: "json_schema"}
		q.Format.Schema.Name, q.Format.Schema.Schema = "answer", r.Schema
		q.Format.Schema.Strict = strict(r.Schema)
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	if strings.TrimSpace(r.System) != "" {
		q.Messages = append(q.Messages, message{Role: "system", Content: &r.System})
	}
	for _, said := range r.Messages {
		if said.From == llm.Assistant {
			q.Messages = append(q.Messages, encodeAnswer(said)...)
		} else {
			q.Messages = append(q.Messages, encodeOurs(said)...)
		}
	}
	return wire.Encode(q)
}

// encodeOurs returns a message for each result, then one for the text.
func encodeOurs(m llm.Message) []message {
	var out []message
	for _, p := range m.Parts {
		if p.Result != nil {
			text := p.Result.Text
			out = append(out, message{Role: "tool", Answers: p.Result.ID, Content: &text})
		}
	}
	if text := m.Text(); strings.TrimSpace(text) != "" {
		out = append(out, message{Role: "user", Content: &text})
	}
	return out
}

// encodeAnswer returns the model's message as it came, or none if nothing of
// it can be sent.
func encodeAnswer(m llm.Message) []message {
	out := message{Role: "assistant"}
	var own kept
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			c := call{ID: p.Call.ID, Type: "function"}
			c.Function.Name, c.Function.Arguments = p.Call.Tool, string(p.Call.Input)
			out.Calls = append(out.Calls, c)
		case p.Raw != nil:
			var q private
			if json.Unmarshal(p.Raw, &q) == nil && q.Chat != nil { // else another provider's
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
	return []message{out}
}

// strict reports whether OpenAI would take the schema as one that answers are
// held to: every object closed, every property required.
func strict(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && closed(v)
}

func closed(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !closed(e) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !closed(e) {
				return false
			}
		}
		if v["type"] != "object" {
			return true
		}
		properties, _ := v["properties"].(map[string]any)
		required, _ := v["required"].([]any)
		return v["additionalProperties"] == false && len(required) == len(properties)
	}
	return true
}
