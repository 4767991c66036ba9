package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcptest"
)

// legacy is the newest revision with a handshake, modern the first without.
const (
	legacy         = "2025-11-25"
	modernRevision = "2026-07-28"
)

// desk is a server with tools that show what a server is told.
type desk struct {
	server *mcpserver.Server
	begun  chan struct{}                 // the tool wait has begun
	ended  chan error                    // why the tool wait ended
	done   chan mcpserver.ClientToolCall // calls of the tool buy
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{begun: make(chan struct{}, 8), ended: make(chan error, 8), done: make(chan mcpserver.ClientToolCall, 8)}
	fits := func(names ...string) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
		for _, n := range names {
			s.Properties[n], s.Required = &jsonschema.Schema{Type: "string"}, append(s.Required, n)
		}
		return s
	}
	var err error
	d.server, err = mcpserver.NewServer(mcpserver.ServedToolsAndResources{
		About: "a desk",
		Tools: []mcpserver.ServedTool{
			{Name: "look", About: "Looks.", Reads: true, Input: fits("at"), Do: func(_ context.Context, c mcpserver.ClientToolCall) mcpserver.Result {
				return mcpserver.Result{Text: "at " + fmt.Sprint(c.Input["at"]) + " for " + c.Client, Data: json.RawMessage(`{"seen": true}`)}
			}},
			{Name: "wait", About: "Waits.", Input: fits(), Do: func(ctx context.Context, c mcpserver.ClientToolCall) mcpserver.Result {
				c.Told("one")
				c.Told("two")
				d.begun <- struct{}{}
				<-ctx.Done()
				d.ended <- context.Cause(ctx)
				return mcpserver.Result{Text: "ended"}
			}},
			{Name: "steps", About: "Says what it does.", Input: fits(), Do: func(_ context.Context, c mcpserver.ClientToolCall) mcpserver.Result {
				c.Told("one")
				c.Told("two")
				return mcpserver.Result{Text: "done"}
			}},
			{
				Name: "buy", About: "Spends.", Ends: true, Input: fits("what"),
				Asks: func(_ context.Context, c mcpserver.ClientToolCall) (question string, otherwise mcpserver.Result) {
					switch c.Input["what"] {
					case "air":
						return "", mcpserver.Result{} // costs nothing
					case "moon":
						return "", mcpserver.Result{Text: "not for sale", Failed: true}
					}
					return "Buy " + fmt.Sprint(c.Input["what"]) + "?", mcpserver.Result{Text: "set allow"}
				},
				Do: func(_ context.Context, c mcpserver.ClientToolCall) mcpserver.Result {
					d.done <- c
					return mcpserver.Result{Text: "bought"}
				},
			},
		},
		Resources: []mcpserver.ServedResource{
			{URI: "desk://drawers", Name: "drawers", Read: func(context.Context, string) ([]byte, error) { return []byte(`{"drawers":1}`), nil }},
			{URI: "desk://drawers/{n}/{+path}", Name: "drawer", Template: true, Read: func(_ context.Context, uri string) ([]byte, error) {
				switch {
				case strings.HasSuffix(uri, "/none"):
					return nil, mcpserver.ErrNone
				case strings.HasSuffix(uri, "/stuck"):
					return nil, errors.New("it is stuck")
				}
				return []byte(`"` + uri + `"`), nil
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// asker answers elicitations.
type asker struct {
	mu     sync.Mutex
	asked  []string
	answer *sdk.ElicitResult // nil: the client cannot ask
	told   chan *sdk.ProgressNotificationParams
}

func (a *asker) client() *sdk.Client {
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}, ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		if a.told != nil {
			a.told <- r.Params
		}
	}}
	if a.answer != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.asked = append(a.asked, r.Params.Message)
			return a.answer, nil
		}
	}
	return sdk.NewClient(&sdk.Implementation{Name: "tester of: things\x1b[2J", Version: "1"}, o)
}

