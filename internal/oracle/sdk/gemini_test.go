package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	sdk "google.golang.org/genai"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/gemini"
)

func geminiWire() wire {
	return wire{
		model: func(h *http.Client) llm.Provider {
			return gemini.NewProvider(gemini.Config{Key: "k", BaseURL: base, HTTP: h})
		},
		send: func(r llm.Request, h *http.Client) {
			config, contents := geminiParams(r)
			for range geminiClient(h).Models.GenerateContentStream(context.Background(), r.Model, contents, config) {
				return
			}
		},
		again: func(t *testing.T, body map[string]any) any {
			t.Helper()
			return into[geminiRequest](t, body)
		},
		same: func(body map[string]any) {
			if system, ok := body["systemInstruction"].(map[string]any); ok {
				delete(system, "role") // the SDK names the user, where the API ignores who
			}
			each(body, func(o map[string]any) {
				// Google documents these words where there is no signature; the SDK
				// takes nothing but base64.
				if o["thoughtSignature"] == "skip_thought_signature_validator" {
					delete(o, "thoughtSignature")
				}
				if call, ok := o["functionCall"].(map[string]any); ok && len(object(must(call["args"]))) == 0 {
					delete(call, "args") // as the API documents it
				}
			})
		},
		hear: hearGemini,
		deaf: []string{
			"a mark at the beginning", "comments", "no blank line at the end", "lines that end with CR", "lines that end with CRLF",
			"fields that nobody asked for", "data of two lines", "noise", "no-object",
		},
		known: func(raw json.RawMessage) string {
			var own struct {
				Gemini struct{ Part struct{ Text string } }
			}
			_ = json.Unmarshal(raw, &own)
			return own.Gemini.Part.Text
		},
	}
}

// geminiRequest is the body of a call in the SDK's types; the SDK has none for
// the whole.
type geminiRequest struct {
	Contents   []*sdk.Content        `json:"contents"`
	Generation *sdk.GenerationConfig `json:"generationConfig,omitempty"`
	System     *sdk.Content          `json:"systemInstruction,omitempty"`
	Config     *sdk.ToolConfig       `json:"toolConfig,omitempty"`
	Tools      []*sdk.Tool           `json:"tools,omitempty"`
}

func must(v any) []byte {
	data, _ := json.Marshal(v)
	return data
}

func geminiClient(h *http.Client) *sdk.Client {
	c, err := sdk.NewClient(context.Background(), &sdk.ClientConfig{
		APIKey: "k", Backend: sdk.BackendGeminiAPI, HTTPClient: h, HTTPOptions: sdk.HTTPOptions{BaseURL: base, APIVersion: "v1beta"},
	})
	if err != nil {
		panic(err)
	}
	return c
}

func geminiParams(r llm.Request) (*sdk.GenerateContentConfig, []*sdk.Content) {
	c := &sdk.GenerateContentConfig{MaxOutputTokens: int32(r.MaxTokens)}
	if r.System != "" {
		c.SystemInstruction = &sdk.Content{Parts: []*sdk.Part{{Text: r.System}}}
	}
	if r.Effort != "" {
		c.ThinkingConfig = &sdk.ThinkingConfig{ThinkingLevel: sdk.ThinkingLevelHigh, IncludeThoughts: true}
	}
	if r.Schema != nil {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", r.Schema
	}
	if r.Force != "" {
		c.ToolConfig = &sdk.ToolConfig{FunctionCallingConfig: &sdk.FunctionCallingConfig{Mode: sdk.FunctionCallingConfigModeAny}}
		if r.Force != llm.AnyTool {
			c.ToolConfig.FunctionCallingConfig.AllowedFunctionNames = []string{r.Force}
		}
	}
	var tool sdk.Tool
	for _, t := range r.Tools {
		tool.FunctionDeclarations = append(tool.FunctionDeclarations, &sdk.FunctionDeclaration{Name: t.Name, Description: t.Description, ParametersJsonSchema: t.Schema})
	}
	if len(r.Tools) > 0 {
		c.Tools = []*sdk.Tool{&tool}
	}
	var contents []*sdk.Content
	names := map[string]string{}
	for _, m := range r.Messages {
		said := &sdk.Content{Role: "user"}
		if m.From == llm.Assistant {
			said.Role = "model"
		}
		for _, part := range m.Parts {
			switch {
			case part.Call != nil:
				names[part.Call.ID] = part.Call.Tool
				said.Parts = append(said.Parts, &sdk.Part{FunctionCall: &sdk.FunctionCall{ID: part.Call.ID, Name: part.Call.Tool, Args: object(part.Call.Input)}})
			case part.Result != nil:
				field := "output"
				if part.Result.Failed {
					field = "error"
				}
				said.Parts = append(said.Parts, &sdk.Part{FunctionResponse: &sdk.FunctionResponse{ID: part.Result.ID, Name: names[part.Result.ID], Response: map[string]any{field: part.Result.Text}}})
			default:
				said.Parts = append(said.Parts, &sdk.Part{Text: part.Text})
			}
		}
		contents = append(contents, said)
	}
	return c, contents
}

func hearGemini(t *testing.T, h *http.Client) (answer, error) {
	t.Helper()
	config, contents := geminiParams(conversations()["plain"])
	var a answer
	reason := ""
	for r, err := range geminiClient(h).Models.GenerateContentStream(t.Context(), "m", contents, config) {
		if err != nil {
			return answer{}, err
		}
		if r.ModelVersion != "" {
			a.Model = r.ModelVersion
		}
		if u := r.UsageMetadata; u != nil {
			a.Usage = nexus.Usage{
				Input: int64(u.PromptTokenCount - u.CachedContentTokenCount), CacheRead: int64(u.CachedContentTokenCount),
				Output: int64(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			}
		}
		for _, c := range r.Candidates {
			if c.FinishReason != "" {
				reason = string(c.FinishReason)
			}
			if c.Content == nil {
				continue
			}
			for _, p := range c.Content.Parts {
				switch {
				case p.FunctionCall != nil:
					a.Calls = append(a.Calls, llm.ToolCall{ID: p.FunctionCall.ID, Tool: p.FunctionCall.Name, Input: must(p.FunctionCall.Args)})
				case p.Thought:
					a.Thought += p.Text
				default:
					a.Text += p.Text
				}
			}
		}
	}
	switch reason {
	case "":
		return answer{}, lost(nil)
	case "STOP":
		if a.Stop = llm.StopDone; len(a.Calls) > 0 {
			a.Stop = llm.StopTools
		}
	case "MAX_TOKENS":
		a.Stop = llm.StopLength
	case "MALFORMED_FUNCTION_CALL":
		a.Stop = llm.StopMalformed
	default:
		a.Stop = llm.StopRefuse
	}
	return a, nil
}
