// Package mcp talks to servers of the Model Context Protocol: programs and
// services that offer tools. It is the one home of the protocol's SDK.
//
// A server is outside of what we trust. What it says is bounded in number and
// size, what it may not ask for (a model, a person, files) is never offered to
// it, and it is asked for its tools before each call, so that one that says
// something else of them than before is found out before it is used.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server may say.
const (
	maxMessage = 8 << 20 // bytes of one message, and of the lines that are none
	maxTools   = 128
	maxPages   = 32
	maxName    = 64       // bytes of a tool's name
	maxSaid    = 4 << 10  // bytes of its description
	maxSchema  = 32 << 10 // bytes of its schema
	maxDepth   = 64       // of that
	maxParts   = 256      // of a result
)

// notSent is the SDK's code of what did not even reach the server.
const notSent = -32005

// legacy is the newest revision of the protocol that begins with a handshake.
const legacy = "2025-11-25"

// Server says how one is reached: by Start, or at URL.
type Server struct {
	// Start starts its program and returns its input and output; closing that
	// ends it. Said is what it said on standard error, nil if unknown.
	Start func(ctx context.Context) (io.ReadWriteCloser, error)
	Said  func() string
	Root  string // directory that it is told to work in; empty for none

	URL     string
	Headers http.Header
	Near    bool // it may be at a private address, and without TLS on this machine

	Begin time.Duration // most for a connection; 0 means 30 s
	Idle  time.Duration // most for a call without a sign of progress; 0 means a minute
	Total time.Duration // most for a call; 0 means ten minutes

	probe    time.Duration // for an answer to the newest revision; 0 means half of Begin
	patience time.Duration // for the SDK to let go of a server; 0 means patience
}

var (
	// ErrGone says that a server ended, or hung up.
	ErrGone = errors.New("the server has gone")
	// errSilent says that a call made no progress for too long.
	errSilent = errors.New("the server did not answer in time")
	errTotal  = errors.New("the call took too long")
	errBegin  = errors.New("the server did not start in time")
	errClosed = errors.New("the connection was closed")
)

// Session is a connection to a server. It may be used by many goroutines;
// Close must be called.
type Session struct {
	server  Server
	session *sdk.ClientSession
	stop    context.CancelCauseFunc // ends what was started for it
	lines   *lines                  // what the server writes; nil over HTTP
	pipes   io.Closer               // nil over HTTP

	last  atomic.Int64 // token of the last call
	mu    sync.Mutex
	heard map[string]func(Progress) // by token
}

// Progress is what a server says about a call that continues.
type Progress struct {
	Message     string
	Done, Total float64 // 0 where unknown
}

// Dial connects to a server in the newest revision of the protocol that it
// speaks. One that takes the question for a fault is asked in the old way, in
// a new connection. The connection ends with ctx at the latest.
func Dial(ctx context.Context, s Server) (*Session, error) {
	if s.Begin <= 0 {
		s.Begin = 30 * time.Second
	}
	if s.Idle <= 0 {
		s.Idle = time.Minute
	}
	if s.Total <= 0 {
		s.Total = max(10*time.Minute, s.Idle)
	}
	c, err := dial(ctx, s, "", cmp.Or(s.probe, s.Begin/2))
	if err == nil || ctx.Err() != nil || errors.Is(err, errStart) {
		return c, err
	}
	again, err2 := dial(ctx, s, legacy, s.Begin)
	if err2 != nil {
		return nil, err2
	}
	return again, nil
}

// errStart says that a server could not even be started.
var errStart = errors.New("not started")

func dial(ctx context.Context, s Server, revision string, limit time.Duration) (*Session, error) {
	life, stop := context.WithCancelCause(ctx)
	c := &Session{server: s, stop: stop, heard: map[string]func(Progress){}}
	var t sdk.Transport
	if s.Start != nil {
		pipes, err := s.Start(life)
		if err != nil {
			stop(errClosed)
			return nil, fmt.Errorf("%w: %w", errStart, err)
		}
		c.lines, c.pipes = newLines(pipes), pipes
		t = &sdk.IOTransport{Reader: c.lines, Writer: pipes, MaxLineLength: maxMessage}
	} else {
		client, err := s.client(life)
		if err != nil {
			stop(errClosed)
			return nil, fmt.Errorf("%w: %w", errStart, err)
		}
		t = &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: 2, MaxEventSize: maxMessage, DisableStandaloneSSE: true}
	}
	begin, end := context.WithTimeoutCause(life, limit, errBegin)
	defer end()
	defer c.closeAfter(begin, 0)()
	session, err := c.client().Connect(begin, t, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		cause := context.Cause(begin)
		if c.pipes != nil {
			_ = c.pipes.Close() // ends the program, which has said all then
		}
		stop(errClosed)
		return nil, c.explain(cause, err)
	}
	c.session = session
	return c, nil
}

