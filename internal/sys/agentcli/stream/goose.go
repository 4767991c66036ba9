package stream

import (
	"encoding/json"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// goose decodes the output of `goose run --output-format stream-json`. Messages come in pieces
// with one identifier. goose also reports an end after errors, and reports errors of its provider
// as text of the model.
type goose struct {
	common

	opened bool
	id     string // identifier of the current message
	saying string
	kind   string // kind of the last reported error
}

type gooseLine struct {
	Type    string `json:"type"`
	Message struct {
		ID      string       `json:"id"`
		Role    string       `json:"role"`
		Content []gooseBlock `json:"content"`
	} `json:"message"`
	Error json.RawMessage `json:"error"`
}

type gooseBlock struct {
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
	Result gooseResult `json:"toolResult"`
}

type gooseResult struct {
	Status string          `json:"status"`
	Value  json.RawMessage `json:"value"`
	Error  json.RawMessage `json:"error"`
}

// gooseError is the beginning of a message that reports an error of the provider.
const gooseError = "Ran into this error"

// Line implements [Decoder].
func (g *goose) Line(line []byte) []Event {
	var l gooseLine
	if !g.read(line, &l) {
		return nil
	}
	var all []Event
	if !g.opened && (l.Type == "message" || l.Type == "complete") {
		g.opened = true
		all = append(all, Event{Kind: Opened})
	}
	switch l.Type {
	case "message":
		return append(all, g.message(l)...)
	case "error":
		all = append(all, g.flush()...)
		g.failed = message(l.Error)
	case "complete":
		all = append(all, g.flush()...)
		return append(all, g.finish(g.ended())...)
	}
	return all
}

// message reads a message, or a piece of one.
func (g *goose) message(l gooseLine) []Event {
	var all []Event
	if l.Message.ID == "" || l.Message.ID != g.id {
		all = g.flush()
	}
	g.id = l.Message.ID
	for _, b := range l.Message.Content {
		switch b.Type {
		case "text":
			if l.Message.Role == "assistant" {
				g.saying = tail(g.saying+b.Text, maxText)
			}
		case "toolRequest":
			name := b.Call.Value.Name
			all = append(append(all, g.flush()...), Event{Kind: Said, Calls: []Call{{ID: b.ID, Tool: name, Input: object(b.Call.Value.Input)}}})
		case "toolResponse":
			text, failed := b.Result.text()
			all = append(append(all, g.flush()...), Event{Kind: Answered, ID: b.ID, Failed: failed, Text: text})
		case "error":
			g.kind, g.failed = b.Kind, strings.TrimSpace(b.Message+" "+b.Text+" "+b.Kind)
		}
	}
	return all
}

// text returns the result of a tool: a list of blocks, or an object with one.
func (r gooseResult) text() (text string, failed bool) {
	var in struct {
		Content json.RawMessage `json:"content"`
		Failed  bool            `json:"isError"`
	}
	if json.Unmarshal(r.Value, &in) != nil || in.Content == nil {
		in.Content = r.Value
	}
	if text = plain(in.Content); text == "" {
		text = message(r.Error)
	}
	return text, in.Failed || r.Status == "error"
}

// flush returns the message that was collected from its pieces.
func (g *goose) flush() []Event {
	text := g.saying
	if g.saying = ""; strings.TrimSpace(text) == "" {
		return nil
	}
	g.last, g.failed, g.kind = text, "", ""
	if strings.HasPrefix(text, gooseError) {
		g.failed = text
	}
	return []Event{{Kind: Said, Text: text}}
}

// ended reads the end. It counts no tokens, because the stream has those of the last model call,
// not of the prompt.
func (g *goose) ended() End {
	var e End
	if g.failed == "" {
		return e
	}
	e.Why = Brief(g.failed)
	switch g.kind {
	case "authentication", "creditsExhausted":
		e.Fault = nexus.FaultLogin
	case "contextLengthExceeded":
		e.Fault = nexus.FaultContext
	default:
		if e.Fault = Classify(g.failed); e.Fault == "" {
			e.Fault = nexus.FaultCrashed
		}
	}
	return e
}
