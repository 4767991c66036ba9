package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// compactionNote begins the message that replaces omitted turns or results. The scripted model
// reads from it how many answers are gone.
const compactionNote = "Compacted: "

// summaryPrefix begins the message that asks for a summary.
const summaryPrefix = "Summary: "

// summaryRequest asks the model for a summary of the conversation.
const summaryRequest = summaryPrefix + "this conversation is about to be shortened; only what you write now, the brief, what people said and the last turns stay. " +
	"Write down, in at most 600 words and without calling a tool: what is done and in which files, what is decided and why, " +
	"what was tried and failed, what you learned about the code that you need again, and what is left to do, in order."

const (
	stubFrom     = 400   // smallest result or input text, in bytes, that is replaced by a stub
	summaryBytes = 8_000 // most bytes of a summary
	maxListed    = 60    // calls that are named if there is no summary
)

// estimateMessageTokens estimates the number of tokens of messages.
func estimateMessageTokens(messages []llm.Message) int64 {
	return llm.EstimateTokens(llm.EstimateRequest(llm.Request{Messages: messages}))
}

// shortenOlderResults replaces each older result by one line. The last turns, keep in number, are
// unchanged, and so are people's answers. It returns false if nothing was shortened.
func shortenOlderResults(messages []llm.Message, keep int) ([]llm.Message, bool) {
	from := keptTailStart(messages, keep)
	out, calls, gained := make([]llm.Message, 0, len(messages)+1), map[string]llm.ToolCall{}, false
	for _, m := range messages[:from] {
		if isCompactionNote(m) {
			if n, _ := parseCompactionNote(m); n == 0 { // the note is repeated below
				continue
			}
		}
		parts := make([]llm.MessagePart, 0, len(m.Parts))
		for _, p := range m.Parts {
			switch {
			case p.Raw != nil:
				gained = true // thinking belongs only to turns that stay
				continue
			case p.Call != nil:
				calls[p.Call.ID] = *p.Call
			case p.Result != nil && len(p.Result.Text) > stubFrom && !isAnswerFromPerson(calls[p.Result.ID].Tool):
				gained = true
				short := *p.Result
				short.Text = omittedResultLine(calls[short.ID], short)
				p.Result = &short
			}
			parts = append(parts, p)
		}
		if len(parts) == 0 {
			parts = []llm.MessagePart{{Text: "(no answer)"}}
		}
		out = append(out, llm.Message{From: m.From, Parts: parts})
	}
	if !gained {
		return messages, false
	}
	out = append(out, llm.UserMessage(compactionNote+"older results were left out above; call a tool again if you need one."))
	return append(out, messages[from:]...), true
}

// summarizeOlderTurns replaces all older turns by a summary, except those that submit or ask people.
// Without a summary, it names the tools that were called. It reports how many answers are
// gone.
func summarizeOlderTurns(messages []llm.Message, keep int, summary string) (out []llm.Message, gone int) {
	from := keptTailStart(messages, keep)
	var did []string
	earlier, fresh := "", false
	for i := 0; i < from; i++ {
		m := messages[i]
		switch {
		case m.From == llm.Assistant && isLastingTurn(m):
			out = append(out, withoutProviderParts(m))
			if i+1 < from {
				i++
				out = append(out, messages[i])
			}
		case m.From == llm.Assistant:
			gone, fresh = gone+1, true
			for _, c := range toolCallsOf(m) {
				did = append(did, describeCall(c))
			}
		case isCompactionNote(m):
			n, text := parseCompactionNote(m)
			gone, earlier = gone+n, strings.TrimSpace(earlier+"\n\n"+text)
		case hasResults(m), isReminderMessage(m):
		default:
			out = append(out, m)
		}
	}
	if !fresh {
		return messages, 0
	}
	if summary == "" {
		summary = strings.TrimSpace(earlier + "\n\n" + listCalls(did))
	}
	note := fmt.Sprintf("%s%d answers of yours and their results were left out here. This is your own summary of them:\n\n%s",
		compactionNote, gone, cutSummary(summary))
	return append(append(out, llm.UserMessage(note)), messages[from:]...), gone
}

// keptTailStart returns the index at which the last turns begin: at an answer of the model, or
// len(messages) if there are fewer than keep answers. The first message is never part of them.
func keptTailStart(messages []llm.Message, keep int) int {
	from := len(messages)
	for i := len(messages) - 1; i > 0 && keep > 0; i-- {
		if messages[i].From == llm.Assistant {
			from = i
			keep--
		}
	}
	return from
}

// omittedResultLine returns the line that replaces a result.
func omittedResultLine(c llm.ToolCall, r llm.ToolResult) string {
	how := "answered"
	if r.Failed {
		how = "failed"
	}
	return fmt.Sprintf("[%s: %s with %d bytes, left out to save room; call it again if you need them]", describeCall(c), how, len(r.Text))
}

func describeCall(c llm.ToolCall) string {
	if what := tool.DescribeCall(c); what != "" && what != c.Tool {
		return c.Tool + " " + what
	}
	return c.Tool
}

func listCalls(did []string) string {
	if len(did) == 0 {
		return "You called no tool."
	}
	more := ""
	if n := len(did) - maxListed; n > 0 {
		more, did = fmt.Sprintf("%d calls, then ", n), did[n:]
	}
	return "You called: " + more + strings.Join(did, "; ") + ". Look at the tree for the results."
}

func cutSummary(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > summaryBytes {
		text = strings.ToValidUTF8(text[:summaryBytes], "") + " [...]"
	}
	return text
}

// isAnswerFromPerson reports whether a tool's results are written by people.
func isAnswerFromPerson(name string) bool { return name == "ask" }

// isLastingTurn reports whether a turn submits or asks people.
func isLastingTurn(m llm.Message) bool {
	return slices.ContainsFunc(toolCallsOf(m), func(c llm.ToolCall) bool { return c.Tool == "finish" || isAnswerFromPerson(c.Tool) })
}

// withoutProviderParts returns a message without the provider's private data.
func withoutProviderParts(m llm.Message) llm.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p llm.MessagePart) bool { return p.Raw != nil })
	return m
}

func hasResults(m llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p llm.MessagePart) bool { return p.Result != nil })
}

func isCompactionNote(m llm.Message) bool {
	return m.From == llm.User && strings.HasPrefix(m.Text(), compactionNote)
}

func isReminderMessage(m llm.Message) bool {
	return m.From == llm.User && strings.HasPrefix(m.Text(), "Nudge: ")
}

// parseCompactionNote returns the contents of an earlier note: the number of omitted answers, and a
// summary.
func parseCompactionNote(m llm.Message) (gone int, summary string) {
	head, summary, _ := strings.Cut(m.Text(), "\n\n")
	if _, err := fmt.Sscanf(strings.TrimPrefix(head, compactionNote), "%d answers", &gone); err != nil {
		return 0, ""
	}
	return gone, summary
}
