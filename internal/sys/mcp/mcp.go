// Package mcp is a client of servers of the Model Context Protocol: programs and services that
// offer tools. Except for mcpserver and tests, only this package uses the protocol's SDK.
//
// A server is untrusted. Its messages are limited in number and size. Features that it must not
// use (a model, a person, files) are never offered to it. Its tools are listed before each call,
// so that a changed description is detected before the tool is used.
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

// Limits of a server's messages.
const (
	maxMessage = 8 << 20 // bytes of one message, and of the lines that are not messages
	maxTools   = 128
	maxPages   = 32
	maxName    = 64       // bytes of a tool's name
	maxSaid    = 4 << 10  // bytes of a tool's description
	maxSchema  = 32 << 10 // bytes of a tool's schema
	maxDepth   = 64       // of a schema
	maxParts   = 256      // of a result
)

// codeNotSent is the SDK's error code for a call that did not reach the server.
const codeNotSent = -32005

// legacyRevision is the newest revision of the protocol with a handshake.
const legacyRevision = "2025-11-25"

// Server describes how to reach a server: by Start, or at URL.
type Server struct {
	// Start starts the program and returns its input and output; closing that ends it. Said returns
	// its standard error, nil if unknown.
	Start func(ctx context.Context) (io.ReadWriteCloser, error)
	Said  func() string
	Root  string // root directory for the server; empty for none

	URL     string
	Headers http.Header
	Near    bool // it may have a private address, and no TLS on this machine

	Begin time.Duration // limit for a connection; 0 means 30 s
	Idle  time.Duration // limit for a call without progress; 0 means a minute
	Total time.Duration // limit for a call; 0 means ten minutes

	probe    time.Duration // limit for a response to the newest revision; 0 means half of Begin
	patience time.Duration // limit for the SDK to disconnect; 0 means the constant patience
}

var (
	// ErrGone is returned if a server ended or disconnected.
	ErrGone = errors.New("the server has gone")
	// errSilent is returned if a call made no progress for too long.
	errSilent = errors.New("the server did not answer in time")
	errTotal  = errors.New("the call took too long")
	errBegin  = errors.New("the server did not start in time")
	errClosed = errors.New("the connection was closed")
)

// ToolSession is a connection to a server. It may be used by many goroutines;
// Close must be called.
type ToolSession struct {
	server  Server
	session *sdk.ClientSession
	stop    context.CancelCauseFunc // ends the goroutines of the session
	lines   *serverMessageReader    // output of the server; nil over HTTP
	pipes   io.Closer               // nil over HTTP

	last  atomic.Int64 // token of the last call
	mu    sync.Mutex
	heard map[string]func(ToolCallProgress) // by token
}

// ToolCallProgress is a server's report about a running call.
type ToolCallProgress struct {
	Message     string
	Done, Total float64 // 0 if unknown
}

// ConnectServer connects to a server with the newest revision of the protocol that it supports. If it fails
// on the new request, the old handshake is used in a new connection. The connection ends with ctx
// at the latest.
func ConnectServer(ctx context.Context, s Server) (*ToolSession, error) {
	if s.Begin <= 0 {
		s.Begin = 30 * time.Second
	}
	if s.Idle <= 0 {
		s.Idle = time.Minute
	}
	if s.Total <= 0 {
		s.Total = max(10*time.Minute, s.Idle)
	}
	c, err := connectWithRevision(ctx, s, "", cmp.Or(s.probe, s.Begin/2))
	if err == nil || ctx.Err() != nil || errors.Is(err, errStart) {
		return c, err
	}
	again, err2 := connectWithRevision(ctx, s, legacyRevision, s.Begin)
	if err2 != nil {
		return nil, err2
	}
	return again, nil
}

// errStart is returned if a server could not be started.
var errStart = errors.New("not started")