// pipes connects a client to the desk as a program does.
func (d *desk) pipes(t *testing.T, a *asker, revision string) *sdk.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.server.ServeStdio(t.Context(), in, out)
		_ = out.Close()
	}()
	s, err := a.client().Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = toServer.Close()
		_ = s.Close()
		<-served
	})
	return s
}

// ways are how a client reaches a server, in the newest revisions.
func ways(t *testing.T, try func(t *testing.T, d *desk, connect func(*asker) *sdk.ClientSession)) {
	t.Helper()
	for _, revision := range []string{legacy, modernRevision} {
		t.Run("stdio "+revision, func(t *testing.T) {
			d := newDesk(t)
			try(t, d, func(a *asker) *sdk.ClientSession { return d.pipes(t, a, revision) })
		})
		t.Run("http "+revision, func(t *testing.T) {
			d := newDesk(t)
			try(t, d, func(a *asker) *sdk.ClientSession { return d.web(t, a, revision) })
		})
	}
}

func call(t *testing.T, s *sdk.ClientSession, tool, arguments string) (text string, r *sdk.CallToolResult) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	said, _ := r.Content[0].(*sdk.TextContent)
	return said.Text, r
}

func TestTools(t *testing.T) {
	ways(t, func(t *testing.T, _ *desk, connect func(*asker) *sdk.ClientSession) {
		t.Helper()
		s := connect(&asker{})
		all, err := s.ListTools(t.Context(), nil)
		if err != nil || len(all.Tools) != 4 {
			t.Fatalf("%d tools, %v", len(all.Tools), err)
		}
		for _, tool := range all.Tools {
			if a := tool.Annotations; a.ReadOnlyHint != (tool.Name == "look") || *a.DestructiveHint != (tool.Name == "buy") {
				t.Errorf("%s: %+v", tool.Name, a)
			}
		}
		text, r := call(t, s, "look", `{"at": "the sky"}`)
		data, _ := r.StructuredContent.(map[string]any)
		if text != "at the sky for tester-of--things2J" || data["seen"] != true || r.IsError {
			t.Errorf("%q, %v", text, r.StructuredContent)
		}
		for arguments, want := range map[string]string{
			`{}`:                         "at",
			`null`:                       "at",
			`{"at": 7}`:                  "string",
			`{"at": "a", "to": "b"}`:     "to",
			`{"at": "a", "at": "b"}`:     `"at" is given twice`,
			`["at"]`:                     "not a JSON object",
			`{"at": {"at": {"at": []}}}`: "string",
		} {
			if text, r := call(t, s, "look", arguments); !r.IsError || !strings.Contains(text, "the arguments of look are wrong") || !strings.Contains(text, want) {
				t.Errorf("%s: %q", arguments, text)
			}
		}
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "fly"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Error(err)
		}
	})
}

// TestRevisions calls a tool in every revision that a handshake agrees to.
func TestRevisions(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", legacy} {
		s := newDesk(t).pipes(t, &asker{}, revision)
		if got := s.InitializeResult().ProtocolVersion; got != revision {
			t.Errorf("asked for %s and got %s", revision, got)
		}
		if text, r := call(t, s, "look", `{"at": "it"}`); r.IsError {
			t.Errorf("%s: %q", revision, text)
		}
	}
}

func TestResources(t *testing.T) {
	ways(t, func(t *testing.T, _ *desk, connect func(*asker) *sdk.ClientSession) {
		t.Helper()
		s := connect(&asker{})
		for uri, want := range map[string]string{
			"desk://drawers":        `{"drawers":1}`,
			"desk://drawers/1/a/b":  `"desk://drawers/1/a/b"`,
			"desk://drawers/1/none": "!Resource not found", "desk://drawers/1/stuck": "!it is stuck", "desk://else": "!Resource not found", "no address": "!Resource not found",
		} {
			r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			got := ""
			if err != nil {
				got = "!" + err.Error()
			} else {
				got = r.Contents[0].Text
			}
			if wrong, ok := strings.CutPrefix(want, "!"); ok && err != nil && strings.Contains(strings.ToLower(got), strings.ToLower(wrong)) {
				continue
			}
			if got != want {
				t.Errorf("%s: %s", uri, got)
			}
		}
	})
}

