package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcptest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestMain(m *testing.M) {
	if mcptest.RunIfServerProcess() {
		return
	}
	goleak.VerifyTestMain(m)
}

// stdio returns a server that is this program in a box.
func stdio(t *testing.T, how string) Server {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	testenv.NeedMachine(t, "a sandbox", err)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var mu sync.Mutex
	var last *sandbox.Process
	return Server{
		Root: dir, Begin: time.Minute,
		Start: func(ctx context.Context) (io.ReadWriteCloser, error) {
			p, err := sandbox.StartProcess(ctx, box.Run, sandbox.Command{
				Args: []string{exe}, Dir: dir, Env: sandbox.AgentCommandEnv(mcptest.EnvVar + "=" + how), Readable: []string{filepath.Dir(exe)}, Mark: "mcp-test",
			})
			mu.Lock()
			defer mu.Unlock()
			last = p
			return p, err
		},
		Said: func() string {
			mu.Lock()
			defer mu.Unlock()
			if last == nil {
				return ""
			}
			select {
			case <-last.Done():
				r, _ := last.Result()
				return string(r.Stderr)
			case <-time.After(100 * time.Millisecond):
				return ""
			}
		},
	}
}

// remote returns a server that is reached over HTTP.
func remote(t *testing.T, h http.Handler) Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		go s.Close() // a call that hangs and did not hear of its end would be waited for
	})
	return Server{URL: s.URL + "/mcp", Near: true, Begin: time.Minute}
}

func begin(t *testing.T, s Server) *ToolSession {
	t.Helper()
	c, err := ConnectServer(context.WithoutCancel(t.Context()), s) // which ends before it is closed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ways are all the ways in which a server is reached, with the revision of the
// protocol that is spoken then.
func ways(t *testing.T) map[string]func(t *testing.T) Server {
	t.Helper()
	pipes := func(how string) func(*testing.T) Server {
		return func(t *testing.T) Server { t.Helper(); return stdio(t, how) }
	}
	web := func(stateless, plain bool, revisions ...string) func(*testing.T) Server {
		return func(t *testing.T) Server {
			t.Helper()
			return remote(t, mcptest.NewHandler(stateless, plain, revisions...))
		}
	}
	return map[string]func(*testing.T) Server{
		"2026-07-28 stdio":      pipes("good"),
		"2025-11-25 stdio":      pipes("good 2025-11-25"),
		"2025-06-18 stdio":      pipes("good 2025-06-18"),
		"2024-11-05 stdio":      pipes("good 2024-11-05"),
		"2026-07-28 http":       web(true, false),
		"2026-07-28 http plain": web(true, true),
		"2025-11-25 http":       web(false, false),
		"2025-11-25 http plain": web(false, true),
		"2025-06-18 http":       web(false, false, "2025-06-18"),
	}
}

func TestConformance(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			s := way(t)
			c := begin(t, s)
			if want, _, _ := strings.Cut(name, " "); c.Revision() != want {
				t.Errorf("speaks %s, not %s", c.Revision(), want)
			}
			conform(t, c, s)
		})
	}
}

func conform(t *testing.T, c *ToolSession, s Server) {
	t.Helper()
	tools, refused, err := c.ListTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	want := []string{"add", "ask", "change", "die", "echo", "fail", "hang", "huge", "keep", "show", "slow"}
	if diff := cmp.Diff(want, names); diff != "" || len(refused) > 0 {
		t.Errorf("tools, of all pages: %s %v", diff, refused)
	}
	if i := slices.Index(names, "add"); i < 0 || !tools[i].Hints.ReadOnly || tools[i].Title != "Add" {
		t.Errorf("add: %+v", tools)
	}
	if got := call(t, c, "echo", `{"text":"hello"}`); got != "echo: hello" {
		t.Errorf("echo: %q", got)
	}
	r, err := c.CallTool(t.Context(), "add", json.RawMessage(`{"a":1,"b":2.5}`), nil)
	if diff := cmp.Diff(Result{Parts: []ToolResultPart{{Kind: TextContent, Text: `{"sum": 3.5}`}}}, r); err != nil || diff != "" {
		t.Errorf("add, whose structure is what its text says: %v %s", err, diff)
	}
	r, err = c.CallTool(t.Context(), "show", nil, nil)
	if diff := cmp.Diff(Result{
		Parts: []ToolResultPart{
			{Kind: TextContent, Text: "text"},
			{Kind: ImageContent, Type: "image/png", Data: []byte("\x89PNG")},
			{Kind: AudioContent, Type: "audio/wav", Data: []byte("RIFF")},
			{Kind: ResourceContent, Type: "text/plain", Name: "file:///a.txt", Text: "inside"},
			{Kind: ResourceContent, Type: "application/x-bin", Name: "file:///a.bin", Data: []byte{0, 1}},
			{Kind: ResourceLink, Type: "text/html", Name: "https://example.org/a", Text: "a"},
		},
		Structured: json.RawMessage(`{"also":[1,"two"]}`),
	}, r); err != nil || diff != "" {
		t.Errorf("show: %v %s", err, diff)
	}
	if r, err = c.CallTool(t.Context(), "fail", nil, nil); err != nil || !r.Failed || r.Parts[0].Text != "it did not work" {
		t.Errorf("fail: %+v, %v", r, err)
	}
	if _, err = c.CallTool(t.Context(), "missing", nil, nil); err == nil || !strings.Contains(err.Error(), "the server refused") {
		t.Errorf("a tool that is not there: %v", err)
	}
	asked := call(t, c, "ask", "{}")
	if strings.Contains(asked, "model: <nil>") || strings.Contains(asked, "person: <nil>") {
		t.Errorf("the server was given what it asked for: %s", asked)
	}
	if s.Root != "" && c.Revision() < "2026" && !strings.Contains(asked, "root: file://"+s.Root) {
		t.Errorf("roots: %s", asked)
	}
}