func connectWithRevision(ctx context.Context, s Server, revision string, limit time.Duration) (*ToolSession, error) {
	life, stop := context.WithCancelCause(ctx)
	c := &ToolSession{server: s, stop: stop, heard: map[string]func(ToolCallProgress){}}
	var t sdk.Transport
	if s.Start != nil {
		pipes, err := s.Start(life)
		if err != nil {
			stop(errClosed)
			return nil, fmt.Errorf("%w: %w", errStart, err)
		}
		c.lines, c.pipes = newServerMessageReader(pipes), pipes
		t = &sdk.IOTransport{Reader: c.lines, Writer: pipes, MaxLineLength: maxMessage}
	} else {
		client, err := s.httpClient(life)
		if err != nil {
			stop(errClosed)
			return nil, fmt.Errorf("%w: %w", errStart, err)
		}
		t = &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: 2, MaxEventSize: maxMessage, DisableStandaloneSSE: true}
	}
	begin, end := context.WithTimeoutCause(life, limit, errBegin)
	defer end()
	defer c.closeOnTimeout(begin, 0)()
	session, err := c.sdkClient().Connect(begin, t, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		cause := context.Cause(begin)
		if c.pipes != nil {
			_ = c.pipes.Close() // ends the program, which has written all its output then
		}
		stop(errClosed)
		return nil, c.explainError(cause, err)
	}
	c.session = session
	return c, nil
}

// sdkClient returns the SDK's client. It has no handlers for a server's requests and so offers no
// features: no model, no questions to people, and as a root only the worktree. It has no handler
// for changed tools either, as that would wait without a limit for the server's confirmation;
// tools are listed before each call.
func (c *ToolSession) sdkClient() *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if r.Params != nil {
				c.reportProgress(r.Params)
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

func (c *ToolSession) reportProgress(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	c.mu.Lock()
	heard := c.heard[token]
	c.mu.Unlock()
	if heard != nil {
		heard(ToolCallProgress{p.Message, p.Progress, p.Total})
	}
}

// Close closes the connection, and ends a server that we started.
func (c *ToolSession) Close() {
	late := time.AfterFunc(cmp.Or(c.server.patience, closePatience), c.closeNow)
	_ = c.session.Close() // it may already be gone
	late.Stop()
	c.closeNow()
}

// closePatience limits how long the SDK may wait for a server after all callers have given up.
const closePatience = 2 * time.Second

// closeNow closes the connection immediately, even during a call: a server that sends requests and
// does not read the responses would block the SDK forever.
func (c *ToolSession) closeNow() {
	c.stop(errClosed)
	if c.pipes != nil {
		_ = c.pipes.Close()
	}
}

// closeOnTimeout closes the connection at grace after the end of ctx, so that the caller's next
// operation returns. The caller calls done after it.
func (c *ToolSession) closeOnTimeout(ctx context.Context, grace time.Duration) (done func()) {
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

// CallTool calls a tool. A result that the tool marks as failed is no error.
func (c *ToolSession) CallTool(ctx context.Context, tool string, input json.RawMessage, heard func(ToolCallProgress)) (Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, end := context.WithTimeoutCause(ctx, c.server.Total, errTotal)
	defer end()
	silent := time.AfterFunc(c.server.Idle, func() { stop(errSilent) })
	defer silent.Stop()

	token := fmt.Sprintf("nexus-%d", c.last.Add(1))
	c.mu.Lock()
	c.heard[token] = func(p ToolCallProgress) {
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
	defer c.closeOnTimeout(ctx, cmp.Or(c.server.patience, closePatience))()
	p := &sdk.CallToolParams{Name: tool, Arguments: input}
	p.SetProgressToken(token)
	r, err := c.session.CallTool(ctx, p)
	if err != nil {
		return Result{}, c.explainError(context.Cause(ctx), err)
	}
	return toResult(r), nil
}

// explainError converts an error of the SDK; cause is our reason for giving up, or nil.
func (c *ToolSession) explainError(cause, err error) error {
	var refused *jsonrpc.Error
	switch {
	case cause != nil:
		err = cause
	case c.lines != nil && c.lines.long.Load():
		err = errLong
	case errors.As(err, &refused) && refused.Code != codeNotSent:
		return fmt.Errorf("the server refused (%d): %s", refused.Code, errorTail(refused.Message))
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.EOF), errors.Is(err, sdk.ErrSessionMissing):
		err = ErrGone
	default:
		err = errors.New(errorTail(err.Error()))
	}
	if c.server.Said != nil {
		if said := c.server.Said(); said != "" {
			return fmt.Errorf("%w; it said: %s", err, errorTail(said))
		}
	}
	return err
}
