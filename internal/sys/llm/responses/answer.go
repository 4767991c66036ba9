package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// event has the used fields of all events of a stream.
type event struct {
	Type      string          `json:"type"`
	Index     int             `json:"output_index"`
	Part      int             `json:"content_index"`
	Delta     string          `json:"delta"`
	Text      string          `json:"text"` // complete, like the refusal and the arguments
	Refusal   string          `json:"refusal"`
	Arguments string          `json:"arguments"`
	Item      json.RawMessage `json:"item"`
	Response  *struct {
		Output     []json.RawMessage `json:"output"`
		ID         string            `json:"id"`
		Model      string            `json:"model"`
		Usage      *usage            `json:"usage"`
		Service    string            `json:"service_tier"`
		Error      json.RawMessage   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type usage struct {
	Input   wire.Count `json:"input_tokens"` // with tokens read from and written to the cache
	Output  wire.Count `json:"output_tokens"`
	Details struct {
		Cached  wire.Count `json:"cached_tokens"`
		Written wire.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// item is a complete item of the output.
type item struct {
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Sealed    string          `json:"encrypted_content"`
	Phase     string          `json:"phase"`
	raw       json.RawMessage // unchanged; nil if it is incomplete
	Content   []content       `json:"content"`
}

type content struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// draft is an incomplete answer. Its content is, in this order of preference, the output of the
// response that ends it, completed items, completed texts.
type draft struct {
	r       llm.Response
	open    map[int]*piece    // incomplete items, by their index in the output
	done    []item            // in the order of arrival
	final   []json.RawMessage // output of the final response
	reason  string            // why the answer is incomplete
	refused bool              // a refusal is complete, and nothing follows one
	over    bool
	counted bool
	said    bool            // some text was reported
	step    int             // number of earlier answers
	bytes   int             // of pieces
	whole   int             // of complete items, whose pieces may be missing
	hear    func(llm.Delta) // called with non-empty pieces
}

// piece is an incomplete item. Its pieces are used for missing parts of the complete item.
type piece struct {
	item
	text, refusal strings.Builder // the input of a call is its text
	ended         bool            // its text is complete
}

// take adds one event. It ignores unknown ones.
func (d *draft) take(data []byte, key string) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.HasPrefix(data, []byte("[DONE]")) {
		return nil
	}
	var v event
	if err := json.Unmarshal(data, &v); err != nil {
		if failed(data) { // with an unusual code
			return wire.ResponseError(0, nil, data, key)
		}
		return wire.NewMalformedError(err)
	}
	switch v.Type {
	case "error":
		return wire.ResponseError(0, nil, data, key)
	case "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed":
		return d.status(v, key)
	case "response.output_item.added":
		return d.begin(v)
	case "response.output_item.done":
		return d.end(v)
	case "response.output_text.delta", "response.refusal.delta":
		d.bytes += len(v.Delta)
		d.grow(v)
		d.said = d.said || v.Delta != ""
		d.hear(llm.Delta{Text: v.Delta})
	case "response.output_text.done", "response.refusal.done":
		p := d.at(v.Index)
		p.ended = true
		if v.Type == "response.refusal.done" {
			d.refused = true
			whole(&p.refusal, v.Refusal)
		} else if v.Part == 0 { // with several parts, each has its own
			whole(&p.text, v.Text)
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.bytes += len(v.Delta)
		d.hear(llm.Delta{Thought: v.Delta})
	case "response.function_call_arguments.done":
		p := d.at(v.Index)
		p.ended = true
		whole(&p.text, v.Arguments)
	case "response.function_call_arguments.delta":
		d.bytes += len(v.Delta)
		d.grow(v)
		d.hear(llm.Delta{Input: len(v.Delta)})
	case "":
		if failed(data) { // in the form of a proxy
			return wire.ResponseError(0, nil, data, key)
		}
	}
	return nil
}

func failed(data []byte) bool {
	var v struct{ Error json.RawMessage }
	return json.Unmarshal(data, &v) == nil && len(v.Error) > 0 && string(v.Error) != "null"
}

// status reads the state of the whole answer.
func (d *draft) status(v event, key string) error {
	r := v.Response
	if r == nil {
		return wire.NewMalformedError(errors.New("an event without its response"))
	}
	if r.ID != "" {
		d.r.ID = r.ID
	}
	if r.Model != "" {
		d.r.Model = r.Model
	}
	if r.Service != "" {
		d.r.Terms.Service = r.Service // "auto" until it is known
	}
	if r.Usage != nil {
		d.count(*r.Usage)
	}
	switch v.Type {
	case "response.failed":
		body, err := wire.Encode(map[string]json.RawMessage{"error": r.Error})
		if err != nil || len(r.Error) == 0 {
			return wire.NewCutError()
		}
		return wire.ResponseError(0, nil, body, key)
	case "response.incomplete":
		d.final, d.reason, d.over = r.Output, r.Incomplete.Reason, true
		if d.reason == "" {
			d.reason = "max_output_tokens"
		}
	case "response.completed":
		d.final, d.over = r.Output, true
	}
	return nil
}

// count splits the usage into classes that do not overlap.
func (d *draft) count(u usage) {
	d.counted = u.Input > 0 || u.Output > 0
	n := &d.r.Usage
	n.CacheRead, n.CacheWrite = int64(u.Details.Cached), int64(u.Details.Written)
	n.Input = max(int64(u.Input)-n.CacheRead-n.CacheWrite, 0)
	n.Output = int64(u.Output)
}

// at returns the piece at an index of the output.
func (d *draft) at(index int) *piece {
	if d.open == nil {
		d.open = map[int]*piece{}
	}
	if d.open[index] == nil {
		d.open[index] = &piece{item: item{Type: "message"}}
	}
	return d.open[index]
}

// whole replaces the pieces by the complete text, if there is one.
func whole(b *strings.Builder, text string) {
	if text != "" {
		b.Reset()
		b.WriteString(text)
	}
}

func (d *draft) begin(v event) error {
	p := &piece{}
	if err := json.Unmarshal(v.Item, &p.item); err != nil {
		return wire.NewMalformedError(err)
	}
	if d.open == nil {
		d.open = map[int]*piece{}
	}
	d.open[v.Index] = p
	if p.Type == "function_call" {
		d.bytes += len(p.Name)
		d.hear(llm.Delta{Tool: p.Name})
	}
	return nil
}

func (d *draft) grow(v event) {
	if p := d.at(v.Index); v.Type == "response.refusal.delta" {
		p.refusal.WriteString(v.Delta)
	} else {
		p.text.WriteString(v.Delta)
	}
}

// end adds a completed item.
func (d *draft) end(v event) error {
	it := item{raw: v.Item}
	if err := json.Unmarshal(v.Item, &it); err != nil {
		return wire.NewMalformedError(err)
	}
	d.whole += len(v.Item)
	d.hear(llm.Delta{Input: len(v.Item)})
	it.fill(d.open[v.Index])
	delete(d.open, v.Index)
	d.done, d.refused = append(d.done, it), d.refused || it.refuses()
	return nil
}

func (it *item) refuses() bool {
	return slices.ContainsFunc(it.Content, func(c content) bool { return c.Type == "refusal" || c.Refusal != "" })
}

// fill copies the missing parts of a complete item from the pieces.
func (it *item) fill(p *piece) {
	switch {
	case p == nil:
	case it.Type == "function_call" && it.Arguments == "":
		it.Arguments = p.text.String()
	case it.Type == "message" && len(it.Content) == 0 && p.text.Len()+p.refusal.Len() > 0:
		it.Content = []content{{Text: p.text.String(), Refusal: p.refusal.String()}}
	}
}

// items returns the items of the answer, in order.
func (d *draft) items() ([]item, error) {
	if len(d.final) == 0 {
		return d.unfinished(d.done)
	}
	var all []item
	size := 0
	for i, raw := range d.final {
		it := item{raw: raw}
		if err := json.Unmarshal(raw, &it); err != nil {
			return nil, wire.NewMalformedError(err)
		}
		it.fill(d.open[i])
		if len(d.done) == len(d.final) && it.Type == d.done[i].Type && it.CallID == d.done[i].CallID {
			it.Arguments = cmp.Or(it.Arguments, d.done[i].Arguments)
			if len(it.Content) == 0 {
				it.Content = d.done[i].Content
			}
		}
		all = append(all, it)
		size += len(raw)
	}
	d.whole = max(d.whole, size)
	return all, nil
}

// unfinished adds the incomplete items: complete texts and calls, all of a refusal, and everything
// of an answer that is marked as incomplete. Any other incomplete item means that the answer was
// cut off.
func (d *draft) unfinished(all []item) ([]item, error) {
	for _, i := range slices.Sorted(maps.Keys(d.open)) {
		p := d.open[i]
		if p.text.Len()+p.refusal.Len() == 0 && p.Type != "function_call" {
			continue
		}
		if !p.ended && d.reason == "" && p.refusal.Len() == 0 {
			return nil, wire.NewCutError()
		}
		it := p.item
		it.fill(p)
		all = append(all, it)
	}
	return all, nil
}

// add adds an item to the message.
func (d *draft) add(it item) error {
	add := func(p llm.Part) { d.r.Message.Parts = append(d.r.Message.Parts, p) }
	keep := func(own private) error {
		raw, err := wire.Encode(own)
		if err != nil {
			return wire.NewMalformedError(err)
		}
		add(llm.Part{Raw: raw})
		return nil
	}
	switch it.Type {
	case "message":
		d.refused = d.refused || it.refuses()
		if it.Phase != "" {
			if err := keep(private{Phase: it.Phase}); err != nil {
				return err
			}
		}
		for _, c := range it.Content {
			if text := c.Text + c.Refusal; text != "" {
				add(llm.Part{Text: text})
			}
		}
	case "function_call":
		if strings.TrimSpace(it.Arguments) == "" {
			it.Arguments = "{}"
		}
		add(llm.Part{Call: &llm.Call{ID: it.CallID, Tool: it.Name, Input: json.RawMessage(it.Arguments)}})
	case "reasoning":
		if it.Sealed != "" && it.raw != nil { // without the sealed part it could not be sent back
			return keep(private{Item: it.raw})
		}
	default:
		if it.Type == "web_search_call" {
			d.r.Terms.Searches++
		}
		if it.raw != nil {
			return keep(private{Item: it.raw})
		}
	}
	return nil
}

// close builds the answer after the last event.
func (d *draft) close() (llm.Response, error) {
	all, err := d.items()
	if err != nil {
		return llm.Response{}, err
	}
	for _, it := range all {
		if err := d.add(it); err != nil {
			return llm.Response{}, err
		}
	}
	r := d.r
	r.Message.From = llm.Assistant
	if !d.said {
		d.hear(llm.Delta{Text: r.Message.Text()})
	}
	switch {
	case d.reason == "content_filter" || d.refused:
		r.Stop = llm.StopRefuse
	case d.reason != "":
		r.Stop = llm.StopLength
	default:
		r.Stop = llm.StopDone // or StopTools: the calls decide
	}
	return wire.Close(r, d.step), nil
}