// client returns the SDK's client. It has no handler for a server's requests
// and so offers none: no model, no questions to people, and as a root only the
// worktree. It has no handler for changed tools either, as that would wait
// without a limit for the server to agree; tools are listed before each call.
func (c *Session) client() *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if r.Params != nil {
				c.progress(r.Params)
			}
		},
	}
	if c.server.Root != "" {
		o.Capabilities.RootsV2 = &sdk.RootCapabilities{} //nolint:staticcheck // servers of older revisions ask for it
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "nexus", Version: "1"}, o)
	if c.server.Root != "" {
		client.AddRoots(&sdk.Root{URI: fileURI(c.server.Root), Name: "worktree"}) //nolint:staticcheck // servers of older revisions ask for it
	}
	return client
}

func (c *Session) progress(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	c.mu.Lock()
	heard := c.heard[token]
	c.mu.Unlock()
	if heard != nil {
		heard(Progress{p.Message, p.Progress, p.Total})
	}
}

// Close ends the connection, and the server where we started it.
func (c *Session) Close() {
	late := time.AfterFunc(cmp.Or(c.server.patience, patience), c.closeNow)
	_ = c.session.Close() // it may have gone already
	late.Stop()
	c.closeNow()
}

// patience is how long the SDK may wait for a server once nobody else does.
const patience = 2 * time.Second

// closeNow ends the connection at once, whoever waits for something in it: a server
// that asks and does not read the answers holds up the SDK for ever.
func (c *Session) closeNow() {
	c.stop(errClosed)
	if c.pipes != nil {
		_ = c.pipes.Close()
	}
}

// closeAfter sees to it that what is done next returns when ctx ends, or so much
// later, and at the price of the connection. The caller says when it is done.
func (c *Session) closeAfter(ctx context.Context, grace time.Duration) (done func()) {
	var mu sync.Mutex
	var late *time.Timer
	over := false
	stop := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			late = time.AfterFunc(grace, c.closeNow)
		}
	})
	return func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		if over = true; late != nil {
			late.Stop()
		}
	}
}

// Call calls a tool. A tool that says that it failed is no error.
func (c *Session) Call(ctx context.Context, tool string, input json.RawMessage, heard func(Progress)) (Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, end := context.WithTimeoutCause(ctx, c.server.Total, errTotal)
	defer end()
	silent := time.AfterFunc(c.server.Idle, func() { stop(errSilent) })
	defer silent.Stop()

	token := fmt.Sprintf("nexus-%d", c.last.Add(1))
	c.mu.Lock()
	c.heard[token] = func(p Progress) {
		silent.Reset(c.server.Idle)
		if heard != nil {
			heard(p)
		}
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.heard, token)
	}()
	defer c.closeAfter(ctx, cmp.Or(c.server.patience, patience))()
	p := &sdk.CallToolParams{Name: tool, Arguments: input}
	p.SetProgressToken(token)
	r, err := c.session.CallTool(ctx, p)
	if err != nil {
		return Result{}, c.explain(context.Cause(ctx), err)
	}
	return result(r), nil
}

// explain says what an error of the SDK means; cause is why we gave up, nil
// where we did not.
func (c *Session) explain(cause, err error) error {
	var refused *jsonrpc.Error
	switch {
	case cause != nil:
		err = cause
	case c.lines != nil && c.lines.long.Load():
		err = errLong
	case errors.As(err, &refused) && refused.Code != notSent:
		return fmt.Errorf("the server refused (%d): %s", refused.Code, brief(refused.Message))
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.EOF), errors.Is(err, sdk.ErrSessionMissing):
		err = ErrGone
	default:
		err = errors.New(brief(err.Error()))
	}
	if c.server.Said != nil {
		if said := c.server.Said(); said != "" {
			return fmt.Errorf("%w; it said: %s", err, brief(said))
		}
	}
	return err
}