func call(t *testing.T, c *ToolSession, tool, input string) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, json.RawMessage(input), nil)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if len(r.Parts) != 1 || r.Failed {
		t.Fatalf("%s: %+v", tool, r)
	}
	return r.Parts[0].Text
}

func TestProgress(t *testing.T) {
	for name, way := range ways(t) {
		if strings.HasSuffix(name, "plain") {
			continue // an answer without a stream has no room for it
		}
		t.Run(name, func(t *testing.T) {
			c := begin(t, way(t))
			enough := errors.New("enough")
			ctx, stop := context.WithCancelCause(t.Context())
			_, err := c.CallTool(ctx, "slow", nil, func(p ToolCallProgress) {
				if p.Done >= 3 && strings.HasPrefix(p.Message, "step ") {
					stop(enough)
				}
			})
			if !errors.Is(err, enough) {
				t.Error(err)
			}
		})
	}
}

// inside returns a server that is reached within this program, and so within a
// bubble of made-up time.
func inside(t *testing.T) Server {
	t.Helper()
	return Server{Start: func(ctx context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		go func() { _ = mcptest.NewServer().Run(ctx, &sdk.IOTransport{Reader: theirs, Writer: theirs}) }()
		return ours, nil
	}}
}

// TestProgressGivesTime lets a call continue for as long as it says so, and no
// longer than any call.
func TestProgressGivesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inside(t)
		s.Idle, s.Total = time.Second, time.Minute
		c, err := ConnectServer(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		enough := errors.New("enough")
		ctx, stop := context.WithCancelCause(t.Context())
		_, err = c.CallTool(ctx, "slow", nil, func(p ToolCallProgress) {
			if p.Done >= 2000 { // ten seconds
				stop(enough)
			}
		})
		if !errors.Is(err, enough) {
			t.Errorf("with progress: %v", err)
		}
		if _, err := c.CallTool(t.Context(), "slow", nil, nil); !errors.Is(err, errTotal) {
			t.Errorf("without an end: %v", err)
		}
		began := time.Now()
		if _, err := c.CallTool(t.Context(), "hang", nil, nil); !errors.Is(err, errSilent) || time.Since(began) != s.Idle {
			t.Errorf("without progress: %v after %s", err, time.Since(began))
		}
	})
}

// TestEndOfCall ends calls that would never end: for silence, and with their
// context. The server is used after that.
func TestEndOfCall(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			c := begin(t, way(t))
			why := errors.New("enough")
			ctx, stop := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { stop(why) })
			if _, err := c.CallTool(ctx, "hang", nil, nil); !errors.Is(err, why) {
				t.Errorf("hang: %v", err)
			}
			c.server.Idle = 50 * time.Millisecond
			if _, err := c.CallTool(t.Context(), "hang", nil, nil); !errors.Is(err, errSilent) {
				t.Errorf("hang: %v", err)
			}
			c.server.Idle = time.Minute
			if got := call(t, c, "echo", `{"text":"on"}`); got != "echo: on" {
				t.Errorf("echo: %q", got)
			}
		})
	}
}

// TestTooMuch lets a server say more than is taken. The connection is over, and
// nothing else.
func TestTooMuch(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			c := begin(t, way(t))
			if _, err := c.CallTool(t.Context(), "huge", nil, nil); err == nil {
				t.Error("14 MiB were taken")
			}
		})
	}
}

