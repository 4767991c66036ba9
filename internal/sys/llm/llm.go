// Package llm speaks with language models: one set of words for messages,
// tools and usage, and one interface that each provider fills in its own room.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Model answers one request at a time; it may be used by many goroutines.
type Model interface {
	// Stream sends the request and returns the whole answer. Each piece of
	// text goes to heard as it arrives, from the calling goroutine; heard may
	// be nil. A failed call returns an [*Error] and whatever usage is known.
	Stream(ctx context.Context, r Request, heard func(Delta)) (Response, error)
}

// Provider is what serves models.
type Provider interface {
	Model
	// Models asks what models there are. A failed call returns an [*Error].
	Models(ctx context.Context) ([]ModelInfo, error)
}

// ModelInfo is what a provider says about one of its models. What it does not say is
// zero.
type ModelInfo struct {
	Name    string // as in [Request.Model]
	Context int64  // most tokens of prompt and answer
	Output  int64  // most tokens of an answer
}

// Request is one call of a model. Its parts are sent in this order, so that
// each request of a conversation extends the one before.
type Request struct {
	Model     string          // the provider's own name for the model
	System    string          // stable across the conversation
	Tools     []Tool          // stable across the conversation
	Messages  []Message       // grows at its end only
	MaxTokens int64           // most tokens that the answer may have; must be above 0
	Schema    json.RawMessage // JSON Schema of the answer, nil for free text
	Force     string          // the tool that must be called, or [AnyTool]; empty leaves it to the model
	Effort    string          // how hard to think: low, medium, high...; empty leaves it to the model
	Family    string          // names requests that begin alike, where the provider's cache wants to be told; may be empty
}

// AnyTool forces a call of some tool.
const AnyTool = "*"

// Tool is one thing that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the input, an object
}

// Speaker is who says a message.
type Speaker string

// The speakers.
const (
	User      Speaker = "user" // our side: briefs, findings, tool results
	Assistant Speaker = "assistant"
)

// Message is one side's turn in a conversation. Its JSON is what transcripts
// hold.
type Message struct {
	From  Speaker `json:"from"`
	Parts []Part  `json:"parts"`
}

// Part is one piece of a message; exactly one of its fields is set.
type Part struct {
	Text   string          `json:"text,omitzero"`
	Call   *Call           `json:"call,omitempty"`   // the model wants a tool
	Result *Result         `json:"result,omitempty"` // what the tool gave
	Raw    json.RawMessage `json:"raw,omitempty"`    // the provider's own (thinking, signatures), sent back as it came
}

// Call is a tool call. Input is a JSON object, and the id is unique in the
// answer. A call that the model made otherwise has a Flaw, an empty input, and
// where need be a name and an id that can be sent back; it is never run. A call
// of an answer that was cut off never leaves a provider's room.
type Call struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	Flaw  string          `json:"flaw,omitzero"` // what is wrong with the call as it came; empty: nothing
}

// Result answers the call with the same ID.
type Result struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitzero"`
}

// Stop is why a model stopped.
type Stop string

// The reasons to stop.
const (
	StopDone   Stop = "done"   // it said what it had to say
	StopTools  Stop = "tools"  // it waits for tool results
	StopLength Stop = "length" // the answer was cut at MaxTokens
	StopRefuse Stop = "refuse" // it will not answer

	StopMalformed Stop = "malformed" // the provider could not read its calls and keeps them to itself
)

// Response is a whole answer, or what is known of a call that failed.
type Response struct {
	Message   Message
	Stop      Stop
	Usage     nexus.Usage
	Estimated bool        // the usage is not, or not in full, what the provider reported
	Cost      nexus.Money // what the provider says that the call cost; 0 where it says nothing
	Terms     Terms       // on which it was answered, as far as the provider says
	Model     string      // what answered, as the provider names it
	ID        string      // the provider's request id, for support
	Flaw      string      // with StopMalformed: what the provider says about it; may be empty
}

// Calls returns the tool calls of the answer in order.
func (r Response) Calls() []Call {
	var calls []Call
	for _, p := range r.Message.Parts {
		if p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Text returns all text of the message.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// UserMessage returns a message of ours with one text.
func UserMessage(text string) Message {
	return Message{From: User, Parts: []Part{{Text: text}}}
}

// Delta is a piece of an answer as it arrives. Nothing may depend on deltas.
type Delta struct {
	Text    string
	Thought string // traitsOf the model's thinking, where the provider shows it
	Tool    string // a call of this tool begins
	Input   int    // bytes that are not for people: of a call's input, of thinking that is sealed
}

// Size returns how many bytes of an answer the piece is.
func (d Delta) Size() int { return len(d.Text) + len(d.Thought) + len(d.Tool) + d.Input }

// Limits bound one call. A zero field means no bound, except for Bytes.
type Limits struct {
	Idle   time.Duration // silence of the model; only content breaks it: no ping, no comment, no empty piece
	Answer time.Duration // from the request to the end of the answer
	Bytes  int64         // traitsOf an answer on the wire; 0 means 64 MiB
}

// Split takes "provider/model" apart at its first slash. It reports false
// where one half is missing.
func Split(name string) (provider, model string, ok bool) {
	provider, model, ok = strings.Cut(name, "/")
	return provider, model, ok && provider != "" && model != ""
}

// Error is a failed call.
type Error struct {
	Class  Class
	Status int    // HTTP status, 0 without one
	Code   string // the provider's own code
	After  string // Retry-After as it came, empty without one
	Empty  bool   // a window of the account is used up, and After says when it ends
	Cause  error
}

// Error returns the class and what the provider said.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model call: %s (%d): %v", e.Class, e.Status, e.Cause)
	}
	return fmt.Sprintf("model call: %s: %v", e.Class, e.Cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
