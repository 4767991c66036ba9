// Package acpserver serves the Agent Client Protocol, version 1: an editor starts this program as
// an agent, and sends it lines of JSON-RPC over standard input and output.
//
//	initialize -> new, load or resume -> prompt -> stop reason
//	                                     |  ^
//	              updates, permissions,  v  |  cancel
//	              questions              editor
//
// A client is untrusted: its messages are checked, lines that are not messages are refused, and a
// client that does not read or answer blocks only the prompt that waits for its answer.
package acpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	// protocolVersion of the protocol.
	protocolVersion = 1
	// maxMessage is the largest message of a client, in bytes.
	maxMessage = 8 << 20
	// maxClient limits the stored name of a client, in bytes.
	maxClient = 40
	// maxSessions limits the sessions that a client may have open at once.
	maxSessions = 256
	// maxAsked limits the requests of a client that are processed at once.
	maxAsked = 512
	// sessionsPerPage is the number of sessions on a page of a list.
	sessionsPerPage = 100
)

var (
	// ErrCancelled is the cause if the client cancelled a prompt.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrGone is the cause if the client disconnected without closing the session.
	ErrGone = errors.New("the client has gone")
	// ErrClosed is the cause if the client closed the session.
	ErrClosed = errors.New("the client closed the session")
)

// ServedAgent is the program that clients use. Its methods may be called concurrently.
type ServedAgent interface {
	// Ready returns an error if no prompt can be processed: nobody is logged in.
	Ready(ctx context.Context) error
	// Open opens a session whose updates go to c. For a loaded session, it replays the earlier
	// messages. It returns [nexus.CodeNotFound] if there is no session of that name.
	Open(ctx context.Context, c *Client, o SessionOpenParams) (ServedSession, error)
	// Sessions lists the sessions of a directory that can be loaded, the latest first. If dir is
	// empty, it is the directory of this process, if that can have any.
	Sessions(ctx context.Context, dir string) ([]SessionListEntry, error)
}

// SessionOpenParams are the parameters for opening a session.
type SessionOpenParams struct {
	Dir    string // absolute path
	Fresh  bool   // a new session; else an existing one
	Silent bool   // an existing session whose messages the client already has
}

// ServedSession is a conversation. It processes one prompt at a time.
type ServedSession interface {
	// Opened is called once the client has received the session's identifier.
	Opened()
	// Options returns the settings that the client can change. One of them may be named
	// [ModeOption].
	Options() []SessionOption
	// Set sets an option to one of its values.
	Set(option, value string) error
	// Prompt processes a prompt of a person, until it is done or ctx ends, with [ErrCancelled],
	// [ErrGone] or [ErrClosed] as the cause.
	Prompt(ctx context.Context, text string) (PromptStopReason, error)
	// Beside reports whether a prompt may run at the same time as another one: because it only
	// reads, or because it steers the running prompt.
	Beside(text string) bool
}

// SessionListEntry is a session in a list.
type SessionListEntry struct {
	ID      string `json:"sessionId"`
	Dir     string `json:"cwd"`
	Title   string `json:"title,omitzero"`
	Updated string `json:"updatedAt,omitzero"` // RFC 3339
}

// ModeOption is the option that older clients show as the mode of a session.
const ModeOption = "mode"

// SessionOption is a setting that a client shows for a session.
type SessionOption struct {
	ID       string               `json:"id"`
	Name     string               `json:"name"`
	About    string               `json:"description,omitzero"`
	Category string               `json:"category,omitzero"`
	Type     string               `json:"type"` // set when it is sent
	Value    string               `json:"currentValue"`
	Choices  []SessionOptionValue `json:"options"`
}

// SessionOptionValue is a value of an option.
type SessionOptionValue struct {
	Value string `json:"value"`
	Name  string `json:"name"`
	About string `json:"description,omitzero"`
}

// PromptStopReason is why a prompt ended.
type PromptStopReason string

// The stop reasons of the protocol.
const (
	PromptDone      PromptStopReason = "end_turn"
	PromptLimited   PromptStopReason = "max_turn_requests"
	PromptRefused   PromptStopReason = "refusal"
	PromptCancelled PromptStopReason = "cancelled"
)

// Error codes of the protocol.
const (
	codeParse     = -32700
	codeInvalid   = -32600
	codeUnknown   = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeLogin     = -32000
	codeNotFound  = -32002
	codeCancelled = -32800
)

// rpcRequestError is the error of a request. It implements error.
type rpcRequestError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *rpcRequestError) Error() string { return f.Message }

func toRequestError(err error) *rpcRequestError {
	if f, ok := errors.AsType[*rpcRequestError](err); ok {
		return f
	}
	if errors.Is(err, ErrCancelled) {
		return &rpcRequestError{Code: codeCancelled, Message: "cancelled"}
	}
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok {
		return &rpcRequestError{Code: codeInternal, Message: err.Error()}
	}
	f := &rpcRequestError{Code: codeInternal, Message: strings.TrimSpace(withFullStop(err.Error()) + " " + e.Hint)}
	f.Data = map[string]any{"code": e.Code, "message": sanitize.RevealHidden(err.Error()), "hint": sanitize.RevealHidden(e.Hint)}
	switch e.Code {
	case nexus.CodeNotFound:
		f.Code = codeNotFound
	case nexus.CodeNoKey, nexus.CodeNoProvider, nexus.CodeAuth:
		f.Code = codeLogin
	case nexus.CodeInvalidInput, nexus.CodeNotRepository, nexus.CodeNoCommits, nexus.CodeInvalidConfig, nexus.CodeModelUnknown:
		f.Code = codeParams
	default:
	}
	return f
}

// withFullStop ends a text with a full stop so that another one can follow.
func withFullStop(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:") {
		return text
	}
	return text + "."
}

// clientCapabilitiesInfo is the information that a client sends about itself.
type clientCapabilitiesInfo struct {
	Version      json.Number `json:"protocolVersion"`
	Capabilities struct {
		Elicitation *struct {
			Form *struct{} `json:"form"`
		} `json:"elicitation"`
	} `json:"clientCapabilities"`
	Info struct {
		Name  string `json:"name"`
		Title string `json:"title"`
	} `json:"clientInfo"`
}

// displayName returns the client's name, restricted to letters, digits, and the usual characters between
// them.
func (c clientCapabilitiesInfo) displayName() string {
	keep := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		case r == ' ' || r == '/' || r == ':':
			return '-'
		}
		return -1
	}
	name := strings.Map(keep, cmp.Or(c.Info.Name, c.Info.Title))
	return cmp.Or(strings.Trim(name[:min(len(name), maxClient)], "-"), "unnamed")
}
