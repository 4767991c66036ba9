package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// unsigned replaces the signature of a call by another provider's model: Gemini 3 refuses calls
// without a signature.
const unsigned = "skip_thought_signature_validator"

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"` // part, or json.RawMessage for the provider's own parts
}

type part struct {
	Text      string    `json:"text,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type response struct {
	ID     string            `json:"id,omitempty"`
	Name   string            `json:"name"`
	Result map[string]string `json:"response"`
}

type generation struct {
	MaxTokens int64           `json:"maxOutputTokens"`
	Kind      string          `json:"responseMimeType,omitempty"`
	Schema    json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking  *thinking       `json:"thinkingConfig,omitempty"`
}

type thinking struct {
	Level string `json:"thinkingLevel,omitempty"`
	Show  bool   `json:"includeThoughts"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// private is data of the provider in a message, stored as a raw part before the part that it
// belongs to.
type private struct {
	Gemini *kept `json:"gemini"` // marks the part as ours
}

type kept struct {
	Part json.RawMessage `json:"part,omitempty"` // sent back unchanged
	Sign string          `json:"sign,omitempty"` // signature of the next part
	Call string          `json:"call,omitempty"` // ID of the signed call; empty for a text
}

// encode returns the body of the call.
func (m *model) encode(r llm.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, &llm.Error{Class: llm.Invalid, Code: "max_tokens", Cause: errors.New("a request needs a limit on its answer")}
	}
	g := generation{MaxTokens: r.MaxTokens}
	if effort := strings.ToUpper(effortOf(r, m.effort)); effort != "" {
		g.Thinking = &thinking{Level: effort, Show: true}
	}
	if r.Schema != nil {
		g.Kind, g.Schema = "application/json", r.Schema
	}
	body := map[string]any{"generationConfig": g}
	if len(r.Tools) > 0 {
		var all []declaration
		for _, t := range r.Tools {
			all = append(all, declaration(t))
		}
		body["tools"] = []any{map[string]any{"functionDeclarations": all}}
		if r.Force != "" {
			body["toolConfig"] = map[string]any{"functionCallingConfig": forced(r.Force)}
		}
	}
	if strings.TrimSpace(r.System) != "" {
		body["systemInstruction"] = content{Parts: []any{part{Text: r.System}}}
	}
	contents := []content{}
	names := map[string]string{} // of tools, by call ID
	for _, said := range r.Messages {
		c := content{Role: "user"}
		if said.From == llm.Assistant {
			c.Role, c.Parts = "model", encodeAnswer(said.Parts, names)
		} else {
			c.Parts = encodeOurs(said.Parts, names)
		}
		if len(c.Parts) > 0 {
			contents = append(contents, c)
		}
	}
	body["contents"] = contents
	return wire.Encode(body)
}

func effortOf(r llm.Request, usual string) string {
	if r.Effort != "" {
		return r.Effort
	}
	return usual
}

func forced(tool string) any {
	mode := struct {
		Mode  string   `json:"mode"`
		Names []string `json:"allowedFunctionNames,omitempty"`
	}{Mode: "ANY"}
	if tool != llm.AnyTool {
		mode.Names = []string{tool}
	}
	return mode
}

// encodeOurs returns the results, then the text.
func encodeOurs(parts []llm.Part, names map[string]string) []any {
	var results, rest []any
	for _, p := range parts {
		switch {
		case p.Result != nil:
			field := "output"
			if p.Result.Failed {
				field = "error"
			}
			results = append(results, part{Response: &response{
				ID: ours(p.Result.ID), Name: names[p.Result.ID], Result: map[string]string{field: p.Result.Text},
			}})
		case strings.TrimSpace(p.Text) != "":
			rest = append(rest, part{Text: p.Text})
		}
	}
	return append(results, rest...)
}

// encodeAnswer returns the model's parts unchanged.
func encodeAnswer(parts []llm.Part, names map[string]string) []any {
	var out []any
	var sign kept
	own, calls := false, 0
	for _, p := range parts {
		switch {
		case p.Raw != nil:
			var q private
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
			c := part{Call: &call{ID: ours(p.Call.ID), Name: p.Call.Tool, Args: p.Call.Input}}
			switch {
			case sign.Call == p.Call.ID:
				c.Signature = sign.Sign
			case !own && calls == 0:
				c.Signature = unsigned
			}
			out, sign, calls = append(out, c), kept{}, calls+1
		case strings.TrimSpace(p.Text) != "":
			t := part{Text: p.Text}
			if sign.Call == "" {
				t.Signature = sign.Sign
			}
			out, sign = append(out, t), kept{}
		}
	}
	return out
}

// made is the prefix of generated call IDs.
const made = "gemini-call-"

// ours returns the provider's ID, or "" for a generated one.
func ours(id string) string {
	if strings.HasPrefix(id, made) {
		return ""
	}
	return id
}

func madeID(step, index int) string { return fmt.Sprintf("%s%d-%d", made, step, index) }
