package responses

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// responsesRequest is the body of a call. The growing fields are last.
type responsesRequest struct {
	Model        string            `json:"model"`
	MaxTokens    int64             `json:"max_output_tokens"`
	Stream       bool              `json:"stream"`
	Store        bool              `json:"store"`
	Include      []string          `json:"include"`
	Reasoning    *reasoningOptions `json:"reasoning,omitempty"`
	Text         *textOptions      `json:"text,omitempty"`
	Choice       any               `json:"tool_choice,omitempty"`
	Tools        []functionTool    `json:"tools,omitempty"`
	Instructions string            `json:"instructions,omitempty"`
	Input        []any             `json:"input"`                      // the types below, or json.RawMessage for the provider's own items
	Family       string            `json:"prompt_cache_key,omitempty"` // last, because it differs from run to run
}

type reasoningOptions struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type textOptions struct {
	Format outputFormat `json:"format"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Strict bool            `json:"strict,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

type functionTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict"`
}

type inputMessage struct {
	Type    string      `json:"type"`
	Role    string      `json:"role"`
	Content []inputText `json:"content"`
	Phase   string      `json:"phase,omitempty"`
}

type inputText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type inputToolCall struct {
	Type      string `json:"type"`
	ID        string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type inputToolResult struct {
	Type   string `json:"type"`
	ID     string `json:"call_id"`
	Output string `json:"output"`
}

// storedProviderItem is provider data that must be sent back, stored as a raw part: an item, or the phase of
// the texts that follow, which distinguishes the final answer from intermediate texts.
type storedProviderItem struct {
	Item  json.RawMessage `json:"responses,omitempty"`
	Phase string          `json:"responses_phase,omitempty"`
}

func (m *responsesModel) encodeRequest(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.ModelCallError{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	q := responsesRequest{
		Model: r.Model, MaxTokens: max(r.MaxTokens, 16), // smaller values are refused
		Stream: true, Include: []string{"reasoning.encrypted_content"}, Input: []any{},
		Family: providerhttp.CacheKey(r.Family),
	}
	if effort := cmp.Or(r.Effort, m.effort); effort != "" {
		q.Reasoning = &reasoningOptions{Effort: effort, Summary: "auto"}
	}
	if r.Schema != nil {
		q.Text = &textOptions{outputFormat{Type: "json_schema", Name: "answer", Strict: providerhttp.IsStrictSchema(r.Schema), Schema: r.Schema}}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, functionTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
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
			q.Input = append(q.Input, encodeModelMessage(said.Parts)...)
		} else {
			q.Input = append(q.Input, encodeUserMessage(said)...)
		}
	}
	return providerhttp.EncodeJSON(q)
}

// encodeUserMessage returns an item for each result, then one for the text.
func encodeUserMessage(m llm.Message) []any {
	var out []any
	for _, p := range m.Parts {
		if p.Result != nil {
			out = append(out, inputToolResult{"function_call_output", p.Result.ID, p.Result.Text})
		}
	}
	if said := m.Text(); strings.TrimSpace(said) != "" {
		out = append(out, inputMessage{Type: "message", Role: "user", Content: []inputText{{"input_text", said}}})
	}
	return out
}

// encodeModelMessage returns the model's items unchanged.
func encodeModelMessage(parts []llm.MessagePart) []any {
	var out []any
	phase := ""
	for _, p := range parts {
		switch {
		case p.Raw != nil:
			var q storedProviderItem
			if json.Unmarshal(p.Raw, &q) != nil { // it belongs to another provider
				continue
			}
			if phase = q.Phase; q.Item != nil {
				out = append(out, q.Item)
			}
		case p.Call != nil:
			phase = ""
			out = append(out, inputToolCall{"function_call", p.Call.ID, p.Call.Tool, string(p.Call.Input)})
		case strings.TrimSpace(p.Text) != "":
			out = append(out, inputMessage{Type: "message", Role: "assistant", Content: []inputText{{"output_text", p.Text}}, Phase: phase})
		}
	}
	return out
}
