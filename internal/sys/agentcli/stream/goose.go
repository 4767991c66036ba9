package stream

import (
	"encoding/json"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gooseDecoder decodes the output of `goose run --output-format stream-json`. Messages come in pieces
// with one identifier. goose also reports an end after errors, and reports errors of its provider
// as text of the model.
type gooseDecoder struct {
	jsonLineDecoder

	opened bool
	id     string // identifier of the current message
	saying string
	kind   string // kind of the last reported error
}

type gooseLine struct {
	Type    string `json:"type"`
	Message struct {
		ID      string              `json:"id"`
		Role    string              `json:"role"`
		Content []gooseContentBlock `json:"content"`
	} `json:"message"`
	Error json.RawMessage `json:"error"`
}

type gooseContentBlock struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Text    string `json:"text"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Call    struct {
		Value struct {
			Name  string          `json:"name"`
			Input json.RawMessage `json:"arguments"`
		} `json:"value"`
	} `json:"toolCall"`
	Result gooseToolResult `json:"toolResult"`
}

type gooseToolResult struct {
	Status string          `json:"status"`
	Value  json.RawMessage `json:"value"`
	Error  json.RawMessage `json:"error"`
}

// gooseError is the beginning of a message that reports an error of the provider.
const gooseError = "Ran into this error"

// DecodeLine implements [AgentStreamDecoder].
func (g *gooseDecoder) DecodeLine(line []byte) []AgentEvent {
	var l gooseLine
	if !g.readObject(line, &l) {
		return nil
	}
	var all []AgentEvent
	if !g.opened && (l.Type == "message" || l.Type == "complete") {
		g.opened = true
		all = append(all, AgentEvent{Kind: ConversationOpened})
	}
	switch l.Type {
	case "message":
		return append(all, g.messageEvents(l)...)
	case "error":
		all = append(all, g.flushMessage()...)
		g.failed = errorMessage(l.Error)
	case "complete":
		all = append(all, g.flushMessage()...)
		return append(all, g.recordEnd(g.readEnd())...)
	}
	return all
}

// messageEvents reads a message, or a piece of one.
func (g *gooseDecoder) messageEvents(l gooseLine) []AgentEvent {
	var all []AgentEvent
	if l.Message.ID == "" || l.Message.ID != g.id {
		all = g.flushMessage()
	}
	g.id = l.Message.ID
	for _, b := range l.Message.Content {
		switch b.Type {
		case "text":
			if l.Message.Role == "assistant" {
				g.saying = lastBytes(g.saying+b.Text, maxText)
			}
		case "toolRequest":
			name := b.Call.Value.Name
			all = append(append(all, g.flushMessage()...), AgentEvent{Kind: MessageSaid, Calls: []AgentToolCall{{ID: b.ID, Tool: name, Input: objectOrEmpty(b.Call.Value.Input)}}})
		case "toolResponse":
			text, failed := b.Result.resultText()
			all = append(append(all, g.flushMessage()...), AgentEvent{Kind: CallAnswered, ID: b.ID, Failed: failed, Text: text})
		case "error":
			g.kind, g.failed = b.Kind, strings.TrimSpace(b.Message+" "+b.Text+" "+b.Kind)
		}
	}
	return all
}

// resultText returns the result of a tool: a list of blocks, or an object with one.
func (r gooseToolResult) resultText() (text string, failed bool) {
	var in struct {
		Content json.RawMessage `json:"content"`
		Failed  bool            `json:"isError"`
	}
	if json.Unmarshal(r.Value, &in) != nil || in.Content == nil {
		in.Content = r.Value
	}
	if text = blockText(in.Content); text == "" {
		text = errorMessage(r.Error)
	}
	return text, in.Failed || r.Status == "error"
}

// flushMessage returns the message that was collected from its pieces.
func (g *gooseDecoder) flushMessage() []AgentEvent {
	text := g.saying
	if g.saying = ""; strings.TrimSpace(text) == "" {
		return nil
	}
	g.last, g.failed, g.kind = text, "", ""
	if strings.HasPrefix(text, gooseError) {
		g.failed = text
	}
	return []AgentEvent{{Kind: MessageSaid, Text: text}}
}

// readEnd reads the end. It counts no tokens, because the stream has those of the last model call,
// not of the prompt.
func (g *gooseDecoder) readEnd() AgentPromptEnd {
	var e AgentPromptEnd
	if g.failed == "" {
		return e
	}
	e.Why = BriefLine(g.failed)
	switch g.kind {
	case "authentication", "creditsExhausted":
		e.Fault = nexus.FaultLogin
	case "contextLengthExceeded":
		e.Fault = nexus.FaultContext
	default:
		if e.Fault = ClassifyFault(g.failed); e.Fault == "" {
			e.Fault = nexus.FaultCrashed
		}
	}
	return e
}
