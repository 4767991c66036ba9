package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
)

// evil is what somebody wrote into a run who wants to be obeyed.
const evil = "\x1b[2J\x1b]52;c;aGk=\x07\u202etxt.exe\u2066\u009b31m\U000e0041\u200b\x00"

// TestNothingIsObeyed serves hostile text wherever an offer has text: what clients show a
// person or a model is harmless, and what programs read is the same value.
func TestNothingIsObeyed(t *testing.T) {
	anything := &jsonschema.Schema{Type: "object"}
	object, err := json.Marshal(map[string]string{"text": evil})
	if err != nil {
		t.Fatal(err)
	}
	do := func(failed bool) func(context.Context, mcpserver.ClientToolCall) mcpserver.Result {
		return func(_ context.Context, c mcpserver.ClientToolCall) mcpserver.Result {
			c.Told(evil)
			return mcpserver.Result{Text: evil, Data: object, Failed: failed}
		}
	}
	server, err := mcpserver.NewServer(mcpserver.ServedToolsAndResources{
		Tools: []mcpserver.ServedTool{
			{Name: "done", Input: anything, Do: do(false)},
			{Name: "failed", Input: anything, Do: do(true)},
			{Name: "asks", Input: anything, Do: do(false), Asks: func(context.Context, mcpserver.ClientToolCall) (string, mcpserver.Result) {
				return evil, mcpserver.Result{Text: evil}
			}},
			{Name: "refuses", Input: anything, Do: do(false), Asks: func(context.Context, mcpserver.ClientToolCall) (string, mcpserver.Result) {
				return "", mcpserver.Result{Text: evil, Failed: true}
			}},
		},
		Resources: []mcpserver.ServedResource{
			{URI: "x://fine", Name: "fine", Read: func(context.Context, string) ([]byte, error) { return object, nil }},
			{URI: "x://broken", Name: "broken", Read: func(context.Context, string) ([]byte, error) { return nil, errors.New(evil) }},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &asker{answer: &sdk.ElicitResult{Action: "decline"}, told: make(chan *sdk.ProgressNotificationParams, 8)}
	s := (&desk{server: server}).pipes(t, a, modernRevision)
	hidden := func(what, text string) {
		t.Helper()
		for i, r := range text {
			if sanitize.IsInvisibleAt(text, i) {
				t.Errorf("%s has %q: %.80q", what, r, text)
				return
			}
		}
		if text == "" {
			t.Errorf("%s says nothing", what)
		}
	}
	for _, name := range []string{"done", "failed", "asks", "refuses"} {
		p := &sdk.CallToolParams{Name: name, Arguments: map[string]any{}}
		p.SetProgressToken("p")
		r, err := s.CallTool(t.Context(), p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, c := range r.Content {
			if text, ok := c.(*sdk.TextContent); ok {
				hidden(name, text.Text)
			}
		}
		if data, ok := r.StructuredContent.(map[string]any); name == "done" && (!ok || data["text"] != evil) {
			t.Errorf("%s has another object: %v", name, r.StructuredContent)
		}
	}
	hidden("progress", (<-a.told).Message)
	a.mu.Lock()
	asked := a.asked
	a.mu.Unlock()
	if len(asked) != 1 {
		t.Fatalf("asked %q", asked)
	}
	hidden("the question", asked[0])
	r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://fine"})
	if err != nil {
		t.Fatal(err)
	}
	hidden("the resource", r.Contents[0].Text)
	var back map[string]string
	if err := json.Unmarshal([]byte(r.Contents[0].Text), &back); err != nil || back["text"] != evil {
		t.Errorf("the resource is another value: %q, %v", back, err)
	}
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://broken"}); err == nil {
		t.Error("nothing is broken")
	} else {
		hidden("the failure", err.Error())
	}
}
