package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// anthropicStreamEvent has the used fields of all events of a stream.
type anthropicStreamEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string         `json:"id"`
		Model string         `json:"model"`
		Usage anthropicUsage `json:"usage"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		JSON       string `json:"partial_json"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage anthropicUsage `json:"usage"`
}

// anthropicUsage counts whole messages; a missing count is unchanged.
type anthropicUsage struct {
	Input      *providerhttp.TokenCount `json:"input_tokens"` // without tokens read from or written to the cache
	CacheRead  *providerhttp.TokenCount `json:"cache_read_input_tokens"`
	CacheWrite *providerhttp.TokenCount `json:"cache_creation_input_tokens"`
	Created    struct {
		Hour *providerhttp.TokenCount `json:"ephemeral_1h_input_tokens"` // part of CacheWrite
	} `json:"cache_creation"`
	Output *providerhttp.TokenCount `json:"output_tokens"`
	anthropicBillingTerms
}

// anthropicBillingTerms are the conditions of the price besides the tokens.
type anthropicBillingTerms struct {
	Service string `json:"service_tier"`
	Region  string `json:"inference_geo"`
	Server  struct {
		Searches providerhttp.TokenCount `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

func (t anthropicBillingTerms) applyTo(n *llm.BillingTerms) {
	n.Service, n.Region = cmp.Or(t.Service, n.Service), cmp.Or(t.Region, n.Region)
	n.Searches = max(n.Searches, int64(t.Server.Searches))
}

func (u anthropicUsage) applyTo(r *llm.Response) {
	u.anthropicBillingTerms.applyTo(&r.Terms)
	n := &r.Usage
	for _, c := range []struct {
		from *providerhttp.TokenCount
		to   *int64
	}{{u.Input, &n.Input}, {u.CacheRead, &n.CacheRead}, {u.CacheWrite, &n.CacheWrite}, {u.Created.Hour, &n.CacheHour}, {u.Output, &n.Output}} {
		if c.from != nil {
			*c.to = int64(*c.from)
		}
	}
}

// anthropicAnswerDraft is an incomplete answer.
type anthropicAnswerDraft struct {
	r      llm.Response
	blocks []*contentBlockDraft
	reason string
	over   bool                  // the message is complete
	bytes  int                   // of the answer so far
	step   int                   // number of earlier answers
	hear   func(llm.AnswerDelta) // called with non-empty pieces
}

// contentBlockDraft is an incomplete content block.
type contentBlockDraft struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Input     json.RawMessage
	Text      string
	Thinking  string
	Signature string
	raw       json.RawMessage
	grown     strings.Builder // text, thinking or input, depending on the type
	signed    strings.Builder
	closed    bool
}

// addEvent adds one event. It ignores unknown ones, as the provider asks its clients to.
func (d *anthropicAnswerDraft) addEvent(name string, data []byte, key string) error {
	if name == "error" {
		return providerhttp.NewResponseError(0, nil, data, key)
	}
	if len(data) <= 1 {
		return nil
	}
	var v anthropicStreamEvent
	if err := json.Unmarshal(data, &v); err != nil {
		return providerhttp.NewMalformedError(err)
	}
	switch v.Type {
	case "message_start":
		d.r.ID, d.r.Model = v.Message.ID, v.Message.Model
		v.Message.Usage.applyTo(&d.r)
	case "content_block_start":
		return d.startBlock(v)
	case "content_block_delta":
		return d.addDelta(v)
	case "content_block_stop":
		if v.Index < 0 || v.Index >= len(d.blocks) {
			return providerhttp.NewMalformedError(errors.New("the end of a block that never started"))
		}
		d.blocks[v.Index].closed = true
	case "message_delta":
		d.reason = v.Delta.StopReason
		v.Usage.applyTo(&d.r)
	case "message_stop":
		d.over = true
	case "error":
		return providerhttp.NewResponseError(0, nil, data, key)
	}
	return nil
}

func (d *anthropicAnswerDraft) startBlock(v anthropicStreamEvent) error {
	if v.Index != len(d.blocks) {
		return providerhttp.NewMalformedError(errors.New("a block out of order"))
	}
	p := &contentBlockDraft{raw: v.Block}
	if err := json.Unmarshal(v.Block, p); err != nil {
		return providerhttp.NewMalformedError(err)
	}
	p.signed.WriteString(p.Signature)
	d.blocks = append(d.blocks, p)
	switch p.Type {
	case "tool_use":
		d.hear(llm.AnswerDelta{Tool: p.Name})
		if in := string(p.Input); in != "" && in != "{}" && in != "null" {
			p.grown.WriteString(in)
			d.hear(llm.AnswerDelta{Input: len(in)})
		}
	case "text":
		p.grown.WriteString(p.Text)
		d.hear(llm.AnswerDelta{Text: p.Text})
	case "thinking":
		p.grown.WriteString(p.Thinking)
		d.hear(llm.AnswerDelta{Thought: p.Thinking})
	default: // sealed thinking, among others
		d.hear(llm.AnswerDelta{Input: len(v.Block)})
	}
	return nil
}

func (d *anthropicAnswerDraft) addDelta(v anthropicStreamEvent) error {
	if v.Index < 0 || v.Index >= len(d.blocks) {
		return providerhttp.NewMalformedError(errors.New("a piece of a block that never started"))
	}
	p := d.blocks[v.Index]
	d.bytes += len(v.Delta.Text) + len(v.Delta.Thinking) + len(v.Delta.JSON)
	switch v.Delta.Type {
	case "text_delta":
		p.grown.WriteString(v.Delta.Text)
		d.hear(llm.AnswerDelta{Text: v.Delta.Text})
	case "thinking_delta":
		p.grown.WriteString(v.Delta.Thinking)
		d.hear(llm.AnswerDelta{Thought: v.Delta.Thinking})
	case "input_json_delta":
		p.grown.WriteString(v.Delta.JSON)
		d.hear(llm.AnswerDelta{Input: len(v.Delta.JSON)})
	case "signature_delta":
		p.signed.WriteString(v.Delta.Signature)
		d.hear(llm.AnswerDelta{Input: len(v.Delta.Signature)})
	}
	return nil
}

// finishAnswer builds the answer after the last event.
func (d *anthropicAnswerDraft) finishAnswer() (llm.Response, error) {
	r := d.r
	switch d.reason {
	case "max_tokens":
		r.Stop = llm.StopLength
	case "refusal":
		r.Stop = llm.StopRefuse
	case "model_context_window_exceeded":
		return r, &llm.ModelCallError{Class: llm.Context, Code: d.reason, Cause: errors.New("the answer did not fit the context window")}
	case "":
		return r, providerhttp.NewCutError()
	default:
		r.Stop = llm.StopDone // or StopTools: the calls decide
	}
	r.Message.From = llm.Assistant
	for _, p := range d.blocks {
		if !p.closed && r.Stop == llm.StopDone {
			return r, providerhttp.NewCutError()
		}
		if part, ok := p.toPart(); ok {
			r.Message.Parts = append(r.Message.Parts, part)
		}
	}
	return providerhttp.FinishResponse(r, d.step), nil
}

// toPart returns the block as a part, and false for an empty text.
func (p *contentBlockDraft) toPart() (llm.MessagePart, bool) {
	switch p.Type {
	case "text":
		return llm.MessagePart{Text: p.grown.String()}, p.grown.Len() > 0
	case "tool_use":
		input := p.grown.String()
		if strings.TrimSpace(input) == "" {
			input = "{}"
		}
		return llm.MessagePart{Call: &llm.ToolCall{ID: p.ID, Tool: p.Name, Input: json.RawMessage(input)}}, true
	case "thinking":
		raw, err := providerhttp.EncodeJSON(struct {
			Type      string `json:"type"`
			Thinking  string `json:"thinking"`
			Signature string `json:"signature"`
		}{p.Type, p.grown.String(), p.signed.String()})
		return llm.MessagePart{Raw: raw}, err == nil
	default:
		return llm.MessagePart{Raw: p.raw}, true
	}
}
