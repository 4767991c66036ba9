package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexus-ai-builder/nexus/internal/face/telemetry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite the golden file")

const run = nexus.RunID("260504-100000-abc")

// told is a run as the journal has it, one event a second.
func told() (all []nexus.Event) {
	start := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for i, f := range []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "a secret goal"}},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Tier: nexus.Fast, Strategy: "test-after"},
		nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1", Role: nexus.Coder, Model: "anthropic/claude-haiku-5-5"},
		nexus.BudgetReserved{ID: "r1", Session: "T1.1/coder.1", Model: "anthropic/claude-haiku-5-5"},
		nexus.BudgetSettled{ID: "r1", Money: 12_000_000, Usage: nexus.Usage{Input: 100, Output: 20, CacheRead: 50}},
		nexus.ToolCallStarted{Session: "T1.1/coder.1", Call: "c1", Tool: "shell", About: "cat secret.txt"},
		nexus.ToolCallEnded{Session: "T1.1/coder.1", Call: "c1", Failed: true},
		nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted},
		nexus.GateStarted{Attempt: "T1.1", Gate: "test"},
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Fail}},
		nexus.GateStarted{Attempt: "T1.1", Gate: "test"},
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Pass}},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted},
		nexus.LandingStarted{Task: "T1", Attempt: "T1.1"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "abc"},
		nexus.AttemptStarted{Attempt: "T2.1", Task: "T2"},
		nexus.RunEnded{Status: nexus.StatusPartial},
	} {
		all = append(all, nexus.Event{Seq: int64(i + 1), Run: run, At: start.Add(time.Duration(i) * time.Second), Fact: f})
	}
	return all
}

func spans(events []nexus.Event, contents bool) (all []sdktrace.ReadOnlySpan) {
	t := telemetry.NewTracer(run, "", contents, same)
	for _, e := range events {
		all = append(all, t.Apply(e)...)
	}
	return all
}

func same(s string) string { return s }

// sent is the body that a collector gets of a run.
func sent(t *testing.T, contents bool, mask func(string) string) []byte {
	t.Helper()
	got := &collector{called: make(chan struct{}, 9)}
	server := httptest.NewServer(got)
	defer server.Close()
	x := telemetry.SpanExporter{Endpoint: server.URL, Version: "v1.2.3", Contents: contents, Mask: mask, Say: func(err error) { t.Error(err) }}
	x.Follow(t.Context(), run, none, seq(told()))()
	return got.body
}

// TestGolden compares what is sent of a run with what somebody has read.
func TestGolden(t *testing.T) {
	var got bytes.Buffer
	if err := json.Indent(&got, sent(t, false, same), "", " "); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "trace.json")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTree: every span but the run's is part of one that is sent, lasts no shorter
// than nothing, and has an id of its own, the same in another process.
func TestTree(t *testing.T) {
	all := spans(told(), false)
	if len(all) != 11 {
		t.Errorf("%d spans", len(all))
	}
	ids := map[trace.SpanID]string{}
	for _, s := range all {
		if ids[s.SpanContext().SpanID()] != "" {
			t.Errorf("%s and %s have one id", ids[s.SpanContext().SpanID()], s.Name())
		}
		ids[s.SpanContext().SpanID()] = s.Name()
	}
	parents := map[string]string{}
	for _, s := range all {
		if s.EndTime().Before(s.StartTime()) {
			t.Errorf("%s ends before it starts", s.Name())
		}
		parents[s.Name()] = ids[s.Parent().SpanID()]
		if s.Parent().IsValid() && ids[s.Parent().SpanID()] == "" {
			t.Errorf("%s is part of nothing", s.Name())
		}
	}
	want := map[string]string{
		"invoke_workflow nexus": "", "task T1": "invoke_workflow nexus", "task T2": "invoke_workflow nexus", "attempt T1.1": "task T1", "attempt T2.1": "task T2",
		"invoke_agent coder": "attempt T1.1", "chat claude-haiku-5-5": "invoke_agent coder", "execute_tool shell": "invoke_agent coder",
		"gate test": "attempt T1.1", "land T1": "task T1",
	}
	if diff := cmp.Diff(want, parents); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(string(sent(t, false, same)), string(sent(t, false, same))); diff != "" {
		t.Errorf("another process sends other spans: %s", diff)
	}
}

