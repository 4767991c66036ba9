package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcptest"
)

// FuzzTools decodes lists of tools: what is offered is bounded and hides
// nothing where its meaning lies, and its text reads back as the same tool.
func FuzzTools(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}},"annotations":{"readOnlyHint":true}}]}`))
	f.Add([]byte(`{"tools":[null,{"name":"a"},{"name":"a","inputSchema":{}},{"name":"b","inputSchema":[]}]}`))
	f.Add([]byte(`{"tools":[{"name":"x","description":"` + "\u202e" + `","inputSchema":{"title":"\u200b","properties":{"\u200b":1}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r sdk.ListToolsResult
		if len(data) > maxMessage || json.Unmarshal(data, &r) != nil {
			return
		}
		tools, refused := checkListedTools(r.Tools)
		if len(tools) > maxTools || len(tools)+len(refused) > len(r.Tools) {
			t.Fatalf("%d tools and %d refused of %d", len(tools), len(refused), len(r.Tools))
		}
		seen := map[string]bool{}
		for _, tool := range tools {
			if seen[tool.Name] {
				t.Errorf("%s is given twice", tool.Name)
			}
			seen[tool.Name] = true
			if len(tool.Name) > maxName || len(tool.Schema) > maxSchema+20 || len(tool.Description) > maxSaid {
				t.Errorf("%s is too large", tool.Name)
			}
			again, err := ParseTool(tool.ConsentText())
			if err != nil || again.ConsentText() != tool.ConsentText() {
				t.Errorf("%q reads back as %q, %v", tool.ConsentText(), again.ConsentText(), err)
			}
			var v any
			if err := json.Unmarshal(tool.LegibleSchema(), &v); err != nil || hasHiddenText(v) || plainText(v) {
				t.Errorf("the schema hides something: %s %v", tool.LegibleSchema(), err)
			}
		}
		for _, x := range refused {
			if sanitize.RevealHidden(x.Name) != x.Name {
				t.Errorf("the name %q hides something", x.Name)
			}
		}
	})
}

// plainText reports whether any text of a value hides something.
func plainText(v any) bool {
	switch v := v.(type) {
	case string:
		return sanitize.RevealHidden(v) != v
	case []any:
		for _, x := range v {
			if plainText(x) {
				return true
			}
		}
	case map[string]any:
		for k, x := range v {
			if plainText(k) || plainText(x) {
				return true
			}
		}
	}
	return false
}

// FuzzResult decodes results.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"x","blob":"AA=="}}],"structuredContent":{"a":1},"isError":true}`))
	f.Add([]byte(`{"content":[{"type":"resource"},{"type":"what"},null,{"type":"resource_link","uri":"x"}]}`))
	f.Add([]byte(`{"content":null,"structuredContent":[1,2]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r sdk.CallToolResult
		if len(data) > maxMessage || json.Unmarshal(data, &r) != nil {
			return
		}
		out := toResult(&r)
		if len(out.Parts) > maxParts || len(out.Parts)+out.Left != len(r.Content) {
			t.Errorf("%d parts and %d left out of %d", len(out.Parts), out.Left, len(r.Content))
		}
		if out.Structured != nil && !json.Valid(out.Structured) {
			t.Errorf("structure: %s", out.Structured)
		}
	})
}

// FuzzLines reads what a server writes: only whole messages come through.
func FuzzLines(f *testing.F) {
	f.Add([]byte("ready!\n{\"jsonrpc\":\"2.0\"}\r\n\n[1]\n{broken\n {}"))
	f.Add([]byte(strings.Repeat("x", 70<<10) + "\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := io.ReadAll(newServerMessageReader(io.NopCloser(bytes.NewReader(data))))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out) {
			if !bytes.HasSuffix(line, []byte("\n")) || !json.Valid(line) || !strings.ContainsRune("{[", rune(line[0])) {
				t.Errorf("%q came through", line)
			}
		}
	})
}

// FuzzServer lets a server say anything in answer to each message: whatever it
// is, the connection and each call end, and nothing falls over.
func FuzzServer(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"sampling/createMessage","id":7,"params":{}}` + "\n[]\n[null]\n[[]]\n{}\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"result":{"tools":null,"content":[null],"resultType":"input_required","inputRequests":{"a":null}}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/progress"}` + "\n" + `{"jsonrpc":"2.0","method":"roots/list","id":"x"}` + "\n" + `{"jsonrpc":"2.0","method":"elicitation/create","id":3}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			mcptest.ServeGarbage(theirs, data)
		}()
		defer func() { _ = theirs.Close(); <-done }()
		s := Server{Root: "/w", Begin: 200 * time.Millisecond, Idle: 20 * time.Millisecond, patience: 20 * time.Millisecond, Start: func(context.Context) (io.ReadWriteCloser, error) { return ours, nil }}
		c, err := connectWithRevision(t.Context(), s, "", 50*time.Millisecond)
		if err != nil {
			return
		}
		defer c.Close()
		if _, _, err := c.ListTools(t.Context()); err != nil {
			return
		}
		_, _ = c.CallTool(t.Context(), "look", nil, nil)
	})
}
