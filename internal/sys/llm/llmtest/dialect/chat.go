package dialect

import "github.com/nexus-ai-builder/nexus/internal/sys/llm"

type chatAnswer struct{ TurnContent }

func (s chatAnswer) reason() string {
	return map[llm.Stop]string{
		llm.StopDone: "stop", llm.StopTools: "tool_calls", llm.StopLength: "length", llm.StopRefuse: "stop",
	}[s.Stop]
}

func (s chatAnswer) counted() object {
	prompt := s.Usage.Prompt()
	return object{
		"prompt_tokens": prompt, "completion_tokens": s.Usage.Output, "total_tokens": prompt + s.Usage.Output,
		"prompt_tokens_details": object{"cached_tokens": s.Usage.CacheRead, "cache_write_tokens": s.Usage.CacheWrite},
	}
}

// textField returns the API's field for the text.
func (s chatAnswer) textField() string {
	if s.Stop == llm.StopRefuse {
		return "refusal"
	}
	return "content"
}

// Whole implements [Answer].
func (s chatAnswer) Whole() any {
	message := object{"role": "assistant", "content": nil}
	if s.Think != "" {
		message["reasoning_content"] = s.Think
	}
	if s.Text != "" {
		message[s.textField()] = s.Text
	}
	var calls []object
	for _, c := range s.Calls {
		calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Tool, "arguments": c.Input}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{
		"id": s.ID, "object": "chat.completion", "created": 0, "model": s.Model, "usage": s.counted(),
		"choices": []object{{"index": 0, "message": message, "finish_reason": s.reason()}},
	}
}

// Events implements [Answer].
func (s chatAnswer) Events() [][]byte {
	var out [][]byte
	chunk := func(choices []object, more object) {
		data := object{"id": s.ID, "object": "chat.completion.chunk", "created": 0, "model": s.Model, "choices": choices}
		for k, v := range more {
			data[k] = v
		}
		if s.Service != "" {
			data["service_tier"] = s.Service
		}
		out = append(out, Event(Chat, "", data))
	}
	delta := func(d object) { chunk([]object{{"index": 0, "delta": d, "finish_reason": nil}}, nil) }
	delta(object{"role": "assistant", "content": ""})
	for _, p := range pieces(s.Think) {
		delta(object{"reasoning_content": p})
	}
	for _, p := range pieces(s.Text) {
		delta(object{s.textField(): p})
	}
	for i, c := range s.Calls {
		delta(object{"tool_calls": []object{{
			"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Tool, "arguments": ""},
		}}})
		for _, p := range pieces(c.Input) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}})
		}
	}
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": s.reason()}}, nil)
	if s.Counts {
		chunk([]object{}, object{"usage": s.counted()})
	}
	return append(out, []byte("data: [DONE]\n\n"))
}
