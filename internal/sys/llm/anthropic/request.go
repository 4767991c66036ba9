package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// lookback is the number of blocks before a breakpoint in which the provider searches for an
// earlier one, with some margin.
const lookback = 16

// anthropicRequest is the body of a call. The growing fields are last.
type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int64              `json:"max_tokens"`
	Stream    bool               `json:"stream"`
	Cache     *cacheControl      `json:"cache_control,omitempty"` // moves to the last block automatically
	Output    *outputConfig      `json:"output_config,omitempty"`
	Thinking  *thinkingOption    `json:"thinking,omitempty"`
	Choice    *toolChoiceOption  `json:"tool_choice,omitempty"`
	Tools     []anthropicTool    `json:"tools,omitempty"`
	System    []anthropicBlock   `json:"system,omitempty"`
	Messages  []anthropicMessage `json:"messages"`
}

type cacheControl struct {
	Type string `json:"type"`
}

type outputConfig struct {
	Effort string        `json:"effort,omitempty"`
	Format *answerFormat `json:"format,omitempty"`
}

type answerFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type toolChoiceOption struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type thinkingOption struct {
	Type    string `json:"type"`
	Display string `json:"display,omitempty"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cacheControl   `json:"cache_control,omitempty"`
}

type anthropicMessage struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // *block, or json.RawMessage for the provider's own blocks
}

// anthropicBlock is one of our content blocks.
type anthropicBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Use     string          `json:"tool_use_id,omitempty"`
	Content *string         `json:"content,omitempty"`
	Failed  bool            `json:"is_error,omitempty"`
	Cache   *cacheControl   `json:"cache_control,omitempty"`
}

// encodeRequest returns the body of the call. The breakpoints for the provider's cache are the end of
// tools and system, which never change, and the end of the request, set once at the top level so
// that a message's bytes stay the same from request to request.
func (m *anthropicModel) encodeRequest(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.ModelCallError{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	ephemeral := &cacheControl{Type: "ephemeral"}
	q := anthropicRequest{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true, Cache: ephemeral, Messages: []anthropicMessage{}}
	if effort := cmp.Or(r.Effort, m.effort); effort != "" || r.Schema != nil {
		q.Output = &outputConfig{Effort: effort}
		if r.Schema != nil {
			q.Output.Format = &answerFormat{Type: "json_schema", Schema: r.Schema}
		}
	}
	if m.thinking != "" {
		q.Thinking = &thinkingOption{Type: m.thinking, Display: "summarized"}
	}
	switch r.Force {
	case "":
	case llm.AnyTool:
		q.Choice = &toolChoiceOption{Type: "any"}
	default:
		q.Choice = &toolChoiceOption{"tool", r.Force}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, anthropicTool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	if strings.TrimSpace(r.System) != "" {
		q.System = []anthropicBlock{{Type: "text", Text: r.System, Cache: ephemeral}}
	} else if n := len(q.Tools); n > 0 {
		q.Tools[n-1].Cache = ephemeral
	}
	for _, said := range r.Messages {
		if blocks := encodeParts(said.Parts); len(blocks) > 0 {
			q.Messages = append(q.Messages, anthropicMessage{Role: string(said.From), Content: blocks})
		}
	}
	addCacheBreakpoint(q.Messages, ephemeral)
	return providerhttp.EncodeJSON(q)
}

// encodeParts returns the blocks of a message: results first, as the provider requires, and no
// empty text, which it refuses.
func encodeParts(parts []llm.MessagePart) []any {
	var results, rest []any
	for _, p := range parts {
		switch {
		case p.Result != nil:
			text := p.Result.Text
			results = append(results, &anthropicBlock{Type: "tool_result", Use: p.Result.ID, Content: &text, Failed: p.Result.Failed})
		case p.Call != nil:
			input := p.Call.Input
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			rest = append(rest, &anthropicBlock{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Tool, Input: input})
		case p.Raw != nil:
			var own struct{ Type string }
			if json.Unmarshal(p.Raw, &own) == nil && own.Type != "" { // else it belongs to another provider
				rest = append(rest, p.Raw)
			}
		case strings.TrimSpace(p.Text) != "":
			rest = append(rest, &anthropicBlock{Type: "text", Text: p.Text})
		}
	}
	return append(results, rest...)
}

// addCacheBreakpoint adds a breakpoint at the end of the previous request, if the last turn was too large for
// the provider to search back that far.
func addCacheBreakpoint(messages []anthropicMessage, c *cacheControl) {
	blocks := 0
	for i := len(messages) - 1; i >= 0; i-- {
		last := len(messages[i].Content) - 1
		if b, ok := messages[i].Content[last].(*anthropicBlock); ok && blocks > lookback && messages[i].Role == string(llm.User) {
			b.Cache = c
			return
		}
		if blocks += last + 1; i < len(messages)-2 {
			return
		}
	}
}
