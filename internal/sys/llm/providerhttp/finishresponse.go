package providerhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// AnswerNumber returns the number of the answer to a request, so that generated call IDs are unique in a
// conversation and the same when it is repeated. It counts the earlier answers, and continues
// after the generated IDs among them: after a compaction, there are fewer answers than before.
func AnswerNumber(r llm.Request) int {
	n := 0
	for _, m := range r.Messages {
		if m.From == llm.Assistant {
			n++
		}
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Call == nil {
				continue
			}
			if _, numbers, ok := strings.Cut(p.Call.ID, "-call-"); ok {
				number, _, _ := strings.Cut(numbers, "-")
				if step, err := strconv.Atoi(number); err == nil && step >= n && step < maxStep {
					n = step + 1
				}
			}
		}
	}
	return n
}

// maxStep limits the effect of a provider's own IDs that look like generated ones.
const maxStep = 1 << 30

// FinishResponse builds an answer from parts that arrived completely; step is the result of [AnswerNumber] for its
// request. The calls of an answer that was cut off, refused or unreadable are dropped. An invalid
// call of any other answer remains, with its flaw, so that the model can be informed.
func FinishResponse(r llm.Response, step int) llm.Response {
	switch r.Stop {
	case llm.StopLength, llm.StopRefuse, llm.StopMalformed:
		r.Message.Parts = withoutCalls(r.Message.Parts)
		return r
	default:
	}
	seen := map[string]bool{}
	for i, p := range r.Message.Parts {
		if p.Call == nil {
			continue
		}
		c := makeCallSendable(*p.Call, seen)
		if c.ID == "" || seen[c.ID] {
			c.ID = fmt.Sprintf("made-call-%d-%d", step, i)
		}
		for seen[c.ID] { // the model made up that ID, too
			c.ID += "x"
		}
		seen[c.ID] = true
		r.Message.Parts[i].Call = &c
	}
	r.Stop = llm.StopDone
	if len(seen) > 0 {
		r.Stop = llm.StopTools
	}
	return r
}

// makeCallSendable returns the call ready for execution, or else in a form that can be sent back, with its
// flaw.
func makeCallSendable(c llm.ToolCall, seen map[string]bool) llm.ToolCall {
	name := sendableToolName(c.Tool)
	flaw := inputFlaw(c.Input)
	switch {
	case c.Tool == "":
		flaw = "it names no tool"
	case name != c.Tool:
		flaw = fmt.Sprintf("no tool can be called %q", sanitize.TruncateText(c.Tool, 100))
	case flaw != "":
	case c.ID == "":
		flaw = "it has no id"
	case seen[c.ID]:
		flaw = "an earlier call of the same answer has the same id"
	}
	if flaw != "" {
		c.Tool, c.Input, c.Flaw = name, json.RawMessage("{}"), flaw
	}
	return c
}

// longestName is the limit of a tool's name that every provider accepts, in characters.
const longestName = 64

// sendableToolName returns a tool's name in a form that every provider accepts.
func sendableToolName(tool string) string {
	plain := func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}
	if tool == "" {
		return "unnamed"
	}
	name := strings.Map(plain, tool)
	return name[:min(len(name), longestName)]
}

// inputFlaw returns why the input of a call is not one JSON object, or "".
func inputFlaw(input []byte) string {
	d := json.NewDecoder(bytes.NewReader(input))
	var first json.RawMessage
	err := d.Decode(&first)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset < int64(len(input)) {
		return fmt.Sprintf("its input is not JSON: %v, at byte %d of %s", err, syntax.Offset, quoteInput(input))
	}
	if err != nil {
		return "its input is not whole JSON, it ends too early: " + quoteInput(input)
	}
	if rest := input[d.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
		return "its input has text after the JSON: " + quoteInput(rest)
	}
	if first[0] != '{' {
		return "its input is JSON, but not an object: " + quoteInput(first)
	}
	return ""
}

// maxQuoted limits the bytes of an input in a flaw.
const maxQuoted = 200

// quoteInput returns the beginning and the end of an input, where most errors are.
func quoteInput(input []byte) string {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(input)), "?")
	if text == "" {
		return "nothing"
	}
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted/2], "") + " [...] " + strings.ToValidUTF8(text[len(text)-maxQuoted/2:], "")
	}
	return fmt.Sprintf("%q", text)
}

// withoutCalls drops calls, and trailing thinking, which could not be sent back.
func withoutCalls(parts []llm.MessagePart) []llm.MessagePart {
	var kept []llm.MessagePart
	for _, p := range parts {
		if p.Call == nil {
			kept = append(kept, p)
		}
	}
	for len(kept) > 0 && kept[len(kept)-1].Raw != nil {
		kept = kept[:len(kept)-1]
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
