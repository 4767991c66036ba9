package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// chatChunk has the used fields of a piece of an answer.
type chatChunk struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Usage   *chatUsage      `json:"usage"`
	Service string          `json:"service_tier"`
	Choices []chatChoice    `json:"choices"`
}

type chatChoice struct {
	Index  int    `json:"index"`
	Reason string `json:"finish_reason"`
	Delta  struct {
		Content string              `json:"content"`
		Refusal string              `json:"refusal"`
		Thought string              `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
		Also    string              `json:"reasoning"`         // OpenRouter, newer vLLM
		Details json.RawMessage     `json:"reasoning_details"` // OpenRouter; must be sent back
		Calls   []chatToolCallDelta `json:"tool_calls"`
	} `json:"delta"`
}

type chatToolCallDelta struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string, from some servers an object
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

type chatUsage struct {
	Prompt     providerhttp.TokenCount `json:"prompt_tokens"` // with tokens read from and written to the cache
	Completion providerhttp.TokenCount `json:"completion_tokens"`
	Details    struct {
		Cached  providerhttp.TokenCount `json:"cached_tokens"`
		Written providerhttp.TokenCount `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Cost json.RawMessage `json:"cost"` // dollars, from OpenRouter
}

// chatAnswerDraft is an incomplete answer.
type chatAnswerDraft struct {
	r       llm.Response
	text    strings.Builder
	refusal strings.Builder
	thought strings.Builder
	details []json.RawMessage
	calls   []*chatToolCallDraft
	reason  string
	counted bool // the server reported the usage
	bytes   int  // of the answer so far
	over    bool
	table   serverQuirksTable
	makes   bool                  // generates an ID for a call without one
	step    int                   // number of earlier answers
	hear    func(llm.AnswerDelta) // called with non-empty pieces
}

// chatToolCallDraft is an incomplete call.
type chatToolCallDraft struct {
	index    int
	id, name string
	input    strings.Builder
	extra    json.RawMessage
}

// addChunk adds one chunk.
func (d *chatAnswerDraft) addChunk(data []byte, key string) error {
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		d.over = true
		return nil
	}
	var v chatChunk
	if err := json.Unmarshal(data, &v); err != nil {
		return providerhttp.NewMalformedError(err)
	}
	if len(v.Error) > 0 && string(v.Error) != "null" {
		return providerhttp.NewResponseError(0, nil, data, key)
	}
	if v.ID != "" {
		d.r.ID = v.ID
	}
	if v.Model != "" {
		d.r.Model = v.Model
	}
	if v.Service != "" {
		d.r.Terms.Service = v.Service
	}
	if v.Usage != nil {
		d.addUsage(*v.Usage)
	}
	for _, c := range v.Choices {
		if c.Index == 0 {
			if err := d.applyChoice(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// addUsage splits the usage into classes that do not overlap.
func (d *chatAnswerDraft) addUsage(u chatUsage) {
	d.counted = u.Prompt > 0 || u.Completion > 0
	n := &d.r.Usage
	n.CacheRead, n.CacheWrite = int64(u.Details.Cached), int64(u.Details.Written)
	n.Input = max(int64(u.Prompt)-n.CacheRead-n.CacheWrite, 0)
	n.Output = int64(u.Completion)
	var cost nexus.Money
	if len(u.Cost) > 0 && json.Unmarshal(u.Cost, &cost) == nil && cost > 0 {
		d.r.Cost = cost
	}
}

func (d *chatAnswerDraft) applyChoice(c chatChoice) error {
	if c.Reason != "" {
		d.reason = c.Reason
	}
	x := c.Delta
	thought := x.Thought
	if thought == "" {
		thought = x.Also
	}
	d.text.WriteString(x.Content)
	d.refusal.WriteString(x.Refusal)
	d.thought.WriteString(x.Thought)
	d.bytes += len(x.Content) + len(x.Refusal) + len(thought)
	d.hear(llm.AnswerDelta{Text: x.Content + x.Refusal, Thought: thought})
	if len(x.Details) > 0 && string(x.Details) != "null" {
		var more []json.RawMessage
		if err := json.Unmarshal(x.Details, &more); err != nil {
			return providerhttp.NewMalformedError(err)
		}
		d.details = append(d.details, more...)
		if len(more) > 0 {
			d.hear(llm.AnswerDelta{Input: len(x.Details)})
		}
	}
	for _, t := range x.Calls {
		if err := d.addCallDelta(t); err != nil {
			return err
		}
	}
	return nil
}

// isNewCall reports whether t begins another call than p, at the same index: it has its own ID, or
// names another tool, or has no other ID than p and comes when p's input is complete.
func (p *chatToolCallDraft) isNewCall(t chatToolCallDelta) bool {
	if t.Function.Name == "" {
		return false
	}
	switch {
	case t.ID != "" && t.ID != p.id:
		return p.id != ""
	case t.ID == p.id && p.name != "" && t.Function.Name != p.name:
		return true
	}
	input := bytes.TrimSpace([]byte(p.input.String()))
	return t.ID == p.id && p.name != "" && len(t.Function.Arguments) > 2 && len(input) > 0 && input[0] == '{' && json.Valid(input)
}

// addCallDelta adds a piece of a call. Calls are distinguished by their index, and by a new ID if a server
// gives all of them the same index.
func (d *chatAnswerDraft) addCallDelta(t chatToolCallDelta) error {
	var p *chatToolCallDraft
	for _, q := range d.calls {
		if q.index == t.Index {
			p = q
		}
	}
	if p == nil || p.isNewCall(t) {
		p = &chatToolCallDraft{index: t.Index}
		d.calls = append(d.calls, p)
	}
	if p.name == "" && t.Function.Name != "" {
		d.hear(llm.AnswerDelta{Tool: t.Function.Name})
	}
	if t.ID != "" {
		p.id = t.ID
	}
	if t.Function.Name != "" {
		p.name = t.Function.Name
	}
	if len(t.Extra) > 0 {
		p.extra = t.Extra
	}
	arguments := t.Function.Arguments
	if len(arguments) == 0 || string(arguments) == "null" {
		return nil
	}
	piece := string(arguments)
	if arguments[0] == '"' {
		if err := json.Unmarshal(arguments, &piece); err != nil {
			return providerhttp.NewMalformedError(fmt.Errorf("arguments: %w", err))
		}
	}
	p.input.WriteString(piece)
	d.bytes += len(piece)
	d.hear(llm.AnswerDelta{Input: len(piece)})
	return nil
}

// finishAnswer builds the answer after the finish reason arrived.
func (d *chatAnswerDraft) finishAnswer() (llm.Response, error) {
	r := d.r
	var ok bool
	if r.Stop, ok = d.table.stopReason(d.reason); !ok {
		return r, &llm.ModelCallError{Class: llm.Transient, Code: d.reason, Cause: errors.New("the server ended the answer with an error")}
	}
	if d.refusal.Len() > 0 && r.Stop != llm.StopLength {
		r.Stop = llm.StopRefuse
	}
	r.Message.From = llm.Assistant
	own := storedServerFields{Extra: map[string]json.RawMessage{}}
	var calls []llm.MessagePart
	for i, p := range d.calls {
		if p.id == "" && d.makes {
			p.id = fmt.Sprintf("chat-call-%d-%d", d.step, i)
		}
		input := p.input.String()
		if strings.TrimSpace(input) == "" {
			input = "{}"
		}
		if p.extra != nil {
			own.Extra[p.id] = p.extra
		}
		calls = append(calls, llm.MessagePart{Call: &llm.ToolCall{ID: p.id, Tool: p.name, Input: json.RawMessage(input)}})
	}
	if raw, ok := d.privatePart(own); ok {
		r.Message.Parts = append(r.Message.Parts, llm.MessagePart{Raw: raw})
	}
	if text := d.text.String() + d.refusal.String(); text != "" {
		r.Message.Parts = append(r.Message.Parts, llm.MessagePart{Text: text})
	}
	r.Message.Parts = append(r.Message.Parts, calls...)
	return providerhttp.FinishResponse(r, d.step), nil
}

// privatePart returns the server's data that must be sent back with the message.
func (d *chatAnswerDraft) privatePart(own storedServerFields) (json.RawMessage, bool) {
	if d.thought.Len() > 0 {
		own.Thought, _ = providerhttp.EncodeJSON(d.thought.String()) // a string always encodes
	}
	if len(d.details) > 0 {
		own.Details, _ = providerhttp.EncodeJSON(d.details) // decoded values always encode
	}
	if own.Thought == nil && own.Details == nil && len(own.Extra) == 0 {
		return nil, false
	}
	raw, err := providerhttp.EncodeJSON(storedServerPart{&own})
	return raw, err == nil
}
