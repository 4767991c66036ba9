package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// lookback is the number of blocks before a breakpoint in which the provider searches for an
// earlier one, with some margin.
const lookback = 16

// request is the body of a call. The growing fields are last.
type request struct {
	Model     string    `json:"model"`
	MaxTokens int64     `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	Cache     *cache    `json:"cache_control,omitempty"` // moves to the last block automatically
	Output    *output   `json:"output_config,omitempty"`
	Thinking  *thinking `json:"thinking,omitempty"`
	Choice    *choice   `json:"tool_choice,omitempty"`
	Tools     []tool    `json:"tools,omitempty"`
	System    []block   `json:"system,omitempty"`
	Messages  []message `json:"messages"`
}

type cache struct {
	Type string `json:"type"`
}

type output struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type thinking struct {
	Type    string `json:"type"`
	Display string `json:"display,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cache          `json:"cache_control,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // *block, or json.RawMessage for the provider's own blocks
}

// block is one of our content blocks.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Use     string          `json:"tool_use_id,omitempty"`
	Content *string         `json:"content,omitempty"`
	Failed  bool            `json:"is_error,omitempty"`
	Cache   *cache          `json:"cache_control,omitempty"`
}

// encode returns the body of the call. The breakpoints for the provider's cache are the end of
// tools and system, which never change, and the end of the request, set once at the top level so
// that a message's bytes stay the same from request to request.
func (m *model) encode(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.Error{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	ephemeral := &cache{Type: "ephemeral"}
	q := request{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true, Cache: ephemeral, Messages: []message{}}
	if effort := cmp.Or(r.Effort, m.effort); effort != "" || r.Schema != nil {
		q.Output = &output{Effort: effort}
		if r.Schema != nil {
			q.Output.Format = &format{Type: "json_schema", Schema: r.Schema}
		}
	}
	if m.thinking != "" {
		q.Thinking = &thinking{Type: m.thinking, Display: "summarized"}
	}
	switch r.Force {
	case "":
	case llm.AnyTool:
		q.Choice = &choice{Type: "any"}
	default:
		q.Choice = &choice{"tool", r.Force}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	if strings.TrimSpace(r.System) != "" {
		q.System = []block{{Type: "text", Text: r.System, Cache: ephemeral}}
	} else if n := len(q.Tools); n > 0 {
		q.Tools[n-1].Cache = ephemeral
	}
	for _, said := range r.Messages {
		if blocks := encodeParts(said.Parts); len(blocks) > 0 {
			q.Messages = append(q.Messages, message{Role: string(said.From), Content: blocks})
		}
	}
	bridge(q.Messages, ephemeral)
	return wire.Encode(q)
}

// encodeParts returns the blocks of a message: results first, as the provider requires, and no
// empty text, which it refuses.
func encodeParts(parts []llm.Part) []any {
	var results, rest []any
	for _, p := range parts {
		switch {
		case p.Result != nil:
			text := p.Result.Text
			results = append(results, &block{Type: "tool_result", Use: p.Result.ID, Content: &text, Failed: p.Result.Failed})
		case p.Call != nil:
			input := p.Call.Input
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			rest = append(rest, &block{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Tool, Input: input})
		case p.Raw != nil:
			var own struct{ Type string }
			if json.Unmarshal(p.Raw, &own) == nil && own.Type != "" { // else it belongs to another provider
				rest = append(rest, p.Raw)
			}
		case strings.TrimSpace(p.Text) != "":
			rest = append(rest, &block{Type: "text", Text: p.Text})
		}
	}
	return append(results, rest...)
}

// bridge adds a breakpoint at the end of the previous request, if the last turn was too large for
// the provider to search back that far.
func bridge(messages []message, c *cache) {
	blocks := 0
	for i := len(messages) - 1; i >= 0; i-- {
		last := len(messages[i].Content) - 1
		if b, ok := messages[i].Content[last].(*block); ok && blocks > lookback && messages[i].Role == string(llm.User) {
			b.Cache = c
			return
		}
		if blocks += last + 1; i < len(messages)-2 {
			return
		}
	}
}
