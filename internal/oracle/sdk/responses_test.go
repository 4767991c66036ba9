package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	ours "github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
	own "github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
)

func responsesWire() wire {
	return wire{
		model: func(h *http.Client) llm.Provider {
			return own.NewProvider(own.Config{Key: "k", BaseURL: base + "/v1", HTTP: h})
		},
		send: func(r llm.Request, h *http.Client) {
			client := openaiClient(h)
			stream := client.Responses.NewStreaming(context.Background(), responsesParams(r))
			_ = stream.Close()
		},
		again: func(t *testing.T, body map[string]any) any {
			t.Helper()
			p := into[responses.ResponseNewParams](t, body)
			if choice, ok := body["tool_choice"].(map[string]any); ok { // the SDK's union takes the first type that fits, and loses the name
				one := into[responses.ToolChoiceFunctionParam](t, choice)
				p.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &one}
			}
			return p
		},
		same: func(map[string]any) {},
		hear: hearResponses,
		deaf: []string{"no blank line at the end", "lines that end with CR"},
		known: func(raw json.RawMessage) string {
			var item struct {
				Responses struct {
					Summary []struct{ Text string }
				}
			}
			_ = json.Unmarshal(raw, &item)
			text := ""
			for _, s := range item.Responses.Summary {
				text += s.Text
			}
			return text
		},
	}
}

func responsesParams(r llm.Request) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: r.Model, MaxOutputTokens: sdk.Int(r.MaxTokens), Store: sdk.Bool(false),
		Include: []responses.ResponseIncludable{"reasoning.encrypted_content"},
	}
	if r.Effort != "" {
		p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(r.Effort), Summary: "auto"}
	}
	if r.Family != "" {
		p.PromptCacheKey = sdk.String(r.Family)
	}
	if r.System != "" {
		p.Instructions = sdk.String(r.System)
	}
	if r.Schema != nil {
		format := responses.ResponseFormatTextJSONSchemaConfigParam{Name: "answer", Schema: object(r.Schema)}
		if ours.IsStrictSchema(r.Schema) {
			format.Strict = sdk.Bool(true)
		}
		p.Text.Format.OfJSONSchema = &format
	}
	switch r.Force {
	case "":
	case llm.AnyTool:
		p.ToolChoice.OfToolChoiceMode = sdk.Opt(responses.ToolChoiceOptionsRequired)
	default:
		p.ToolChoice.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: r.Force}
	}
	for _, tool := range r.Tools {
		f := responses.FunctionToolParam{Name: tool.Name, Parameters: object(tool.Schema), Strict: sdk.Bool(false)}
		if tool.Description != "" {
			f.Description = sdk.String(tool.Description)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &f})
	}
	var items responses.ResponseInputParam
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			switch {
			case part.Call != nil:
				items = append(items, responses.ResponseInputItemParamOfFunctionCall(string(part.Call.Input), part.Call.ID, part.Call.Tool))
			case part.Result != nil:
				items = append(items, responses.ResponseInputItemParamOfFunctionCallOutput(part.Result.Text))
				items[len(items)-1].OfFunctionCallOutput.CallID = sdk.String(part.Result.ID)
			case m.From == llm.User:
				items = append(items, responses.ResponseInputItemUnionParam{OfMessage: &responses.EasyInputMessageParam{
					Role: "user", Type: "message",
					Content: responses.EasyInputMessageContentUnionParam{OfInputItemContentList: responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText(part.Text)}},
				}})
			default:
				items = append(items, responses.ResponseInputItemUnionParam{OfOutputMessage: &responses.ResponseOutputMessageParam{
					Content: []responses.ResponseOutputMessageContentUnionParam{{OfOutputText: &responses.ResponseOutputTextParam{Text: part.Text}}},
				}})
			}
		}
	}
	p.Input.OfInputItemList = items
	return p
}

func hearResponses(t *testing.T, h *http.Client) (answer, error) {
	t.Helper()
	client := openaiClient(h)
	stream := client.Responses.NewStreaming(t.Context(), responsesParams(conversations()["plain"]))
	defer func() { _ = stream.Close() }()
	var last *responses.Response
	for stream.Next() {
		switch event := stream.Current(); event.Type {
		case "response.completed", "response.incomplete":
			last = &event.Response
		}
	}
	if stream.Err() != nil || last == nil {
		return answer{}, lost(stream.Err())
	}
	a := answer{Model: last.Model, Stop: llm.StopDone}
	for _, item := range last.Output {
		switch item.Type {
		case "function_call":
			a.Stop = llm.StopTools
			a.Calls = append(a.Calls, llm.ToolCall{ID: item.CallID, Tool: item.Name, Input: json.RawMessage(item.Arguments.OfString)})
		case "reasoning":
			for _, s := range item.Summary {
				a.Thought += s.Text
			}
		case "message":
			for _, c := range item.Content {
				a.Text += c.Text + c.Refusal
				if c.Type == "refusal" {
					a.Stop = llm.StopRefuse
				}
			}
		}
	}
	switch last.IncompleteDetails.Reason {
	case "max_output_tokens":
		a.Stop = llm.StopLength
	case "content_filter":
		a.Stop = llm.StopRefuse
	}
	u := last.Usage
	a.Usage = nexus.Usage{Output: u.OutputTokens, CacheRead: u.InputTokensDetails.CachedTokens, CacheWrite: u.InputTokensDetails.CacheWriteTokens}
	a.Usage.Input = u.InputTokens - a.Usage.CacheRead - a.Usage.CacheWrite
	return a, nil
}
