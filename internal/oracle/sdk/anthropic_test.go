package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
)

func anthropicWire() wire {
	return wire{
		model: func(h *http.Client) llm.Provider {
			return anthropic.NewProvider(anthropic.Config{Key: "k", BaseURL: base, HTTP: h, Thinking: "adaptive"})
		},
		send: func(r llm.Request, h *http.Client) {
			client := anthropicClient(h)
			stream := client.Messages.NewStreaming(context.Background(), anthropicParams(r))
			_ = stream.Close()
		},
		again: func(t *testing.T, body map[string]any) any {
			t.Helper()
			return into[sdk.MessageNewParams](t, body)
		},
		same: anthropicSame,
		hear: hearAnthropic,
		deaf: []string{"a mark at the beginning", "no blank line at the end", "lines that end with CR"},
		known: func(raw json.RawMessage) string {
			var block struct{ Thinking string }
			_ = json.Unmarshal(raw, &block)
			return block.Thinking
		},
	}
}

func anthropicClient(h *http.Client) sdk.Client {
	return sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithMaxRetries(0), option.WithHTTPClient(h), option.WithAPIKey("k"), option.WithBaseURL(base))
}

func anthropicParams(r llm.Request) sdk.MessageNewParams {
	cache := sdk.NewCacheControlEphemeralParam()
	p := sdk.MessageNewParams{
		Model: r.Model, MaxTokens: r.MaxTokens, CacheControl: cache,
		Thinking: sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{Display: "summarized"}},
	}
	if r.System != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System, CacheControl: cache}}
	}
	p.OutputConfig.Effort = sdk.OutputConfigEffort(r.Effort)
	if r.Schema != nil {
		p.OutputConfig.Format.Schema = object(r.Schema)
	}
	switch r.Force {
	case "":
	case llm.AnyTool:
		p.ToolChoice.OfAny = &sdk.ToolChoiceAnyParam{}
	default:
		p.ToolChoice = sdk.ToolChoiceParamOfTool(r.Force)
	}
	for _, tool := range r.Tools {
		schema := object(tool.Schema)
		input := sdk.ToolInputSchemaParam{Properties: schema["properties"], ExtraFields: map[string]any{}}
		for k, v := range schema {
			if k != "properties" && k != "type" {
				input.ExtraFields[k] = v
			}
		}
		q := sdk.ToolParam{Name: tool.Name, InputSchema: input}
		if tool.Description != "" {
			q.Description = sdk.String(tool.Description)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &q})
	}
	for _, m := range r.Messages {
		var blocks []sdk.ContentBlockParamUnion
		for _, part := range m.Parts {
			switch {
			case part.Call != nil:
				blocks = append(blocks, sdk.NewToolUseBlock(part.Call.ID, part.Call.Input, part.Call.Tool))
			case part.Result != nil:
				blocks = append(blocks, sdk.NewToolResultBlock(part.Result.ID, part.Result.Text, part.Result.Failed))
			default:
				blocks = append(blocks, sdk.NewTextBlock(part.Text))
			}
		}
		if m.From == llm.Assistant {
			p.Messages = append(p.Messages, sdk.NewAssistantMessage(blocks...))
		} else {
			p.Messages = append(p.Messages, sdk.NewUserMessage(blocks...))
		}
	}
	return p
}

// anthropicSame writes the result of a tool as the API documents it: a text is
// short for a list of one text, and no error is the default.
func anthropicSame(body map[string]any) {
	each(body, func(o map[string]any) {
		if o["type"] != "tool_result" {
			return
		}
		if text, ok := o["content"].(string); ok {
			o["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		if o["is_error"] == false {
			delete(o, "is_error")
		}
	})
}

func hearAnthropic(t *testing.T, h *http.Client) (answer, error) {
	t.Helper()
	client := anthropicClient(h)
	stream := client.Messages.NewStreaming(t.Context(), anthropicParams(conversations()["plain"]))
	defer func() { _ = stream.Close() }()
	var m sdk.Message
	over := false
	for stream.Next() {
		event := stream.Current()
		over = over || event.Type == "message_stop"
		if err := m.Accumulate(event); err != nil {
			return answer{}, err
		}
	}
	if stream.Err() != nil || !over {
		return answer{}, lost(stream.Err())
	}
	a := answer{Model: m.Model, Stop: map[string]llm.StopReason{
		"end_turn": llm.StopDone, "tool_use": llm.StopTools, "max_tokens": llm.StopLength, "refusal": llm.StopRefuse,
	}[string(m.StopReason)]}
	for _, b := range m.Content {
		a.Text += b.Text
		a.Thought += b.Thinking
		if b.Type == "tool_use" {
			a.Calls = append(a.Calls, llm.ToolCall{ID: b.ID, Tool: b.Name, Input: b.Input})
		}
	}
	a.Usage = nexus.Usage{
		Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens, CacheRead: m.Usage.CacheReadInputTokens,
		CacheWrite: m.Usage.CacheCreationInputTokens, CacheHour: m.Usage.CacheCreation.Ephemeral1hInputTokens,
	}
	return a, nil
}
