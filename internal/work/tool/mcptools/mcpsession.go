package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/declare"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// maxStarts limits how often a server is started in a session: one that died is started once
// more.
const maxStarts = 2

// mcpSession is a server in one session.
type mcpSession struct {
	servers  *Servers
	declared declare.Server
	set      *tool.Set
	env      tool.Env
	life     context.Context //nolint:containedctx // a server lives longer than the call that starts it

	mu      sync.Mutex // locked during a call: one at a time
	session *mcp.Session
	process *sandbox.Process
	way     *egress.Gateway // network gateway of the sandbox; nil: none
	starts  int
}

// reached returns the hosts that the server requested since the last call.
func (l *mcpSession) reached() []egress.DecisionCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.way.TakeDecisions()
}

// its returns the prefix of the server's tools in the trust store.
func (l *mcpSession) its() string { return l.declared.Key() + "/" }

// agreed returns the trusted tools, in the order of their names. A server that was never
// probed is probed now.
func (l *mcpSession) agreed(ctx context.Context) ([]mcp.Tool, error) {
	items, met, err := l.servers.Book.AgreedItems(l.servers.Root, l.its())
	if err != nil {
		return nil, err
	}
	if !met {
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, err := l.meet(ctx); err != nil {
			return nil, err
		}
		if items, _, err = l.servers.Book.AgreedItems(l.servers.Root, l.its()); err != nil {
			return nil, err
		}
	}
	var tools []mcp.Tool
	for _, item := range items {
		t, err := mcp.Parse(item.Text)
		if err != nil || item.Name != l.its()+t.Name {
			continue // it was written by another version
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// meet asks the server for its tools, and returns the trust of each. The caller has the lock.
func (l *mcpSession) meet(ctx context.Context) ([]trust.ItemState, error) {
	tools, refused, err := l.tools(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]trust.Item, len(tools))
	for i, t := range tools {
		items[i] = trust.Item{Name: l.its() + t.Name, Text: t.Text()}
	}
	for _, r := range refused {
		l.servers.say(fmt.Sprintf("tool %s of the MCP server %s is left out: %s", r.Name, l.declared.Name, r.Why))
	}
	return l.servers.Book.TrustOnFirstUse(ctx, l.servers.Root, l.its(), items)
}

// tools lists the server's tools, in a new connection if the last one is gone.
func (l *mcpSession) tools(ctx context.Context) ([]mcp.Tool, []mcp.RefusedTool, error) {
	for {
		if err := l.open(ctx); err != nil {
			return nil, nil, err
		}
		tools, refused, err := l.session.Tools(ctx)
		if !errors.Is(err, mcp.ErrGone) {
			return tools, refused, err
		}
		l.drop()
	}
}

// call calls a tool in its trusted form.
func (l *mcpSession) call(ctx context.Context, t mcp.Tool, input json.RawMessage) (mcp.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, err := l.meet(ctx)
	if err != nil {
		return mcp.Result{}, err
	}
	i := slices.IndexFunc(all, func(j trust.ItemState) bool { return j.Name == l.its()+t.Name })
	switch {
	case i < 0:
		return mcp.Result{}, errors.New("the server no longer has the tool; continue without it")
	case all[i].Text != t.Text():
		l.servers.say(fmt.Sprintf("the MCP server %s describes its tool %s differently from what was trusted; nexus trust shows the difference", l.declared.Name, t.Name))
		return mcp.Result{}, errors.New("refused, not called: the server describes the tool differently from what a person trusted; continue without it")
	}
	r, err := l.session.Call(ctx, t.Name, input, nil)
	if errors.Is(err, mcp.ErrGone) {
		l.drop()
		return r, fmt.Errorf("%w during the call, and it is unknown what it did; %s", err, l.left())
	}
	return r, err
}

// left describes whether the server is started again.
func (l *mcpSession) left() string {
	if l.starts < maxStarts {
		return "the next call starts it again"
	}
	return "it is not started again in this session; continue without it"
}

// open connects to the server unless it is connected to.
func (l *mcpSession) open(ctx context.Context) error {
	if l.session != nil {
		return nil
	}
	if l.starts == maxStarts {
		return errors.New("the server has ended twice and is not started again in this session; continue without it")
	}
	l.starts++
	d, err := l.declared.WithVariables(l.servers.Env)
	if err != nil {
		return err
	}
	s := mcp.Server{Idle: d.Timeout, URL: d.URL, Near: d.Own}
	if d.Command != "" {
		if err := l.unchanged(); err != nil {
			return err
		}
		s.Root, s.Said = l.env.Dir, func() string { return l.process.EndReason() }
		s.Start = func(life context.Context) (io.ReadWriteCloser, error) { return l.start(life, d) }
	} else {
		s.Headers = http.Header{}
		for _, h := range d.Headers {
			name, value, _ := strings.Cut(h, "=")
			s.Headers.Set(name, value)
		}
	}
	// It lives as long as the session of the agent; its start is waited for only as long as the
	// call.
	life, stop := context.WithCancelCause(l.life)
	began := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	session, err := mcp.Dial(life, s) //nolint:contextcheck // it lives on when the call has ended
	if !began() && err == nil {
		session.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		stop(err)
		return fmt.Errorf("the server does not start: %w", err)
	}
	l.session = session
	return nil
}

// unchanged returns why a server is not started: the files that it runs differ in the worktree
// from those in the repository.
func (l *mcpSession) unchanged() error {
	root, err := os.OpenRoot(l.env.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	if l.declared.Text(root) != l.servers.Text[l.declared.Name] {
		return errors.New("refused, not started: the files that it runs are not those that a person trusted")
	}
	return nil
}

// start starts the server's program in the sandbox. It sees the same worktree as the agent's
// commands, and may write to it only if that was declared.
func (l *mcpSession) start(life context.Context, d declare.Server) (io.ReadWriteCloser, error) {
	if l.env.Box == nil {
		return nil, errors.New("there is no sandbox to run it in")
	}
	args := append([]string{d.Command}, d.Args...)
	if d.Cwd != "" {
		args = append([]string{"/bin/sh", "-c", `cd -- "$0" && exec "$@"`, d.Cwd}, args...)
	}
	vars := l.env.Vars
	if vars == nil {
		vars = sandbox.QuietEnv()
	}
	c := sandbox.Command{
		// and its own /tmp
		Args: args, Dir: l.env.Dir, Env: append(slices.Clone(vars), d.Env...), Readable: l.env.Readable, Mark: l.env.Mark,
	}
	if l.set != nil {
		var err error
		if c.Hidden, err = l.set.Hidden(); err != nil {
			return nil, err
		}
	}
	if l.writes() {
		c.Writable = l.env.Writable
	} else {
		c.Readable = append([]string{l.env.Dir}, c.Readable...)
	}
	if len(d.Network) > 0 {
		if l.servers.Way == nil {
			return nil, errors.New("it needs a network, and there is none")
		}
		way, err := l.servers.Way(d.Network)
		if err != nil {
			return nil, err
		}
		l.way, c.Proxy, c.Local, c.Env = way, way.Serve, way.LocalPorts(), way.Env(c.Env, l.env.Box.HidesHost())
	}
	p, err := sandbox.StartProcess(life, l.env.Box.Run, c)
	l.process = p
	return p, err
}

// drop releases a server that is gone.
func (l *mcpSession) drop() {
	if l.session != nil {
		l.session.Close()
		l.session = nil
	}
}

// close ends the server.
func (l *mcpSession) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
	l.starts = maxStarts
}
