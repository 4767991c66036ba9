// Package dialect encodes a scripted model's answers in the format of each API: Anthropic's
// Messages, OpenAI's Chat Completions and Responses, and Google's streamGenerateContent. It
// produces correct answers; package llmtest adds the faults.
package dialect

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Wire is the format of a provider's API.
type Wire string

// The formats.
const (
	Anthropic Wire = "anthropic"
	Chat      Wire = "openai"
	Responses Wire = "responses"
	Gemini    Wire = "gemini"
)

// Wires returns all formats.
func Wires() []Wire { return []Wire{Anthropic, Chat, Responses, Gemini} }

// TurnContent is a turn with all data that any format needs.
type TurnContent struct {
	Asked
	ID          string
	Think, Text string
	Calls       []Call
	Stop        llm.Stop
	Usage       nexus.Usage
	Service     string // service tier; empty: not reported
	Cut         bool   // the input of the last call ends in the middle
}

// Call is a tool call. Its input may be invalid JSON.
type Call struct {
	ID, Tool, Input string
}

// Answer is a turn in a format.
type Answer interface {
	Whole() any       // the body without a stream
	Events() [][]byte // the stream, one event each
}

// Put encodes the turn in its format.
func Put(s TurnContent) Answer {
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

// Tokens returns the simulated number of tokens of n bytes.
func Tokens(n int) int64 { return int64((n + 3) / 4) }

// Event encodes one event of a stream. Those of Chat and Gemini have no name.
func Event(w Wire, name string, data any) []byte {
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

// Noise returns extra events that a client must ignore.
func Noise(w Wire) [][]byte {
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

// Babble returns an event that may be repeated in the middle of an answer: a ping, a comment, an
// empty piece, or a piece of an endless answer.
func Babble(w Wire, kind string) []byte {
	text := map[string]string{"endless": "and so on "}[kind]
	switch {
	case kind == "comments":
		return []byte(": keep-alive\n\n")
	case kind == "pings":
		noise := Noise(w)
		return noise[len(noise)-1]
	case w == Anthropic:
		return Event(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": text}})
	case w == Responses:
		return Event(w, "response.output_text.delta", object{"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text})
	case w == Gemini:
		return Event(w, "", object{"candidates": []object{{"index": 0, "content": object{"role": "model", "parts": []object{{"text": text}}}}}})
	default:
		return Event(w, "", object{"choices": []object{{"index": 0, "delta": object{"role": "assistant", "content": text}, "finish_reason": nil}}})
	}
}

// pieces cuts text for events, between runes. Long texts have longer pieces.
func pieces(s string) []string {
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

type object map[string]any
