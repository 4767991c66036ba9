package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// piece is how many bytes of text a streamed event holds.
const piece = 64

// answer is a turn in the words of a wire.
type answer interface {
	whole() any       // the body without a stream
	events() [][]byte // the stream, one event each
}

// said is a turn with everything that a wire needs to say it.
type said struct {
	asked
	id          string
	think, text string
	calls       []call
	stop        llm.Stop
	usage       nexus.Usage
	cut         bool // the last call's input ends in the middle
}

type call struct {
	id, tool, input string
}

// compose fills in ids and usage and lets the fault spoil the content.
func compose(a asked, t Turn, seen Seen) answer {
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.conversation)) // never fails
	s := said{
		asked: a, id: fmt.Sprintf("msg_%08x_%d", h.Sum32(), a.step),
		think: t.Think, text: t.Say, stop: t.stop(),
	}
	for i, c := range t.Calls {
		input := []byte("{}")
		if len(c.Input) > 0 {
			input, _ = json.Marshal(c.Input) // the script was checked
		}
		s.calls = append(s.calls, call{id: fmt.Sprintf("call_%08x_%d_%d", h.Sum32(), a.step, i), tool: c.Tool, input: string(input)})
	}
	s.spoil(t.Fault)
	s.usage = s.count(t, seen)
	if a.wire == anthropicWire {
		return anthropicAnswer{s}
	}
	return openaiAnswer{s}
}

func (s *said) spoil(f Fault) {
	last := len(s.calls) - 1
	switch f {
	case BadJSON:
		s.calls[last].input += `"}`
	case NoID:
		s.calls[last].id = ""
	case SameID:
		for i := range s.calls {
			s.calls[i].id = s.calls[0].id
		}
	case Length:
		c := &s.calls[last]
		c.input, s.cut, s.stop = c.input[:len(c.input)/2], true, llm.StopLength
	case Empty:
		s.think, s.text, s.calls, s.stop = "", "", nil, llm.StopDone
	case Refuse:
		s.think, s.text, s.calls, s.stop = "", "I cannot help with that.", nil, llm.StopRefuse
	default: // not about content
	}
}

// count returns the usage: four bytes make a token, and what an earlier
// request began with was read from the cache.
func (s *said) count(t Turn, seen Seen) nexus.Usage {
	if u := t.Usage; u != nil {
		return nexus.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	}
	out := len(s.think) + len(s.text)
	for _, c := range s.calls {
		out += len(c.tool) + len(c.input)
	}
	u := nexus.Usage{Input: tokens(seen.Prompt), Output: max(tokens(out), 1)}
	if s.cached {
		u.CacheRead = int64(seen.Kept / 4)
		u.Input -= u.CacheRead
	}
	if s.wire == anthropicWire && s.cached { // what is not read is written, up to the breakpoint at the end
		u.Input, u.CacheWrite = 0, u.Input
	}
	return u
}

func tokens(n int) int64 { return int64((n + 3) / 4) }

