package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

const (
	maxTerminals = 32
	maxOutput    = 1 << 20 // bytes stored of a command's output
)

var (
	errKilled = errors.New("the agent killed it")
	errOver   = errors.New("the prompt is over")
)

// terminal is a command that the agent has us run. The receiving goroutine owns it, except for the
// fields that mu guards.
type terminal struct {
	id   string
	call string // call it is recorded as; empty: part of a call of the agent
	most int
	kill context.CancelCauseFunc

	waiting []json.RawMessage // requests to answer when the command ends
	over    bool
	let     bool // the agent released it
	result  sandbox.Result
	err     error

	mu      sync.Mutex
	printed []byte
	cut     bool
}

// open starts a command and returns the identifier of its terminal.
func (l *link) open(ctx context.Context, launch Launch, c sandbox.Command, command, call string, most int) string {
	l.made++
	if most <= 0 || most > maxOutput {
		most = maxOutput
	}
	t := &terminal{id: fmt.Sprintf("terminal-%d", l.made), call: call, most: most}
	l.terminals[t.id] = t
	c.Args = append(slices.Clone(c.Args), command)
	c.Merge, c.Heard, c.Timeout = true, t.hear, launch.Working
	ctx, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	t.kill = kill
	l.workers.Go(func() {
		r, err := launch.Run(ctx, c)
		kill(nil)
		t.result, t.err = r, err // read by the receiver
		select {
		case l.ended <- t:
		case <-l.gone:
		}
	})
	return t.id
}

// hear stores the end of the output.
func (t *terminal) hear(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.printed = append(t.printed, b...)
	if len(t.printed) > 2*t.most { // trim only now and then
		t.printed, t.cut = append([]byte(nil), t.printed[len(t.printed)-t.most:]...), true
	}
}

// output returns the end of the output, and whether the beginning is missing.
func (t *terminal) output() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, cut := t.printed, t.cut
	if len(b) > t.most {
		b, cut = b[len(b)-t.most:], true
	}
	return strings.ToValidUTF8(string(b), ""), cut
}

// text returns the output and the exit status, for people.
func (t *terminal) text() string {
	text, _ := t.output()
	if t.err != nil {
		return text + "[" + t.err.Error() + "]"
	}
	if t.result.Exit != 0 {
		return fmt.Sprintf("%s[exit %d]", text, t.result.Exit)
	}
	return text
}

// status returns the exit status in the form of the protocol.
func (t *terminal) status() map[string]any {
	if t.err != nil || t.result.Exit < 0 { // the command may not have started
		return map[string]any{"exitCode": nil, "signal": "SIGKILL"}
	}
	return map[string]any{"exitCode": t.result.Exit, "signal": nil}
}

// running reports whether a command runs.
func (l *link) running() bool {
	for _, t := range l.terminals {
		if !t.over {
			return true
		}
	}
	return false
}

// printed returns the output of a terminal, or "" if there is no such terminal.
func (l *link) printed(id string) string {
	t := l.terminals[id]
	if t == nil {
		return ""
	}
	text, _ := t.output()
	return text
}

var errNoTerminal = &rpcError{Code: codeNotFound, Message: "there is no such terminal"}

// control answers a request about a terminal.
func (l *link) control(method, id string) (any, *rpcError) {
	t := l.terminals[id]
	if t == nil {
		return nil, errNoTerminal
	}
	switch method {
	case "terminal/output":
		text, cut := t.output()
		answer := map[string]any{"output": text, "truncated": cut}
		if t.over {
			answer["exitStatus"] = t.status()
		}
		return answer, nil
	case "terminal/release":
		t.let = true
		if t.over {
			delete(l.terminals, id)
		}
	}
	t.kill(errKilled)
	return map[string]any{}, nil
}

// exited answers with the exit status of a command. If the command still runs, the request is
// answered later.
func (l *link) exited(id string, request json.RawMessage) (any, *rpcError) {
	t := l.terminals[id]
	switch {
	case t == nil:
		return nil, errNoTerminal
	case t.over:
		return t.status(), nil
	}
	t.waiting = append(t.waiting, request)
	return nil, nil
}

// finish answers all requests that wait for a command that has ended.
func (l *link) finish(ctx context.Context, t *terminal) {
	t.over = true
	for _, id := range t.waiting {
		_ = l.answer(ctx, id, t.status(), nil) // an agent that does not read counts as silent
	}
	t.waiting = nil
	if t.let {
		delete(l.terminals, t.id)
	}
}

// stopTerminals kills the running commands, and waits until they have ended.
func (l *link) stopTerminals() {
	for _, t := range l.terminals {
		t.kill(errOver)
	}
	for l.running() {
		t := <-l.ended
		t.over = true
	}
}

// settleTerminals answers the requests that wait for stopped commands, and removes the terminals
// that were released before their commands ended.
func (l *link) settleTerminals(ctx context.Context) {
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), cancelTime, errSilent)
	defer stop()
	for _, t := range l.terminals {
		if t.over {
			l.finish(ctx, t)
		}
	}
}
