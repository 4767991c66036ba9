// Package conform tests that every model client gives the same answers, for every fault of the
// scripted server. It is separate from llmtest so that the program does not include the testing
// package.
package conform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// Key is the key that tested models must use, and must never show.
const Key = "sk-test-0123456789-never-shown"

// ModelFactory makes a model that uses the server at the URL, through h if that is not nil.
type ModelFactory func(baseURL string, l llm.CallLimits, h *http.Client) llm.Provider

// expectedFaultResult is the expected result of a fault: a class of failure, or an answer.
type expectedFaultResult struct {
	class llm.CallFailureClass // empty for an answer
	code  string
	after time.Duration
	some  bool           // part of an answer arrives before the failure
	stop  llm.StopReason // of an answer; empty is tools
	calls int            // number of calls that reach the caller
	flaw  string         // of the last call
	text  string         // "": the whole text
}

func expectedResultsByFault(w wireformat.WireFormat) map[llmtest.ProviderFault]expectedFaultResult {
	whole := expectedFaultResult{stop: llm.StopTools, calls: 2}
	t := map[llmtest.ProviderFault]expectedFaultResult{
		"":                  whole,
		llmtest.RateLimit:   {class: llm.Quota, after: 7 * time.Second},
		llmtest.Throttled:   {class: llm.Quota},
		llmtest.NoQuota:     {class: llm.Billing},
		llmtest.Broken:      {class: llm.Transient},
		llmtest.Gateway:     {class: llm.Transient},
		llmtest.Unavailable: {class: llm.Overload},
		llmtest.Overloaded:  {class: llm.Overload},
		llmtest.BadKey:      {class: llm.Auth},
		llmtest.Expired:     {class: llm.Auth},
		llmtest.Forbidden:   {class: llm.Auth},
		llmtest.TooLong:     {class: llm.Context},
		llmtest.Wrong:       {class: llm.Invalid},
		llmtest.Policy:      {class: llm.Safety},
		llmtest.NoModel:     {class: llm.Invalid},
		llmtest.WrongPath:   {class: llm.Invalid},
		llmtest.Page:        {class: llm.Invalid, code: "address"},
		llmtest.Silent:      {class: llm.Transient},
		llmtest.Hangup:      {class: llm.Transient, code: "connection"},
		llmtest.Cut:         {class: llm.Transient, code: "connection", some: true},
		llmtest.Short:       {class: llm.Transient, code: "incomplete", some: true},
		llmtest.ErrorEvent:  {class: llm.Overload, some: true},
		llmtest.Stall:       {class: llm.Transient, some: true},
		llmtest.Pings:       {class: llm.Transient, some: true},
		llmtest.Comments:    {class: llm.Transient, some: true},
		llmtest.Hollow:      {class: llm.Transient, some: true},
		llmtest.Endless:     {class: llm.Transient, some: true},
		llmtest.BadJSON:     {stop: llm.StopTools, calls: 2, flaw: `text after the JSON: "\"}"`},
		llmtest.HalfJSON:    {stop: llm.StopTools, calls: 2, flaw: "ends too early"},
		llmtest.NoObject:    {stop: llm.StopTools, calls: 2, flaw: "not an object"},
		llmtest.NoID:        {stop: llm.StopTools, calls: 2, flaw: "has no id"},
		llmtest.SameID:      {stop: llm.StopTools, calls: 2, flaw: "has the same id"},
		llmtest.NoName:      {stop: llm.StopTools, calls: 2, flaw: "names no tool"},
		llmtest.OddName:     {stop: llm.StopTools, calls: 2, flaw: `no tool can be called "functions.read_file"`},
		llmtest.Length:      {stop: llm.StopLength},
		llmtest.Empty:       {stop: llm.StopDone, text: "-"},
		llmtest.Refuse:      {stop: llm.StopRefuse, text: "I cannot help with that."},
		llmtest.Split:       whole,
		llmtest.CRLF:        whole,
		llmtest.Noise:       whole,
		llmtest.Slow:        whole,
		llmtest.Huge:        whole,
		llmtest.Stays:       whole,
		llmtest.Floats:      whole,
	}
	if w == wireformat.Gemini || w == wireformat.Chat { // their calls may lack one
		t[llmtest.NoID] = whole
	}
	if w == wireformat.Gemini { // does not return calls that it cannot parse
		t[llmtest.BadJSON] = expectedFaultResult{stop: llm.StopMalformed}
		t[llmtest.HalfJSON] = t[llmtest.BadJSON]
	}
	return t
}

const sampleText = "Grüße, 世界 🙂: I look at <both> files & then decide. It takes more than one event to say this, as a rule.\nSecond line."

