package dialect

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

type geminiAnswer struct{ TurnContent }

// reason returns the finish reason of the turn. This API never sends invalid JSON: an invalid call
// of the model has a finish reason of its own.
func (s geminiAnswer) reason() string {
	for _, c := range s.Calls {
		if !json.Valid([]byte(c.Input)) && !s.Cut {
			return "MALFORMED_FUNCTION_CALL"
		}
	}
	return map[llm.Stop]string{
		llm.StopDone: "STOP", llm.StopTools: "STOP", llm.StopLength: "MAX_TOKENS", llm.StopRefuse: "SAFETY",
	}[s.Stop]
}

// calls returns a part for each call, the first of them signed.
func (s geminiAnswer) calls() []object {
	var out []object
	for i, c := range s.Calls {
		if !json.Valid([]byte(c.Input)) {
			continue
		}
		call := object{"name": c.Tool, "args": json.RawMessage(c.Input)}
		if c.ID != "" {
			call["id"] = c.ID
		}
		part := object{"functionCall": call}
		if i == 0 {
			part["thoughtSignature"] = "c2lnbmVk" // base64
		}
		out = append(out, part)
	}
	return out
}

func (s geminiAnswer) chunk(output int64, reason string, parts ...object) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": append([]object{}, parts...)}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	thoughts := min(Tokens(len(s.Think)), output)
	prompt := s.Usage.Prompt()
	usage := object{
		"promptTokenCount": prompt, "candidatesTokenCount": output - thoughts, "thoughtsTokenCount": thoughts,
		"totalTokenCount": prompt + output,
	}
	if s.Service != "" {
		usage["serviceTier"] = s.Service
	}
	if s.Usage.CacheRead > 0 {
		usage["cachedContentTokenCount"] = s.Usage.CacheRead
	}
	return object{"candidates": []object{candidate}, "usageMetadata": usage, "modelVersion": s.Model, "responseId": s.ID}
}

// Whole implements [Answer].
func (s geminiAnswer) Whole() any {
	var parts []object
	if s.Think != "" {
		parts = append(parts, object{"text": s.Think, "thought": true})
	}
	if s.Text != "" {
		parts = append(parts, object{"text": s.Text})
	}
	return s.chunk(s.Usage.Output, s.reason(), append(parts, s.calls()...)...)
}

// Events implements [Answer].
func (s geminiAnswer) Events() [][]byte {
	var out [][]byte
	said := 0
	say := func(reason string, parts ...object) {
		output := min(max(Tokens(said), 1), s.Usage.Output)
		if reason != "" {
			output = s.Usage.Output
		}
		out = append(out, Event(Gemini, "", s.chunk(output, reason, parts...)))
	}
	for _, p := range pieces(s.Think) {
		said += len(p)
		say("", object{"text": p, "thought": true})
	}
	for _, p := range pieces(s.Text) {
		said += len(p)
		say("", object{"text": p})
	}
	for _, c := range s.calls() {
		say("", c)
	}
	say(s.reason(), object{"text": ""})
	return out
}