// event returns one event of a stream. OpenAI's have no name.
func event(way wire, name string, data any) []byte {
	var b bytes.Buffer
	if way == anthropicWire {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(data) // strings, numbers and what was checked; ends the line
	b.WriteByte('\n')
	return b.Bytes()
}

// pieces cuts text for events, between runes.
func pieces(s string) []string {
	var out []string
	start := 0
	for i := range s {
		if i-start >= piece {
			out = append(out, s[start:i])
			start = i
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

type object map[string]any

type anthropicAnswer struct{ said }

func (s anthropicAnswer) reason() string {
	return map[llm.Stop]string{
		llm.StopDone: "end_turn", llm.StopTools: "tool_use", llm.StopLength: "max_tokens", llm.StopRefuse: "refusal",
	}[s.stop]
}

func (s anthropicAnswer) usageAt(output int64) object {
	return object{
		"input_tokens": s.usage.Input, "cache_read_input_tokens": s.usage.CacheRead,
		"cache_creation_input_tokens": s.usage.CacheWrite, "output_tokens": output,
	}
}

func (s anthropicAnswer) signature() string { return "c2lnbmVk" + s.id }

func (s anthropicAnswer) whole() any {
	content := []object{}
	if s.think != "" {
		content = append(content, object{"type": "thinking", "thinking": s.think, "signature": s.signature()})
	}
	if s.text != "" {
		content = append(content, object{"type": "text", "text": s.text})
	}
	for _, c := range s.calls {
		input := json.RawMessage(c.input)
		if !json.Valid(input) {
			input = json.RawMessage("{}")
		}
		content = append(content, object{"type": "tool_use", "id": c.id, "name": c.tool, "input": input})
	}
	return object{
		"id": s.id, "type": "message", "role": "assistant", "model": s.model, "content": content,
		"stop_reason": s.reason(), "stop_sequence": nil, "usage": s.usageAt(s.usage.Output),
	}
}

func (s anthropicAnswer) events() [][]byte {
	var out [][]byte
	say := func(name string, data object) {
		data["type"] = name
		out = append(out, event(anthropicWire, name, data))
	}
	say("message_start", object{"message": object{
		"id": s.id, "type": "message", "role": "assistant", "model": s.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": s.usageAt(1),
	}})
	index := 0
	block := func(start object, deltas []object, open bool) {
		say("content_block_start", object{"index": index, "content_block": start})
		for _, d := range deltas {
			say("content_block_delta", object{"index": index, "delta": d})
		}
		if !open {
			say("content_block_stop", object{"index": index})
		}
		index++
	}
	if s.think != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""},
			append(deltas("thinking_delta", "thinking", s.think), object{"type": "signature_delta", "signature": s.signature()}), false)
	}
	if s.text != "" {
		block(object{"type": "text", "text": ""}, deltas("text_delta", "text", s.text), false)
	}
	for i, c := range s.calls {
		block(object{"type": "tool_use", "id": c.id, "name": c.tool, "input": object{}},
			deltas("input_json_delta", "partial_json", c.input), s.cut && i == len(s.calls)-1)
	}
	say("message_delta", object{
		"delta": object{"stop_reason": s.reason(), "stop_sequence": nil},
		"usage": object{"output_tokens": s.usage.Output},
	})
	say("message_stop", object{})
	return out
}

func deltas(kind, field, text string) []object {
	var out []object
	for _, p := range pieces(text) {
		out = append(out, object{"type": kind, field: p})
	}
	return out
}

type openaiAnswer struct{ said }

func (s openaiAnswer) reason() string {
	return map[llm.Stop]string{
		llm.StopDone: "stop", llm.StopTools: "tool_calls", llm.StopLength: "length", llm.StopRefuse: "stop",
	}[s.stop]
}

func (s openaiAnswer) counted() object {
	prompt := s.usage.Prompt()
	return object{
		"prompt_tokens": prompt, "completion_tokens": s.usage.Output, "total_tokens": prompt + s.usage.Output,
		"prompt_tokens_details": object{"cached_tokens": s.usage.CacheRead, "cache_write_tokens": s.usage.CacheWrite},
	}
}

// textField returns where the wire has the text.
func (s openaiAnswer) textField() string {
	if s.stop == llm.StopRefuse {
		return "refusal"
	}
	return "content"
}

func (s openaiAnswer) whole() any {
	message := object{"role": "assistant", "content": nil}
	if s.think != "" {
		message["reasoning_content"] = s.think
	}
	if s.text != "" {
		message[s.textField()] = s.text
	}
	var calls []object
	for _, c := range s.calls {
		calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.tool, "arguments": c.input}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{
		"id": s.id, "object": "chat.completion", "created": 0, "model": s.model, "usage": s.counted(),
		"choices": []object{{"index": 0, "message": message, "finish_reason": s.reason()}},
	}
}

func (s openaiAnswer) events() [][]byte {
	var out [][]byte
	chunk := func(choices []object, more object) {
		data := object{"id": s.id, "object": "chat.completion.chunk", "created": 0, "model": s.model, "choices": choices}
		for k, v := range more {
			data[k] = v
		}
		out = append(out, event(openaiWire, "", data))
	}
	delta := func(d object) { chunk([]object{{"index": 0, "delta": d, "finish_reason": nil}}, nil) }
	delta(object{"role": "assistant", "content": ""})
	for _, p := range pieces(s.think) {
		delta(object{"reasoning_content": p})
	}
	for _, p := range pieces(s.text) {
		delta(object{s.textField(): p})
	}
	for i, c := range s.calls {
		delta(object{"tool_calls": []object{{
			"index": i, "id": c.id, "type": "function", "function": object{"name": c.tool, "arguments": ""},
		}}})
		for _, p := range pieces(c.input) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}})
		}
	}
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": s.reason()}}, nil)
	if s.counts {
		chunk([]object{}, object{"usage": s.counted()})
	}
	return append(out, []byte("data: [DONE]\n\n"))
}
