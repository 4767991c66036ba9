package tool

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestRequestContext(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "a.go", program+"\ntype Thing struct {\n\tOne int\n}\n")
	b.write(t, "b.py", "class Thing:\n    def One(self):\n        return 1\n")
	b.write(t, "hidden.go", "package a\n\nfunc One() {}\n")
	b.write(t, ".nexusignore", "hidden.go\n")
	ask := func(kind, query string) m { return m{"kind": kind, "query": query, "reason": "to see"} }
	got := b.good(t, "request_context", ask("definition", "One"))
	for _, want := range []string{"a.go:3\nfunc One() int {\n", "b.py:2\n    def One(self):\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	b.write(t, "long.go", "package a\n\n// Long is long,\n// and says so.\nfunc Long() {\n"+strings.Repeat("\tx()\n", 300)+"}\n\nfunc After() {}\n")
	if got := b.good(t, "request_context", ask("definition", "Long")); !strings.HasPrefix(got, "long.go:5\n// Long is long,\n// and says so.\nfunc Long() {\n") ||
		!strings.Contains(got, "[200 lines are shown, it ends at line 306; continue with read_file, offset 203]") || strings.Contains(got, "After") {
		t.Errorf("%q", got)
	}
	if got := b.good(t, "request_context", ask("definition", "After")); got != "long.go:308\nfunc After() {}\n" {
		t.Errorf("%q", got)
	}
	if strings.Contains(got, "hidden") {
		t.Errorf("it shows what is not for agents: %q", got)
	}
	if got := b.good(t, "request_context", ask("usages", "One")); !strings.Contains(got, "a.go:3:") || !strings.Contains(got, "b.py:2:") {
		t.Errorf("usages: %q", got)
	}
	if got := b.good(t, "request_context", ask("symbol", "Nothing")); !strings.Contains(got, "no definition") {
		t.Errorf("%q", got)
	}
	if got := b.good(t, "request_context", ask("file", "a.go")); !strings.HasPrefix(got, "package a\n") {
		t.Errorf("%q", got)
	}
	b.bad(t, "request_context", ask("file", "../x"), "")
	b.bad(t, "request_context", ask("file", "hidden.go"), ".nexusignore hides it")
	b.bad(t, "request_context", ask("file", ".git/config"), "")
	b.bad(t, "request_context", m{"kind": "file", "query": "a.go"}, "reason")
	b.bad(t, "request_context", ask("all", "x"), "kind")
}

func TestRequestContextIsBounded(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "it looks through much, alone")
	b := newBench(t, nil)
	b.write(t, "large", strings.Repeat("0123456789\n", 20_000))
	ask := m{"kind": "search", "query": "0123", "reason": "r"}
	for i := range 1000 {
		a := b.call(t, "request_context", ask)
		if a.Result.Failed {
			if !strings.Contains(a.Result.Text, "no requests are left") || i < allContext/mostContext {
				t.Errorf("after %d calls: %s", i, a.Result.Text)
			}
			break
		}
		if len(a.Result.Text) > mostContext+400 {
			t.Fatalf("%d bytes at once", len(a.Result.Text))
		}
		if i == 999 {
			t.Error("it has no end")
		}
	}
	// Another process counts on from the conversation.
	messages := []llm.Message{
		{Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "1", Tool: "request_context"}}, {Call: &llm.ToolCall{ID: "2", Tool: "read_file"}}}},
		{Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: "1", Text: strings.Repeat("x", allContext)}}, {Result: &llm.ToolResult{ID: "2", Text: "yy"}}}},
	}
	b = newBench(t, func(e *AgentToolEnvironment) { e.Given = CountRequestedContextBytes(messages) })
	b.bad(t, "request_context", ask, "no requests are left")
}

func TestRequestReplan(t *testing.T) {
	var asked []nexus.ReplanRequested
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Replan = func(_ context.Context, f nexus.ReplanRequested) error {
			asked = append(asked, f)
			return nil
		}
	})
	a := b.call(t, "request_replan", m{"reason": "generated", "suggestion": "gen", "blockers": []string{"b"}, "files": []string{"f"}})
	if a.Result.Failed || !strings.Contains(string(a.Finished), `"status":"blocked"`) {
		t.Errorf("%+v", a)
	}
	want := []nexus.ReplanRequested{{Reason: "generated", Suggestion: "gen", Blockers: []string{"b"}, Files: []string{"f"}}}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}
	b.bad(t, "request_replan", m{"suggestion": "x"}, "reason")
	newBench(t, nil).bad(t, "request_replan", m{"reason": "x"}, "no plan here")
	failing := newBench(t, func(e *AgentToolEnvironment) {
		e.Replan = func(context.Context, nexus.ReplanRequested) error { return fmt.Errorf("the journal is full") }
	})
	failing.bad(t, "request_replan", m{"reason": "x"}, "full")
}
