package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// Codes of errors that the protocol has.
const (
	codeLogin     = -32000
	codeNotFound  = -32002
	codeCancelled = -32800
	codeUnknown   = -32601
	codeInvalid   = -32602
)

const (
	maxGarbage = 1000    // lines in a row that are no messages
	maxLost    = 4 << 10 // bytes kept of them
)

var (
	errSilent  = errors.New("the agent sent nothing for too long")
	errGarbage = errors.New("the agent sent something that is not a message")
	errGone    = errors.New("the agent ended")
)

// message is one of the protocol, in either direction.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`

	over *terminal // not sent by the agent: a command of its has ended
}

// rpcError is why a request failed.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error.
func (e *rpcError) Error() string {
	data := strings.Trim(string(e.Data), `"`)
	if data == "null" {
		data = ""
	}
	return stream.Brief(strings.TrimSpace(e.Message + " " + data))
}

// link is a running agent program. One goroutine owns it and listens; another one
// reads, one writes, and each terminal has one.
type link struct {
	process *sandbox.Process
	lines   chan []byte
	out     chan []byte
	gone    chan struct{} // closed by close: nobody listens any more
	closing sync.Once
	workers sync.WaitGroup

	silence, working time.Duration
	busy             func() bool // a tool of the agent runs
	waited           time.Duration

	last    int    // identifier of our last request
	heard   int    // messages
	garbage int    // lines since the last message that are none
	lost    string // the last of them
	broken  error  // why it is of no use any more

	terminals map[string]*terminal
	made      int // terminals
	ended     chan *terminal
}

// start starts the program and learns what it can do.
func (a *Agent) start(ctx context.Context) error {
	c := a.launch.Command
	c.Args = append([]string{a.launch.File}, a.launch.Program.Args...)
	c.Env = append(append([]string{}, c.Env...), a.launch.Program.Env...)
	// It outlives the context of a prompt: Close ends it.
	p, err := sandbox.StartProcess(context.WithoutCancel(ctx), a.launch.Run, c)
	if err != nil {
		return err
	}
	a.link = listen(p, p, p)
	a.link.silence, a.link.working = a.launch.Silence, a.launch.Working
	a.able, a.id = abilities{}, ""
	return nil
}

// listen starts to read messages. Process is nil where a test plays the agent.
func listen(r io.Reader, w io.Writer, p *sandbox.Process) *link {
	l := &link{
		process: p, lines: make(chan []byte), out: make(chan []byte, 64), gone: make(chan struct{}),
		busy: func() bool { return false }, terminals: map[string]*terminal{}, ended: make(chan *terminal),
	}
	l.workers.Go(func() {
		defer close(l.lines)
		agentcli.ReadLines(r, func(line []byte) {
			select {
			case l.lines <- line:
			case <-l.gone:
			}
		})
	})
	l.workers.Go(func() {
		for {
			select {
			case line := <-l.out:
				if _, err := w.Write(line); err != nil {
					return // it reads no more: it ends, or is silent
				}
			case <-l.gone:
				return
			}
		}
	})
	return l
}

// close ends the program and everything that it started or had us start.
func (l *link) close() {
	l.closing.Do(func() {
		l.broken = cmp.Or(l.broken, errGone)
		l.stopTerminals()
		close(l.gone)
		if l.process != nil {
			_ = l.process.Close()
		}
		for range l.lines { // so that the reader ends
		}
		l.workers.Wait()
	})
}

// exit returns the exit code of a program that is dead.
func (l *link) exit() int {
	if l.process == nil {
		return 0
	}
	r, _ := l.process.Result()
	return r.Exit
}

// handler acts on what the agent sends that is no answer.
type handler func(ctx context.Context, m message) error

func ignore(context.Context, message) error { return nil }

// ask sends a request and waits for its answer, and has everything else that
// arrives meanwhile handled. An error of the agent's is an *rpcError.
func (l *link) ask(ctx context.Context, method string, params, result any, handle handler) error {
	id, err := l.request(ctx, method, params)
	if err != nil {
		return err
	}
	return l.await(ctx, id, result, handle)
}

// request sends a request and returns its identifier.
func (l *link) request(ctx context.Context, method string, params any) (string, error) {
	l.last++
	return strconv.Itoa(l.last), l.send(ctx, map[string]any{"jsonrpc": "2.0", "id": l.last, "method": method, "params": params})
}

func (l *link) notify(ctx context.Context, method string, params any) error {
	return l.send(ctx, map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// answer answers a request of the agent.
func (l *link) answer(ctx context.Context, id json.RawMessage, result any, failed *rpcError) error {
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	if failed != nil {
		m["error"] = failed
	} else {
		m["result"] = result
	}
	return l.send(ctx, m)
}

// send gives a message to the writer. An agent that reads nothing is silent.
func (l *link) send(ctx context.Context, m any) error {
	if l.broken != nil {
		return l.broken
	}
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	wait, stop := l.timer()
	defer stop()
	select {
	case l.out <- append(data, '\n'):
		return nil
	case <-wait:
		l.broken = errSilent
		return errSilent
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// timer returns what ends when the agent has been silent for too long.
func (l *link) timer() (<-chan time.Time, func()) {
	l.waited = l.silence
	if l.busy() {
		l.waited = l.working
	}
	if l.waited <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(l.waited)
	return t.C, func() { t.Stop() }
}

// await waits for the answer to a request.
func (l *link) await(ctx context.Context, id string, result any, handle handler) error {
	for {
		m, err := l.next(ctx)
		switch {
		case err != nil:
			return err
		case m.Method != "" || m.over != nil:
			if err := handle(ctx, m); err != nil {
				return err
			}
		case string(bytes.Trim(m.ID, `"`)) != id: // of a request that we gave up
		case m.Error != nil:
			return m.Error
		case result == nil || len(m.Result) == 0:
			return nil
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return faulty(nexus.FaultGarbage, "it answered with something else than was asked for: %v", err)
			}
			return nil
		}
	}
}

// next returns the next message. What is none is kept for the one who explains
// why there are no more.
func (l *link) next(ctx context.Context) (message, error) {
	if l.broken != nil {
		return message{}, l.broken
	}
	wait, stop := l.timer()
	defer stop()
	for {
		select {
		case line, ok := <-l.lines:
			var m message
			switch {
			case !ok:
				l.broken = errGone
				return m, errGone
			case len(bytes.TrimSpace(line)) == 0:
				continue
			case decode(line, &m):
				l.heard++
				l.garbage = 0
				return m, nil
			}
			l.lost = tail(l.lost + sanitize.Cut(strings.ToValidUTF8(string(line), "?"), maxLost))
			if l.garbage++; l.garbage > maxGarbage {
				l.broken = errGarbage
				return m, errGarbage
			}
		case t := <-l.ended:
			l.finish(ctx, t)
			return message{over: t}, nil
		case <-wait:
			l.broken = errSilent
			return message{}, errSilent
		case <-ctx.Done():
			return message{}, context.Cause(ctx)
		}
	}
}

// decode reads a line that is a message.
func decode(line []byte, m *message) bool {
	return json.Unmarshal(line, m) == nil && (m.Method != "" || len(m.ID) > 0)
}

func tail(s string) string {
	if len(s) <= maxLost {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxLost:], "")
}
