package wireformat

import "github.com/nexus-ai-builder/nexus/internal/sys/llm"

type responsesAnswer struct{ ScriptedTurnContent }

// outputItems returns the output in order: thinking, text, calls.
func (s responsesAnswer) outputItems() []jsonObject {
	var out []jsonObject
	if s.Think != "" {
		out = append(out, jsonObject{
			"type": "reasoning", "id": "rs_" + s.ID, "encrypted_content": "c2VhbGVk" + s.ID,
			"summary": []jsonObject{{"type": "summary_text", "text": s.Think}},
		})
	}
	if s.Text != "" {
		content := jsonObject{"type": "output_text", "text": s.Text, "annotations": []any{}}
		if s.Stop == llm.StopRefuse {
			content = jsonObject{"type": "refusal", "refusal": s.Text}
		}
		out = append(out, jsonObject{"type": "message", "id": "msg_" + s.ID, "role": "assistant", "status": "completed", "content": []jsonObject{content}})
	}
	for i, c := range s.Calls {
		status := "completed"
		if s.Cut && i == len(s.Calls)-1 {
			status = "incomplete"
		}
		out = append(out, jsonObject{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Tool, "arguments": c.Input, "status": status})
	}
	return out
}

func (s responsesAnswer) responseObject(status string, output []jsonObject, usage jsonObject) jsonObject {
	r := jsonObject{
		"id": s.ID, "object": "response", "created_at": 0, "model": s.Model, "status": status,
		"output": append([]jsonObject{}, output...), "error": nil, "incomplete_details": nil, "usage": nil,
	}
	if usage != nil {
		r["usage"] = usage
	}
	if s.Service != "" {
		r["service_tier"] = s.Service
	}
	if status == "incomplete" {
		r["incomplete_details"] = jsonObject{"reason": "max_output_tokens"}
	}
	return r
}

func (s responsesAnswer) finalResponse() jsonObject {
	prompt := s.Usage.PromptTokens()
	status := "completed"
	if s.Stop == llm.StopLength {
		status = "incomplete"
	}
	return s.responseObject(status, s.outputItems(), jsonObject{
		"input_tokens": prompt, "output_tokens": s.Usage.Output, "total_tokens": prompt + s.Usage.Output,
		"input_tokens_details":  jsonObject{"cached_tokens": s.Usage.CacheRead, "cache_write_tokens": s.Usage.CacheWrite},
		"output_tokens_details": jsonObject{"reasoning_tokens": CountTokens(len(s.Think))},
	})
}

// WholeBody implements [WireAnswer].
func (s responsesAnswer) WholeBody() any { return s.finalResponse() }

// StreamEvents implements [WireAnswer].
func (s responsesAnswer) StreamEvents() [][]byte {
	var out [][]byte
	say := func(name string, data jsonObject) {
		data["type"], data["sequence_number"] = name, len(out)
		out = append(out, EncodeEvent(Responses, name, data))
	}
	say("response.created", jsonObject{"response": s.responseObject("in_progress", nil, nil)})
	for i, item := range s.outputItems() {
		begun := jsonObject{"type": item["type"], "id": item["id"], "status": "in_progress"}
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
		say("response.output_item.added", jsonObject{"output_index": i, "item": begun})
		for _, p := range splitText(text) {
			say(kind, jsonObject{"output_index": i, "item_id": item["id"], "delta": p})
		}
		if item["status"] != "incomplete" {
			say("response.output_item.done", jsonObject{"output_index": i, "item": item})
		}
	}
	final := s.finalResponse()
	name, _ := final["status"].(string)
	say("response."+name, jsonObject{"response": final})
	return out
}
