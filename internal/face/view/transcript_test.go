package view

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

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
	message := func(from llm.Speaker, parts ...llm.Part) string { return keep(llm.Message{From: from, Parts: parts}) }
	const id, other = nexus.SessionID("T1.1/coder.1"), nexus.SessionID("T1.1/reviewer.1")
	prompt := keep(map[string]any{"system": "You write code.", "tools": []llm.Tool{{Name: "read_file"}, {Name: "finish"}}})
	facts := []nexus.Fact{
		nexus.SessionStarted{Session: id, Attempt: "T1.1", Role: nexus.Coder, Model: "p/small", Prompt: prompt},
		nexus.PromptSent{Session: id, Message: message(llm.User, llm.Part{Text: "Conversation: T1.1/coder.1\nTask: T1 Say \x1b[31mhello\n\n## What to do\n\nSay hello in every language that people speak, and in some that only machines do."}), Why: "brief"},
		nexus.SessionStarted{Session: other, Attempt: "T1.1", Role: nexus.Reviewer, Model: "p/large", Prompt: prompt},
		nexus.PromptSent{Session: other, Message: message(llm.User, llm.Part{Text: "another's"}), Why: "brief"},
		nexus.BudgetReserved{ID: "r1", Session: id, Money: nexus.Dollar},
		nexus.BudgetSpent{ID: "r1", Money: nexus.Dollar / 100},
		nexus.BudgetReserved{ID: "r2", Session: id, Money: nexus.Dollar},
		nexus.BudgetSpent{ID: "r2", Money: nexus.Dollar / 50, Usage: nexus.Usage{Input: 1_234, Output: 56}},
		nexus.TurnTaken{Session: id, Turn: 1, Stop: "tools", Message: message(llm.Assistant, llm.Part{Text: "Let me see."}, llm.Part{Call: &llm.Call{ID: "c", Tool: "read_file", Input: json.RawMessage(`{"path": "a.go"}`)}})},
		nexus.ToolsAnswered{Session: id, Message: message(llm.User, llm.Part{Result: &llm.Result{ID: "c", Text: "1\n2\n3\n4\n5\n6\n", Failed: true}})},
		nexus.SessionCompacted{Session: id, Turn: 1, Why: "too long", Before: 90_000, After: 4_000, Messages: []string{message(llm.User, llm.Part{Text: "in short"})}},
		nexus.BudgetReserved{ID: "r3", Session: id, Money: nexus.Dollar},
		nexus.BudgetSpent{ID: "r3", Money: nexus.Dollar / 100},
		nexus.TurnTaken{Session: id, Turn: 2, Stop: "done", Message: message(llm.Assistant, llm.Part{Text: "Done."})},
		nexus.SessionEnded{Session: id, Outcome: nexus.GaveUp, Why: "nothing to say"},
	}
	events := make([]nexus.Event, len(facts))
	for i, f := range facts {
		events[i] = event(i, f)
	}
	return events, blobs
}

func readTranscript(t *testing.T, id nexus.SessionID) (Transcript, bool) {
	t.Helper()
	events, blobs := spoken(t)
	all := func(yield func(nexus.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
	said, ok, err := TranscriptOf(id, all, func(hash string) ([]byte, error) { return blobs[hash], nil })
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
	for kind, style := range map[string]Style{"60": {Width: 60}, "100": {Width: 100}, "160": {Width: 160}, "piped": {Plain: true}} {
		text := said.Draw(style)
		compare(t, filepath.Join("testdata", "transcript."+kind+".txt"), text)
		harmless(t, "transcript", text)
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
	compare(t, filepath.Join("testdata", "requests.json"), string(data)+"\n")
	if _, ok := readTranscript(t, "T1.1/coder.2"); ok {
		t.Error("a session is there that never was")
	}
	if want := nexus.Dollar / 25; said.Spent != want {
		t.Errorf("it cost %s, want %s", said.Spent, want)
	}
}
