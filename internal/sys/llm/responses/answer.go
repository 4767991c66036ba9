package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// event holds what matters of any event of a stream.
type event struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response *struct {
		ID         string          `json:"id"`
		Model      string          `json:"model"`
		Usage      *usage          `json:"usage"`
		Service    string          `json:"service_tier"`
		Error      json.RawMessage `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type usage struct {
	Input   int64 `json:"input_tokens"` // with what the cache gave and took
	Output  int64 `json:"output_tokens"`
	Details struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// item is a whole item of the output.
type item struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Sealed    string `json:"encrypted_content"`
	Phase     string `json:"phase"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// draft is an answer on its way. Its items count when they are done; their
// pieces are only heard.
type draft struct {
	r       llm.Response
	open    map[int]*strings.Builder // texts of items that are not done
	reason  string                   // why the answer is incomplete
	refused bool
	over    bool
	counted bool
	step    int // answers before this one
	bytes   int // of pieces
	whole   int // of whole items, whose pieces need not have come
	heard   func(llm.Delta)
}

// take adds one event. What it does not know it leaves out.
func (d *draft) take(data []byte, key string) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.HasPrefix(data, []byte("[DONE]")) {
		return nil
	}
	var v event
	if err := json.Unmarshal(data, &v); err != nil {
		if failed(data) { // with another code than the usual
			return wire.Said(0, nil, data, key)
		}
		return wire.Malformed(err)
	}
	switch v.Type {
	case "error":
		return wire.Said(0, nil, data, key)
	case "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed":
		return d.status(v, key)
	case "response.output_item.added":
		return d.begin(v)
	case "response.output_item.done":
		return d.done(v)
	case "response.output_text.delta", "response.refusal.delta":
		d.bytes += len(v.Delta)
		d.grow(v)
		d.hear(llm.Delta{Text: v.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.bytes += len(v.Delta)
		d.hear(llm.Delta{Thought: v.Delta})
	case "response.function_call_arguments.delta":
		d.bytes += len(v.Delta)
	case "":
		if failed(data) { // as a proxy says it
			return wire.Said(0, nil, data, key)
		}
	}
	return nil
}

func failed(data []byte) bool {
	var v struct{ Error json.RawMessage }
	return json.Unmarshal(data, &v) == nil && len(v.Error) > 0 && string(v.Error) != "null"
}

// status takes what is said of the whole answer.
func (d *draft) status(v event, key string) error {
	r := v.Response
	if r == nil {
		return wire.Malformed(errors.New("an event without its response"))
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
			return wire.Cut()
		}
		return wire.Said(0, nil, body, key)
	case "response.incomplete":
		d.reason, d.over = r.Incomplete.Reason, true
		if d.reason == "" {
			d.reason = "max_output_tokens"
		}
	case "response.completed":
		d.over = true
	}
	return nil
}

// count takes the usage apart into classes that do not overlap.
func (d *draft) count(u usage) {
	d.counted = u.Input > 0 || u.Output > 0
	n := &d.r.Usage
	n.CacheRead, n.CacheWrite = max(u.Details.Cached, 0), max(u.Details.Written, 0)
	n.Input = max(u.Input-n.CacheRead-n.CacheWrite, 0)
	n.Output = max(u.Output, 0)
}

func (d *draft) begin(v event) error {
	var it item
	if err := json.Unmarshal(v.Item, &it); err != nil {
		return wire.Malformed(err)
	}
	if it.Type == "function_call" {
		d.bytes += len(it.Name)
		d.hear(llm.Delta{Tool: it.Name})
	}
	return nil
}

func (d *draft) grow(v event) {
	if d.open == nil {
		d.open = map[int]*strings.Builder{}
	}
	if d.open[v.Index] == nil {
		d.open[v.Index] = &strings.Builder{}
	}
	d.open[v.Index].WriteString(v.Delta)
}

// done takes a whole item.
func (d *draft) done(v event) error {
	var it item
	if err := json.Unmarshal(v.Item, &it); err != nil {
		return wire.Malformed(err)
	}
	delete(d.open, v.Index)
	if it.Type == "web_search_call" {
		d.r.Terms.Searches++
	}
	d.whole += len(v.Item)
	add := func(p llm.Part) { d.r.Message.Parts = append(d.r.Message.Parts, p) }
	switch it.Type {
	case "message":
		if it.Phase != "" {
			raw, err := wire.Encode(private{Phase: it.Phase})
			if err != nil {
				return wire.Malformed(err)
			}
			add(llm.Part{Raw: raw})
		}
		for _, c := range it.Content {
			d.refused = d.refused || c.Type == "refusal"
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
		if it.Sealed == "" { // without its seal it could not be sent back
			return nil
		}
		fallthrough
	default:
		raw, err := wire.Encode(private{Item: v.Item})
		if err != nil {
			return wire.Malformed(err)
		}
		add(llm.Part{Raw: raw})
	}
	return nil
}

func (d *draft) hear(x llm.Delta) {
	if d.heard != nil && x != (llm.Delta{}) {
		d.heard(x)
	}
}

// close makes the answer, now that its last event has come.
func (d *draft) close() (llm.Response, error) {
	r := d.r
	r.Message.From = llm.Assistant
	for _, text := range d.open { // the answer ended within it
		if text.Len() > 0 && d.reason == "" {
			return llm.Response{}, wire.Cut()
		}
		if text.Len() > 0 {
			r.Message.Parts = append(r.Message.Parts, llm.Part{Text: text.String()})
		}
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
