// Package lsp is a client of language servers: programs that analyze source code, and speak the
// Language Server Protocol on their standard input and output. Only this package uses the JSON-RPC
// library.
//
// A server is a third-party program that reads untrusted files. Its messages are limited in number
// and size, and each response in time. Its requests are answered from the settings that it already
// has, or refused: it never writes a file. Its changes are returned as edits.
package lsp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Server describes how to start a server, and its settings.
type Server struct {
	Root string // working directory

	// Start starts the program and returns its input and output; closing that ends it. Said returns
	// its standard error, nil if unknown.
	Start func(ctx context.Context) (io.ReadWriteCloser, error)
	Said  func() string

	Options json.RawMessage // initialization options, and the answer to a request for settings
	Begin   time.Duration   // limit until its first response; 0 means a minute
	Answer  time.Duration   // limit for a response; 0 means two minutes
	settle  time.Duration   // limit for diagnostics that it sends unasked; 0 means a second
}

var (
	// ErrGone is returned if a server ended, or was ended because of its output.
	ErrGone = errors.New("the server has gone")
	// ErrSilent is returned if a server did not respond in time. It was ended.
	ErrSilent = errors.New("the server did not answer in time")
	// errCannot is returned for a feature that a server does not have.
	errCannot = errors.New("the server does not offer that")
	errClosed = errors.New("the connection was closed")
)

// LanguageServerSession is a connection to a server. It must be used by one goroutine at a time, and closed with
// Close.
type LanguageServerSession struct {
	server Server
	conn   *jsonrpc2.Conn
	stop   context.CancelCauseFunc
	pipes  io.Closer
	wire   *limitedMessageStream
	able   serverCapabilities // capabilities of the server

	open  map[string]openServerDocument // open files, by name
	order []string                      // of the open files, the oldest first

	mu    sync.Mutex // guards the server's notifications
	told  map[string]fileDiagnosticReport
	busy  map[string]bool // running work that it reports
	done  int             // finished pieces of work
	heard chan struct{}   // closed and replaced when one of the two changes
}

// openServerDocument is an open file whose text the server has.
type openServerDocument struct {
	version int
	text    string
}

// fileDiagnosticReport is a server's last report about a file.
type fileDiagnosticReport struct {
	found   []Diagnostic
	version int
	times   int
}

// StartSession starts a server and initializes the connection. The connection ends with ctx at the latest.
func StartSession(ctx context.Context, s Server) (*LanguageServerSession, error) {
	s.Begin, s.Answer, s.settle = cmp.Or(s.Begin, time.Minute), cmp.Or(s.Answer, 2*time.Minute), cmp.Or(s.settle, time.Second)
	life, stop := context.WithCancelCause(ctx)
	pipes, err := s.Start(life)
	if err != nil {
		stop(errClosed)
		return nil, fmt.Errorf("not started: %w", err)
	}
	c := &LanguageServerSession{
		server: s, stop: stop, pipes: pipes, wire: &limitedMessageStream{}, open: map[string]openServerDocument{},
		told: map[string]fileDiagnosticReport{}, busy: map[string]bool{}, heard: make(chan struct{}),
	}
	c.conn = jsonrpc2.NewConn(life, jsonrpc2.NewBufferedStream(pipes, c.wire), c, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	if err := c.initializeServer(life); err != nil {
		c.closeNow()
		return nil, err
	}
	return c, nil
}

// initializeServer sends the initialization.
func (c *LanguageServerSession) initializeServer(ctx context.Context) error {
	var r struct {
		Capabilities serverCapabilities `json:"capabilities"`
	}
	if err := c.callServer(ctx, c.server.Begin, "initialize", c.initializeParams(), &r); err != nil {
		return err
	}
	c.able = r.Capabilities
	if err := c.able.check(); err != nil {
		return err
	}
	return c.sendNotification(ctx, "initialized", struct{}{})
}

// Close ends the connection and the server.
func (c *LanguageServerSession) Close() {
	ctx, done := context.WithTimeoutCause(context.Background(), exitTime, errClosed)
	defer done()
	if err := c.callServer(ctx, exitTime, "shutdown", nil, nil); err == nil {
		_ = c.sendNotification(ctx, "exit", nil) // otherwise it is killed
	}
	c.closeNow()
}

// exitTime limits the time for a server's exit.
const exitTime = 2 * time.Second

// closeNow closes the connection immediately, even during a call: a server that sends requests and
// does not read the answers would block everything.
func (c *LanguageServerSession) closeNow() {
	c.stop(errClosed)
	_ = c.pipes.Close()
	_ = c.conn.Close() // it may already be closed
}

// callServer sends a request to the server, and ends the server if there is no response in time.
func (c *LanguageServerSession) callServer(ctx context.Context, limit time.Duration, method string, params, result any) error {
	ctx, end := context.WithTimeoutCause(ctx, limit, ErrSilent)
	defer end()
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		err := c.callOnce(ctx, method, params, result)
		if !isRetryable(err) {
			return err
		}
		select { // it was busy and refused for that reason
		case <-time.After(wait):
		case <-ctx.Done():
			return c.explainFailure(context.Cause(ctx))
		}
	}
}

