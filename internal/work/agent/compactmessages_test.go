package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

const brief = "Conversation: T1.1/coder.1\nTask: T1 Do it\n\n## Done when\n\n1. It is done.\n"

// testConversation draws one that is before the next answer of the model.
func testConversation(t *rapid.T) []llm.Message {
	all := []llm.Message{llm.UserMessage(brief)}
	said := 0
	for range rapid.IntRange(0, 12).Draw(t, "turns") {
		m := llm.Message{From: llm.Assistant}
		if rapid.Bool().Draw(t, "thinks") {
			m.Parts = append(m.Parts, llm.MessagePart{Raw: json.RawMessage(`{"type":"thinking"}`)})
		}
		results := llm.Message{From: llm.User}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			said++
			tool := rapid.SampledFrom([]string{"shell", "shell", "read_file", "write_file", "ask", "finish"}).Draw(t, "tool")
			id := fmt.Sprint("call", said)
			m.Parts = append(m.Parts, llm.MessagePart{Call: &llm.ToolCall{ID: id, Tool: tool, Input: json.RawMessage(`{"path":"a.go"}`)}})
			text := fmt.Sprint(id, " ", strings.Repeat("x", rapid.SampledFrom([]int{0, 300, 500, 9_000}).Draw(t, "bytes")))
			results.Parts = append(results.Parts, llm.MessagePart{Result: &llm.ToolResult{ID: id, Text: text, Failed: rapid.Bool().Draw(t, "failed")}})
		}
		if len(results.Parts) == 0 {
			m.Parts = append(m.Parts, llm.MessagePart{Text: "I wonder."})
			results = llm.UserMessage("Nudge: go on.")
		}
		all = append(all, m, results)
		if rapid.IntRange(0, 4).Draw(t, "speaks") == 0 {
			said++
			all = append(all, llm.UserMessage(fmt.Sprint("Guidance from a person:\n\nMind ", said)))
		}
	}
	return all
}

// wellFormed says what is wrong with a conversation.
func wellFormed(messages []llm.Message) error {
	ids := map[string]bool{}
	for i, m := range messages {
		if i > 0 && m.From == llm.Assistant && messages[i-1].From == llm.Assistant || i == 0 && m.From != llm.User || len(m.Parts) == 0 {
			return fmt.Errorf("message %d is %+v", i, m)
		}
		var asked, got []string
		for _, p := range m.Parts {
			if p.Call != nil {
				if ids[p.Call.ID] {
					return fmt.Errorf("%s is called twice", p.Call.ID)
				}
				ids[p.Call.ID] = true
				asked = append(asked, p.Call.ID)
			}
			if p.Result != nil && (i == 0 || !slices.ContainsFunc(messages[i-1].Parts, func(q llm.MessagePart) bool { return q.Call != nil && q.Call.ID == p.Result.ID })) {
				return fmt.Errorf("%s has no call", p.Result.ID)
			}
		}
		if len(asked) > 0 && i+1 == len(messages) {
			return fmt.Errorf("%v are not answered", asked)
		}
		if len(asked) > 0 {
			for _, p := range messages[i+1].Parts {
				if p.Result != nil {
					got = append(got, p.Result.ID)
				}
			}
			if !slices.Equal(asked, got) {
				return fmt.Errorf("%v are answered by %v", asked, got)
			}
		}
	}
	return nil
}

// saidByPeople returns what people said, and answers to what they were asked.
func saidByPeople(messages []llm.Message) (all []string) {
	asked := map[string]bool{}
	for _, m := range messages {
		if text := m.Text(); m.From == llm.User && text != "" && !strings.HasPrefix(text, "Nudge: ") && !strings.HasPrefix(text, compactionNote) {
			all = append(all, text)
		}
		for _, p := range m.Parts {
			if p.Call != nil && p.Call.Tool == "ask" {
				asked[p.Call.ID] = true
			}
			if p.Result != nil && asked[p.Result.ID] {
				all = append(all, p.Result.Text)
			}
		}
	}
	return all
}

func answersIn(messages []llm.Message) (n int) {
	for _, m := range messages {
		if m.From == llm.Assistant {
			n++
		}
	}
	return n
}

func last(messages []llm.Message, keep int) []llm.Message {
	from := len(messages)
	for i := len(messages) - 1; i > 0 && keep > 0; i-- {
		if messages[i].From == llm.Assistant {
			from, keep = i, keep-1
		}
	}
	return messages[from:]
}

func TestAnyConversationStaysWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := testConversation(t)
		if err := wellFormed(all); err != nil {
			t.Fatal(err)
		}
		said := saidByPeople(all)
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			before := all
			keep := rapid.IntRange(1, 4).Draw(t, "keep")
			tail := last(all, keep)
			if rapid.Bool().Draw(t, "fold") {
				answers, gone := answersIn(all), 0
				all, gone = summarizeOlderTurns(all, keep, rapid.SampledFrom([]string{"", "All went well."}).Draw(t, "summary"))
				if left := answersIn(all); answers-left > gone {
					t.Errorf("%d answers of %d are left, and it says that %d are gone", left, answers, gone)
				}
			} else {
				ok := false
				if all, ok = shortenOlderResults(all, keep); !ok && len(all) != len(before) {
					t.Error("it did something and denies it")
				}
			}
			if err := wellFormed(all); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(said, saidByPeople(all)); diff != "" {
				t.Error(diff)
			}
			if all[0].Text() != brief {
				t.Errorf("the brief is %q", all[0].Text())
			}
			if n := len(all) - len(tail); n < 0 || cmp.Diff(tail, all[n:]) != "" {
				t.Errorf("the last %d turns changed", keep)
			}
		}
	})
}

func TestStubsAreSmaller(t *testing.T) {
	call := func(id string) llm.Message {
		return llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: id, Tool: "read_file", Input: json.RawMessage(`{"path":"a.go"}`)}}}}
	}
	answer := func(id string) llm.Message {
		return llm.Message{From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: id, Text: strings.Repeat("x", 5_000)}}}}
	}
	all := []llm.Message{llm.UserMessage(brief), call("a"), answer("a"), call("b"), answer("b")}
	short, ok := shortenOlderResults(all, 1)
	if got := short[2].Parts[0].Result.Text; !ok || got != "[read_file a.go: answered with 5000 bytes, left out to save room; call it again if you need them]" {
		t.Errorf("%q", got)
	}
	if estimateMessageTokens(short) > estimateMessageTokens(all)*2/3 || len(all[2].Parts[0].Result.Text) != 5_000 {
		t.Error("it is no smaller, or what was given was changed")
	}
	folded, gone := summarizeOlderTurns(short, 1, "Read a.go.")
	if gone != 1 || len(folded) != 4 || estimateMessageTokens(folded) >= estimateMessageTokens(short)+100 {
		t.Errorf("%d gone, %+v", gone, folded)
	}
	again, gone := summarizeOlderTurns(append(slices.Clip(folded), call("c"), answer("c")), 1, "")
	if text := again[1].Text(); gone != 2 || !strings.Contains(text, "Read a.go.") || !strings.Contains(text, "You called: read_file a.go.") {
		t.Errorf("%d gone, %q", gone, text)
	}
}
