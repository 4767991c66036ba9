package providerhttp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// sent is a transport that keeps what is sent and answers with no content.
type sent struct{ requests []*http.Request }

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests = append(s.requests, r)
	return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// TestEndpoint holds where a request goes for each form of an address, and
// what it carries.
func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"https://h.invalid":             "https://h.invalid/v1/messages?alt=sse",
		"https://h.invalid/":            "https://h.invalid/v1/messages?alt=sse",
		"https://h.invalid/v1":          "https://h.invalid/v1/v1/messages?alt=sse",
		"https://h.invalid/a/b/":        "https://h.invalid/a/b/v1/messages?alt=sse",
		"https://h.invalid/a%2Fb?x=1#f": "https://h.invalid/a%2Fb/v1/messages?alt=sse",
		"http://u:p@h.invalid:8080":     "http://u:p@h.invalid:8080/v1/messages?alt=sse",
		"http://[::1]:8080":             "http://[::1]:8080/v1/messages?alt=sse",
	} {
		var s sent
		e := providerhttp.NewEndpoint(base, &http.Client{Transport: &s}, func(h http.Header) { h.Set("X-Key", "k") })
		resp, err := e.Post(t.Context(), "v1/messages", url.Values{"alt": {"sse"}}, []byte("{}"))
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		_ = resp.Body.Close()
		r := s.requests[0]
		if r.URL.String() != want {
			t.Errorf("%s: %s, want %s", base, r.URL, want)
		}
		r.Header.Del("Authorization") // of the address itself
		headers := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {"nexus"}, "X-Key": {"k"}}
		if diff := cmp.Diff(headers, r.Header); diff != "" || r.ContentLength != 2 || r.GetBody == nil {
			t.Error(r.ContentLength, diff)
		}
		if printed := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(printed, "X-Key") {
			t.Error(printed)
		}
	}
	for _, base := range []string{"http://u:secret@h.invalid:x", "http://u:secret@[::1", "://", "http://h h/"} {
		_, err := providerhttp.NewEndpoint(base, nil, func(http.Header) {}).Post(t.Context(), "x", nil, nil) //nolint:bodyclose // there is none
		if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != llm.Invalid || e.Code != "address" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// TestList holds how a list is read to its end, and what ends it before.
func TestList(t *testing.T) {
	pages := map[string]string{"": "a", "after=a": "b", "after=b": "end"}
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Content-Type"))
		switch text := pages[r.URL.RawQuery]; r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"not with k-secret"}}`)
		case "/elsewhere":
			http.Redirect(w, r, "/list", http.StatusTemporaryRedirect)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	defer s.Close()
	e := providerhttp.NewEndpoint(s.URL, nil, func(http.Header) {})
	next := func(data []byte) (url.Values, error) {
		if string(data) == "end" {
			return nil, nil
		}
		return url.Values{"after": {string(data)}}, nil
	}
	if err := e.ListPages(t.Context(), "list", "k-secret", next); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"GET /list ", "GET /list?after=a ", "GET /list?after=b "}, asked); diff != "" {
		t.Error(diff)
	}
	asked = nil
	for range 2 { // a list that continues for ever ends all the same
		if err := e.ListPages(t.Context(), "list", "", func([]byte) (url.Values, error) { return url.Values{"after": {"a"}}, nil }); err != nil || len(asked) > 1000 {
			t.Errorf("%d pages, %v", len(asked), err)
		}
	}
	for path, want := range map[string]llm.ModelCallError{
		"refused":   {Class: llm.Auth, Status: http.StatusUnauthorized},
		"elsewhere": {Class: llm.Invalid, Status: http.StatusTemporaryRedirect},
		"page":      {Class: llm.Invalid, Status: http.StatusOK, Code: "address"},
		"list":      {Class: llm.Transient, Code: "malformed"},
	} {
		err := e.ListPages(t.Context(), path, "k-secret", func([]byte) (url.Values, error) { return nil, providerhttp.NewMalformedError(io.ErrUnexpectedEOF) })
		got, ok := errors.AsType[*llm.ModelCallError](err)
		if !ok || got.Class != want.Class || got.Code != want.Code || got.Status != want.Status || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// body is an answer of so many bytes that says what was done with it.
type body struct {
	status     int
	left, read int
	closed     bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), b.left)
	for i := range n {
		p[i] = ' '
	}
	b.left, b.read = b.left-n, b.read+n
	return n, nil
}

func (b *body) Close() error { b.closed = true; return nil }

func (b *body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: b.status, Header: http.Header{}, Body: b, Request: r}, nil
}

// TestListLetsGo holds that no page is read without end, and that each answer
// is closed, whatever it was.
func TestListLetsGo(t *testing.T) {
	const most = 64 << 20
	for name, c := range map[string]struct {
		body
		class llm.CallFailureClass
	}{
		"a page":    {body{status: http.StatusOK, left: 100}, ""},
		"refused":   {body{status: http.StatusUnauthorized, left: 100}, llm.Auth},
		"too large": {body{status: http.StatusOK, left: most + 1<<20}, llm.Transient},
	} {
		e := providerhttp.NewEndpoint("http://h.invalid", &http.Client{Transport: &c.body}, func(http.Header) {})
		pages := 0
		err := e.ListPages(t.Context(), "list", "", func([]byte) (url.Values, error) { pages++; return nil, nil })
		got, _ := errors.AsType[*llm.ModelCallError](err)
		if (err != nil) != (c.class != "") || got != nil && got.Class != c.class || (pages == 1) != (err == nil) {
			t.Errorf("%s: %d pages, %v", name, pages, err)
		}
		if c.read > most || !c.closed {
			t.Errorf("%s: %d bytes read, closed: %v", name, c.read, c.closed)
		}
	}
}
