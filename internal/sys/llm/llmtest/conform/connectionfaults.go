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

// ConnectionFault is an obstacle between a call and its server.
type ConnectionFault struct {
	Name string
	Why  string
	ask  func(t *testing.T, m ModelFactory) error
	want expectedFaultResult
}

// AllConnectionFaults returns the obstacles.
func AllConnectionFaults() []ConnectionFault {
	return []ConnectionFault{
		{"nobody-there", "nobody listens at the address", askClosedPort, expectedFaultResult{class: llm.Transient, code: "connection"}},
		{"dns", "the name of the server is unknown", askUnknownHost, expectedFaultResult{class: llm.Transient, code: "name"}},
		{"tls", "the certificate of the server is not trusted", askUntrustedCertificate, expectedFaultResult{class: llm.Fatal, code: "certificate"}},
		{"no-tls", "the server does not speak TLS", askWithoutTLS, expectedFaultResult{class: llm.Invalid, code: "address"}},
		{"not-an-address", "the address of the server is not valid", askInvalidAddress, expectedFaultResult{class: llm.Invalid, code: "address"}},
	}
}

func testConnectionFaults(t *testing.T, m ModelFactory) {
	t.Helper()
	for _, b := range AllConnectionFaults() {
		t.Run(b.Name, func(t *testing.T) { wantError(t, b.ask(t, m), b.want) })
	}
}

func (m ModelFactory) callOnce(t *testing.T, url string, h *http.Client) error {
	t.Helper()
	_, err := m(url, llm.CallLimits{}, h).Stream(t.Context(), NewRequest("c"), nil)
	return err
}

func askClosedPort(t *testing.T, m ModelFactory) error {
	t.Helper()
	return m.callOnce(t, "http://127.0.0.1:1", nil)
}

func askUnknownHost(t *testing.T, m ModelFactory) error {
	t.Helper()
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "models.invalid", IsNotFound: true}}
	}
	return m.callOnce(t, "http://models.invalid", &http.Client{Transport: &http.Transport{DialContext: dial}})
}

func askUntrustedCertificate(t *testing.T, m ModelFactory) error {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = discardLog()
	s.StartTLS()
	defer s.Close()
	return m.callOnce(t, s.URL, nil)
}

func askWithoutTLS(t *testing.T, m ModelFactory) error {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = discardLog()
	s.Start()
	defer s.Close()
	return m.callOnce(t, strings.Replace(s.URL, "http:", "https:", 1), nil)
}

func askInvalidAddress(t *testing.T, m ModelFactory) error {
	t.Helper()
	return m.callOnce(t, "localhost:11434", nil)
}

// testModels requests the list of models, also with a wrong key.
func testModels(t *testing.T, m ModelFactory) {
	t.Helper()
	s := startServer(t, llmtest.Options{}, llmtest.ScriptTurn{Say: "x"})
	got, err := m(s.URL(), llm.CallLimits{}, nil).Models(t.Context())
	if err != nil || len(got) != 1 || got[0].Name != "scripted" {
		t.Errorf("%+v %v", got, err)
	}
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"type":"authentication_error","code":"` + Key + `","message":"wrong key ` + Key + `"}}`))
	}))
	defer refuses.Close()
	_, err = m(refuses.URL, llm.CallLimits{}, nil).Models(t.Context())
	wantError(t, err, expectedFaultResult{class: llm.Auth})
	_, err = m("http://127.0.0.1:1", llm.CallLimits{}, nil).Models(t.Context())
	wantError(t, err, expectedFaultResult{class: llm.Transient, code: "connection"})
}

// testForcedToolUse checks that forced tool use is in the request, and only if asked for.
func testForcedToolUse(t *testing.T, m ModelFactory) {
	t.Helper()
	s := startServer(t, llmtest.Options{Bodies: true}, llmtest.ScriptTurn{Say: "x"})
	model := m(s.URL(), llm.CallLimits{}, nil)
	for i, force := range []string{"", llm.AnyTool, "read_file"} {
		r := NewRequest("c")
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

// discardLog returns the log of a server whose complaints are expected.
func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }
