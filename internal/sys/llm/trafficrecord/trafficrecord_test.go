package trafficrecord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

const planted = "zebra-plum-7781-kiwi-quartz-90210"

func masker() func([]byte) []byte { return secret.NewMasker([]string{"X_KEY=" + planted}).Mask }

// server answers with what it was sent, fails the first try of some, cuts
// others off, and counts.
func server(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	tries := sync.Map{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		_, again := tries.LoadOrStore(string(body), true)
		w.Header().Set("Set-Cookie", "id="+planted)
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case strings.Contains(string(body), "busy") && !again:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(529)
			fmt.Fprintf(w, `{"error":"busy, %s"}`, r.Header.Get("X-Api-Key"))
		case strings.Contains(string(body), "cut"):
			fmt.Fprint(w, "event: a\ndata: half\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case strings.Contains(string(body), "binary"):
			_, _ = w.Write([]byte{0xff, 0x00, '\n', 0xfe})
		default:
			fmt.Fprintf(w, "event: a\r\ndata: %s\n\nlast line, %s", body, planted)
		}
	}))
	t.Cleanup(s.Close)
	return s, &calls
}

// body is what a client gets for a body.
func said(c http.RoundTripper, url, body string) string {
	q, err := http.NewRequest(http.MethodPost, url+"/v1/messages?key="+planted, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	q.Header.Set("X-Api-Key", planted)
	q.Header.Set("Authorization", "Bearer "+planted)
	resp, err := c.RoundTrip(q)
	if err != nil {
		return "refused: " + err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s %q %v", resp.StatusCode, resp.Header.Get("Retry-After"), text, err)
}

func ask(name string, parts ...string) string {
	return fmt.Sprintf(`{"model":"m","system":"`+planted+`","messages":[{"role":"user","content":"Conversation: %s\nCommit %s."}%s]}`, name, parts[0], strings.Join(parts[1:], ""))
}

// TestPlay records many conversations side by side, with failures, and plays
// them in another order, with other volatile words.
func TestPlay(t *testing.T) {
	s, calls := server(t)
	dir := filepath.Join(t.TempDir(), "deep", "dir")
	r, err := CreateRecording(dir, masker())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	want := map[string]string{}
	names := []string{"busy", "cut", "binary"}
	for i := range 20 {
		names = append(names, fmt.Sprintf("T%d/coder.1", i))
	}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			for try := range 2 {
				got := said(r.Transport("p", nil), s.URL, ask(name, strings.Repeat("a1", 20)))
				mu.Lock()
				want[fmt.Sprint(name, try)] = got
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	made := calls.Load()
	p, err := LoadRecording(dir, masker())
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		name := names[len(names)-1-i]
		for try := range 2 {
			got := said(p.Transport("p"), "http://nowhere.invalid", ask(name, strings.Repeat("b2", 20)))
			w := strings.ReplaceAll(strings.ReplaceAll(want[fmt.Sprint(name, try)], planted, secret.Mark), "connection reset", "x")
			if got != w {
				t.Errorf("%s try %d: got %s, want %s", name, try, got, w)
			}
		}
	}
	if calls.Load() != made {
		t.Error("the network was used")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2*len(names) {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(data), planted) || strings.Contains(string(data), "Cookie") || strings.Contains(string(data), "X-Api-Key") {
			t.Errorf("%s holds a key: %s %v", f, data, err)
		}
	}
	once := said(p.Transport("p"), "http://nowhere.invalid", ask("busy", strings.Repeat("b2", 20)))
	if !strings.Contains(once, "once more: it was asked 2 times") {
		t.Error(once)
	}
}

func TestNotRecorded(t *testing.T) {
	s, _ := server(t)
	dir := t.TempDir()
	r, err := CreateRecording(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	said(r.Transport("p", nil), s.URL, ask("T1/coder.1", "c", `,{"role":"assistant","content":"one"},{"role":"user","content":"two"}`))
	p, err := LoadRecording(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ provider, body, want string }{
		{"p", ask("T1/coder.1", "c", `,{"role":"assistant","content":"one"},{"role":"user","content":"three"}`), `messages[2].content differs: recorded was "two", asked is "three"`},
		{"p", ask("T1/coder.1", "c", `,{"role":"assistant","content":"one"},{"role":"user","content":"two","x":1}`), `messages[2].x differs`},
		{"p", ask("T1/coder.1", "c", `,{"role":"assistant","content":"one"}`), `messages has 2 parts, recorded were 3`},
		{"p", ask("T1/coder.1", "c"), `ended after 1`},
		{"q", ask("T1/coder.1", "c"), `with q, only of p T1/coder.1`},
		{"p", `not JSON`, `conversation (without a name)`},
	} {
		got := said(p.Transport(x.provider), "http://nowhere.invalid", x.body)
		if !strings.Contains(got, x.want) {
			t.Errorf("got %s, want %s", got, x.want)
		}
	}
	q, _ := http.NewRequest(http.MethodPost, "http://nowhere.invalid/x", nil)
	resp, err := p.Transport("p").RoundTrip(q)
	if err == nil {
		_ = resp.Body.Close()
	}
	if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class.IsRetryable() || !errors.Is(err, &nexus.Error{Code: nexus.CodeNotRecorded}) {
		t.Errorf("got %v", err)
	}
}

// TestAnotherTree plays to requests that differ in what tools showed and in
// what a brief says about the tree, on every wire, and to no others.
func TestAnotherTree(t *testing.T) {
	const brief = "Conversation: T1/coder.1\n\n## What to do\n\n%s\n\n## Landed meanwhile\n\n%s\n\n## Gates\n\n- test: %s\n\n## Last\n\nx"
	said3 := func(shape, task, said, landed, tests, shown string) string {
		text, _ := json.Marshal(fmt.Sprintf(brief, task, landed, tests))
		return fmt.Sprintf(shape, text, said, shown)
	}
	for wire, shape := range map[string]string{
		"anthropic": `{"messages":[{"role":"user","content":[{"type":"text","text":%s}]},{"role":"assistant","content":[{"type":"text","text":%q}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":%q}]}]}`,
		"chat":      `{"messages":[{"role":"user","content":%s},{"role":"assistant","content":%q},{"role":"tool","tool_call_id":"1","content":%q}]}`,
		"responses": `{"input":[{"role":"user","content":%s},{"role":"assistant","content":%q},{"type":"function_call_output","call_id":"1","output":%q}]}`,
		"gemini":    `{"contents":[{"role":"user","parts":[{"text":%s}]},{"role":"model","parts":[{"text":%q}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":%q}}}]}]}`,
	} {
		s, calls := server(t)
		dir := t.TempDir()
		r, err := CreateRecording(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := said(r.Transport("p", nil), s.URL, said3(shape, "Do it.", "look", "T2", "3 passed", "a.txt"))
		asked := calls.Load()
		for _, c := range []struct {
			body string
			ok   bool
		}{
			{said3(shape, "Do it.", "look", "T2", "3 passed", "a.txt"), true},
			{said3(shape, "Do it.", "look", "T2", "3 passed", "b.txt"), true},
			{said3(shape, "Do it.", "look", "T3 and T4", "5 passed", "b.txt c.txt"), true},
			{said3(shape, "Do something else.", "look", "T2", "3 passed", "a.txt"), false},
			{said3(shape, "Do it.", "look around", "T2", "3 passed", "a.txt"), false},
		} {
			p, err := LoadRecording(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := said(p.Transport("p"), "http://nowhere.invalid", c.body)
			if (got == want) != c.ok {
				t.Errorf("%s: %s\nanswered with %s", wire, c.body, got)
			}
			if n, first := p.LooseMatchCount(); n > 0 && !strings.Contains(first, "T1/coder.1: ") {
				t.Errorf("%s: %d %q", wire, n, first)
			}
			if again := said(p.Transport("p"), "http://nowhere.invalid", c.body); again == want {
				t.Errorf("%s: the same answer is played twice", wire)
			}
		}
		if calls.Load() != asked {
			t.Error("the provider was asked")
		}
	}
}

// TestNormal names what may differ from run to run, and what may not.
func TestNormal(t *testing.T) {
	for _, x := range [][2]string{
		{"Commit 0123456789abcdef0123456789abcdef01234567.", "Commit fedcba9876543210fedcba9876543210fedcba98."},
		{"ok  \tunits\t0.012s", "ok  \tunits\t(cached)"},
		{"/home/a/.local/state/nexus/u-1/trees/261121-132600-abc/T1.1/tree/x.go:3", "/x/trees/261122-000000-xyz/T1.1/tree/x.go:3"},
		{"2026-11-21T13:26:36Z done", "2027-01-02T03:04:05.678+01:00 done"},
		{"at /tmp/go-build12/b001 now", "at /tmp/go-build99/b001 now"},
		{"7510f7746 T3: x", "9bbaa63db T3: x"},
		{"Commit 172769362125, 8 files", "Commit bb2769362125, 8 files"},
		{"[main 1727693] Add x", "[main a727693] Add x"},
		{"log\n1727693 Add x", "log\na727693 Add x"},
		{"* 1727693 Add x", "* a727693 Add x"},
		{"listens on 127.0.0.1:4711", "listens on 127.0.0.1:4712"},
		{"a: one\nb: two\n", "b: two\na: one\n"},
	} {
		a, b := fmt.Sprintf(`{"z":%q,"a":[1]}`, x[0]), fmt.Sprintf(`{"a":[1], "z":%q}`, x[1])
		if diff := cmp.Diff(string(canonicalJSON([]byte(a))), string(canonicalJSON([]byte(b)))); diff != "" {
			t.Error(diff)
		}
	}
	for _, x := range [][2]string{{"one two", "two one"}, {"face", "deadbeef"}, {"12", "13"}, {"size 1727693", "size 1727694"}, {"size 1727693, commit 1727693", "size 1727694, commit 1727693"}, {"a\nb", "a\nc"}, {"T1.1/coder.1", "T1.2/coder.1"}} {
		a, b := canonicalJSON([]byte(fmt.Sprintf(`[%q]`, x[0]))), canonicalJSON([]byte(fmt.Sprintf(`[%q]`, x[1])))
		if string(a) == string(b) {
			t.Errorf("%q and %q are the same", x[0], x[1])
		}
	}
}

// TestTricks reads nothing that is no recording, and nothing from elsewhere.
func TestTricks(t *testing.T) {
	good, err := recordedProviderCall{Version: 1, Provider: "p", Try: 1, Conversation: "../../x/\x00y", Request: recordedRequest{Method: "POST"}, Response: recordedResponse{Status: 200}}.encodeFile()
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseCall(good)
	if err != nil {
		t.Fatal(err)
	}
	if name := c.fileName(); strings.ContainsAny(name, "/\x00") || strings.HasPrefix(name, ".") {
		t.Errorf("the file is %q", name)
	}
	outside := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(outside, good, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(file string) error{
		"link": func(f string) error { return os.Symlink(outside, f) },
		"dir":  func(f string) error { return os.Mkdir(f, 0o700) },
		"version": func(f string) error {
			return os.WriteFile(f, []byte(strings.Replace(string(good), `"version": 1`, `"version": 2`, 1)), 0o600)
		},
		"unknown": func(f string) error {
			return os.WriteFile(f, []byte(strings.Replace(string(good), `"try"`, `"trie"`, 1)), 0o600)
		},
		"more":  func(f string) error { return os.WriteFile(f, append(good, '{', '}'), 0o600) },
		"empty": func(f string) error { return os.WriteFile(f, nil, 0o600) },
	} {
		dir := t.TempDir()
		if err := spoil(filepath.Join(dir, "a.json")); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{func() error { _, err := LoadRecording(dir, nil); return err }(), func() error { _, err := CreateRecording(dir, nil); return err }()} {
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := LoadRecording(t.TempDir(), nil); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := LoadRecording(filepath.Join(t.TempDir(), "nowhere"), nil); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		t.Errorf("no directory: %v", err)
	}
}

// FuzzParse never panics, and what it takes is written and read back alike.
func FuzzParse(f *testing.F) {
	c := recordedProviderCall{Version: 1, Provider: "p", Try: 1, Request: recordedRequest{Method: "POST", Path: "messages", Body: []byte(ask("T1", "c"))}}
	c.Response.Status = 200
	c.Response.setBody([]byte("event: x\r\ndata: {}\n\n"))
	data, err := c.encodeFile()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"provider":"p","try":1,"request":{"method":"GET","body":[null,{"a":"\ud800"}]},"response":{"failed":"x","bytes":"/w=="}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCall(data)
		if err != nil {
			return
		}
		again, err := c.encodeFile()
		if err != nil {
			t.Fatal(err)
		}
		d, err := parseCall(again)
		if err != nil || d.callKey() != c.callKey() || string(d.Response.bodyBytes()) != string(c.Response.bodyBytes()) || d.fileName() != c.fileName() {
			t.Errorf("%v: %s became %s", err, data, again)
		}
	})
}
