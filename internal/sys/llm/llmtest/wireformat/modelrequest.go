package wireformat

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// ReceivedModelRequest has the data of a request that are needed to answer it.
type ReceivedModelRequest struct {
	Wire         WireFormat
	Model        string
	Stream       bool
	Counts       bool  // the usage is requested at the end of a stream
	Cached       bool  // cache breakpoints are set, or not needed
	Max          int64 // limit of the answer in tokens; 0: not given
	Conversation string
	Step         int
	Summary      bool     // a summary is requested instead of a turn
	Prompt       []string // tools, system and each message: the parts that a cache compares
	Blocks       []int    // number of blocks of each part of the prompt
	Marks        []bool   // parts that end at a breakpoint; nil: not needed

	last []gjson.Result // our messages after the model's last one
}

// promptFieldPaths has a format's paths of the parts of a prompt, and its name of the model's role.
type promptFieldPaths struct{ tools, system, messages, role, model, most string }

func (w WireFormat) promptFields() promptFieldPaths {
	switch w {
	case Responses:
		return promptFieldPaths{"tools", "instructions", "input", "role", "assistant", "max_output_tokens"}
	case Gemini:
		return promptFieldPaths{"tools", "systemInstruction", "contents", "role", "model", "generationConfig.maxOutputTokens"}
	default:
		return promptFieldPaths{"tools", "system", "messages", "role", "assistant", "max_completion_tokens"}
	}
}

// ParseReceivedRequest parses a request with as little work as possible: the server shares the machine with the
// measured client. In Gemini's format, the URL path has the model, and whether the answer is
// streamed.
func ParseReceivedRequest(w WireFormat, path string, body []byte) (ReceivedModelRequest, error) {
	if !gjson.ValidBytes(body) {
		return ReceivedModelRequest{}, errors.New("the request is not JSON")
	}
	f := w.promptFields()
	q := gjson.GetManyBytes(body, "model", "stream", "stream_options.include_usage", f.tools, f.system, f.messages, f.most, "max_tokens")
	a := ReceivedModelRequest{Wire: w, Model: q[0].String(), Stream: q[1].Bool(), Counts: q[2].Bool(), Max: max(q[6].Int(), q[7].Int())}
	if w == Gemini {
		name, verb, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
		a.Model, a.Stream = name, verb == "streamGenerateContent"
	}
	a.Cached = w != Anthropic || bytes.Contains(body, []byte(`"cache_control":`))
	a.addPart(q[3], int(q[3].Get("#").Int()))
	a.addPart(q[4], 1)
	theirs := false
	for _, m := range q[5].Array() {
		a.addPart(m, max(1, int(m.Get("content.#").Int())))
		if w.isFromModel(m, f) {
			if !theirs || w != Responses { // there, several items form one answer
				a.Step++
			}
			a.last, theirs = nil, true
			continue
		}
		a.last, theirs = append(a.last, m), false
		if beginsTask(m) {
			a.Conversation, a.Step = "", 0
		}
		gone, summary := parseCompaction(m)
		a.Step, a.Summary = a.Step+gone, summary
		if a.Conversation == "" && a.Step == gone && m.Get(f.role).String() == "user" { // agents name their conversation first
			a.Conversation = conversationName(m)
		}
	}
	if a.Marks != nil && gjson.GetBytes(body, "cache_control").Exists() { // it moves to the end automatically
		a.Marks[len(a.Marks)-1] = true
	}
	if a.Model == "" || len(a.Prompt) == 2 {
		return ReceivedModelRequest{}, errors.New("a request needs a model and messages")
	}
	return a, nil
}

// isFromModel reports whether m is a message of the model. Responses has several items for one answer,
// not all with a role.
func (w WireFormat) isFromModel(m gjson.Result, f promptFieldPaths) bool {
	switch m.Get("type").String() {
	case "reasoning", "function_call":
		return w == Responses
	}
	return m.Get(f.role).String() == f.model
}

// TextSinceAnswer returns the messages to the model since its last answer.
func (a ReceivedModelRequest) TextSinceAnswer() string {
	var all strings.Builder
	for _, m := range a.last {
		eachText(m, func(text string) bool {
			all.WriteString(text)
			all.WriteByte('\n')
			return true
		})
	}
	return all.String()
}

// commentHeading matches a reviewer's comment on the change, as a message shows it, in JSON.
var commentHeading = regexp.MustCompile(`\\n### (c[0-9]+) \((?:must|should|question)\)`)

// CommentIDs returns the IDs of the comments that the model received since it last submitted.
func (a ReceivedModelRequest) CommentIDs() []string {
	var all []string
	for _, part := range slices.Backward(a.Prompt[2:]) {
		if strings.Contains(part, `"name":"finish"`) {
			break
		}
		for _, m := range commentHeading.FindAllStringSubmatch(part, -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// addPart adds a part of the prompt.
func (a *ReceivedModelRequest) addPart(p gjson.Result, blocks int) {
	a.Prompt, a.Blocks = append(a.Prompt, withoutCacheBreakpoints(p.Raw)), append(a.Blocks, blocks)
	if a.Wire == Anthropic {
		a.Marks = append(a.Marks, strings.Contains(p.Raw, cacheMark))
	}
}

// parseCompaction parses Nexus' note about omitted answers, and whether the message asks for a summary.
func parseCompaction(m gjson.Result) (gone int, summary bool) {
	eachText(m, func(text string) bool {
		if after, ok := strings.CutPrefix(text, "Compacted: "); ok {
			n, _, _ := strings.Cut(after, " answers")
			gone, _ = strconv.Atoi(n) // none if only results were omitted
		}
		summary = strings.HasPrefix(text, "Summary: ")
		return true
	})
	return gone, summary
}

// beginsTask reports whether a message starts another task in a conversation, with a new name of the
// conversation.
func beginsTask(m gjson.Result) bool {
	found := false
	eachText(m, func(text string) bool {
		found = found || strings.HasPrefix(text, "Next task: ")
		return !found
	})
	return found
}

// cacheMark is a cache breakpoint on a block.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// withoutCacheBreakpoints removes the cache breakpoints from a part of a prompt: they define where to cut, and
// are not part of the cached text.
func withoutCacheBreakpoints(part string) string {
	return strings.ReplaceAll(part, cacheMark, "")
}

// conversationName returns the conversation named in a line of a message.
func conversationName(m gjson.Result) string {
	found := ""
	eachText(m, func(text string) bool {
		for text != "" && found == "" {
			var line string
			line, text, _ = strings.Cut(text, "\n")
			if n, ok := strings.CutPrefix(line, "Conversation: "); ok {
				found = strings.TrimSpace(n)
			}
		}
		return found == ""
	})
	return found
}

// eachText yields the texts in a message until yield returns false, in all forms: a string, or blocks
// with a text or with nested content.
func eachText(in gjson.Result, yield func(string) bool) bool {
	if in.Type == gjson.String {
		return yield(in.String())
	}
	more := true
	if in.IsArray() {
		in.ForEach(func(_, block gjson.Result) bool {
			more = eachText(block, yield)
			return more
		})
		return more
	}
	for _, field := range []string{"text", "content", "output", "parts", "functionResponse.response.output", "functionResponse.response.error"} {
		if inner := in.Get(field); more && inner.Exists() {
			more = eachText(inner, yield)
		}
	}
	return more
}
