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
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/serverconfig"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// maxStarts limits how often a server is started in a session: one that died is started once
// more.
const maxStarts = 2

// mcpSession is a server in one session.
type mcpSession struct {
	servers  *RunMCPServers
	declared serverconfig.DeclaredServer
	set      *tool.ToolSet
	env      tool.AgentToolEnvironment
	life     context.Context //nolint:containedctx // a server lives longer than the call that starts it

	mu      sync.Mutex // locked during a call: one at a time
	session *mcp.ToolSession
	process *sandbox.Process
	way     *egress.CommandNetworkAccess // network gateway of the sandbox; nil: none
	starts  int
}

// takeReachedHosts returns the hosts that the server requested since the last call.
func (l *mcpSession) takeReachedHosts() []egress.DecisionCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.way.TakeDecisions()
}

// toolNamePrefix returns the prefix of the server's tools in the trust store.
func (l *mcpSession) toolNamePrefix() string { return l.declared.TrustKey() + "/" }

// agreedTools returns the trusted tools, in the order of their names. A server that was never
// probed is probed now.
func (l *mcpSession) agreedTools(ctx context.Context) ([]mcp.DescribedServerTool, error) {
	items, met, err := l.servers.Book.AgreedItems(l.servers.Root, l.toolNamePrefix())
	if err != nil {
		return nil, err
	}
	if !met {
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, err := l.readToolTrust(ctx); err != nil {
			return nil, err
		}
		if items, _, err = l.servers.Book.AgreedItems(l.servers.Root, l.toolNamePrefix()); err != nil {
			return nil, err
		}
	}
	var tools []mcp.DescribedServerTool
	for _, item := range items {
		t, err := mcp.ParseTool(item.Text)
		if err != nil || item.Name != l.toolNamePrefix()+t.Name {
			continue // it was written by another version
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// readToolTrust asks the server for its tools, and returns the trust of each. The caller has the lock.
func (l *mcpSession) readToolTrust(ctx context.Context) ([]trust.ItemState, error) {
	tools, refused, err := l.listTools(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]trust.TrustItem, len(tools))
	for i, t := range tools {
		items[i] = trust.TrustItem{Name: l.toolNamePrefix() + t.Name, Text: t.ConsentText()}
	}
	for _, r := range refused {
		l.servers.showMessage(fmt.Sprintf("tool %s of the MCP server %s is left out: %s", r.Name, l.declared.Name, r.Why))
	}
	return l.servers.Book.TrustOnFirstUse(ctx, l.servers.Root, l.toolNamePrefix(), items)
}

// listTools lists the server's tools, in a new connection if the last one is gone.
func (l *mcpSession) listTools(ctx context.Context) ([]mcp.DescribedServerTool, []mcp.ExcludedTool, error) {
	for {
		if err := l.connectServer(ctx); err != nil {
			return nil, nil, err
		}
		tools, refused, err := l.session.ListTools(ctx)
		if !errors.Is(err, mcp.ErrGone) {
			return tools, refused, err
		}
		l.releaseGoneServer()
	}
}

// callTool calls a tool in its trusted form.
func (l *mcpSession) callTool(ctx context.Context, t mcp.DescribedServerTool, input json.RawMessage) (mcp.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, err := l.readToolTrust(ctx)
	if err != nil {
		return mcp.Result{}, err
	}
	i := slices.IndexFunc(all, func(j trust.ItemState) bool { return j.Name == l.toolNamePrefix()+t.Name })
	switch {
	case i < 0:
		return mcp.Result{}, errors.New("the server no longer has the tool; continue without it")
	case all[i].Text != t.ConsentText():
		l.servers.showMessage(fmt.Sprintf("the MCP server %s describes its tool %s differently from what was trusted; nexus trust shows the difference", l.declared.Name, t.Name))
		return mcp.Result{}, errors.New("refused, not called: the server describes the tool differently from what a person trusted; continue without it")
	}
	r, err := l.session.CallTool(ctx, t.Name, input, nil)
	if errors.Is(err, mcp.ErrGone) {
		l.releaseGoneServer()
		return r, fmt.Errorf("%w during the call, and it is unknown what it did; %s", err, l.restartHint())
	}
	return r, err
}

// restartHint describes whether the server is started again.
func (l *mcpSession) restartHint() string {
	if l.starts < maxStarts {
		return "the next call starts it again"
	}
	return "it is not started again in this session; continue without it"
}

// connectServer connects to the server unless it is connected to.
func (l *mcpSession) connectServer(ctx context.Context) error {
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
		if err := l.changedFilesError(); err != nil {
			return err
		}
		s.Root, s.Said = l.env.Dir, func() string { return l.process.EndReason() }
		s.Start = func(life context.Context) (io.ReadWriteCloser, error) { return l.startProgram(life, d) }
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
	session, err := mcp.ConnectServer(life, s) //nolint:contextcheck // it lives on when the call has ended
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

// changedFilesError returns why a server is not started: the files that it runs differ in the worktree
// from those in the repository.
func (l *mcpSession) changedFilesError() error {
	root, err := os.OpenRoot(l.env.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	if l.declared.ConsentText(root) != l.servers.Text[l.declared.Name] {
		return errors.New("refused, not started: the files that it runs are not those that a person trusted")
	}
	return nil
}

// startProgram starts the server's program in the sandbox. It sees the same worktree as the agent's
// commands, and may write to it only if that was declared.
func (l *mcpSession) startProgram(life context.Context, d serverconfig.DeclaredServer) (io.ReadWriteCloser, error) {
	if l.env.Box == nil {
		return nil, errors.New("there is no sandbox to run it in")
	}
	args := append([]string{d.Command}, d.Args...)
	if d.Cwd != "" {
		args = append([]string{"/bin/sh", "-c", `cd -- "$0" && exec "$@"`, d.Cwd}, args...)
	}
	vars := l.env.Vars
	if vars == nil {
		vars = sandbox.AgentCommandEnv()
	}
	c := sandbox.Command{
		// and its own /tmp
		Args: args, Dir: l.env.Dir, Env: append(slices.Clone(vars), d.Env...), Readable: l.env.Readable, Mark: l.env.Mark,
	}
	if l.set != nil {
		var err error
		if c.Hidden, err = l.set.HiddenFromCommands(); err != nil {
			return nil, err
		}
	}
	if l.mayChangeWorktree() {
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
		l.way, c.Proxy, c.Local, c.Env = way, way.Serve, way.LocalPortServers(), way.ProxyEnv(c.Env, l.env.Box.HidesHost())
	}
	p, err := sandbox.StartProcess(life, l.env.Box.Run, c)
	l.process = p
	return p, err
}

// releaseGoneServer releases a server that is gone.
func (l *mcpSession) releaseGoneServer() {
	if l.session != nil {
		l.session.Close()
		l.session = nil
	}
}

// endServer ends the server.
func (l *mcpSession) endServer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseGoneServer()
	l.starts = maxStarts
}
