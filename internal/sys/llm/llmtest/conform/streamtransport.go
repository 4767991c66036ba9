package conform

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// recordedStreamTransport is a transport that returns one recorded stream repeatedly, in pieces of the given sizes.
type recordedStreamTransport struct {
	stream []byte
	sizes  []byte
}

// RoundTrip returns the stream for any request.
func (t recordedStreamTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(&fixedSizeReader{bytes.NewReader(t.stream), t.sizes}),
	}, nil
}

type fixedSizeReader struct {
	r     *bytes.Reader
	sizes []byte
}

func (p *fixedSizeReader) Read(b []byte) (int, error) {
	if len(p.sizes) > 0 {
		n := int(p.sizes[0]) + 1
		p.sizes = append(p.sizes[1:len(p.sizes):len(p.sizes)], p.sizes[0])
		b = b[:min(n, len(b))]
	}
	return p.r.Read(b)
}

func (m ModelFactory) readStream(tb testing.TB, p recordedStreamTransport) (llm.Response, error) {
	tb.Helper()
	return m("http://tape.invalid", llm.CallLimits{}, &http.Client{Transport: p}).Stream(tb.Context(), NewRequest("c"), nil)
}

// RecordStream returns the stream of the server's answer with a text and two calls.
func RecordStream(tb testing.TB, m ModelFactory) []byte {
	tb.Helper()
	return recordStream(tb, m, twoCallTurn())
}

func recordStream(tb testing.TB, m ModelFactory, turn llmtest.ScriptTurn) []byte {
	tb.Helper()
	s, err := llmtest.NewServer(llmtest.Script{Conversations: []llmtest.ScriptConversation{{Match: "c", Turns: []llmtest.ScriptTurn{turn}}}}, llmtest.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	w := httptest.NewRecorder()
	h := &http.Client{Transport: HandlerRoundTripper{s, w}}
	if _, err := m("http://tape.invalid", llm.CallLimits{}, h).Stream(tb.Context(), NewRequest("c"), nil); err != nil {
		tb.Fatal(err)
	}
	return w.Body.Bytes()
}

// HandlerRoundTripper is a transport that calls a handler in this process, once.
type HandlerRoundTripper struct {
	http.Handler
	Answer *httptest.ResponseRecorder // the handler's response
}

// RoundTrip calls the handler.
func (h HandlerRoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	h.ServeHTTP(h.Answer, r)
	resp := h.Answer.Result()
	resp.Request = r
	return resp, nil
}

// testCutStreams cuts the stream at each byte: the result must be the whole message or an error, and
// never a call of an incomplete message.
func testCutStreams(t *testing.T, m ModelFactory) {
	t.Helper()
	stream := RecordStream(t, m)
	whole, err := m.readStream(t, recordedStreamTransport{stream: stream})
	if err != nil {
		t.Fatal(err)
	}
	for n := range stream {
		got, err := m.readStream(t, recordedStreamTransport{stream: stream[:n]})
		if err != nil && len(got.Message.Parts) == 0 {
			continue
		}
		if diff := gocmp.Diff(whole.Message, got.Message); err != nil || diff != "" {
			t.Fatalf("after %d of %d bytes: %v %s", n, len(stream), err, diff)
		}
		if got.Usage.PromptTokens() == 0 || got.Usage.Output == 0 {
			t.Fatalf("after %d of %d bytes: an answer for free: %+v", n, len(stream), got.Usage)
		}
	}
}

// FuzzStream splits a recorded stream into pieces of any size, which must not change the result, and
// then decodes arbitrary streams, with a valid answer or an [llm.ModelCallError] as the result.
func FuzzStream(f *testing.F, m ModelFactory) {
	f.Helper()
	stream := RecordStream(f, m)
	f.Add([]byte{0}, stream)
	f.Add([]byte{2, 0, 40}, bytes.ReplaceAll(stream, []byte("\n"), []byte("\r\n")))
	f.Add([]byte{200}, []byte("data: {}\n\ndata: [DONE]\n\n"))
	f.Add([]byte{200}, []byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"))
	whole, err := m.readStream(f, recordedStreamTransport{stream: stream})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sizes, any []byte) {
		got, err := m.readStream(t, recordedStreamTransport{stream, sizes})
		if diff := gocmp.Diff(whole, got); err != nil || diff != "" {
			t.Fatalf("pieces of %v: %v %s", sizes, err, diff)
		}
		got, err = m.readStream(t, recordedStreamTransport{any, sizes})
		if err != nil {
			wantPartialAnswer(t, err)
			return
		}
		ids := map[string]bool{}
		for _, c := range got.ToolCalls() {
			if c.ID == "" || ids[c.ID] || c.Tool == "" || !bytes.HasPrefix(bytes.TrimSpace(c.Input), []byte("{")) {
				t.Fatalf("an unsound call: %+v", c)
			}
			ids[c.ID] = true
		}
		if (got.Stop == llm.StopTools) != (len(ids) > 0) {
			t.Fatalf("stop %s with %d calls", got.Stop, len(ids))
		}
	})
}
