// Package wireformat encodes a scripted model's answers in the format of each API: Anthropic's
// Messages, OpenAI's Chat Completions and Responses, and Google's streamGenerateContent. It
// produces correct answers; package llmtest adds the faults.
package wireformat

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// WireFormat is the format of a provider's API.
type WireFormat string

// The formats.
const (
	Anthropic WireFormat = "anthropic"
	Chat      WireFormat = "openai"
	Responses WireFormat = "responses"
	Gemini    WireFormat = "gemini"
)

// AllWireFormats returns all formats.
func AllWireFormats() []WireFormat { return []WireFormat{Anthropic, Chat, Responses, Gemini} }

// ScriptedTurnContent is a turn with all data that any format needs.
type ScriptedTurnContent struct {
	ReceivedModelRequest
	ID          string
	Think, Text string
	Calls       []RawToolCall
	Stop        llm.StopReason
	Usage       nexus.Usage
	Service     string // service tier; empty: not reported
	Cut         bool   // the input of the last call ends in the middle
}

// RawToolCall is a tool call. Its input may be invalid JSON.
type RawToolCall struct {
	ID, Tool, Input string
}

// WireAnswer is a turn in a format.
type WireAnswer interface {
	WholeBody() any         // the body without a stream
	StreamEvents() [][]byte // the stream, one event each
}

// EncodeTurn encodes the turn in its format.
func EncodeTurn(s ScriptedTurnContent) WireAnswer {
	switch s.Wire {
	case Anthropic:
		return anthropicAnswer{s}
	case Responses:
		return responsesAnswer{s}
	case Gemini:
		return geminiAnswer{s}
	default:
		return chatAnswer{s}
	}
}

// CountTokens returns the simulated number of tokens of n bytes.
func CountTokens(n int) int64 { return int64((n + 3) / 4) }

// EncodeEvent encodes one event of a stream. Those of Chat and Gemini have no name.
func EncodeEvent(w WireFormat, name string, data any) []byte {
	var b bytes.Buffer
	if w == Anthropic || w == Responses {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(data) // cannot fail for strings, numbers and validated input; adds a newline
	b.WriteByte('\n')
	return b.Bytes()
}

// HarmlessEvents returns extra events that a client must ignore.
func HarmlessEvents(w WireFormat) [][]byte {
	noise := [][]byte{[]byte(": keep-alive\n\n"), []byte("retry: 100\n\n"), []byte("id: 7\n: OPENROUTER PROCESSING\n\n")}
	switch w {
	case Anthropic:
		return append(noise, []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n"),
			[]byte("event: novelty\ndata: {\"type\":\"novelty\",\"index\":0}\n\n"))
	case Responses:
		return append(noise, []byte("event: response.novelty\ndata: {\"type\":\"response.novelty\",\"output_index\":0,\"delta\":\"x\"}\n\n"),
			[]byte("event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n"))
	case Gemini:
		return append(noise, []byte("data: {\"novelty\":{\"x\":1}}\n\n"), []byte("event: novelty\ndata: {\"candidates\":[]}\n\n"))
	default:
		return append(noise, []byte("data: {\"id\":\"x\",\"object\":\"novelty\",\"choices\":[]}\n\n"))
	}
}

// RepeatedEvent returns an event that may be repeated in the middle of an answer: a ping, a comment, an
// empty piece, or a piece of an endless answer.
func RepeatedEvent(w WireFormat, kind string) []byte {
	text := map[string]string{"endless": "and so on "}[kind]
	switch {
	case kind == "comments":
		return []byte(": keep-alive\n\n")
	case kind == "pings":
		noise := HarmlessEvents(w)
		return noise[len(noise)-1]
	case w == Anthropic:
		return EncodeEvent(w, "content_block_delta", jsonObject{"type": "content_block_delta", "index": 0, "delta": jsonObject{"type": "text_delta", "text": text}})
	case w == Responses:
		return EncodeEvent(w, "response.output_text.delta", jsonObject{"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text})
	case w == Gemini:
		return EncodeEvent(w, "", jsonObject{"candidates": []jsonObject{{"index": 0, "content": jsonObject{"role": "model", "parts": []jsonObject{{"text": text}}}}}})
	default:
		return EncodeEvent(w, "", jsonObject{"choices": []jsonObject{{"index": 0, "delta": jsonObject{"role": "assistant", "content": text}, "finish_reason": nil}}})
	}
}

// splitText cuts text for events, between runes. Long texts have longer pieces.
func splitText(s string) []string {
	const usual, most = 64, 20_000 // bytes of an event, events
	size := max(usual, len(s)/most)
	var out []string
	for len(s) > size {
		n := size
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

type jsonObject map[string]any
