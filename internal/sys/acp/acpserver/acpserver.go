// Package acpserver serves the Agent Client Protocol, version 1: an editor starts
// this program as an agent, and talks to it in lines of JSON-RPC over its standard
// input and output.
//
//	initialize ─▶ new, or load or resume what was there ─▶ prompt ─▶ stop reason
//	                                                       │  ▲
//	                                updates, permissions,  ▼  │  cancel
//	                                questions              editor
//
// A client is outside of what we trust: what it sends is checked, what is no
// message is refused, and one that does not read or answer holds nothing up but
// the prompt that waits for its answer.
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
	// version of the protocol that is spoken.
	version = 1
	// maxMessage is the largest message of a client, in bytes.
	maxMessage = 8 << 20
	// maxClient is the most that is kept of a client's name, in bytes.
	maxClient = 40
	// maxSessions is how many sessions a client may have open at once.
	maxSessions = 256
	// maxAsked is how many requests of a client are worked on at once.
	maxAsked = 512
	// listed is how many sessions a page of a list has.
	listed = 100
)

var (
	// ErrCancelled says that the client cancelled a prompt.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrGone says that the client went away without saying so.
	ErrGone = errors.New("the client has gone")
	// ErrClosed says that the client closed the session.
	ErrClosed = errors.New("the client closed the session")
)

// Agent is what clients talk to. Its methods may be called at the same time.
type Agent interface {
	// Ready says why no prompt could be worked on: nobody is logged in.
	Ready(ctx context.Context) error
	// Open opens a session whose updates go to c. Of one that is loaded, it tells
	// what happened. [nexus.CodeNotFound] says that there is none of that name.
	Open(ctx context.Context, c *Client, o SessionParams) (Session, error)
	// Sessions lists what can be loaded in a directory, the latest first; in that of
	// this process where dir is empty, if there can be any.
	Sessions(ctx context.Context, dir string) ([]Info, error)
}

// SessionParams is what a session is opened with.
type SessionParams struct {
	Dir    string // absolute
	Fresh  bool   // it is new; else it is there
	Silent bool   // it is there, and the client knows what happened in it
}

// Session is a conversation. One prompt at a time is worked on.
type Session interface {
	// Opened is called once the client knows the session.
	Opened()
	// Options are what the client can set. One of them may be named [ModeOption].
	Options() []Option
	// Set sets one of them to one of its values.
	Set(option, value string) error
	// Prompt works on what a person says, until it is done or ctx ends, with
	// [ErrCancelled], [ErrGone] or [ErrClosed] as its cause.
	Prompt(ctx context.Context, text string) (Stop, error)
	// Beside reports whether a prompt may be worked on beside another one: it only
	// looks at something, or steers what goes on.
	Beside(text string) bool
}

// Info is a session in a list.
type Info struct {
	ID      string `json:"sessionId"`
	Dir     string `json:"cwd"`
	Title   string `json:"title,omitzero"`
	Updated string `json:"updatedAt,omitzero"` // RFC 3339
}

// ModeOption is the option that older clients know as the mode of a session.
const ModeOption = "mode"

// Option is a choice that a client offers for a session.
type Option struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	About    string   `json:"description,omitzero"`
	Category string   `json:"category,omitzero"`
	Type     string   `json:"type"` // set when it is sent
	Value    string   `json:"currentValue"`
	Choices  []Choice `json:"options"`
}

// Choice is a value of an option.
type Choice struct {
	Value string `json:"value"`
	Name  string `json:"name"`
	About string `json:"description,omitzero"`
}

// Stop is why a prompt ended.
type Stop string

// The reasons of the protocol.
const (
	Done      Stop = "end_turn"
	Limited   Stop = "max_turn_requests"
	Refused   Stop = "refusal"
	Cancelled Stop = "cancelled"
)

// Codes of errors that the protocol has.
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

// fault is the error of a request. It implements error.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if errors.Is(err, ErrCancelled) {
		return &fault{Code: codeCancelled, Message: "cancelled"}
	}
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok {
		return &fault{Code: codeInternal, Message: err.Error()}
	}
	f := &fault{Code: codeInternal, Message: strings.TrimSpace(sentence(err.Error()) + " " + e.Hint)}
	f.Data = map[string]any{"code": e.Code, "message": sanitize.Show(err.Error()), "hint": sanitize.Show(e.Hint)}
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

// sentence ends a text where another one follows.
func sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:") {
		return text
	}
	return text + "."
}

// client is what a client says about itself.
type client struct {
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

// name returns what the client calls itself: letters, digits, and what is usual
// between them.
func (c client) name() string {
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
