package conform

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// Barrier is an obstacle between a call and its server.
type Barrier struct {
	Name string
	Why  string
	ask  func(t *testing.T, m Model) error
	want want
}

// Barriers returns the obstacles.
func Barriers() []Barrier {
	return []Barrier{
		{"nobody-there", "nobody listens at the address", askNobody, want{class: llm.Transient, code: "connection"}},
		{"dns", "the name of the server is unknown", askNowhere, want{class: llm.Transient, code: "name"}},
		{"tls", "the certificate of the server is not trusted", askStranger, want{class: llm.Fatal, code: "certificate"}},
		{"no-tls", "the server does not speak TLS", askPlain, want{class: llm.Invalid, code: "address"}},
		{"not-an-address", "the address of the server is not valid", askNothing, want{class: llm.Invalid, code: "address"}},
	}
}

func testReach(t *testing.T, m Model) {
	t.Helper()
	for _, b := range Barriers() {
		t.Run(b.Name, func(t *testing.T) { wantError(t, b.ask(t, m), b.want) })
	}
}

func (m Model) ask(t *testing.T, url string, h *http.Client) error {
	t.Helper()
	_, err := m(url, llm.Limits{}, h).Stream(t.Context(), Conversation("c"), nil)
	return err
}

func askNobody(t *testing.T, m Model) error {
	t.Helper()
	return m.ask(t, "http://127.0.0.1:1", nil)
}

func askNowhere(t *testing.T, m Model) error {
	t.Helper()
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "models.invalid", IsNotFound: true}}
	}
	return m.ask(t, "http://models.invalid", &http.Client{Transport: &http.Transport{DialContext: dial}})
}

func askStranger(t *testing.T, m Model) error {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	defer s.Close()
	return m.ask(t, s.URL, nil)
}

func askPlain(t *testing.T, m Model) error {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = quiet()
	s.Start()
	defer s.Close()
	return m.ask(t, strings.Replace(s.URL, "http:", "https:", 1), nil)
}

func askNothing(t *testing.T, m Model) error {
	t.Helper()
	return m.ask(t, "localhost:11434", nil)
}

// testModels requests the list of models, also with a wrong key.
func testModels(t *testing.T, m Model) {
	t.Helper()
	s := start(t, llmtest.Options{}, llmtest.Turn{Say: "x"})
	got, err := m(s.URL(), llm.Limits{}, nil).Models(t.Context())
	if err != nil || len(got) != 1 || got[0].Name != "scripted" {
		t.Errorf("%+v %v", got, err)
	}
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"type":"authentication_error","code":"` + Key + `","message":"wrong key ` + Key + `"}}`))
	}))
	defer refuses.Close()
	_, err = m(refuses.URL, llm.Limits{}, nil).Models(t.Context())
	wantError(t, err, want{class: llm.Auth})
	_, err = m("http://127.0.0.1:1", llm.Limits{}, nil).Models(t.Context())
	wantError(t, err, want{class: llm.Transient, code: "connection"})
}

// testForce checks that forced tool use is in the request, and only if asked for.
func testForce(t *testing.T, m Model) {
	t.Helper()
	s := start(t, llmtest.Options{Bodies: true}, llmtest.Turn{Say: "x"})
	model := m(s.URL(), llm.Limits{}, nil)
	for i, force := range []string{"", llm.AnyTool, "read_file"} {
		r := Conversation("c")
		r.Force = force
		if _, err := model.Stream(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		body := string(s.Requests()[i].Body)
		if diff := gocmp.Diff(force != "", strings.Contains(body, "tool_choice") || strings.Contains(body, "functionCallingConfig")); diff != "" {
			t.Errorf("%q: %s", force, body)
		}
	}
}

// quiet returns the log of a server whose complaints are expected.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