// NewRequest returns a request at the beginning of the conversation.
func NewRequest(name string) llm.Request {
	return llm.Request{
		Model: "scripted", System: "You are the coder.", MaxTokens: 1000,
		Tools: []llm.ToolDescription{{
			Name: "read_file", Description: "reads <a> file",
			Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		}},
		Messages: []llm.Message{llm.UserMessage("Conversation: " + name + "\nDo the task.")},
	}
}

// RunSuite runs the suite for a client of the API.
func RunSuite(t *testing.T, w wireformat.WireFormat, m ModelFactory) {
	t.Helper()
	for _, f := range append([]llmtest.ProviderFault{""}, llmtest.AllFaults()...) {
		t.Run(cmp.Or(string(f), "none"), func(t *testing.T) {
			t.Parallel()
			testFault(t, w, m, f, 0)
		})
		for _, linger := range lingerTimes(f) {
			t.Run(fmt.Sprintf("%s, open for %s", cmp.Or(f, "none"), linger), func(t *testing.T) {
				t.Parallel()
				testFault(t, w, m, f, linger)
			})
		}
	}
	t.Run("round trip", func(t *testing.T) { testRoundTrip(t, m) })
	t.Run("usage", func(t *testing.T) { testUsage(t, w, m, "") })
	t.Run("usage in floats", func(t *testing.T) { testUsage(t, w, m, llmtest.Floats) })
	t.Run("canceled", func(t *testing.T) { testCanceled(t, m) })
	t.Run("nobody there", func(t *testing.T) { testWithoutDeltaListener(t, m) })
	t.Run("large", func(t *testing.T) { testLargeAnswers(t, m) })
	t.Run("one connection", func(t *testing.T) { testOneConnection(t, m) })
	t.Run("out of reach", func(t *testing.T) { testConnectionFaults(t, m) })
	t.Run("models", func(t *testing.T) { testModels(t, m) })
	t.Run("force", func(t *testing.T) { testForcedToolUse(t, m) })
	t.Run("windows", func(t *testing.T) { testWindows(t, w, m) })
	t.Run("every cut", func(t *testing.T) { testCutStreams(t, m) })
	t.Run("no bound", func(t *testing.T) {
		r := NewRequest("x")
		r.MaxTokens = 0
		_, err := m("http://127.0.0.1:1", llm.CallLimits{}, nil).Stream(t.Context(), r, nil)
		wantError(t, err, expectedFaultResult{class: llm.Invalid})
	})
}

