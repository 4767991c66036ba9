package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// request is the body of a call. The growing fields are last.
type request struct {
	Model         string    `json:"model"`
	MaxCompletion int64     `json:"max_completion_tokens,omitempty"`
	MaxTokens     int64     `json:"max_tokens,omitempty"`
	Stream        bool      `json:"stream"`
	StreamOptions *options  `json:"stream_options,omitempty"`
	Usage         *account  `json:"usage,omitempty"`
	Effort        string    `json:"reasoning_effort,omitempty"`
	Reasoning     *thinking `json:"reasoning,omitempty"`
	Format        *format   `json:"response_format,omitempty"`
	Choice        any       `json:"tool_choice,omitempty"`
	Tools         []tool    `json:"tools,omitempty"`
	Messages      []message `json:"messages"`
	Family        string    `json:"prompt_cache_key,omitempty"` // last, because it differs from run to run
}

type options struct {
	Usage bool `json:"include_usage"`
}

type account struct {
	Include bool `json:"include"`
}

type thinking struct {
	Effort string `json:"effort"`
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

// private is a server's own data in a message, stored as a raw part.
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
		return nil, &llm.Error{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	q := request{Model: r.Model, Stream: true, Messages: []message{}}
	m.adapt(&q, r)
	if r.Schema != nil {
		q.Format = &format{Type: "json_schema"}
		q.Format.Schema.Name, q.Format.Schema.Schema = "answer", r.Schema
		q.Format.Schema.Strict = wire.Strict(r.Schema)
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

// adapt sets the fields that differ between servers.
func (m *model) adapt(q *request, r llm.Request) {
	if m.server.Limit == "max_completion_tokens" || strings.HasPrefix(r.Model, "gpt-") { // it refuses the older name; others refuse the newer one
		q.MaxCompletion = r.MaxTokens
	} else {
		q.MaxTokens = r.MaxTokens
	}
	if !m.server.NoOptions {
		q.StreamOptions = &options{Usage: true}
	}
	if m.server.CacheKey {
		q.Family = wire.Key(r.Family)
	}
	if m.server.Cost {
		q.Usage = &account{true}
	}
	switch effort := cmp.Or(r.Effort, m.effort); {
	case effort == "" || m.server.Effort == "":
	case m.server.Effort == "reasoning":
		q.Reasoning = &thinking{effort}
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

// encodeAnswer returns the model's message unchanged, or none if it has no part that can be sent.
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
	return []message{out}
}