// TestDeaf calls a server that asks without end and reads no answer: the call
// ends with its time, the connection as well, and nobody waits for ever.
func TestDeaf(t *testing.T) {
	for name, input := range map[string]string{"short": `{}`, "long": `{"text":"` + strings.Repeat("x", 1<<20) + `"}`} {
		t.Run(name, func(t *testing.T) {
			s := stdio(t, "deaf")
			c := begin(t, s)
			c.server.Idle = 100 * time.Millisecond
			if _, err := c.CallTool(t.Context(), "look", json.RawMessage(input), nil); !errors.Is(err, errSilent) {
				t.Errorf("the call: %v", err)
			}
		})
	}
}

// TestStuckRemote closes a connection while a server sits on a request.
func TestStuckRemote(t *testing.T) {
	held := make(chan struct{})
	good := mcptest.NewHandler(false, false)
	s := remote(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			<-held
		}
		good.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(held) })
	c, err := ConnectServer(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestDies(t *testing.T) {
	c := begin(t, stdio(t, "good"))
	_, err := c.CallTool(t.Context(), "die", nil, nil)
	if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("die: %v", err)
	}
	if _, err = c.CallTool(t.Context(), "echo", nil, nil); !errors.Is(err, ErrGone) {
		t.Errorf("after its death: %v", err)
	}
}

func TestChanges(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			c := begin(t, way(t))
			text := func() string {
				tools, _, err := c.ListTools(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(tools, func(x DescribedServerTool) bool { return x.Name == "echo" })
				return tools[i].ConsentText()
			}
			before := text()
			if text() != before {
				t.Error("the text is not the same twice")
			}
			call(t, c, "change", "{}")
			if text() == before {
				t.Error("the change was not seen")
			}
		})
	}
}

// TestConfined shows that a server sees what it was given, and no more.
func TestConfined(t *testing.T) {
	t.Setenv("NEXUS_TEST_SECRET", "hunter2")
	s := stdio(t, "good")
	c := begin(t, s)
	where := call(t, c, "echo", `{"text":"where"}`)
	if !strings.Contains(where, "echo: "+s.Root+" ") || strings.Contains(where, "hunter2") {
		t.Errorf("it sees %s", where)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, c, "keep", `{"name":"`+filepath.Join(home, "kept")+`"}`); got == "<nil>" {
		if _, err := os.Stat(filepath.Join(home, "kept")); err == nil {
			t.Error("it wrote into the home")
		}
	}
	if got := call(t, c, "keep", `{"name":"`+filepath.Join(s.Root, "kept")+`"}`); got != "<nil>" {
		t.Errorf("control: it cannot write where it may: %s", got)
	}
}

