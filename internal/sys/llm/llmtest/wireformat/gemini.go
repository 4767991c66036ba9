package wireformat

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

type geminiAnswer struct{ ScriptedTurnContent }

// stopReason returns the finish reason of the turn. This API never sends invalid JSON: an invalid call
// of the model has a finish reason of its own.
func (s geminiAnswer) stopReason() string {
	for _, c := range s.Calls {
		if !json.Valid([]byte(c.Input)) && !s.Cut {
			return "MALFORMED_FUNCTION_CALL"
		}
	}
	return map[llm.StopReason]string{
		llm.StopDone: "STOP", llm.StopTools: "STOP", llm.StopLength: "MAX_TOKENS", llm.StopRefuse: "SAFETY",
	}[s.Stop]
}

// callParts returns a part for each call, the first of them signed.
func (s geminiAnswer) callParts() []jsonObject {
	var out []jsonObject
	for i, c := range s.Calls {
		if !json.Valid([]byte(c.Input)) {
			continue
		}
		call := jsonObject{"name": c.Tool, "args": json.RawMessage(c.Input)}
		if c.ID != "" {
			call["id"] = c.ID
		}
		part := jsonObject{"functionCall": call}
		if i == 0 {
			part["thoughtSignature"] = "c2lnbmVk" // base64
		}
		out = append(out, part)
	}
	return out
}

func (s geminiAnswer) chunkObject(output int64, reason string, parts ...jsonObject) jsonObject {
	candidate := jsonObject{"index": 0, "content": jsonObject{"role": "model", "parts": append([]jsonObject{}, parts...)}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	thoughts := min(CountTokens(len(s.Think)), output)
	prompt := s.Usage.PromptTokens()
	usage := jsonObject{
		"promptTokenCount": prompt, "candidatesTokenCount": output - thoughts, "thoughtsTokenCount": thoughts,
		"totalTokenCount": prompt + output,
	}
	if s.Service != "" {
		usage["serviceTier"] = s.Service
	}
	if s.Usage.CacheRead > 0 {
		usage["cachedContentTokenCount"] = s.Usage.CacheRead
	}
	return jsonObject{"candidates": []jsonObject{candidate}, "usageMetadata": usage, "modelVersion": s.Model, "responseId": s.ID}
}

// WholeBody implements [WireAnswer].
func (s geminiAnswer) WholeBody() any {
	var parts []jsonObject
	if s.Think != "" {
		parts = append(parts, jsonObject{"text": s.Think, "thought": true})
	}
	if s.Text != "" {
		parts = append(parts, jsonObject{"text": s.Text})
	}
	return s.chunkObject(s.Usage.Output, s.stopReason(), append(parts, s.callParts()...)...)
}

// StreamEvents implements [WireAnswer].
func (s geminiAnswer) StreamEvents() [][]byte {
	var out [][]byte
	said := 0
	say := func(reason string, parts ...jsonObject) {
		output := min(max(CountTokens(said), 1), s.Usage.Output)
		if reason != "" {
			output = s.Usage.Output
		}
		out = append(out, EncodeEvent(Gemini, "", s.chunkObject(output, reason, parts...)))
	}
	for _, p := range splitText(s.Think) {
		said += len(p)
		say("", jsonObject{"text": p, "thought": true})
	}
	for _, p := range splitText(s.Text) {
		said += len(p)
		say("", jsonObject{"text": p})
	}
	for _, c := range s.callParts() {
		say("", c)
	}
	say(s.stopReason(), jsonObject{"text": ""})
	return out
}