// TestContents: what people and agents wrote is sent only where that is wanted.
func TestContents(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		data := string(sent(t, wanted, same))
		for _, text := range []string{"a secret goal", "cat secret.txt"} {
			if strings.Contains(data, text) != wanted {
				t.Errorf("contents %v: %q", wanted, text)
			}
		}
	}
	data := string(sent(t, true, func(s string) string { return strings.ReplaceAll(s, "secret", "[masked]") }))
	if strings.Contains(data, "secret") || !strings.Contains(data, "[masked]") {
		t.Error("a key is sent")
	}
}

// collector answers as it is told to, one answer for each call, and keeps the spans
// that it took.
type collector struct {
	mu      sync.Mutex
	answers []int
	calls   int
	body    []byte // the last one
	query   string
	say     string // body of the response, in JSON
	took    []string
	headers http.Header
	called  chan struct{}
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.headers, c.body, c.query = c.calls+1, r.Header, body, r.URL.RawQuery
	status := http.StatusOK
	if len(c.answers) > 0 {
		status, c.answers = c.answers[0], c.answers[1:]
	}
	if status == http.StatusOK {
		var in struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct{ SpanID string }
				}
			}
		}
		if err := json.Unmarshal(body, &in); err != nil || r.URL.Path != "/v1/traces" {
			status = http.StatusTeapot
		}
		for _, s := range in.ResourceSpans[0].ScopeSpans[0].Spans {
			c.took = append(c.took, s.SpanID)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, c.say)
	select {
	case c.called <- struct{}{}:
	default:
	}
}

func seq(all []nexus.Event) func(context.Context, int64) iter.Seq2[nexus.Event, error] {
	return func(_ context.Context, after int64) iter.Seq2[nexus.Event, error] {
		return func(yield func(nexus.Event, error) bool) {
			for _, e := range all {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// none is what is live where nothing happens until the end.
func none(ctx context.Context, _ int64) iter.Seq2[nexus.Event, error] {
	return func(func(nexus.Event, error) bool) { <-ctx.Done() }
}

// TestCollectors: collectors that are busy get the spans from who continues the
// run; those that refuse them get them never; nothing is sent twice.
func TestCollectors(t *testing.T) {
	want := len(spans(told(), false))
	for name, c := range map[string]struct {
		answers []int
		body    string
		first   int // spans taken from the first process
		second  int // and from both
		says    string
	}{
		"well":    {nil, "", want, want, ""},
		"busy":    {[]int{429}, "", 0, want, "answers 429; it is tried again"},
		"down":    {[]int{503}, "", 0, want, "answers 503; it is tried again"},
		"refuses": {[]int{400}, "", 0, 0, "refuses spans with 400: they are left out"},
		"moved":   {[]int{307}, "", 0, 0, "refuses spans with 307"},
		"in part": {nil, `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}`, want, want, "did not take all spans: traces export: OTLP partial success: too old (2 spans rejected)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := &collector{answers: c.answers, say: c.body, called: make(chan struct{}, 9)}
			server := httptest.NewServer(got)
			defer server.Close()
			said := ""
			x := telemetry.SpanExporter{
				Endpoint: server.URL + "?key=k", Mask: same, Cursor: filepath.Join(t.TempDir(), "cursor"), Headers: telemetry.ParseHeaders("X-Key=a%20b, Other=c"),
				Say: func(err error) { said += err.Error() },
			}
			x.Follow(t.Context(), run, none, seq(told()))()
			if len(got.took) != c.first || !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("%d spans, %q", len(got.took), said)
			}
			if got.query != "key=k" {
				t.Errorf("query %q", got.query)
			}
			if got.headers.Get("X-Key") != "a b" || got.headers.Get("Other") != "c" || got.headers.Get("Content-Type") != "application/json" {
				t.Error(got.headers)
			}
			x.Follow(t.Context(), run, none, seq(told()))()
			if len(got.took) != c.second {
				t.Errorf("%d spans in the end", len(got.took))
			}
		})
	}
}

// TestWhileItRuns: a run that goes on is sent in parts, and a busy collector is tried
// again while it does.
func TestWhileItRuns(t *testing.T) {
	got := &collector{answers: []int{503, 429}, called: make(chan struct{}, 99)}
	server := httptest.NewServer(got)
	defer server.Close()
	var events []nexus.Event
	for i := range 700 {
		at := time.Unix(int64(i), 0)
		events = append(events, nexus.Event{Seq: int64(2*i + 1), Run: run, At: at, Fact: nexus.ToolCallStarted{Session: "s", Call: fmt.Sprint(i), Tool: "shell"}},
			nexus.Event{Seq: int64(2*i + 2), Run: run, At: at, Fact: nexus.ToolCallEnded{Session: "s", Call: fmt.Sprint(i)}})
	}
	live := func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
		return func(yield func(nexus.Event, error) bool) {
			for e := range seq(events)(ctx, after) {
				if !yield(e, nil) {
					return
				}
			}
			<-ctx.Done()
		}
	}
	x := telemetry.SpanExporter{Endpoint: server.URL + "/v1/traces", Mask: same, Cursor: filepath.Join(t.TempDir(), "cursor"), Wait: time.Millisecond}
	end := x.Follow(t.Context(), run, live, seq(events))
	for range 4 { // two refusals, two batches
		select {
		case <-got.called:
		case <-time.After(30 * time.Second):
			t.Fatal("the collector is not called")
		}
	}
	end()
	if len(got.took) != 700 {
		t.Errorf("%d spans", len(got.took))
	}
}

// TestEnvironment: variables that other programs are configured with neither lead spans or
// keys elsewhere, nor leave any out.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "key=secret", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_TRACES_SAMPLER": "always_off", "OTEL_RESOURCE_ATTRIBUTES": "token=planted", "OTEL_SERVICE_NAME": "planted", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "1",
	} {
		t.Setenv(name, value)
	}
	got := &collector{called: make(chan struct{}, 9)}
	server := httptest.NewServer(got)
	defer server.Close()
	x := telemetry.SpanExporter{Endpoint: server.URL, Mask: same, Say: func(err error) { t.Error(err) }}
	x.Follow(t.Context(), run, none, seq(told()))()
	if len(got.took) != 11 || got.headers.Get("Key") != "" || !strings.Contains(string(got.body), "gen_ai.usage.output_tokens") || strings.Contains(string(got.body), "planted") {
		t.Errorf("%d spans, %v", len(got.took), got.headers)
	}
}

