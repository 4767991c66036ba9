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
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// responsesStreamEvent has the used fields of all events of a stream.
type responsesStreamEvent struct {
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
		Usage      *responsesUsage   `json:"usage"`
		Service    string            `json:"service_tier"`
		Error      json.RawMessage   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responsesUsage struct {
	Input   providerhttp.TokenCount `json:"input_tokens"` // with tokens read from and written to the cache
	Output  providerhttp.TokenCount `json:"output_tokens"`
	Details struct {
		Cached  providerhttp.TokenCount `json:"cached_tokens"`
		Written providerhttp.TokenCount `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// outputItem is a complete item of the output.
type outputItem struct {
	Type      string              `json:"type"`
	CallID    string              `json:"call_id"`
	Name      string              `json:"name"`
	Arguments string              `json:"arguments"`
	Sealed    string              `json:"encrypted_content"`
	Phase     string              `json:"phase"`
	raw       json.RawMessage     // unchanged; nil if it is incomplete
	Content   []outputItemContent `json:"content"`
}

type outputItemContent struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// responsesAnswerDraft is an incomplete answer. Its content is, in this order of preference, the output of the
// response that ends it, completed items, completed texts.
type responsesAnswerDraft struct {
	r       llm.Response
	open    map[int]*outputItemDraft // incomplete items, by their index in the output
	done    []outputItem             // in the order of arrival
	final   []json.RawMessage        // output of the final response
	reason  string                   // why the answer is incomplete
	refused bool                     // a refusal is complete, and nothing follows one
	over    bool
	counted bool
	said    bool                  // some text was reported
	step    int                   // number of earlier answers
	bytes   int                   // of pieces
	whole   int                   // of complete items, whose pieces may be missing
	hear    func(llm.AnswerDelta) // called with non-empty pieces
}

// outputItemDraft is an incomplete item. Its pieces are used for missing parts of the complete item.
type outputItemDraft struct {
	outputItem
	text, refusal strings.Builder // the input of a call is its text
	ended         bool            // its text is complete
}

// addEvent adds one event. It ignores unknown ones.
func (d *responsesAnswerDraft) addEvent(data []byte, key string) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.HasPrefix(data, []byte("[DONE]")) {
		return nil
	}
	var v responsesStreamEvent
	if err := json.Unmarshal(data, &v); err != nil {
		if isFailure(data) { // with an unusual code
			return providerhttp.NewResponseError(0, nil, data, key)
		}
		return providerhttp.NewMalformedError(err)
	}
	switch v.Type {
	case "error":
		return providerhttp.NewResponseError(0, nil, data, key)
	case "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed":
		return d.applyAnswerState(v, key)
	case "response.output_item.added":
		return d.beginItem(v)
	case "response.output_item.done":
		return d.endItem(v)
	case "response.output_text.delta", "response.refusal.delta":
		d.bytes += len(v.Delta)
		d.addDelta(v)
		d.said = d.said || v.Delta != ""
		d.hear(llm.AnswerDelta{Text: v.Delta})
	case "response.output_text.done", "response.refusal.done":
		p := d.pieceAt(v.Index)
		p.ended = true
		if v.Type == "response.refusal.done" {
			d.refused = true
			replaceDraftText(&p.refusal, v.Refusal)
		} else if v.Part == 0 { // with several parts, each has its own
			replaceDraftText(&p.text, v.Text)
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.bytes += len(v.Delta)
		d.hear(llm.AnswerDelta{Thought: v.Delta})
	case "response.function_call_arguments.done":
		p := d.pieceAt(v.Index)
		p.ended = true
		replaceDraftText(&p.text, v.Arguments)
	case "response.function_call_arguments.delta":
		d.bytes += len(v.Delta)
		d.addDelta(v)
		d.hear(llm.AnswerDelta{Input: len(v.Delta)})
	case "":
		if isFailure(data) { // in the form of a proxy
			return providerhttp.NewResponseError(0, nil, data, key)
		}
	}
	return nil
}

func isFailure(data []byte) bool {
	var v struct{ Error json.RawMessage }
	return json.Unmarshal(data, &v) == nil && len(v.Error) > 0 && string(v.Error) != "null"
}

// applyAnswerState reads the state of the whole answer.
func (d *responsesAnswerDraft) applyAnswerState(v responsesStreamEvent, key string) error {
	r := v.Response
	if r == nil {
		return providerhttp.NewMalformedError(errors.New("an event without its response"))
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
		d.addUsage(*r.Usage)
	}
	switch v.Type {
	case "response.failed":
		body, err := providerhttp.EncodeJSON(map[string]json.RawMessage{"error": r.Error})
		if err != nil || len(r.Error) == 0 {
			return providerhttp.NewCutError()
		}
		return providerhttp.NewResponseError(0, nil, body, key)
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

// addUsage splits the usage into classes that do not overlap.
func (d *responsesAnswerDraft) addUsage(u responsesUsage) {
	d.counted = u.Input > 0 || u.Output > 0
	n := &d.r.Usage
	n.CacheRead, n.CacheWrite = int64(u.Details.Cached), int64(u.Details.Written)
	n.Input = max(int64(u.Input)-n.CacheRead-n.CacheWrite, 0)
	n.Output = int64(u.Output)
}

// pieceAt returns the piece at an index of the output.
func (d *responsesAnswerDraft) pieceAt(index int) *outputItemDraft {
	if d.open == nil {
		d.open = map[int]*outputItemDraft{}
	}
	if d.open[index] == nil {
		d.open[index] = &outputItemDraft{outputItem: outputItem{Type: "message"}}
	}
	return d.open[index]
}

// replaceDraftText replaces the pieces by the complete text, if there is one.
func replaceDraftText(b *strings.Builder, text string) {
	if text != "" {
		b.Reset()
		b.WriteString(text)
	}
}

func (d *responsesAnswerDraft) beginItem(v responsesStreamEvent) error {
	p := &outputItemDraft{}
	if err := json.Unmarshal(v.Item, &p.outputItem); err != nil {
		return providerhttp.NewMalformedError(err)
	}
	if d.open == nil {
		d.open = map[int]*outputItemDraft{}
	}
	d.open[v.Index] = p
	if p.Type == "function_call" {
		d.bytes += len(p.Name)
		d.hear(llm.AnswerDelta{Tool: p.Name})
	}
	return nil
}

func (d *responsesAnswerDraft) addDelta(v responsesStreamEvent) {
	if p := d.pieceAt(v.Index); v.Type == "response.refusal.delta" {
		p.refusal.WriteString(v.Delta)
	} else {
		p.text.WriteString(v.Delta)
	}
}

// endItem adds a completed item.
func (d *responsesAnswerDraft) endItem(v responsesStreamEvent) error {
	it := outputItem{raw: v.Item}
	if err := json.Unmarshal(v.Item, &it); err != nil {
		return providerhttp.NewMalformedError(err)
	}
	d.whole += len(v.Item)
	d.hear(llm.AnswerDelta{Input: len(v.Item)})
	it.fillFrom(d.open[v.Index])
	delete(d.open, v.Index)
	d.done, d.refused = append(d.done, it), d.refused || it.isRefusal()
	return nil
}

func (it *outputItem) isRefusal() bool {
	return slices.ContainsFunc(it.Content, func(c outputItemContent) bool { return c.Type == "refusal" || c.Refusal != "" })
}

// fillFrom copies the missing parts of a complete item from the pieces.
func (it *outputItem) fillFrom(p *outputItemDraft) {
	switch {
	case p == nil:
	case it.Type == "function_call" && it.Arguments == "":
		it.Arguments = p.text.String()
	case it.Type == "message" && len(it.Content) == 0 && p.text.Len()+p.refusal.Len() > 0:
		it.Content = []outputItemContent{{Text: p.text.String(), Refusal: p.refusal.String()}}
	}
}

// outputItems returns the items of the answer, in order.
func (d *responsesAnswerDraft) outputItems() ([]outputItem, error) {
	if len(d.final) == 0 {
		return d.addUnfinishedItems(d.done)
	}
	var all []outputItem
	size := 0
	for i, raw := range d.final {
		it := outputItem{raw: raw}
		if err := json.Unmarshal(raw, &it); err != nil {
			return nil, providerhttp.NewMalformedError(err)
		}
		it.fillFrom(d.open[i])
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

// addUnfinishedItems adds the incomplete items: complete texts and calls, all of a refusal, and everything
// of an answer that is marked as incomplete. Any other incomplete item means that the answer was
// cut off.
func (d *responsesAnswerDraft) addUnfinishedItems(all []outputItem) ([]outputItem, error) {
	for _, i := range slices.Sorted(maps.Keys(d.open)) {
		p := d.open[i]
		if p.text.Len()+p.refusal.Len() == 0 && p.Type != "function_call" {
			continue
		}
		if !p.ended && d.reason == "" && p.refusal.Len() == 0 {
			return nil, providerhttp.NewCutError()
		}
		it := p.outputItem
		it.fillFrom(p)
		all = append(all, it)
	}
	return all, nil
}

// addItem adds an item to the message.
func (d *responsesAnswerDraft) addItem(it outputItem) error {
	add := func(p llm.MessagePart) { d.r.Message.Parts = append(d.r.Message.Parts, p) }
	keep := func(own storedProviderItem) error {
		raw, err := providerhttp.EncodeJSON(own)
		if err != nil {
			return providerhttp.NewMalformedError(err)
		}
		add(llm.MessagePart{Raw: raw})
		return nil
	}
	switch it.Type {
	case "message":
		d.refused = d.refused || it.isRefusal()
		if it.Phase != "" {
			if err := keep(storedProviderItem{Phase: it.Phase}); err != nil {
				return err
			}
		}
		for _, c := range it.Content {
			if text := c.Text + c.Refusal; text != "" {
				add(llm.MessagePart{Text: text})
			}
		}
	case "function_call":
		if strings.TrimSpace(it.Arguments) == "" {
			it.Arguments = "{}"
		}
		add(llm.MessagePart{Call: &llm.ToolCall{ID: it.CallID, Tool: it.Name, Input: json.RawMessage(it.Arguments)}})
	case "reasoning":
		if it.Sealed != "" && it.raw != nil { // without the sealed part it could not be sent back
			return keep(storedProviderItem{Item: it.raw})
		}
	default:
		if it.Type == "web_search_call" {
			d.r.Terms.Searches++
		}
		if it.raw != nil {
			return keep(storedProviderItem{Item: it.raw})
		}
	}
	return nil
}

// finishAnswer builds the answer after the last event.
func (d *responsesAnswerDraft) finishAnswer() (llm.Response, error) {
	all, err := d.outputItems()
	if err != nil {
		return llm.Response{}, err
	}
	for _, it := range all {
		if err := d.addItem(it); err != nil {
			return llm.Response{}, err
		}
	}
	r := d.r
	r.Message.From = llm.Assistant
	if !d.said {
		d.hear(llm.AnswerDelta{Text: r.Message.Text()})
	}
	switch {
	case d.reason == "content_filter" || d.refused:
		r.Stop = llm.StopRefuse
	case d.reason != "":
		r.Stop = llm.StopLength
	default:
		r.Stop = llm.StopDone // or StopTools: the calls decide
	}
	return providerhttp.FinishResponse(r, d.step), nil
}
