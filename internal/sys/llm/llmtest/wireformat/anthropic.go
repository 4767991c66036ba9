package wireformat

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

type anthropicAnswer struct{ ScriptedTurnContent }

func (s anthropicAnswer) stopReason() string {
	return map[llm.StopReason]string{
		llm.StopDone: "end_turn", llm.StopTools: "tool_use", llm.StopLength: "max_tokens", llm.StopRefuse: "refusal",
	}[s.Stop]
}

func (s anthropicAnswer) usageAt(output int64) jsonObject {
	u := jsonObject{
		"input_tokens": s.Usage.Input, "cache_read_input_tokens": s.Usage.CacheRead,
		"cache_creation_input_tokens": s.Usage.CacheWrite, "output_tokens": output,
		"cache_creation": jsonObject{"ephemeral_5m_input_tokens": s.Usage.CacheWrite - s.Usage.CacheHour, "ephemeral_1h_input_tokens": s.Usage.CacheHour},
	}
	if s.Service != "" {
		u["service_tier"] = s.Service
	}
	return u
}

func (s anthropicAnswer) thinkingSignature() string { return "c2lnbmVk" + s.ID }

// WholeBody implements [WireAnswer].
func (s anthropicAnswer) WholeBody() any {
	content := []jsonObject{}
	if s.Think != "" {
		content = append(content, jsonObject{"type": "thinking", "thinking": s.Think, "signature": s.thinkingSignature()})
	}
	if s.Text != "" {
		content = append(content, jsonObject{"type": "text", "text": s.Text})
	}
	for _, c := range s.Calls {
		input := json.RawMessage(c.Input)
		if !json.Valid(input) {
			input = json.RawMessage("{}")
		}
		content = append(content, jsonObject{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": input})
	}
	return jsonObject{
		"id": s.ID, "type": "message", "role": "assistant", "model": s.Model, "content": content,
		"stop_reason": s.stopReason(), "stop_sequence": nil, "usage": s.usageAt(s.Usage.Output),
	}
}

// StreamEvents implements [WireAnswer].
func (s anthropicAnswer) StreamEvents() [][]byte {
	var out [][]byte
	say := func(name string, data jsonObject) {
		data["type"] = name
		out = append(out, EncodeEvent(Anthropic, name, data))
	}
	say("message_start", jsonObject{"message": jsonObject{
		"id": s.ID, "type": "message", "role": "assistant", "model": s.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": s.usageAt(1),
	}})
	index := 0
	block := func(start jsonObject, deltas []jsonObject, open bool) {
		say("content_block_start", jsonObject{"index": index, "content_block": start})
		for _, d := range deltas {
			say("content_block_delta", jsonObject{"index": index, "delta": d})
		}
		if !open {
			say("content_block_stop", jsonObject{"index": index})
		}
		index++
	}
	if s.Think != "" {
		block(jsonObject{"type": "thinking", "thinking": "", "signature": ""},
			append(textDeltas("thinking_delta", "thinking", s.Think), jsonObject{"type": "signature_delta", "signature": s.thinkingSignature()}), false)
	}
	if s.Text != "" {
		block(jsonObject{"type": "text", "text": ""}, textDeltas("text_delta", "text", s.Text), false)
	}
	for i, c := range s.Calls {
		block(jsonObject{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": jsonObject{}},
			textDeltas("input_json_delta", "partial_json", c.Input), s.Cut && i == len(s.Calls)-1)
	}
	say("message_delta", jsonObject{
		"delta": jsonObject{"stop_reason": s.stopReason(), "stop_sequence": nil},
		"usage": jsonObject{"output_tokens": s.Usage.Output},
	})
	say("message_stop", jsonObject{})
	return out
}

func textDeltas(kind, field, text string) []jsonObject {
	var out []jsonObject
	for _, p := range splitText(text) {
		out = append(out, jsonObject{"type": kind, field: p})
	}
	return out
}
