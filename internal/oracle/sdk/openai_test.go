package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	ours "github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

func chatWire() wire {
	return wire{
		model: func(h *http.Client) llm.Provider {
			return openai.NewProvider(openai.Config{Key: "k", BaseURL: base + "/v1", HTTP: h, Server: "openai"})
		},
		send: func(r llm.Request, h *http.Client) {
			client := openaiClient(h)
			stream := client.Chat.Completions.NewStreaming(context.Background(), chatParams(r))
			_ = stream.Close()
		},
		again: func(t *testing.T, body map[string]any) any {
			t.Helper()
			p := into[sdk.ChatCompletionNewParams](t, body)
			if choice, ok := body["tool_choice"].(map[string]any); ok { // the SDK's union takes the first type that fits, and loses the name
				one := into[sdk.ChatCompletionNamedToolChoiceParam](t, choice)
				p.ToolChoice = sdk.ChatCompletionToolChoiceOptionUnionParam{OfFunctionToolChoice: &one}
			}
			return p
		},
		same: func(body map[string]any) {
			each(body, func(o map[string]any) {
				if content, ok := o["content"]; ok && content == nil {
					delete(o, "content") // as the API documents it
				}
				delete(o, "reasoning_content") // of compatible servers; the SDK does not know it
			})
		},
		hear: hearChat,
		deaf: []string{"lines that end with CR"},
		known: func(raw json.RawMessage) string {
			var own struct {
				Chat struct {
					Thought string `json:"reasoning_content"`
				}
			}
			_ = json.Unmarshal(raw, &own)
			return own.Chat.Thought
		},
	}
}

func openaiClient(h *http.Client) sdk.Client {
	return sdk.NewClient(option.WithMaxRetries(0), option.WithHTTPClient(h), option.WithAPIKey("k"), option.WithBaseURL(base+"/v1"))
}

func chatParams(r llm.Request) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model: r.Model, MaxCompletionTokens: sdk.Int(r.MaxTokens), ReasoningEffort: shared.ReasoningEffort(r.Effort),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if r.Family != "" {
		p.PromptCacheKey = sdk.String(r.Family)
	}
	if r.Schema != nil {
		format := shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: object(r.Schema)}}
		if ours.IsStrictSchema(r.Schema) {
			format.JSONSchema.Strict = sdk.Bool(true)
		}
		p.ResponseFormat.OfJSONSchema = &format
	}
	switch r.Force {
	case "":
	case llm.AnyTool:
		p.ToolChoice.OfAuto = sdk.String("required")
	default:
		p.ToolChoice = sdk.ToolChoiceOptionFunctionToolChoice(sdk.ChatCompletionNamedToolChoiceFunctionParam{Name: r.Force})
	}
	for _, tool := range r.Tools {
		f := shared.FunctionDefinitionParam{Name: tool.Name, Parameters: object(tool.Schema)}
		if tool.Description != "" {
			f.Description = sdk.String(tool.Description)
		}
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	if r.System != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(r.System))
	}
	for _, m := range r.Messages {
		if m.From == llm.User {
			for _, part := range m.Parts {
				if part.Result != nil {
					p.Messages = append(p.Messages, sdk.ToolMessage(part.Result.Text, part.Result.ID))
				} else {
					p.Messages = append(p.Messages, sdk.UserMessage(part.Text))
				}
			}
			continue
		}
		said := sdk.ChatCompletionAssistantMessageParam{}
		for _, part := range m.Parts {
			if part.Call == nil {
				said.Content.OfString = sdk.String(part.Text)
				continue
			}
			said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: part.Call.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: part.Call.Tool, Arguments: string(part.Call.Input)},
			}})
		}
		p.Messages = append(p.Messages, sdk.ChatCompletionMessageParamUnion{OfAssistant: &said})
	}
	return p
}

func hearChat(t *testing.T, h *http.Client) (answer, error) {
	t.Helper()
	client := openaiClient(h)
	stream := client.Chat.Completions.NewStreaming(t.Context(), chatParams(conversations()["plain"]))
	defer func() { _ = stream.Close() }()
	var all sdk.ChatCompletionAccumulator
	var a answer
	var u sdk.CompletionUsage // the accumulator leaves out what the cache took
	for stream.Next() {
		chunk := stream.Current()
		if chunk.JSON.Usage.Valid() {
			u = chunk.Usage
		}
		if chunk.Object == "novelty" {
			continue // the accumulator takes no other answer's chunks
		}
		if !all.AddChunk(chunk) {
			return answer{}, lost(nil)
		}
		for _, c := range chunk.Choices { // the accumulator knows no thinking
			var thought string
			_ = json.Unmarshal([]byte(c.Delta.JSON.ExtraFields["reasoning_content"].Raw()), &thought)
			a.Thought += thought
		}
	}
	if stream.Err() != nil || len(all.Choices) == 0 || all.Choices[0].FinishReason == "" {
		return answer{}, lost(stream.Err())
	}
	m := all.Choices[0].Message
	a.Model, a.Text = all.Model, m.Content+m.Refusal
	a.Stop = map[string]llm.StopReason{
		"stop": llm.StopDone, "tool_calls": llm.StopTools, "length": llm.StopLength, "content_filter": llm.StopRefuse,
	}[all.Choices[0].FinishReason]
	if m.Refusal != "" {
		a.Stop = llm.StopRefuse
	}
	for _, c := range m.ToolCalls {
		a.Calls = append(a.Calls, llm.ToolCall{ID: c.ID, Tool: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	a.Usage = nexus.Usage{Output: u.CompletionTokens, CacheRead: u.PromptTokensDetails.CachedTokens, CacheWrite: u.PromptTokensDetails.CacheWriteTokens}
	a.Usage.Input = u.PromptTokens - a.Usage.CacheRead - a.Usage.CacheWrite
	return a, nil
}
