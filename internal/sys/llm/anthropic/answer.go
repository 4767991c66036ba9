package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// event has the used fields of all events of a stream.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
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
	Usage usage `json:"usage"`
}

// usage counts whole messages; a missing count is unchanged.
type usage struct {
	Input      *wire.Count `json:"input_tokens"` // without tokens read from or written to the cache
	CacheRead  *wire.Count `json:"cache_read_input_tokens"`
	CacheWrite *wire.Count `json:"cache_creation_input_tokens"`
	Created    struct {
		Hour *wire.Count `json:"ephemeral_1h_input_tokens"` // part of CacheWrite
	} `json:"cache_creation"`
	Output *wire.Count `json:"output_tokens"`
	terms
}

// terms are the conditions of the price besides the tokens.
type terms struct {
	Service string `json:"service_tier"`
	Region  string `json:"inference_geo"`
	Server  struct {
		Searches wire.Count `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

func (t terms) over(n *llm.Terms) {
	n.Service, n.Region = cmp.Or(t.Service, n.Service), cmp.Or(t.Region, n.Region)
	n.Searches = max(n.Searches, int64(t.Server.Searches))
}

func (u usage) over(r *llm.Response) {
	u.terms.over(&r.Terms)
	n := &r.Usage
	for _, c := range []struct {
		from *wire.Count
		to   *int64
	}{{u.Input, &n.Input}, {u.CacheRead, &n.CacheRead}, {u.CacheWrite, &n.CacheWrite}, {u.Created.Hour, &n.CacheHour}, {u.Output, &n.Output}} {
		if c.from != nil {
			*c.to = int64(*c.from)
		}
	}
}

// draft is an incomplete answer.
type draft struct {
	r      llm.Response
	blocks []*piece
	reason string
	over   bool            // the message is complete
	bytes  int             // of the answer so far
	step   int             // number of earlier answers
	hear   func(llm.Delta) // called with non-empty pieces
}

// piece is an incomplete content block.
type piece struct {
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

// take adds one event. It ignores unknown ones, as the provider asks its clients to.
func (d *draft) take(name string, data []byte, key string) error {
	if name == "error" {
		return wire.ResponseError(0, nil, data, key)
	}
	if len(data) <= 1 {
		return nil
	}
	var v event
	if err := json.Unmarshal(data, &v); err != nil {
		return wire.NewMalformedError(err)
	}
	switch v.Type {
	case "message_start":
		d.r.ID, d.r.Model = v.Message.ID, v.Message.Model
		v.Message.Usage.over(&d.r)
	case "content_block_start":
		return d.start(v)
	case "content_block_delta":
		return d.grow(v)
	case "content_block_stop":
		if v.Index < 0 || v.Index >= len(d.blocks) {
			return wire.NewMalformedError(errors.New("the end of a block that never started"))
		}
		d.blocks[v.Index].closed = true
	case "message_delta":
		d.reason = v.Delta.StopReason
		v.Usage.over(&d.r)
	case "message_stop":
		d.over = true
	case "error":
		return wire.ResponseError(0, nil, data, key)
	}
	return nil
}

func (d *draft) start(v event) error {
	if v.Index != len(d.blocks) {
		return wire.NewMalformedError(errors.New("a block out of order"))
	}
	p := &piece{raw: v.Block}
	if err := json.Unmarshal(v.Block, p); err != nil {
		return wire.NewMalformedError(err)
	}
	p.signed.WriteString(p.Signature)
	d.blocks = append(d.blocks, p)
	switch p.Type {
	case "tool_use":
		d.hear(llm.Delta{Tool: p.Name})
		if in := string(p.Input); in != "" && in != "{}" && in != "null" {
			p.grown.WriteString(in)
			d.hear(llm.Delta{Input: len(in)})
		}
	case "text":
		p.grown.WriteString(p.Text)
		d.hear(llm.Delta{Text: p.Text})
	case "thinking":
		p.grown.WriteString(p.Thinking)
		d.hear(llm.Delta{Thought: p.Thinking})
	default: // sealed thinking, among others
		d.hear(llm.Delta{Input: len(v.Block)})
	}
	return nil
}

func (d *draft) grow(v event) error {
	if v.Index < 0 || v.Index >= len(d.blocks) {
		return wire.NewMalformedError(errors.New("a piece of a block that never started"))
	}
	p := d.blocks[v.Index]
	d.bytes += len(v.Delta.Text) + len(v.Delta.Thinking) + len(v.Delta.JSON)
	switch v.Delta.Type {
	case "text_delta":
		p.grown.WriteString(v.Delta.Text)
		d.hear(llm.Delta{Text: v.Delta.Text})
	case "thinking_delta":
		p.grown.WriteString(v.Delta.Thinking)
		d.hear(llm.Delta{Thought: v.Delta.Thinking})
	case "input_json_delta":
		p.grown.WriteString(v.Delta.JSON)
		d.hear(llm.Delta{Input: len(v.Delta.JSON)})
	case "signature_delta":
		p.signed.WriteString(v.Delta.Signature)
		d.hear(llm.Delta{Input: len(v.Delta.Signature)})
	}
	return nil
}

// close builds the answer after the last event.
func (d *draft) close() (llm.Response, error) {
	r := d.r
	switch d.reason {
	case "max_tokens":
		r.Stop = llm.StopLength
	case "refusal":
		r.Stop = llm.StopRefuse
	case "model_context_window_exceeded":
		return r, &llm.Error{Class: llm.Context, Code: d.reason, Cause: errors.New("the answer did not fit the context window")}
	case "":
		return r, wire.NewCutError()
	default:
		r.Stop = llm.StopDone // or StopTools: the calls decide
	}
	r.Message.From = llm.Assistant
	for _, p := range d.blocks {
		if !p.closed && r.Stop == llm.StopDone {
			return r, wire.NewCutError()
		}
		if part, ok := p.part(); ok {
			r.Message.Parts = append(r.Message.Parts, part)
		}
	}
	return wire.Close(r, d.step), nil
}

// part returns the block as a part, and false for an empty text.
func (p *piece) part() (llm.Part, bool) {
	switch p.Type {
	case "text":
		return llm.Part{Text: p.grown.String()}, p.grown.Len() > 0
	case "tool_use":
		input := p.grown.String()
		if strings.TrimSpace(input) == "" {
			input = "{}"
		}
		return llm.Part{Call: &llm.Call{ID: p.ID, Tool: p.Name, Input: json.RawMessage(input)}}, true
	case "thinking":
		raw, err := wire.Encode(struct {
			Type      string `json:"type"`
			Thinking  string `json:"thinking"`
			Signature string `json:"signature"`
		}{p.Type, p.grown.String(), p.signed.String()})
		return llm.Part{Raw: raw}, err == nil
	default:
		return llm.Part{Raw: p.raw}, true
	}
}
