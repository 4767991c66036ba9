package directoryprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Request is the content of request.json.
type Request struct {
	Model     string                `json:"model"`
	System    string                `json:"system,omitzero"`
	Tools     []llm.ToolDescription `json:"tools,omitempty"`
	Messages  []llm.Message         `json:"messages"`
	MaxTokens int64                 `json:"max_tokens"`
	Schema    json.RawMessage       `json:"schema,omitempty"` // for the text of the answer
	Force     string                `json:"force,omitzero"`   // tool that must be called; "*": any
	Effort    string                `json:"effort,omitzero"`
}

func newRequest(r llm.Request) Request {
	return Request{
		Model: r.Model, System: r.System, Tools: r.Tools, Messages: r.Messages,
		MaxTokens: r.MaxTokens, Schema: r.Schema, Force: r.Force, Effort: r.Effort,
	}
}

// DirectoryAnswer is the content of answer.json.
type DirectoryAnswer struct {
	Text  string              `json:"text,omitzero"`
	Calls []DirectoryToolCall `json:"calls,omitempty"`
	Stop  llm.StopReason      `json:"stop,omitzero"` // refuse or length; otherwise the calls decide
}

// DirectoryToolCall is a tool call.
type DirectoryToolCall struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"` // an object; missing: {}
}

// ParseAnswer parses an answer. Unknown fields are errors.
func ParseAnswer(data []byte) (DirectoryAnswer, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var a DirectoryAnswer
	if err := d.Decode(&a); err != nil {
		return DirectoryAnswer{}, fmt.Errorf(`write {"text": "...", "calls": [{"tool": "NAME", "input": {...}}]}: %w`, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return DirectoryAnswer{}, errors.New("there is text after the answer; write one JSON object")
	}
	switch a.Stop {
	case "", llm.StopRefuse, llm.StopLength:
	default:
		return DirectoryAnswer{}, fmt.Errorf("stop is %q; write refuse or length, or leave it out", a.Stop)
	}
	if strings.TrimSpace(a.Text) == "" && len(a.Calls) == 0 && a.Stop == "" {
		return DirectoryAnswer{}, errors.New("it is empty; write text, calls, or both")
	}
	for i := range a.Calls {
		if err := a.Calls[i].check(); err != nil {
			return DirectoryAnswer{}, fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return a, nil
}

func (c *DirectoryToolCall) check() error {
	if c.Tool == "" {
		return errors.New("it names no tool")
	}
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	if c.Input[0] != '{' {
		return fmt.Errorf("input of %s is not an object", c.Tool)
	}
	return nil
}

// toResponse converts the answer to a provider's response. The argument id makes the IDs of calls
// unique in a conversation.
func (a DirectoryAnswer) toResponse(id string) llm.Response {
	r := llm.Response{Message: llm.Message{From: llm.Assistant}, Stop: a.Stop, Model: ModelName, ID: id}
	if a.Text != "" {
		r.Message.Parts = append(r.Message.Parts, llm.MessagePart{Text: a.Text})
	}
	for i, c := range a.Calls {
		r.Message.Parts = append(r.Message.Parts, llm.MessagePart{Call: &llm.ToolCall{ID: fmt.Sprintf("call_%s_%d", id, i+1), Tool: c.Tool, Input: c.Input}})
	}
	switch {
	case r.Stop != "":
	case len(a.Calls) > 0:
		r.Stop = llm.StopTools
	default:
		r.Stop = llm.StopDone
	}
	return r
}

func (a DirectoryAnswer) byteSize() int {
	n := len(a.Text)
	for _, c := range a.Calls {
		n += len(c.Tool) + len(c.Input)
	}
	return n
}
