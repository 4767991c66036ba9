package sdk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
)

func wires() map[string]wire {
	return map[string]wire{"anthropic": anthropicWire(), "openai": chatWire(), "responses": responsesWire(), "gemini": geminiWire()}
}

// answer is what both sides make of a stream.
type answer struct {
	Text, Thought, Model string
	Calls                []llm.ToolCall
	Stop                 llm.StopReason
	Usage                nexus.Usage
}

func lost(err error) error { return cmp.Or(err, errors.New("no whole answer")) }

// into decodes a body into the type.
func into[T any](t *testing.T, body map[string]any) T {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("the SDK does not take it: %v: %s", err, data)
	}
	return v
}

func object(data []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v map[string]any
	_ = d.Decode(&v)
	return v
}

// each visits every object in a tree.
func each(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, e := range v {
			each(e, visit)
		}
	case []any:
		for _, e := range v {
			each(e, visit)
		}
	}
}

// turns are answers of every kind that the scripted server gives.
func turns() map[string]llmtest.ScriptTurn {
	two := func(f llmtest.ProviderFault) llmtest.ScriptTurn {
		return llmtest.ScriptTurn{
			Think: "both, I think \u2028 <x>", Say: strings.Repeat("Gr\u00fc\u00dfe, \u4e16\u754c \U0001F642: I look at <both> files & then decide.\n", 5), Fault: f,
			Calls: []llmtest.ScriptCall{
				{Tool: "read_file", Input: map[string]any{"path": "a <&> \"\u00fc\".go"}},
				{Tool: "read_file", Input: map[string]any{"path": strings.Repeat("deep/", 40) + "b.go", "n": 3}},
			},
			Usage: &llmtest.ScriptUsage{Input: 5, Output: 7, CacheRead: 11, CacheWrite: 13, CacheHour: 3},
		}
	}
	all := map[string]llmtest.ScriptTurn{
		"both": two(""), "text": {Say: "Just text."}, "only a call": {Calls: []llmtest.ScriptCall{{Tool: "finish", Input: map[string]any{}}}},
		"only thinking": {Think: "hm"},
	}
	for _, f := range []llmtest.ProviderFault{
		llmtest.BadJSON, llmtest.HalfJSON, llmtest.NoObject, llmtest.NoID, llmtest.SameID, llmtest.NoName, llmtest.OddName,
		llmtest.Length, llmtest.Empty, llmtest.Refuse, llmtest.Noise,
	} {
		all[string(f)] = two(f)
	}
	return all
}

// forms are ways to write the same stream.
func forms() map[string]func([]byte) []byte {
	lines := func(old, fresh string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(fresh)) }
	}
	return map[string]func([]byte) []byte{
		"as it came":                   func(b []byte) []byte { return b },
		"lines that end with CRLF":     lines("\n", "\r\n"),
		"lines that end with CR":       lines("\n", "\r"),
		"comments":                     lines("\n\n", "\n\n: keep-alive\n\n"),
		"fields that nobody asked for": lines("data: ", "id: 7\nretry: 10\ndata: "),
		"no space behind the colon":    lines("data: ", "data:"),
		"data of two lines":            lines("data: {", "data: {\ndata: "),
		"a mark at the beginning":      func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) },
		"no blank line at the end":     func(b []byte) []byte { return bytes.TrimRight(b, "\n") },
	}
}

// tape is a transport that gives a stream, byte by byte where one says so.
type tape struct {
	stream []byte
	one    bool
}

func (p tape) RoundTrip(r *http.Request) (*http.Response, error) {
	var body io.Reader = bytes.NewReader(p.stream)
	if p.one {
		body = iotest.OneByteReader(body)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, Body: io.NopCloser(body)}, nil
}

// TestStreams holds what ours makes of each stream against what the SDK makes
// of it. What an SDK cannot read is listed, and ours can.
func TestStreams(t *testing.T) {
	for name, w := range wires() {
		deaf := map[string]bool{} // what the SDK could not read
		for kind, turn := range turns() {
			stream := record(t, w, turn)
			for form, write := range forms() {
				t.Run(name+"/"+kind+"/"+form, func(t *testing.T) {
					p := tape{write(stream), form == "as it came"}
					diff := w.compare(t, p)
					if diff != "" && !slices.Contains(w.deaf, form) && !slices.Contains(w.deaf, kind) {
						t.Errorf("%.3000s", diff)
					}
					if diff != "" {
						deaf[form], deaf[kind] = true, true
					}
				})
			}
		}
		for _, what := range w.deaf {
			if !deaf[what] {
				t.Errorf("%s: the SDK reads %q, and need not be excused for it", name, what)
			}
		}
	}
}

// compare returns how the SDK's answer differs from ours.
func (w wire) compare(t *testing.T, p tape) string {
	t.Helper()
	h := &http.Client{Transport: p}
	r, err := w.model(h).Stream(t.Context(), conform.NewRequest("c"), nil)
	if err != nil {
		t.Fatalf("ours: %v\n%.500s", err, p.stream)
	}
	theirs, err := w.hear(t, h)
	if err != nil {
		return "the SDK: " + err.Error()
	}
	ours := answer{Text: r.Message.Text(), Model: r.Model, Calls: r.ToolCalls(), Stop: r.Stop, Usage: r.Usage}
	for _, part := range r.Message.Parts {
		ours.Thought += w.known(part.Raw)
	}
	fit(&theirs, &ours)
	if diff := gocmp.Diff(theirs, ours); diff != "" {
		return "the SDK's (-), ours (+):\n" + diff
	}
	return ""
}

// fit takes the SDK's answer as ours is meant: a cut or refused answer has no
// calls, a flawed call is told of and not run, and inputs are equal as JSON.
func fit(theirs, ours *answer) {
	if ours.Stop == llm.StopLength || ours.Stop == llm.StopRefuse || ours.Stop == llm.StopMalformed {
		theirs.Calls, theirs.Thought, ours.Thought = nil, "", ""
	}
	if len(theirs.Calls) > 0 && theirs.Stop == llm.StopDone {
		theirs.Stop = llm.StopTools
	}
	for i := range min(len(theirs.Calls), len(ours.Calls)) {
		x, y := &theirs.Calls[i], &ours.Calls[i]
		switch {
		case y.Flaw != "":
			*x = *y
		case x.ID == "":
			x.ID = y.ID // made here, where a provider gives none
		}
		if reflect.DeepEqual(object(x.Input), object(y.Input)) || len(bytes.TrimSpace(x.Input)) == 0 && string(y.Input) == "{}" {
			x.Input = y.Input
		}
	}
	if len(theirs.Calls) == 0 {
		theirs.Calls = nil
	}
	if len(ours.Calls) == 0 {
		ours.Calls = nil
	}
}