// TestNobodyThere: a collector that cannot be reached, or never answers, keeps nobody
// waiting for long, and its address, which may hold a key, is not told.
func TestNobodyThere(t *testing.T) {
	stuck := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stuck:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(stuck)
	for _, to := range []string{"http://127.0.0.1:1/secret-path?secret-query", server.URL} {
		said := ""
		x := telemetry.SpanExporter{
			Endpoint: to, Mask: same, Cursor: filepath.Join(t.TempDir(), "cursor"), Client: &http.Client{Timeout: 100 * time.Millisecond},
			Say: func(err error) { said += err.Error() },
		}
		x.Follow(t.Context(), run, none, seq(told()))()
		if !strings.Contains(said, "cannot be reached") || strings.Contains(said, "secret") {
			t.Errorf("%q", said)
		}
	}
}

// calls counts calls, and answers none.
type calls struct{ n int }

// RoundTrip implements [http.RoundTripper].
func (c *calls) RoundTrip(*http.Request) (*http.Response, error) {
	c.n++
	return nil, io.ErrUnexpectedEOF
}

// TestHeadersInTheClear sends no headers, which are keys as a rule, where others on the
// way can read them.
func TestHeadersInTheClear(t *testing.T) {
	for to, want := range map[string]int{"http://collector.example:4318": 0, "https://collector.example": 1, "http://127.0.0.1:4318": 1} {
		said, heard := "", &calls{}
		x := telemetry.SpanExporter{
			Endpoint: to, Headers: map[string]string{"Authorization": "k"}, Mask: same, Cursor: filepath.Join(t.TempDir(), "cursor"),
			Client: &http.Client{Transport: heard}, Say: func(err error) { said += err.Error() },
		}
		x.Follow(t.Context(), run, none, seq(told()))()
		if heard.n != want || (want == 0) != strings.Contains(said, "without encryption") {
			t.Errorf("%s: %d calls, %q", to, heard.n, said)
		}
	}
}
