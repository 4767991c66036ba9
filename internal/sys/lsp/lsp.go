// Package lsp talks to language servers: programs that know what the names in
// source code mean, and speak the Language Server Protocol on their standard
// input and output. It is the one home of the JSON-RPC library.
//
// A server is a program of others', and it reads files that nobody vouches for.
// What it says is bounded in number and size, each answer has a limit of time,
// and what it asks for is answered with what it was told already, or refused:
// it never writes a file. What it would have changed comes back as edits.
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

// Server says how one is started, and what it is told about the place where it
// works.
type Server struct {
	Root string // directory that it works in

	// Start starts its program and returns its input and output; closing that
	// ends it. Said is what it said on standard error, nil if unknown.
	Start func(ctx context.Context) (io.ReadWriteCloser, error)
	Said  func() string

	Options json.RawMessage // that it begins with, and what it is told when it asks for its settings
	Begin   time.Duration   // most until it answers first; 0 means a minute
	Answer  time.Duration   // most for one answer; 0 means two minutes
	settle  time.Duration   // for what it finds in a file and says by itself; 0 means a second
}

var (
	// ErrGone says that a server ended, or was ended for what it said.
	ErrGone = errors.New("the server has gone")
	// ErrSilent says that a server did not answer in time. It was ended.
	ErrSilent = errors.New("the server did not answer in time")
	// errCannot says that a server does not offer what it was asked for.
	errCannot = errors.New("the server does not offer that")
	errClosed = errors.New("the connection was closed")
)

// Session is a connection to a server. One goroutine at a time may ask; Close
// must be called.
type Session struct {
	server Server
	conn   *jsonrpc2.Conn
	stop   context.CancelCauseFunc
	pipes  io.Closer
	wire   *wire
	able   serverCapabilities // what the server offers

	open  map[string]document // what it was given the text of, by name
	order []string            // of those, the oldest first

	mu    sync.Mutex // guards what the server says by itself
	told  map[string]report
	busy  map[string]bool // work that it says it is doing
	done  int             // pieces of work that it did
	heard chan struct{}   // closed and made again when one of the two changes
}

// document is a file whose text the server was given.
type document struct {
	version int
	text    string
}

// report is what a server said last of a file.
type report struct {
	found   []Diagnostic
	version int
	times   int
}

// Dial starts a server and agrees with it on how to talk. The connection ends
// with ctx at the latest.
func Dial(ctx context.Context, s Server) (*Session, error) {
	s.Begin, s.Answer, s.settle = cmp.Or(s.Begin, time.Minute), cmp.Or(s.Answer, 2*time.Minute), cmp.Or(s.settle, time.Second)
	life, stop := context.WithCancelCause(ctx)
	pipes, err := s.Start(life)
	if err != nil {
		stop(errClosed)
		return nil, fmt.Errorf("not started: %w", err)
	}
	c := &Session{
		server: s, stop: stop, pipes: pipes, wire: &wire{}, open: map[string]document{},
		told: map[string]report{}, busy: map[string]bool{}, heard: make(chan struct{}),
	}
	c.conn = jsonrpc2.NewConn(life, jsonrpc2.NewBufferedStream(pipes, c.wire), c, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	if err := c.begin(life); err != nil {
		c.closeNow()
		return nil, err
	}
	return c, nil
}

// begin shakes hands.
func (c *Session) begin(ctx context.Context) error {
	var r struct {
		Capabilities serverCapabilities `json:"capabilities"`
	}
	if err := c.ask(ctx, c.server.Begin, "initialize", c.initializeParams(), &r); err != nil {
		return err
	}
	c.able = r.Capabilities
	if err := c.able.check(); err != nil {
		return err
	}
	return c.notify(ctx, "initialized", struct{}{})
}

// Close ends the connection and the server.
func (c *Session) Close() {
	ctx, done := context.WithTimeoutCause(context.Background(), leave, errClosed)
	defer done()
	if err := c.ask(ctx, leave, "shutdown", nil, nil); err == nil {
		_ = c.notify(ctx, "exit", nil) // and it is killed where it does not
	}
	c.closeNow()
}

// leave is how long a server may take to end its work.
const leave = 2 * time.Second

// closeNow ends the connection at once, whoever waits for something in it: a server
// that asks and does not read the answers holds up everything.
func (c *Session) closeNow() {
	c.stop(errClosed)
	_ = c.pipes.Close()
	_ = c.conn.Close() // which may have closed itself
}

// ask asks the server for something, and ends it where the answer does not come
// in time.
func (c *Session) ask(ctx context.Context, limit time.Duration, method string, params, result any) error {
	ctx, end := context.WithTimeoutCause(ctx, limit, ErrSilent)
	defer end()
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		err := c.once(ctx, method, params, result)
		if !isRetryable(err) {
			return err
		}
		select { // it was in the middle of something, and says so
		case <-time.After(wait):
		case <-ctx.Done():
			return c.explain(context.Cause(ctx))
		}
	}
}

