package dialect

import "github.com/nexus-ai-builder/nexus/internal/sys/llm"

type responsesAnswer struct{ TurnContent }

// items returns the output in order: thinking, text, calls.
func (s responsesAnswer) items() []object {
	var out []object
	if s.Think != "" {
		out = append(out, object{
			"type": "reasoning", "id": "rs_" + s.ID, "encrypted_content": "c2VhbGVk" + s.ID,
			"summary": []object{{"type": "summary_text", "text": s.Think}},
		})
	}
	if s.Text != "" {
		content := object{"type": "output_text", "text": s.Text, "annotations": []any{}}
		if s.Stop == llm.StopRefuse {
			content = object{"type": "refusal", "refusal": s.Text}
		}
		out = append(out, object{"type": "message", "id": "msg_" + s.ID, "role": "assistant", "status": "completed", "content": []object{content}})
	}
	for i, c := range s.Calls {
		status := "completed"
		if s.Cut && i == len(s.Calls)-1 {
			status = "incomplete"
		}
		out = append(out, object{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Tool, "arguments": c.Input, "status": status})
	}
	return out
}

func (s responsesAnswer) response(status string, output []object, usage object) object {
	r := object{
		"id": s.ID, "object": "response", "created_at": 0, "model": s.Model, "status": status,
		"output": append([]object{}, output...), "error": nil, "incomplete_details": nil, "usage": nil,
	}
	if usage != nil {
		r["usage"] = usage
	}
	if s.Service != "" {
		r["service_tier"] = s.Service
	}
	if status == "incomplete" {
		r["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	return r
}

func (s responsesAnswer) final() object {
	prompt := s.Usage.Prompt()
	status := "completed"
	if s.Stop == llm.StopLength {
		status = "incomplete"
	}
	return s.response(status, s.items(), object{
		"input_tokens": prompt, "output_tokens": s.Usage.Output, "total_tokens": prompt + s.Usage.Output,
		"input_tokens_details":  object{"cached_tokens": s.Usage.CacheRead, "cache_write_tokens": s.Usage.CacheWrite},
		"output_tokens_details": object{"reasoning_tokens": Tokens(len(s.Think))},
	})
}

// Whole implements [Answer].
func (s responsesAnswer) Whole() any { return s.final() }

// Events implements [Answer].
func (s responsesAnswer) Events() [][]byte {
	var out [][]byte
	say := func(name string, data object) {
		data["type"], data["sequence_number"] = name, len(out)
		out = append(out, Event(Responses, name, data))
	}
	say("response.created", object{"response": s.response("in_progress", nil, nil)})
	for i, item := range s.items() {
		begun := object{"type": item["type"], "id": item["id"], "status": "in_progress"}
		kind, field, text := "response.output_text.delta", "content", s.Text
		switch item["type"] {
		case "reasoning":
			kind, field, text = "response.reasoning_summary_text.delta", "summary", s.Think
		case "function_call":
			begun["call_id"], begun["name"] = item["call_id"], item["name"]
			kind, field = "response.function_call_arguments.delta", "arguments"
			text, _ = item["arguments"].(string)
		}
		if s.Stop == llm.StopRefuse {
			kind = "response.refusal.delta"
		}
		begun[field] = map[bool]any{true: "", false: []any{}}[field == "arguments"]
		say("response.output_item.added", object{"output_index": i, "item": begun})
		for _, p := range pieces(text) {
			say(kind, object{"output_index": i, "item_id": item["id"], "delta": p})
		}
		if item["status"] != "incomplete" {
			say("response.output_item.done", object{"output_index": i, "item": item})
		}
	}
	final := s.final()
	name, _ := final["status"].(string)
	say("response."+name, object{"response": final})
	return out
}