// TestBad lets servers do what they should not.
func TestBad(t *testing.T) {
	for _, c := range []struct {
		how     string
		fails   string // Dial, with this in its error
		tools   []string
		refused []string // with this in their reasons
		listing string   // Tools fails with this
		call    string   // Call fails with this; empty: it works
	}{
		{how: "banner", tools: []string{"look"}},
		{how: "babble", fails: "more than"},
		{how: "mute", fails: "did not start in time"},
		{how: "ends", fails: "has gone; it said: no configuration!"},
		{how: "old", tools: []string{"look"}},
		{how: "stuck", tools: []string{"look"}},
		{how: "twice", tools: []string{"other"}, refused: []string{"several of this name", "several of this name"}},
		{how: "many", tools: nil, refused: nil},
		{how: "pages", listing: "without end"},
		{how: "hostile", tools: []string{"look"}, refused: []string{"invisible characters", "its name is not"}},
		{how: "odd", tools: []string{"good"}, refused: []string{
			"its name", "its name", "its name", "its schema", "its schema", "not that of an object", "too deep", "models do not accept", "its description has more", "its schema has more",
		}},
		{how: "breaks", tools: []string{"look"}, call: "has gone"},
		{how: "liar", tools: []string{"look"}, call: "cannot unmarshal"},
	} {
		t.Run(c.how, func(t *testing.T) {
			s := stdio(t, c.how)
			switch c.how {
			case "mute":
				s.Begin = time.Second
			case "stuck":
				s.probe = time.Second
			}
			session, err := ConnectServer(t.Context(), s)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("it began: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			tools, refused, err := session.ListTools(t.Context())
			if c.listing != "" {
				if err == nil || !strings.Contains(err.Error(), c.listing) {
					t.Fatalf("its tools were listed: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.how == "many" {
				if len(tools) != maxTools || len(refused) != 1000-maxTools {
					t.Errorf("%d tools, %d refused", len(tools), len(refused))
				}
				return
			}
			var names, why []string
			for _, tool := range tools {
				names = append(names, tool.Name)
				if shown := string(tool.LegibleSchema()); shown != sanitize.RevealHidden(shown) || strings.Contains(shown, `\u202e`) {
					t.Errorf("the schema hides something: %s", shown)
				}
			}
			for _, r := range refused {
				why = append(why, r.Why)
			}
			if diff := cmp.Diff(c.tools, names); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.refused, why, cmp.Comparer(func(a, b string) bool { return strings.Contains(a, b) || strings.Contains(b, a) })); diff != "" {
				t.Error(diff)
			}
			_, err = session.CallTool(t.Context(), c.tools[0], nil, nil)
			if c.call == "" && err != nil || c.call != "" && (err == nil || !strings.Contains(err.Error(), c.call)) {
				t.Errorf("the call: %v", err)
			}
		})
	}
}

func TestCheckURL(t *testing.T) {
	for address, want := range map[string][2]bool{ // near, far
		"https://mcp.example.org/x":    {true, true},
		"https://10.0.0.1/":            {true, true}, // what it is reached at is looked at later
		"http://127.0.0.1:8080/mcp":    {true, false},
		"http://[::1]:8080/mcp":        {true, false},
		"http://localhost/":            {true, false},
		"http://localhost.example.org": {},
		"http://127.0.0.1.example.org": {},
		"http://mcp.example.org":       {},
		"https://user:pw@example.org":  {},
		"ftp://example.org":            {},
		"file:///etc/passwd":           {},
		"https:example.org":            {},
		"":                             {},
	} {
		near, far := CheckURL(address, true), CheckURL(address, false)
		if (near == nil) != want[0] || (far == nil) != want[1] {
			t.Errorf("%q: near %v, far %v", address, near, far)
		}
	}
}

func TestReachable(t *testing.T) {
	for ip, want := range map[string][3]bool{ // near, near without TLS, far
		"93.184.216.34":    {true, false, true},
		"2606:4700::1":     {true, false, true},
		"10.1.2.3":         {true, false, false},
		"192.168.1.1":      {true, false, false},
		"100.64.0.1":       {true, false, false},
		"127.0.0.1":        {true, true, false},
		"::1":              {true, true, false},
		"::ffff:127.0.0.1": {true, true, false},
		"::ffff:10.0.0.1":  {true, false, false},
		"64:ff9b::a00:1":   {true, false, false},
		"169.254.169.254":  {},
		"fe80::1":          {},
		"0.0.0.0":          {},
		"224.0.0.1":        {},
		"fd00::1":          {true, false, false},
	} {
		address := netip.AddrPortFrom(netip.MustParseAddr(ip), 443).String()
		got := [3]bool{
			Server{Near: true}.checkReachable(address, false) == nil, Server{Near: true}.checkReachable(address, true) == nil,
			Server{}.checkReachable(address, false) == nil,
		}
		if got != want {
			t.Errorf("%s: %v, want %v", ip, got, want)
		}
	}
}

// TestElsewhere shows that no header and no question goes to another host than
// the server's.
func TestElsewhere(t *testing.T) {
	var got []string
	var mu sync.Mutex
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Header.Get("X-Key"))
	}))
	defer thief.Close()
	s := remote(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+"/mcp", http.StatusTemporaryRedirect)
	}))
	s.Headers = http.Header{"X-Key": {"secret"}}
	if _, err := ConnectServer(t.Context(), s); err == nil || !strings.Contains(err.Error(), "not followed") {
		t.Errorf("dial: %v", err)
	}
	if len(got) > 0 {
		t.Errorf("the thief got %q", got)
	}
	other := &boundedServerTransport{http.DefaultTransport, s.Headers, &url.URL{Scheme: "https", Host: "example.org"}, func(func()) func() bool { return func() bool { return true } }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, thief.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := other.RoundTrip(r); err == nil {
		resp.Body.Close()
		t.Error("it went to another host")
	}
}

// TestHeaders shows the positive: the server's own host gets the headers.
func TestHeaders(t *testing.T) {
	good := mcptest.NewHandler(true, false)
	s := remote(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		good.ServeHTTP(w, r)
	}))
	if _, err := ConnectServer(t.Context(), s); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("dial: %v", err)
	}
	s.Headers = http.Header{"Authorization": {"Bearer key"}}
	if got := call(t, begin(t, s), "echo", `{"text":"in"}`); got != "echo: in" {
		t.Error(got)
	}
}