// isRetryable reports whether a server says that the question came at a wrong time.
func isRetryable(err error) bool {
	const changed, cancelled = -32801, -32802
	e, ok := errors.AsType[*refusedError](err)
	return ok && (e.Code == changed || e.Code == cancelled)
}

func (c *Session) once(ctx context.Context, method string, params, result any) error {
	c.wire.rest()
	defer context.AfterFunc(ctx, c.closeNow)()
	var raw json.RawMessage
	err := c.conn.Call(ctx, method, params, &raw)
	if ctx.Err() != nil {
		return c.explain(context.Cause(ctx))
	}
	if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return &refusedError{refused.Code, brief(refused.Message)}
	}
	if err != nil {
		return c.explain(ErrGone)
	}
	if result == nil || len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("the server's answer to %s is not what was asked for: %s", method, brief(err.Error()))
	}
	return nil
}

// refusedError says that the server refused.
type refusedError struct {
	Code int64
	Text string
}

// Error implements error.
func (e *refusedError) Error() string {
	return fmt.Sprintf("the server refused (%d): %s", e.Code, e.Text)
}

// notify says something to the server that it does not answer.
func (c *Session) notify(ctx context.Context, method string, params any) error {
	ctx, end := context.WithTimeoutCause(ctx, c.server.Answer, ErrSilent)
	defer end()
	defer context.AfterFunc(ctx, c.closeNow)()
	if err := c.conn.Notify(ctx, method, params); err != nil {
		return c.explain(cmp.Or(context.Cause(ctx), ErrGone))
	}
	return nil
}

// explain adds to why an answer did not come what is known of it.
func (c *Session) explain(why error) error {
	if err := c.wire.broken(); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	if errors.Is(why, ErrGone) && c.server.Said != nil {
		if said := c.server.Said(); said != "" {
			return fmt.Errorf("%w; it said: %s", why, brief(said))
		}
	}
	return why
}

// brief returns the end of what a server says as one line that hides nothing.
func brief(text string) string {
	const most = 400
	text = sanitize.Terminal(text)
	if len(text) > most {
		text = "..." + text[len(text)-most:]
	}
	return sanitize.Show(oneLine(text))
}

// A wire reads and writes messages, and counts what is read: no answer is worth
// more than so much.
type wire struct {
	mu       sync.Mutex
	messages int
	bytes    int
	err      error
}

const (
	maxMessage  = 32 << 20  // bytes of a message
	maxBytes    = 256 << 20 // of all until the next question
	maxMessages = 200_000
	maxHead     = 8 << 10 // bytes that are read before a message
)

// rest forgets what was counted.
func (w *wire) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages, w.bytes = 0, 0
}

// broken says why the server is not listened to any more; nil: it is, or it
// ended.
func (w *wire) broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *wire) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	return err
}

func (w *wire) count(n int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.messages++; w.messages > maxMessages || w.bytes+n > maxBytes {
		w.err = errors.New("it prints too much")
	}
	w.bytes += n
	return w.err
}

// WriteObject implements [jsonrpc2.ObjectCodec].
func (w *wire) WriteObject(to io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "Content-Length: %d\r\n\r\n%s", len(data), data)
	return err
}

// ReadObject implements [jsonrpc2.ObjectCodec].
func (w *wire) ReadObject(from *bufio.Reader, v any) error {
	n, err := length(from)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			_ = w.fail(err)
		}
		return err
	}
	if err := w.count(n); err != nil {
		return err
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(from, data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return w.fail(errors.New("it sends something that is not a message"))
	}
	return nil
}