// startServer starts a server with one conversation, c.
func startServer(t *testing.T, o llmtest.Options, turns ...llmtest.ScriptTurn) *llmtest.Server {
	t.Helper()
	s, stop, err := llmtest.StartServer(t.Context(), llmtest.Script{
		Conversations: []llmtest.ScriptConversation{{Match: "c", Turns: turns}},
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return s
}

func twoCallTurn() llmtest.ScriptTurn {
	return llmtest.ScriptTurn{
		Think: "both, I think", Say: sampleText,
		Calls: []llmtest.ScriptCall{
			{Tool: "read_file", Input: map[string]any{"path": "a <&> \"ü\".go"}},
			{Tool: "read_file", Input: map[string]any{"path": strings.Repeat("deep/", 40) + "b.go", "n": 3}},
		},
	}
}

// limitsFor returns the limits that end an answer with the fault; zero if it ends by itself.
func limitsFor(f llmtest.ProviderFault, most time.Duration) llm.CallLimits {
	switch f {
	case llmtest.Stall, llmtest.Silent, llmtest.Pings, llmtest.Comments, llmtest.Hollow:
		return llm.CallLimits{Idle: most}
	case llmtest.Endless:
		return llm.CallLimits{Idle: most, Answer: most}
	default:
		return llm.CallLimits{}
	}
}

// lingerTimes returns the times that the connection stays open after an answer with the fault, in
// addition to zero: the result of a complete answer must not depend on it. Below 0: until the
// client disconnects.
func lingerTimes(f llmtest.ProviderFault) []time.Duration {
	const short = 100 * time.Millisecond // longer than a client waits for the end of a body
	switch f {
	case llmtest.HalfJSON, llmtest.NoObject, llmtest.NoID, llmtest.SameID, llmtest.Length, llmtest.Empty, llmtest.Refuse, llmtest.ErrorEvent:
		return []time.Duration{short}
	case llmtest.BadJSON:
		return []time.Duration{short, -1}
	default:
		return nil
	}
}

func testFault(t *testing.T, way wireformat.WireFormat, m ModelFactory, f llmtest.ProviderFault, linger time.Duration) {
	t.Helper()
	turn := twoCallTurn()
	if turn.Fault = f; f == llmtest.RateLimit {
		turn.After = "7"
	}
	s := startServer(t, llmtest.Options{Linger: linger}, turn)
	limits := limitsFor(f, time.Second) // on a busy machine, events may be delayed, too
	model := m(s.URL(), limits, nil)
	w := expectedResultsByFault(way)[f]
	var heard strings.Builder
	got, err := model.Stream(t.Context(), NewRequest("c"), func(d llm.AnswerDelta) { heard.WriteString(d.Text) })
	if w.class != "" {
		wantError(t, err, w)
		if len(got.Message.Parts) > 0 {
			t.Errorf("a failed call has content: %+v", got.Message)
		}
		if w.some && (got.Usage.PromptTokens() == 0 || 4*got.Usage.Output < int64(heard.Len())) {
			t.Errorf("%d bytes were received and %+v is accounted for", heard.Len(), got.Usage)
		}
		if !w.some && got.Usage != (nexus.Usage{}) {
			t.Errorf("an answer that never came used %+v", got.Usage)
		}
		got, err = m(s.URL(), llm.CallLimits{}, nil).Stream(t.Context(), NewRequest("c"), nil) // and then it succeeds
		w, heard = expectedFaultResult{stop: llm.StopTools, calls: 2}, strings.Builder{}
		heard.WriteString(sampleText)
	}
	if err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, got, w)
	if heard.String() != got.Message.Text() {
		t.Errorf("heard %q, got %q", heard.String(), got.Message.Text())
	}
	if printed := fmt.Sprintf("%v %+v %#v", model, model, model); strings.Contains(printed, Key) {
		t.Errorf("the key is printed: %s", printed)
	}
}

func wantAnswer(t *testing.T, got llm.Response, w expectedFaultResult) {
	t.Helper()
	if got.Stop != w.stop || len(got.ToolCalls()) != w.calls {
		t.Errorf("got %s with %d calls, want %s with %d", got.Stop, len(got.ToolCalls()), w.stop, w.calls)
	}
	for i, c := range got.ToolCalls() {
		if want := i == 1 && w.flaw != ""; (c.Flaw != "") != want || want && (!strings.Contains(c.Flaw, w.flaw) || string(c.Input) != "{}") {
			t.Errorf("call %+v, want the flaw %q: %t", c, w.flaw, want)
		}
	}
	text := strings.TrimPrefix(cmp.Or(w.text, sampleText), "-")
	if got.Message.Text() != text || got.Message.From != llm.Assistant {
		t.Errorf("%s says %q, want %q", got.Message.From, got.Message.Text(), text)
	}
	if w.calls == 2 {
		var in struct{ Path string }
		if err := json.Unmarshal(got.ToolCalls()[0].Input, &in); err != nil || in.Path != "a <&> \"ü\".go" {
			t.Errorf("input %s: %v", got.ToolCalls()[0].Input, err)
		}
	}
	if got.Usage.PromptTokens() == 0 || got.Usage.Output == 0 {
		t.Errorf("an answer for free: %+v", got.Usage)
	}
	if got.Model != "scripted" || got.ID == "" {
		t.Errorf("model %q, id %q", got.Model, got.ID)
	}
}

func wantPartialAnswer(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class == "" {
		t.Fatalf("%v is not a failure of a class", err)
	}
}

func wantError(t *testing.T, err error, w expectedFaultResult) {
	t.Helper()
	e, ok := errors.AsType[*llm.ModelCallError](err)
	if !ok {
		t.Fatalf("got %v, want an error of class %s", err, w.class)
	}
	if e.Class != w.class || w.code != "" && e.Code != w.code {
		t.Errorf("got class %s, code %s (%v), want %s %s", e.Class, e.Code, e, w.class, w.code)
	}
	if after, ok := e.RetryWait(time.Time{}); ok != (w.after > 0) || after != w.after {
		t.Errorf("got Retry-After %q, want %s", e.After, w.after)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", e, e, e.Cause), Key) {
		t.Errorf("the key is shown: %v", e)
	}
}

// testRoundTrip plays two turns and compares the second request with the first answer.
func testRoundTrip(t *testing.T, m ModelFactory) {
	t.Helper()
	s := startServer(t, llmtest.Options{Bodies: true}, twoCallTurn(), llmtest.ScriptTurn{
		Say: "done", Expect: []string{"contents of a", "contents of b"},
	})
	model := m(s.URL(), llm.CallLimits{}, nil)
	r := NewRequest("c")
	first, err := model.Stream(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	transcript, err := json.Marshal(first.Message) // in its stored form
	if err != nil {
		t.Fatal(err)
	}
	var kept llm.Message
	if err := json.Unmarshal(transcript, &kept); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(first.Message, kept); diff != "" {
		t.Error("the transcript changes the message", diff)
	}
	calls := first.ToolCalls()
	r.Messages = append(r.Messages, kept, llm.Message{From: llm.User, Parts: []llm.MessagePart{
		{Text: "go on"},
		{Result: &llm.ToolResult{ID: calls[0].ID, Text: "contents of a"}},
		{Result: &llm.ToolResult{ID: calls[1].ID, Text: "contents of b", Failed: true}},
	}})
	second, err := model.Stream(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if second.Stop != llm.StopDone || second.Message.Text() != "done" {
		t.Errorf("got %s %q", second.Stop, second.Message.Text())
	}
	seen := s.Requests()
	if !strings.Contains(string(seen[1].Body), "both, I think") {
		t.Error("the thinking was not sent back")
	}
	if seen[1].Step != 1 || seen[1].Kept != seen[0].Prompt {
		t.Errorf("step %d keeps %d of %d bytes", seen[1].Step, seen[1].Kept, seen[0].Prompt)
	}
	if n := s.PaidAnswers("c"); n != 2 {
		t.Errorf("%d calls were paid", n)
	}
}

func testUsage(t *testing.T, w wireformat.WireFormat, m ModelFactory, f llmtest.ProviderFault) {
	t.Helper()
	want := nexus.Usage{Input: 5, Output: 7, CacheRead: 11, CacheWrite: 13}
	if w == wireformat.Gemini { // writing to its cache costs nothing
		want = nexus.Usage{Input: 18, Output: 7, CacheRead: 11}
	}
	if w == wireformat.Anthropic { // only it reports how long tokens are cached
		want.CacheHour = 3
	}
	turn := llmtest.ScriptTurn{Say: "x", Service: "priority", Fault: f, Usage: &llmtest.ScriptUsage{Input: 5, Output: 7, CacheRead: 11, CacheWrite: 13, CacheHour: 3}}
	s := startServer(t, llmtest.Options{}, turn)
	got, err := m(s.URL(), llm.CallLimits{}, nil).Stream(t.Context(), NewRequest("c"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got.Usage); diff != "" || got.Estimated {
		t.Error(diff)
	}
	if got.Terms != (llm.BillingTerms{Service: "priority"}) {
		t.Errorf("answered on %+v", got.Terms)
	}
}

// testCanceled cancels the context inside of a call, after its first text.
func testCanceled(t *testing.T, m ModelFactory) {
	t.Helper()
	s := startServer(t, llmtest.Options{}, llmtest.ScriptTurn{Say: sampleText, Fault: llmtest.Stall, Times: -1})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	_, err := m(s.URL(), llm.CallLimits{}, nil).Stream(ctx, NewRequest("c"), func(llm.AnswerDelta) { cancel(why) })
	wantError(t, err, expectedFaultResult{class: llm.Fatal})
	if !errors.Is(err, why) {
		t.Errorf("%v does not say why", err)
	}
}

func testWithoutDeltaListener(t *testing.T, m ModelFactory) {
	t.Helper()
	_, err := m("http://user:"+Key+"@127.0.0.1:1", llm.CallLimits{}, nil).Stream(t.Context(), NewRequest("c"), nil)
	wantError(t, err, expectedFaultResult{class: llm.Transient, code: "connection"})
}

// testOneConnection checks that calls reuse a connection.
func testOneConnection(t *testing.T, m ModelFactory) {
	t.Helper()
	s, err := llmtest.NewServer(llmtest.Script{Default: &llmtest.ScriptTurn{Say: "x", Delay: time.Microsecond}}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var connections atomic.Int64
	h := httptest.NewUnstartedServer(s)
	h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	h.Start()
	defer h.Close()
	model := m(h.URL, llm.CallLimits{}, nil)
	for range 20 {
		if _, err := model.Stream(t.Context(), NewRequest("c"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 20 calls", n)
	}
}

// testLargeAnswers receives twenty thousand events, then one of five megabytes, and refuses an answer
// over its size limit.
func testLargeAnswers(t *testing.T, m ModelFactory) {
	t.Helper()
	long := strings.Repeat("0123456789abcdef", 80_000)
	s := startServer(t, llmtest.Options{}, llmtest.ScriptTurn{Say: long})
	events := 0
	got, err := m(s.URL(), llm.CallLimits{}, nil).Stream(t.Context(), NewRequest("c"), func(llm.AnswerDelta) { events++ })
	if err != nil || got.Message.Text() != long || events < 20_000 {
		t.Errorf("%d bytes in %d events: %v", len(got.Message.Text()), events, err)
	}
	const marker = "Second line."
	line := strings.Repeat("x", 5<<20)
	got, err = m.readStream(t, recordedStreamTransport{stream: bytes.ReplaceAll(RecordStream(t, m), []byte(marker), []byte(line))})
	if err != nil || !strings.HasSuffix(got.Message.Text(), line) {
		t.Errorf("%d bytes in a line: %v", len(got.Message.Text()), err)
	}
	_, err = m(s.URL(), llm.CallLimits{Bytes: 100_000}, nil).Stream(t.Context(), NewRequest("c"), nil)
	wantError(t, err, expectedFaultResult{class: llm.Transient})
}
