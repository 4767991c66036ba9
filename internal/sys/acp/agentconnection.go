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

// Error codes of the protocol.
const (
	codeLogin     = -32000
	codeNotFound  = -32002
	codeCancelled = -32800
	codeUnknown   = -32601
	codeInvalid   = -32602
)

const (
	maxGarbage = 1000    // consecutive lines that are not messages
	maxLost    = 4 << 10 // bytes stored of them
)

var (
	errSilent  = errors.New("the agent sent nothing for too long")
	errGarbage = errors.New("the agent sent something that is not a message")
	errGone    = errors.New("the agent ended")
)

// rpcMessage is a message of the protocol, in either direction.
type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`

	over *agentTerminal // set by us, not by the agent: a terminal's command has ended
}

// rpcError is the error of a failed request.
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
	return stream.BriefLine(strings.TrimSpace(e.Message + " " + data))
}

// agentConnection is the connection to a running agent program. One goroutine owns it and receives messages;
// there is one more for reading, one for writing, and one per terminal.
type agentConnection struct {
	process *sandbox.Process
	lines   chan []byte
	out     chan []byte
	gone    chan struct{} // closed by close: messages are no longer received
	closing sync.Once
	workers sync.WaitGroup

	silence, working time.Duration
	busy             func() bool // reports whether a tool of the agent runs
	waited           time.Duration

	last    int    // identifier of our last request
	heard   int    // number of received messages
	garbage int    // lines since the last message that were not messages
	lost    string // the last of those lines
	broken  error  // why the link is unusable

	terminals map[string]*agentTerminal
	made      int // number of terminals created
	ended     chan *agentTerminal
}

// startProgram starts the program and negotiates its capabilities.
func (a *Agent) startProgram(ctx context.Context) error {
	c := a.launch.Command
	c.Args = append([]string{a.launch.File}, a.launch.Program.Args...)
	c.Env = append(append([]string{}, c.Env...), a.launch.Program.Env...)
	// The process outlives the context of a prompt: Close ends it.
	p, err := sandbox.StartProcess(context.WithoutCancel(ctx), a.launch.Run, c)
	if err != nil {
		return err
	}
	a.connection = startConnection(p, p, p)
	a.connection.silence, a.connection.working = a.launch.Silence, a.launch.Working
	a.able, a.id = agentCapabilities{}, ""
	return nil
}

// startConnection starts the goroutines that read and write messages. The process is nil in tests that play
// the agent.
func startConnection(r io.Reader, w io.Writer, p *sandbox.Process) *agentConnection {
	l := &agentConnection{
		process: p, lines: make(chan []byte), out: make(chan []byte, 64), gone: make(chan struct{}),
		busy: func() bool { return false }, terminals: map[string]*agentTerminal{}, ended: make(chan *agentTerminal),
	}
	l.workers.Go(func() {
		defer close(l.lines)
		agentcli.ForEachLine(r, func(line []byte) {
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
					return // it has stopped reading: it is ending, or silent
				}
			case <-l.gone:
				return
			}
		}
	})
	return l
}

// endProcess ends the program, and all processes that it started or had us start.
func (l *agentConnection) close() {
	l.closing.Do(func() {
		l.broken = cmp.Or(l.broken, errGone)
		l.stopTerminals()
		close(l.gone)
		if l.process != nil {
			_ = l.process.Close()
		}
		for range l.lines { // unblocks the reader
		}
		l.workers.Wait()
	})
}

// exitCode returns the exit code of a program that has ended.
func (l *agentConnection) exitCode() int {
	if l.process == nil {
		return 0
	}
	r, _ := l.process.Result()
	return r.Exit
}

// agentMessageHandler handles a message of the agent that is not a response.
type agentMessageHandler func(ctx context.Context, m rpcMessage) error

func ignoreMessage(context.Context, rpcMessage) error { return nil }

// callAgent sends a request, waits for its response, and passes all other messages to handle meanwhile.
// If the agent responds with an error, ask returns it as an *rpcError.
func (l *agentConnection) callAgent(ctx context.Context, method string, params, result any, handle agentMessageHandler) error {
	id, err := l.sendRequest(ctx, method, params)
	if err != nil {
		return err
	}
	return l.awaitAnswer(ctx, id, result, handle)
}

// sendRequest sends a request and returns its identifier.
func (l *agentConnection) sendRequest(ctx context.Context, method string, params any) (string, error) {
	l.last++
	return strconv.Itoa(l.last), l.sendMessage(ctx, map[string]any{"jsonrpc": "2.0", "id": l.last, "method": method, "params": params})
}

func (l *agentConnection) sendNotification(ctx context.Context, method string, params any) error {
	return l.sendMessage(ctx, map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// sendAnswer sends the response to a request of the agent.
func (l *agentConnection) sendAnswer(ctx context.Context, id json.RawMessage, result any, failed *rpcError) error {
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	if failed != nil {
		m["error"] = failed
	} else {
		m["result"] = result
	}
	return l.sendMessage(ctx, m)
}

// sendMessage queues a message for the writer. An agent that does not read counts as silent.
func (l *agentConnection) sendMessage(ctx context.Context, m any) error {
	if l.broken != nil {
		return l.broken
	}
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	wait, stop := l.silenceTimer()
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

// silenceTimer returns a channel that fires after the agent has been silent for too long, and a function
// that stops the timer.
func (l *agentConnection) silenceTimer() (<-chan time.Time, func()) {
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

// awaitAnswer waits for the response to a request.
func (l *agentConnection) awaitAnswer(ctx context.Context, id string, result any, handle agentMessageHandler) error {
	for {
		m, err := l.nextMessage(ctx)
		switch {
		case err != nil:
			return err
		case m.Method != "" || m.over != nil:
			if err := handle(ctx, m); err != nil {
				return err
			}
		case string(bytes.Trim(m.ID, `"`)) != id: // response to a request that we gave up
		case m.Error != nil:
			return m.Error
		case result == nil || len(m.Result) == 0:
			return nil
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return newPromptFault(nexus.FaultGarbage, "it answered with something else than was asked for: %v", err)
			}
			return nil
		}
	}
}

// nextMessage returns the next message. It stores lines that are not messages, to explain a later end of
// the stream.
func (l *agentConnection) nextMessage(ctx context.Context) (rpcMessage, error) {
	if l.broken != nil {
		return rpcMessage{}, l.broken
	}
	wait, stop := l.silenceTimer()
	defer stop()
	for {
		select {
		case line, ok := <-l.lines:
			var m rpcMessage
			switch {
			case !ok:
				l.broken = errGone
				return m, errGone
			case len(bytes.TrimSpace(line)) == 0:
				continue
			case decodeMessage(line, &m):
				l.heard++
				l.garbage = 0
				return m, nil
			}
			l.lost = lostTail(l.lost + sanitize.TruncateText(strings.ToValidUTF8(string(line), "?"), maxLost))
			if l.garbage++; l.garbage > maxGarbage {
				l.broken = errGarbage
				return m, errGarbage
			}
		case t := <-l.ended:
			l.finishTerminal(ctx, t)
			return rpcMessage{over: t}, nil
		case <-wait:
			l.broken = errSilent
			return rpcMessage{}, errSilent
		case <-ctx.Done():
			return rpcMessage{}, context.Cause(ctx)
		}
	}
}

// decodeMessage parses a line into m, and reports whether the line is a message.
func decodeMessage(line []byte, m *rpcMessage) bool {
	return json.Unmarshal(line, m) == nil && (m.Method != "" || len(m.ID) > 0)
}

func lostTail(s string) string {
	if len(s) <= maxLost {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxLost:], "")
}
