package trafficrecord

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// frames are a piece of a text as each wire says it.
func frames() map[string]string {
	return map[string]string{
		"anthropic": `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":%s}}`,
		"thinking":  `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":%s}}`,
		"input":     `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":%s}}`,
		"chat":      `{"id":"c","choices":[{"index":0,"delta":{"content":%s}}]}`,
		"calls":     `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":3,"function":{"arguments":%s}}]}}]}`,
		"responses": `{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":%s}`,
		"gemini":    `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":%s}]}}]}`,
	}
}

func streamOf(frame string, pieces ...string) string {
	var b strings.Builder
	for _, p := range pieces {
		data, _ := json.Marshal(p)
		fmt.Fprintf(&b, "event: x\ndata: "+frame+"\n\n", data)
	}
	return b.String()
}

// leaks returns a stretch of the key that a text still holds.
func leaks(text string) string {
	for i := 0; i+8 <= len(planted); i++ {
		if strings.Contains(text, planted[i:i+8]) {
			return planted[i : i+8]
		}
	}
	return ""
}

// TestUnsplit plants a key in a stream, cut in two at each of its bytes, into
// pieces of every length, and across the piece before it.
func TestUnsplit(t *testing.T) {
	mask := masker()
	for name, frame := range frames() {
		check := func(pieces ...string) {
			t.Helper()
			got := string(mask(maskSplitKeys([]byte(streamOf(frame, pieces...)), mask)))
			if leak := leaks(got); leak != "" || !strings.Contains(got, "[masked]") {
				t.Fatalf("%s: %q of %q is left:\n%s", name, leak, pieces, got)
			}
			if strings.Count(got, "\n") != strings.Count(streamOf(frame, pieces...), "\n") {
				t.Fatalf("%s: lines are lost:\n%s", name, got)
			}
		}
		for i := 1; i < len(planted); i++ {
			check("it is "+planted[:i], planted[i:]+", keep it")
		}
		for size := 1; size < len(planted); size++ {
			pieces := []string{"it is "}
			for rest := planted; rest != ""; {
				n := min(size, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			check(append(pieces, ", keep it")...)
		}
		plain := streamOf(frame, "no ", "key ", "here")
		if got := string(maskSplitKeys([]byte(plain), mask)); got != plain {
			t.Errorf("%s: changed\n%s", name, got)
		}
	}
	mixed := streamOf(frames()["anthropic"], planted[:9]) + streamOf(frames()["thinking"], "and") + streamOf(frames()["anthropic"], planted[9:])
	if got := string(mask(maskSplitKeys([]byte(mixed), mask))); leaks(got) != "" || !strings.Contains(got, `"and"`) {
		t.Errorf("between others:\n%s", got)
	}
}

// TestUnsplitWires lets each wire say a key in its own pieces, in a text, in
// what it thinks and in a call.
func TestUnsplitWires(t *testing.T) {
	mask := masker()
	for _, w := range wireformat.AllWireFormats() {
		said := wireformat.EncodeTurn(wireformat.ScriptedTurnContent{
			ReceivedModelRequest: wireformat.ReceivedModelRequest{Wire: w, Model: "m", Counts: true}, ID: "x", Think: strings.Repeat("hm ", 7) + planted, Text: "it is " + planted + " now",
			Calls: []wireformat.RawToolCall{{ID: "1", Tool: "write_file", Input: `{"content":"export K=` + planted + `"}`}}, Stop: llm.StopTools, Usage: nexus.Usage{Output: 9},
		})
		var stream strings.Builder
		for _, e := range said.StreamEvents() {
			stream.Write(e)
		}
		if got := string(mask(maskSplitKeys([]byte(stream.String()), mask))); leaks(got) != "" {
			t.Errorf("%s: %q is left:\n%s", w, leaks(got), got)
		}
	}
}

// FuzzUnsplit holds that no bytes upset it, that lines stay lines, and that
// what holds no key stays as it is.
func FuzzUnsplit(f *testing.F) {
	for _, frame := range frames() {
		f.Add([]byte(streamOf(frame, "it is "+planted[:5], planted[5:])))
	}
	f.Add([]byte("data: {\"text\":\"a\",\"delta\":{\"text\":null}}\r\ndata:[1,[{\"text\":\"\"}]]\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mask := masker()
		got := maskSplitKeys(data, mask)
		if strings.Count(string(got), "\n") != strings.Count(string(data), "\n") {
			t.Errorf("%q, of %q", got, data)
		}
		if same := maskSplitKeys(data, func(b []byte) []byte { return b }); string(same) != string(data) {
			t.Errorf("%q, of %q", same, data)
		}
		if again := maskSplitKeys(got, mask); string(maskSplitKeys(again, mask)) != string(again) {
			t.Errorf("not the same again: %q", again)
		}
	})
}
