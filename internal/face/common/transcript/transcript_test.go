package transcript

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compare holds a text against a golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// spoken returns the events of a run in which a session speaks beside another,
// is compacted, and pays for a call that failed.
func spoken(t *testing.T) ([]nexus.Event, map[string][]byte) {
	t.Helper()
	blobs := map[string][]byte{}
	keep := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		hash := fmt.Sprint("b", len(blobs))
		blobs[hash] = data
		return hash
	}
	message := func(from llm.MessageAuthor, parts ...llm.MessagePart) string {
		return keep(llm.Message{From: from, Parts: parts})
	}
	const id, other = nexus.SessionID("T1.1/coder.1"), nexus.SessionID("T1.1/reviewer.1")
	prompt := keep(map[string]any{"system": "You write code.", "tools": []llm.ToolDescription{{Name: "read_file"}, {Name: "finish"}}})
	facts := []nexus.Fact{
		nexus.SessionStarted{Session: id, Attempt: "T1.1", Role: nexus.Coder, Model: "p/small", Prompt: prompt},
		nexus.PromptSent{Session: id, Message: message(llm.User, llm.MessagePart{Text: "Conversation: T1.1/coder.1\nTask: T1 Say \x1b[31mhello\n\n## What to do\n\nSay hello in every language that people speak, and in some that only machines do."}), Why: "brief"},
		nexus.SessionStarted{Session: other, Attempt: "T1.1", Role: nexus.Reviewer, Model: "p/large", Prompt: prompt},
		nexus.PromptSent{Session: other, Message: message(llm.User, llm.MessagePart{Text: "another's"}), Why: "brief"},
		nexus.BudgetReserved{ID: "r1", Session: id, Money: nexus.Dollar},
		nexus.BudgetSettled{ID: "r1", Money: nexus.Dollar / 100},
		nexus.BudgetReserved{ID: "r2", Session: id, Money: nexus.Dollar},
		nexus.BudgetSettled{ID: "r2", Money: nexus.Dollar / 50, Usage: nexus.Usage{Input: 1_234, Output: 56}},
		nexus.ModelTurnRecorded{Session: id, Turn: 1, Stop: "tools", Message: message(llm.Assistant, llm.MessagePart{Text: "Let me see."}, llm.MessagePart{Call: &llm.ToolCall{ID: "c", Tool: "read_file", Input: json.RawMessage(`{"path": "a.go"}`)}})},
		nexus.ToolResultsSent{Session: id, Message: message(llm.User, llm.MessagePart{Result: &llm.ToolResult{ID: "c", Text: "1\n2\n3\n4\n5\n6\n", Failed: true}})},
		nexus.SessionCompacted{Session: id, Turn: 1, Why: "too long", Before: 90_000, After: 4_000, Messages: []string{message(llm.User, llm.MessagePart{Text: "in short"})}},
		nexus.BudgetReserved{ID: "r3", Session: id, Money: nexus.Dollar},
		nexus.BudgetSettled{ID: "r3", Money: nexus.Dollar / 100},
		nexus.ModelTurnRecorded{Session: id, Turn: 2, Stop: "done", Message: message(llm.Assistant, llm.MessagePart{Text: "Done."})},
		nexus.SessionEnded{Session: id, Outcome: nexus.GaveUp, Why: "nothing to say"},
	}
	events := make([]nexus.Event, len(facts))
	for i, f := range facts {
		events[i] = nexus.Event{Seq: int64(i) + 1, Run: "261121-100000-abc", At: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second), Fact: f}
	}
	return events, blobs
}

func readTranscript(t *testing.T, id nexus.SessionID) (ConversationTranscript, bool) {
	t.Helper()
	events, blobs := spoken(t)
	all := func(yield func(nexus.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
	said, ok, err := ReadConversation(id, all, func(hash string) ([]byte, error) { return blobs[hash], nil })
	if err != nil {
		t.Fatal(err)
	}
	return said, ok
}

// TestTranscript draws a session, and says what was sent for each answer.
func TestTranscript(t *testing.T) {
	said, ok := readTranscript(t, "T1.1/coder.1")
	if !ok {
		t.Fatal("it is not there")
	}
	for kind, style := range map[string]view.OutputStyle{"60": {Width: 60}, "100": {Width: 100}, "160": {Width: 160}, "piped": {Plain: true}} {
		text := said.Draw(style)
		compare(t, "transcript."+kind+".txt", text)
		if i := strings.IndexFunc(text, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}); i >= 0 {
			t.Errorf("%s: it lets %q through", kind, text[i:i+1])
		}
		for line := range strings.Lines(text) {
			if style.Width > 0 && ansi.StringWidth(line) > style.Width {
				t.Errorf("%s: %d columns: %s", kind, ansi.StringWidth(line), line)
			}
		}
	}
	data, err := json.MarshalIndent(said.Requests, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "requests.json", string(data)+"\n")
	if _, ok := readTranscript(t, "T1.1/coder.2"); ok {
		t.Error("a session is there that never was")
	}
	if want := nexus.Dollar / 25; said.Spent != want {
		t.Errorf("it cost %s, want %s", said.Spent, want)
	}
}

// TestExcerpt holds that the rest of a tool's result is counted, and that tabs
// do not hide how wide a line is.
func TestExcerpt(t *testing.T) {
	m := Message{Why: "results", Message: llm.Message{Parts: []llm.MessagePart{{Result: &llm.ToolResult{Text: "\ta\tlong line of code that does not fit\n2\n3\n4\n5\n"}}}}}
	if got, want := m.Draw(view.OutputStyle{Width: 40}), "  < a    long line of code that d\u2026\n      2\n      3\n      ... 2 lines more; --raw has them\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCall holds that a call is shown as what it does, not as JSON.
func TestCall(t *testing.T) {
	for _, tt := range []struct{ tool, input, want string }{
		{"write_file", `{"content":"package a\n\nfunc a() string {\n\treturn \"<\"\n}\n","path":"a.go"}`, `  > write_file a.go
    content:
      package a

      func a() string {
      ... 2 lines more; --raw has them
`},
		{"edit_file", `{"edits":[{"new":"b","old":"a"},{"all":true,"old":"x\ny","new":"\u001b"}],"path":"a.go"}`, `  > edit_file a.go
    edits 1, old: a
    edits 1, new: b
    edits 2, old:
      x
      y
    edits 2, new: \x1b
    edits 2, all: true
`},
		{"shell", `{"timeout":5,"command":"go test ./... && echo done"}`, "  > shell go test ./... && echo done timeout=5\n"},
		{"search_code", `{"pattern":"a<b","glob":"*.go"}`, "  > search_code a<b glob=*.go\n"},
		{"finish", `{"status":"done","summary":"All is done."}`, "  > finish status=done All is done.\n"},
		{"odd", `{"ids":[1,2],"o":{"a":"<"}}`, "  > odd ids=[1,2] o={\"a\":\"<\"}\n"},
		{"broken", `{"path":`, "  > broken {\"path\":\n"},
	} {
		if got := drawToolCall(view.OutputStyle{Width: 100}, llm.ToolCall{Tool: tt.tool, Input: json.RawMessage(tt.input)}); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.tool, got, tt.want)
		}
	}
}