// TestConsent asks a person for what costs something, once for each call.
func TestConsent(t *testing.T) {
	yes := &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}
	ways(t, func(t *testing.T, d *desk, connect func(*asker) *sdk.ClientSession) {
		t.Helper()
		a := &asker{answer: yes}
		s := connect(a)
		for range 2 {
			if text, r := call(t, s, "buy", `{"what": "bread"}`); text != "bought" || r.IsError {
				t.Errorf("%q", text)
			}
			if c := <-d.done; !c.Agreed || c.Input["what"] != "bread" {
				t.Errorf("%+v", c)
			}
		}
		if got := strings.Join(a.asked, " "); got != "Buy bread? Buy bread?" {
			t.Errorf("asked %q", got)
		}
		if text, _ := call(t, s, "buy", `{"what": "air"}`); text != "bought" || (<-d.done).Agreed {
			t.Errorf("%q", text)
		}
		if text, r := call(t, s, "buy", `{"what": "moon"}`); text != "not for sale" || !r.IsError {
			t.Errorf("%q", text)
		}
		for _, no := range []*sdk.ElicitResult{{Action: "decline"}, {Action: "cancel"}, {Action: "accept", Content: map[string]any{"agree": false}}} {
			a.answer = no
			if text, r := call(t, s, "buy", `{"what": "bread"}`); !r.IsError || !strings.Contains(text, "did not agree") {
				t.Errorf("%+v: %q", no, text)
			}
		}
		if len(d.done) > 0 {
			t.Error("bought what nobody agreed to")
		}
	})
	ways(t, func(t *testing.T, d *desk, connect func(*asker) *sdk.ClientSession) {
		t.Helper()
		s := connect(&asker{})
		if text, r := call(t, s, "buy", `{"what": "bread"}`); text != "set allow" || !r.IsError || len(d.done) > 0 {
			t.Errorf("%q", text)
		}
	})
}

// TestForgedConsent answers questions that were asked about something else, or
// never.
func TestForgedConsent(t *testing.T) {
	d := newDesk(t)
	a := &asker{answer: &sdk.ElicitResult{Action: "decline"}}
	w := d.listen(t)
	o := &sdk.ClientOptions{
		MultiRoundTrip:     &sdk.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return a.answer, nil },
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "forger"}, o).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.URL(), HTTPClient: &http.Client{Transport: mcptest.BearerTransport(token)}}, &sdk.ClientSessionOptions{ProtocolVersion: modernRevision})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	yes := sdk.InputResponseMap{"consent": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}}
	try := func(what, state string, answers sdk.InputResponseMap) *sdk.CallToolResult {
		t.Helper()
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "buy", Arguments: json.RawMessage(`{"what": "` + what + `"}`), RequestState: state, InputResponses: answers})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := try("bread", "", nil)
	if !first.NeedsInput() || first.RequestState == "" {
		t.Fatalf("%+v", first)
	}
	for name, r := range map[string]*sdk.CallToolResult{
		"never asked":      try("bread", "made up", yes),
		"no state":         try("bread", "", yes),
		"another argument": try("a house", first.RequestState, yes),
	} {
		if !r.IsError {
			t.Errorf("%s: %+v", name, r)
		}
	}
	again := try("bread", "", nil)
	if r := try("bread", again.RequestState, yes); r.IsError {
		t.Errorf("%+v", r)
	}
	if r := try("bread", again.RequestState, yes); !r.IsError {
		t.Error("an answer counts twice")
	}
	if len(d.done) != 1 {
		t.Errorf("bought %d times", len(d.done))
	}
}

