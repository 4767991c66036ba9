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

// agentTerminal is a command that the agent has us run. The receiving goroutine owns it, except for the
// fields that mu guards.
type agentTerminal struct {
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

// openTerminal starts a command and returns the identifier of its terminal.
func (l *agentConnection) openTerminal(ctx context.Context, launch AgentLaunchOptions, c sandbox.Command, command, call string, most int) string {
	l.made++
	if most <= 0 || most > maxOutput {
		most = maxOutput
	}
	t := &agentTerminal{id: fmt.Sprintf("terminal-%d", l.made), call: call, most: most}
	l.terminals[t.id] = t
	c.Args = append(slices.Clone(c.Args), command)
	c.Merge, c.Heard, c.Timeout = true, t.appendOutput, launch.Working
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

// appendOutput stores the end of the output.
func (t *agentTerminal) appendOutput(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.printed = append(t.printed, b...)
	if len(t.printed) > 2*t.most { // trim only now and then
		t.printed, t.cut = append([]byte(nil), t.printed[len(t.printed)-t.most:]...), true
	}
}

// outputTail returns the end of the output, and whether the beginning is missing.
func (t *agentTerminal) outputTail() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, cut := t.printed, t.cut
	if len(b) > t.most {
		b, cut = b[len(b)-t.most:], true
	}
	return strings.ToValidUTF8(string(b), ""), cut
}

// outputText returns the output and the exit status, for people.
func (t *agentTerminal) outputText() string {
	text, _ := t.outputTail()
	if t.err != nil {
		return text + "[" + t.err.Error() + "]"
	}
	if t.result.Exit != 0 {
		return fmt.Sprintf("%s[exit %d]", text, t.result.Exit)
	}
	return text
}

// exitStatus returns the exit status in the form of the protocol.
func (t *agentTerminal) exitStatus() map[string]any {
	if t.err != nil || t.result.Exit < 0 { // the command may not have started
		return map[string]any{"exitCode": nil, "signal": "SIGKILL"}
	}
	return map[string]any{"exitCode": t.result.Exit, "signal": nil}
}

// hasRunningTerminal reports whether a command runs.
func (l *agentConnection) hasRunningTerminal() bool {
	for _, t := range l.terminals {
		if !t.over {
			return true
		}
	}
	return false
}

// terminalOutput returns the output of a terminal, or "" if there is no such terminal.
func (l *agentConnection) terminalOutput(id string) string {
	t := l.terminals[id]
	if t == nil {
		return ""
	}
	text, _ := t.outputTail()
	return text
}

var errNoTerminal = &rpcError{Code: codeNotFound, Message: "there is no such terminal"}

// controlTerminal answers a request about a terminal.
func (l *agentConnection) controlTerminal(method, id string) (any, *rpcError) {
	t := l.terminals[id]
	if t == nil {
		return nil, errNoTerminal
	}
	switch method {
	case "terminal/output":
		text, cut := t.outputTail()
		answer := map[string]any{"output": text, "truncated": cut}
		if t.over {
			answer["exitStatus"] = t.exitStatus()
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

// awaitExit answers with the exit status of a command. If the command still runs, the request is
// answered later.
func (l *agentConnection) awaitExit(id string, request json.RawMessage) (any, *rpcError) {
	t := l.terminals[id]
	switch {
	case t == nil:
		return nil, errNoTerminal
	case t.over:
		return t.exitStatus(), nil
	}
	t.waiting = append(t.waiting, request)
	return nil, nil
}

// finishTerminal answers all requests that wait for a command that has ended.
func (l *agentConnection) finishTerminal(ctx context.Context, t *agentTerminal) {
	t.over = true
	for _, id := range t.waiting {
		_ = l.sendAnswer(ctx, id, t.exitStatus(), nil) // an agent that does not read counts as silent
	}
	t.waiting = nil
	if t.let {
		delete(l.terminals, t.id)
	}
}

// stopTerminals kills the running commands, and waits until they have ended.
func (l *agentConnection) stopTerminals() {
	for _, t := range l.terminals {
		t.kill(errOver)
	}
	for l.hasRunningTerminal() {
		t := <-l.ended
		t.over = true
	}
}

// answerStoppedTerminals answers the requests that wait for stopped commands, and removes the terminals
// that were released before their commands ended.
func (l *agentConnection) answerStoppedTerminals(ctx context.Context) {
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), cancelTime, errSilent)
	defer stop()
	for _, t := range l.terminals {
		if t.over {
			l.finishTerminal(ctx, t)
		}
	}
}