// isRetryable reports whether a server refused a request because of its current state.
func isRetryable(err error) bool {
	const changed, cancelled = -32801, -32802
	e, ok := errors.AsType[*serverRefusedError](err)
	return ok && (e.Code == changed || e.Code == cancelled)
}

func (c *LanguageServerSession) callOnce(ctx context.Context, method string, params, result any) error {
	c.wire.resetByteCount()
	defer context.AfterFunc(ctx, c.closeNow)()
	var raw json.RawMessage
	err := c.conn.Call(ctx, method, params, &raw)
	if ctx.Err() != nil {
		return c.explainFailure(context.Cause(ctx))
	}
	if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return &serverRefusedError{refused.Code, errorTail(refused.Message)}
	}
	if err != nil {
		return c.explainFailure(ErrGone)
	}
	if result == nil || len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("the server's answer to %s is not what was asked for: %s", method, errorTail(err.Error()))
	}
	return nil
}

// serverRefusedError is an error response of the server.
type serverRefusedError struct {
	Code int64
	Text string
}

// Error implements error.
func (e *serverRefusedError) Error() string {
	return fmt.Sprintf("the server refused (%d): %s", e.Code, e.Text)
}

// sendNotification sends a notification.
func (c *LanguageServerSession) sendNotification(ctx context.Context, method string, params any) error {
	ctx, end := context.WithTimeoutCause(ctx, c.server.Answer, ErrSilent)
	defer end()
	defer context.AfterFunc(ctx, c.closeNow)()
	if err := c.conn.Notify(ctx, method, params); err != nil {
		return c.explainFailure(cmp.Or(context.Cause(ctx), ErrGone))
	}
	return nil
}

// explainFailure adds the known cause to the error of a missing response.
func (c *LanguageServerSession) explainFailure(why error) error {
	if err := c.wire.brokenReason(); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	if errors.Is(why, ErrGone) && c.server.Said != nil {
		if said := c.server.Said(); said != "" {
			return fmt.Errorf("%w; it said: %s", why, errorTail(said))
		}
	}
	return why
}

// errorTail returns the end of a server's output as one line without hidden characters.
func errorTail(text string) string {
	const most = 400
	text = sanitize.StripTerminalControls(text)
	if len(text) > most {
		text = "..." + text[len(text)-most:]
	}
	return sanitize.RevealHidden(oneLine(text))
}

// limitedMessageStream reads and writes messages, and limits the bytes read.
type limitedMessageStream struct {
	mu       sync.Mutex
	messages int
	bytes    int
	err      error
}

const (
	maxMessage  = 32 << 20  // bytes of a message
	maxBytes    = 256 << 20 // of all messages until the next request
	maxMessages = 200_000
	maxHead     = 8 << 10 // bytes before a message
)

// resetByteCount resets the count.
func (w *limitedMessageStream) resetByteCount() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages, w.bytes = 0, 0
}

// brokenReason returns the reason why the server is no longer read, or nil.
func (w *limitedMessageStream) brokenReason() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *limitedMessageStream) failWith(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	return err
}

func (w *limitedMessageStream) countMessage(n int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.messages++; w.messages > maxMessages || w.bytes+n > maxBytes {
		w.err = errors.New("it prints too much")
	}
	w.bytes += n
	return w.err
}

// WriteObject implements [jsonrpc2.ObjectCodec].
func (w *limitedMessageStream) WriteObject(to io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "Content-Length: %d\r\n\r\n%s", len(data), data)
	return err
}

// ReadObject implements [jsonrpc2.ObjectCodec].
func (w *limitedMessageStream) ReadObject(from *bufio.Reader, v any) error {
	n, err := readContentLength(from)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			_ = w.failWith(err)
		}
		return err
	}
	if err := w.countMessage(n); err != nil {
		return err
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(from, data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return w.failWith(errors.New("it sends something that is not a message"))
	}
	return nil
}
