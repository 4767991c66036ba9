package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// unsignedSignature replaces the signature of a call by another provider's model: Gemini 3 refuses calls
// without a signature.
const unsignedSignature = "skip_thought_signature_validator"

type geminiContent struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"` // part, or json.RawMessage for the provider's own parts
}

type geminiPart struct {
	Text      string          `json:"text,omitempty"`
	Call      *geminiCall     `json:"functionCall,omitempty"`
	Response  *geminiResponse `json:"functionResponse,omitempty"`
	Signature string          `json:"thoughtSignature,omitempty"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiResponse struct {
	ID     string            `json:"id,omitempty"`
	Name   string            `json:"name"`
	Result map[string]string `json:"response"`
}

type generationConfig struct {
	MaxTokens int64           `json:"maxOutputTokens"`
	Kind      string          `json:"responseMimeType,omitempty"`
	Schema    json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking  *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	Level string `json:"thinkingLevel,omitempty"`
	Show  bool   `json:"includeThoughts"`
}

type functionDeclaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// storedProviderPart is data of the provider in a message, stored as a raw part before the part that it
// belongs to.
type storedProviderPart struct {
	Gemini *storedGeminiPart `json:"gemini"` // marks the part as ours
}

type storedGeminiPart struct {
	Part json.RawMessage `json:"part,omitempty"` // sent back unchanged
	Sign string          `json:"sign,omitempty"` // signature of the next part
	Call string          `json:"call,omitempty"` // ID of the signed call; empty for a text
}

// encodeRequest returns the body of the call.
func (m *geminiModel) encodeRequest(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.ModelCallError{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	g := generationConfig{MaxTokens: r.MaxTokens}
	if effort := strings.ToUpper(effortOfRequest(r, m.effort)); effort != "" {
		g.Thinking = &thinkingConfig{Level: effort, Show: true}
	}
	if r.Schema != nil {
		g.Kind, g.Schema = "application/json", r.Schema
	}
	body := map[string]any{"generationConfig": g}
	if len(r.Tools) > 0 {
		var all []functionDeclaration
		for _, t := range r.Tools {
			all = append(all, functionDeclaration(t))
		}
		body["tools"] = []any{map[string]any{"functionDeclarations": all}}
		if r.Force != "" {
			body["toolConfig"] = map[string]any{"functionCallingConfig": forcedTool(r.Force)}
		}
	}
	if strings.TrimSpace(r.System) != "" {
		body["systemInstruction"] = geminiContent{Parts: []any{geminiPart{Text: r.System}}}
	}
	contents := []geminiContent{}
	names := map[string]string{} // of tools, by call ID
	for _, said := range r.Messages {
		c := geminiContent{Role: "user"}
		if said.From == llm.Assistant {
			c.Role, c.Parts = "model", encodeModelMessage(said.Parts, names)
		} else {
			c.Parts = encodeUserMessage(said.Parts, names)
		}
		if len(c.Parts) > 0 {
			contents = append(contents, c)
		}
	}
	body["contents"] = contents
	return providerhttp.EncodeJSON(body)
}

func effortOfRequest(r llm.Request, usual string) string {
	if r.Effort != "" {
		return r.Effort
	}
	return usual
}

func forcedTool(tool string) any {
	mode := struct {
		Mode  string   `json:"mode"`
		Names []string `json:"allowedFunctionNames,omitempty"`
	}{Mode: "ANY"}
	if tool != llm.AnyTool {
		mode.Names = []string{tool}
	}
	return mode
}

// encodeUserMessage returns the results, then the text.
func encodeUserMessage(parts []llm.MessagePart, names map[string]string) []any {
	var results, rest []any
	for _, p := range parts {
		switch {
		case p.Result != nil:
			field := "output"
			if p.Result.Failed {
				field = "error"
			}
			results = append(results, geminiPart{Response: &geminiResponse{
				ID: originalID(p.Result.ID), Name: names[p.Result.ID], Result: map[string]string{field: p.Result.Text},
			}})
		case strings.TrimSpace(p.Text) != "":
			rest = append(rest, geminiPart{Text: p.Text})
		}
	}
	return append(results, rest...)
}

// encodeModelMessage returns the model's parts unchanged.
func encodeModelMessage(parts []llm.MessagePart, names map[string]string) []any {
	var out []any
	var sign storedGeminiPart
	own, calls := false, 0
	for _, p := range parts {
		switch {
		case p.Raw != nil:
			var q storedProviderPart
			if json.Unmarshal(p.Raw, &q) != nil || q.Gemini == nil { // it belongs to another provider
				continue
			}
			own = true
			if q.Gemini.Part != nil {
				out = append(out, q.Gemini.Part)
			} else {
				sign = *q.Gemini
			}
		case p.Call != nil:
			names[p.Call.ID] = p.Call.Tool
			c := geminiPart{Call: &geminiCall{ID: originalID(p.Call.ID), Name: p.Call.Tool, Args: p.Call.Input}}
			switch {
			case sign.Call == p.Call.ID:
				c.Signature = sign.Sign
			case !own && calls == 0:
				c.Signature = unsignedSignature
			}
			out, sign, calls = append(out, c), storedGeminiPart{}, calls+1
		case strings.TrimSpace(p.Text) != "":
			t := geminiPart{Text: p.Text}
			if sign.Call == "" {
				t.Signature = sign.Sign
			}
			out, sign = append(out, t), storedGeminiPart{}
		}
	}
	return out
}

// madeIDPrefix is the prefix of generated call IDs.
const madeIDPrefix = "gemini-call-"

// originalID returns the provider's ID, or "" for a generated one.
func originalID(id string) string {
	if strings.HasPrefix(id, madeIDPrefix) {
		return ""
	}
	return id
}

func makeCallID(step, index int) string { return fmt.Sprintf("%s%d-%d", madeIDPrefix, step, index) }
