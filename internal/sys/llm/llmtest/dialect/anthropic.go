package dialect

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

type anthropicAnswer struct{ TurnContent }

func (s anthropicAnswer) reason() string {
	return map[llm.Stop]string{
		llm.StopDone: "end_turn", llm.StopTools: "tool_use", llm.StopLength: "max_tokens", llm.StopRefuse: "refusal",
	}[s.Stop]
}

func (s anthropicAnswer) usageAt(output int64) object {
	u := object{
		"input_tokens": s.Usage.Input, "cache_read_input_tokens": s.Usage.CacheRead,
		"cache_creation_input_tokens": s.Usage.CacheWrite, "output_tokens": output,
		"cache_creation": object{"ephemeral_5m_input_tokens": s.Usage.CacheWrite - s.Usage.CacheHour, "ephemeral_1h_input_tokens": s.Usage.CacheHour},
	}
	if s.Service != "" {
		u["service_tier"] = s.Service
	}
	return u
}

func (s anthropicAnswer) signature() string { return "c2lnbmVk" + s.ID }

// Whole implements [Answer].
func (s anthropicAnswer) Whole() any {
	content := []object{}
	if s.Think != "" {
		content = append(content, object{"type": "thinking", "thinking": s.Think, "signature": s.signature()})
	}
	if s.Text != "" {
		content = append(content, object{"type": "text", "text": s.Text})
	}
	for _, c := range s.Calls {
		input := json.RawMessage(c.Input)
		if !json.Valid(input) {
			input = json.RawMessage("{}")
		}
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": input})
	}
	return object{
		"id": s.ID, "type": "message", "role": "assistant", "model": s.Model, "content": content,
		"stop_reason": s.reason(), "stop_sequence": nil, "usage": s.usageAt(s.Usage.Output),
	}
}

// Events implements [Answer].
func (s anthropicAnswer) Events() [][]byte {
	var out [][]byte
	say := func(name string, data object) {
		data["type"] = name
		out = append(out, Event(Anthropic, name, data))
	}
	say("message_start", object{"message": object{
		"id": s.ID, "type": "message", "role": "assistant", "model": s.Model, "content": []any{},
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
	if s.Think != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""},
			append(deltas("thinking_delta", "thinking", s.Think), object{"type": "signature_delta", "signature": s.signature()}), false)
	}
	if s.Text != "" {
		block(object{"type": "text", "text": ""}, deltas("text_delta", "text", s.Text), false)
	}
	for i, c := range s.Calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": object{}},
			deltas("input_json_delta", "partial_json", c.Input), s.Cut && i == len(s.Calls)-1)
	}
	say("message_delta", object{
		"delta": object{"stop_reason": s.reason(), "stop_sequence": nil},
		"usage": object{"output_tokens": s.Usage.Output},
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