func TestProgress(t *testing.T) {
	ways(t, func(t *testing.T, _ *desk, connect func(*asker) *sdk.ClientSession) {
		t.Helper()
		a := &asker{told: make(chan *sdk.ProgressNotificationParams, 8)}
		s := connect(a)
		p := &sdk.CallToolParams{Name: "steps"}
		p.SetProgressToken("t")
		if _, err := s.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"one", "two"} {
			if got := <-a.told; got.Message != want || got.Progress != float64(i+1) {
				t.Errorf("%+v", got)
			}
		}
	})
}

// TestCancel tells a client that no longer wants an answer from one that has
// gone.
func TestCancel(t *testing.T) {
	ways(t, func(t *testing.T, d *desk, connect func(*asker) *sdk.ClientSession) {
		t.Helper()
		s := connect(&asker{})
		ctx, stop := context.WithCancel(t.Context())
		called := make(chan struct{})
		go func() {
			defer close(called)
			_, _ = s.CallTool(ctx, &sdk.CallToolParams{Name: "wait"})
		}()
		<-d.begun
		stop()
		if err := <-d.ended; !errors.Is(err, mcpserver.ErrCancelled) {
			t.Errorf("ended by %v", err)
		}
		<-called
		if text, _ := call(t, s, "look", `{"at": "it"}`); !strings.HasPrefix(text, "at it") {
			t.Errorf("the server says %q afterwards", text)
		}
	})
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestGone closes the pipes of a client in the middle of a call.
func TestGone(t *testing.T) {
	d := newDesk(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.server.ServeStdio(t.Context(), in, out)
	}()
	go func() {
		_, _ = io.WriteString(toServer, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":1}}}`+"\n")
	}()
	if _, err := fromServer.Read(make([]byte, 64<<10)); err != nil { // the answer to initialize
		t.Fatal(err)
	}
	<-d.begun // what it says is not read, and does not hold it up
	_ = fromServer.Close()
	_ = toServer.Close()
	if err := <-d.ended; !errors.Is(err, mcpserver.ErrGone) {
		t.Errorf("ended by %v", err)
	}
	<-served
}

// TestLines sends what is no message between messages.
func TestLines(t *testing.T) {
	d := newDesk(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.server.ServeStdio(t.Context(), in, out)
	}()
	answers := bufio.NewReaderSize(fromServer, 1<<20)
	say := func(line string) string {
		t.Helper()
		go func() { _, _ = io.WriteString(toServer, line+"\n") }()
		answer, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if got := say(strings.TrimSuffix(hello, "\n")); !strings.Contains(got, `"serverInfo":{"name":"nexus"`) {
		t.Fatal(got)
	}
	for line, want := range map[string]string{
		"hello":    `"code":-32700`,
		"{":        `"code":-32700`,
		"{}":       `"code":-32600`,
		"7":        `"code":-32600`,
		"[]":       `"code":-32600`,
		`"tools"`:  `"code":-32600`,
		"\x00\xff": `"code":-32700`,
		`{"jsonrpc":"1.0","id":3,"method":"ping"}`:                                 `"code":-32600`,
		`[{"jsonrpc":"2.0","id":4,"method":"ping"}]`:                               `"code":-32600`,
		`{"jsonrpc":"2.0","id":5,"method":"nothing"}`:                              `"code":-32601`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[1]}`:              `"id":6,"error"`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`:                           `"id":7,"error"`,
		`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`:                           `"code":-32600`,
		`{"pad":"` + strings.Repeat("x", 9<<20) + `"}`:                             "too long",
		"\n\n" + `{"jsonrpc":"2.0","id":8,"method":"ping"}` + "\r":                 `"id":8,"result"`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"steps"}}`: `"text":"done"`,
	} {
		if got := say(line); !strings.Contains(got, want) {
			t.Errorf("%.80s: %s", line, got)
		}
	}
	_ = toServer.Close()
	<-served
}
