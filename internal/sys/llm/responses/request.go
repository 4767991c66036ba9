package responses

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
	Model        string     `json:"model"`
	MaxTokens    int64      `json:"max_output_tokens"`
	Stream       bool       `json:"stream"`
	Store        bool       `json:"store"`
	Include      []string   `json:"include"`
	Reasoning    *reasoning `json:"reasoning,omitempty"`
	Text         *text      `json:"text,omitempty"`
	Choice       any        `json:"tool_choice,omitempty"`
	Tools        []tool     `json:"tools,omitempty"`
	Instructions string     `json:"instructions,omitempty"`
	Input        []any      `json:"input"`                      // the types below, or json.RawMessage for the provider's own items
	Family       string     `json:"prompt_cache_key,omitempty"` // last, because it differs from run to run
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type text struct {
	Format format `json:"format"`
}

type format struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Strict bool            `json:"strict,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict"`
}

type message struct {
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Content []block `json:"content"`
	Phase   string  `json:"phase,omitempty"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type call struct {
	Type      string `json:"type"`
	ID        string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type result struct {
	Type   string `json:"type"`
	ID     string `json:"call_id"`
	Output string `json:"output"`
}

// private is provider data that must be sent back, stored as a raw part: an item, or the phase of
// the texts that follow, which distinguishes the final answer from intermediate texts.
type private struct {
	Item  json.RawMessage `json:"responses,omitempty"`
	Phase string          `json:"responses_phase,omitempty"`
}

func (m *model) encode(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.Error{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	q := request{
		Model: r.Model, MaxTokens: max(r.MaxTokens, 16), // smaller values are refused
		Stream: true, Include: []string{"reasoning.encrypted_content"}, Input: []any{},
		Family: wire.Key(r.Family),
	}
	if effort := cmp.Or(r.Effort, m.effort); effort != "" {
		q.Reasoning = &reasoning{Effort: effort, Summary: "auto"}
	}
	if r.Schema != nil {
		q.Text = &text{format{Type: "json_schema", Name: "answer", Strict: wire.Strict(r.Schema), Schema: r.Schema}}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	switch r.Force {
	case "":
	case llm.AnyTool:
		q.Choice = "required"
	default:
		q.Choice = map[string]string{"type": "function", "name": r.Force}
	}
	if strings.TrimSpace(r.System) != "" {
		q.Instructions = r.System
	}
	for _, said := range r.Messages {
		if said.From == llm.Assistant {
			q.Input = append(q.Input, encodeAnswer(said.Parts)...)
		} else {
			q.Input = append(q.Input, encodeOurs(said)...)
		}
	}
	return wire.Encode(q)
}

// encodeOurs returns an item for each result, then one for the text.
func encodeOurs(m llm.Message) []any {
	var out []any
	for _, p := range m.Parts {
		if p.Result != nil {
			out = append(out, result{"function_call_output", p.Result.ID, p.Result.Text})
		}
	}
	if said := m.Text(); strings.TrimSpace(said) != "" {
		out = append(out, message{Type: "message", Role: "user", Content: []block{{"input_text", said}}})
	}
	return out
}

// encodeAnswer returns the model's items unchanged.
func encodeAnswer(parts []llm.Part) []any {
	var out []any
	phase := ""
	for _, p := range parts {
		switch {
		case p.Raw != nil:
			var q private
			if json.Unmarshal(p.Raw, &q) != nil { // it belongs to another provider
				continue
			}
			if phase = q.Phase; q.Item != nil {
				out = append(out, q.Item)
			}
		case p.Call != nil:
			phase = ""
			out = append(out, call{"function_call", p.Call.ID, p.Call.Tool, string(p.Call.Input)})
		case strings.TrimSpace(p.Text) != "":
			out = append(out, message{Type: "message", Role: "assistant", Content: []block{{"output_text", p.Text}}, Phase: phase})
		}
	}
	return out
}
