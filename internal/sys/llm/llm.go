// Package llm defines the interface of language models, which each provider package implements,
// with common types for messages, tools and usage.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Model answers requests; it may be used by many goroutines.
type Model interface {
	// Stream sends the request and returns the complete answer. It calls heard, from the calling
	// goroutine, with each piece of text as it arrives; heard may be nil. A failed call returns an
	// [*ModelCallError] and the known usage.
	Stream(ctx context.Context, r Request, heard func(AnswerDelta)) (Response, error)
}

// Provider is a provider of models.
type Provider interface {
	Model
	// Models requests the list of models. A failed call returns an [*ModelCallError].
	Models(ctx context.Context) ([]ModelInfo, error)
}

// ModelInfo is a provider's description of a model. Missing values are zero.
type ModelInfo struct {
	Name    string // as in [Request.Model]
	Context int64  // limit of prompt and answer together, in tokens
	Output  int64  // limit of an answer, in tokens
}

// Request is one call of a model. Its parts are sent in this order, so that each request of a
// conversation extends the one before.
type Request struct {
	Model     string            // the provider's own name for the model
	System    string            // stable across the conversation
	Tools     []ToolDescription // stable across the conversation
	Messages  []Message         // grows at its end only
	MaxTokens int64             // limit of the answer, in tokens; must be above 0
	Schema    json.RawMessage   // JSON Schema of the answer, nil for free text
	Force     string            // tool that must be called, or [AnyTool]; empty: the model decides
	Effort    string            // reasoning effort: low, medium, high...; empty: the model decides
	Family    string            // common name of requests that begin alike, for providers whose cache uses it; may be empty
}

// AnyTool forces a call of any tool.
const AnyTool = "*"

// ToolDescription is a tool that the model may call.
type ToolDescription struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the input, an object
}

// MessageAuthor is the author of a message.
type MessageAuthor string

// The authors of messages.
const (
	User      MessageAuthor = "user" // our side: briefs, findings, tool results
	Assistant MessageAuthor = "assistant"
)

// Message is one turn of a conversation. Its JSON is stored in transcripts.
type Message struct {
	From  MessageAuthor `json:"from"`
	Parts []MessagePart `json:"parts"`
}

// MessagePart is one piece of a message; exactly one of its fields is set.
type MessagePart struct {
	Text   string          `json:"text,omitzero"`
	Call   *ToolCall       `json:"call,omitempty"`   // a tool call of the model
	Result *ToolResult     `json:"result,omitempty"` // result of a tool call
	Raw    json.RawMessage `json:"raw,omitempty"`    // provider-specific data (thinking, signatures), sent back unchanged
}

// ToolCall is a tool call. Input is a JSON object, and the ID is unique in the answer. An invalid call
// has a Flaw, an empty input, and, if necessary, a made-up name and ID that can be sent back; it
// is never executed. Provider packages drop the calls of an answer that was cut off.
type ToolCall struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	Flaw  string          `json:"flaw,omitzero"` // the defect of the received call; empty: none
}

// ToolResult is the result of the call with the same ID.
type ToolResult struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitzero"`
}

// StopReason is the reason why a model stopped.
type StopReason string

// The stop reasons.
const (
	StopDone   StopReason = "done"   // the answer is complete
	StopTools  StopReason = "tools"  // it waits for tool results
	StopLength StopReason = "length" // the answer was cut at MaxTokens
	StopRefuse StopReason = "refuse" // the model refuses to answer

	StopMalformed StopReason = "malformed" // the provider could not parse the calls and does not return them
)

// Response is a complete answer, or the known part of a failed call.
type Response struct {
	Message   Message
	Stop      StopReason
	Usage     nexus.Usage
	Estimated bool         // the usage is not, or not completely, reported by the provider
	Cost      nexus.Money  // as the provider reports it; 0 if it does not
	Terms     BillingTerms // terms of the price, as far as the provider reports them
	Model     string       // model that answered, as the provider names it
	ID        string       // the provider's request id, for support
	Flaw      string       // with StopMalformed: the provider's description; may be empty
}

// ToolCalls returns the tool calls of the answer in order.
func (r Response) ToolCalls() []ToolCall {
	var calls []ToolCall
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

// UserMessage returns a user message with one text.
func UserMessage(text string) Message {
	return Message{From: User, Parts: []MessagePart{{Text: text}}}
}

// AnswerDelta is a piece of an answer as it arrives. Nothing may depend on deltas.
type AnswerDelta struct {
	Text    string
	Thought string // the model's thinking, if the provider shows it
	Tool    string // name of a tool whose call begins
	Input   int    // bytes of a call's input, or of sealed thinking
}

// ByteCount returns the bytes of the piece.
func (d AnswerDelta) ByteCount() int { return len(d.Text) + len(d.Thought) + len(d.Tool) + d.Input }

// CallLimits are the limits of one call. A zero field means no limit, except for Bytes.
type CallLimits struct {
	Idle   time.Duration // time without content; pings, comments and empty pieces do not count
	Answer time.Duration // from the request to the end of the answer
	Bytes  int64         // of the response body; 0 means 64 MiB
}

// SplitModelName splits "provider/model" at its first slash. It returns false if one half is missing.
func SplitModelName(name string) (provider, model string, ok bool) {
	provider, model, ok = strings.Cut(name, "/")
	return provider, model, ok && provider != "" && model != ""
}

// ModelCallError is a failed call.
type ModelCallError struct {
	Class  CallFailureClass
	Status int    // HTTP status, 0 without one
	Code   string // the provider's own code
	After  string // the Retry-After header, or ""
	Empty  bool   // a window of the account is used up, and After has its end
	Cause  error
}

// ModelCallError returns the class and the provider's message.
func (e *ModelCallError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model call: %s (%d): %v", e.Class, e.Status, e.Cause)
	}
	return fmt.Sprintf("model call: %s: %v", e.Class, e.Cause)
}

// Unwrap returns the cause.
func (e *ModelCallError) Unwrap() error { return e.Cause }
