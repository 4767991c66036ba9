package wireformat

import "github.com/nexus-ai-builder/nexus/internal/sys/llm"

type chatAnswer struct{ ScriptedTurnContent }

func (s chatAnswer) stopReason() string {
	return map[llm.StopReason]string{
		llm.StopDone: "stop", llm.StopTools: "tool_calls", llm.StopLength: "length", llm.StopRefuse: "stop",
	}[s.Stop]
}

func (s chatAnswer) usageObject() jsonObject {
	prompt := s.Usage.PromptTokens()
	return jsonObject{
		"prompt_tokens": prompt, "completion_tokens": s.Usage.Output, "total_tokens": prompt + s.Usage.Output,
		"prompt_tokens_details": jsonObject{"cached_tokens": s.Usage.CacheRead, "cache_write_tokens": s.Usage.CacheWrite},
	}
}

// textField returns the API's field for the text.
func (s chatAnswer) textField() string {
	if s.Stop == llm.StopRefuse {
		return "refusal"
	}
	return "content"
}

// WholeBody implements [WireAnswer].
func (s chatAnswer) WholeBody() any {
	message := jsonObject{"role": "assistant", "content": nil}
	if s.Think != "" {
		message["reasoning_content"] = s.Think
	}
	if s.Text != "" {
		message[s.textField()] = s.Text
	}
	var calls []jsonObject
	for _, c := range s.Calls {
		calls = append(calls, jsonObject{"id": c.ID, "type": "function", "function": jsonObject{"name": c.Tool, "arguments": c.Input}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return jsonObject{
		"id": s.ID, "object": "chat.completion", "created": 0, "model": s.Model, "usage": s.usageObject(),
		"choices": []jsonObject{{"index": 0, "message": message, "finish_reason": s.stopReason()}},
	}
}

// StreamEvents implements [WireAnswer].
func (s chatAnswer) StreamEvents() [][]byte {
	var out [][]byte
	chunk := func(choices []jsonObject, more jsonObject) {
		data := jsonObject{"id": s.ID, "object": "chat.completion.chunk", "created": 0, "model": s.Model, "choices": choices}
		for k, v := range more {
			data[k] = v
		}
		if s.Service != "" {
			data["service_tier"] = s.Service
		}
		out = append(out, EncodeEvent(Chat, "", data))
	}
	delta := func(d jsonObject) { chunk([]jsonObject{{"index": 0, "delta": d, "finish_reason": nil}}, nil) }
	delta(jsonObject{"role": "assistant", "content": ""})
	for _, p := range splitText(s.Think) {
		delta(jsonObject{"reasoning_content": p})
	}
	for _, p := range splitText(s.Text) {
		delta(jsonObject{s.textField(): p})
	}
	for i, c := range s.Calls {
		delta(jsonObject{"tool_calls": []jsonObject{{
			"index": i, "id": c.ID, "type": "function", "function": jsonObject{"name": c.Tool, "arguments": ""},
		}}})
		for _, p := range splitText(c.Input) {
			delta(jsonObject{"tool_calls": []jsonObject{{"index": i, "function": jsonObject{"arguments": p}}}})
		}
	}
	chunk([]jsonObject{{"index": 0, "delta": jsonObject{}, "finish_reason": s.stopReason()}}, nil)
	if s.Counts {
		chunk([]jsonObject{}, jsonObject{"usage": s.usageObject()})
	}
	return append(out, []byte("data: [DONE]\n\n"))
}
