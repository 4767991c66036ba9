package codenavigation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/lsp"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

const (
	maxStarts  = 2       // a server that died is started once more
	maxWatched = 50_000  // files whose changes a server is notified of
	maxMemory  = 4 << 30 // memory limit of a server, in bytes
)

// lspSession is a server in one session.
type lspSession struct {
	server  LanguageServerProgram
	command []string
	lookup  *codeToolSession
	life    context.Context //nolint:containedctx // a server lives longer than the call that starts it

	mu      sync.Mutex // locked during a request: one at a time
	session *lsp.LanguageServerSession
	process *sandbox.Process
	starts  int
	stamps  map[string]fileVersionStamp // versions of files at the last notification of the server
}

// fileVersionStamp identifies the version of a file.
type fileVersionStamp struct {
	size int64
	at   time.Time
}

// handleRequest sends a request to the server, in a new connection if the last one is gone.
func (l *lspSession) handleRequest(ctx context.Context, o codeToolInput) (tool.CallOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, err := l.answerOnceStarted(ctx, o)
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, lsp.ErrGone), errors.Is(err, lsp.ErrSilent), ctx.Err() != nil:
		l.releaseBrokenServer() //nolint:contextcheck // what has gone is let go of in its own time
		return out, fmt.Errorf("%s: %w; %s", l.server.Name, err, l.restartHint())
	default:
		return out, fmt.Errorf("%s: %w", l.server.Name, err)
	}
}

func (l *lspSession) answerOnceStarted(ctx context.Context, o codeToolInput) (tool.CallOutput, error) {
	if err := l.startServer(ctx); err != nil {
		return tool.CallOutput{}, err
	}
	if err := l.syncFiles(ctx); err != nil {
		return tool.CallOutput{}, err
	}
	return l.answerFromSyncedServer(ctx, o)
}

// restartHint describes whether the server is started again.
func (l *lspSession) restartHint() string {
	if l.starts < maxStarts {
		return "the next call starts it again"
	}
	return "it is not started again in this session; use search_code and the shell"
}

// startServer starts the server unless it runs.
func (l *lspSession) startServer(ctx context.Context) error {
	if l.session != nil {
		return nil
	}
	if l.starts == maxStarts {
		return errors.New("it has ended twice and is not started again in this session; use search_code and the shell")
	}
	l.starts++
	s := lsp.Server{Root: l.lookup.env.Dir, Start: l.startProgram, Said: func() string { return l.process.EndReason() }, Options: l.server.initOptions(), Answer: l.server.Timeout}
	// It lives as long as the session of the agent; its start is waited for only as long as the
	// call.
	life, stop := context.WithCancelCause(l.life)
	began := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	session, err := lsp.StartSession(life, s) //nolint:contextcheck // it lives on when the call has ended
	if !began() && err == nil {
		session.Close() //nolint:contextcheck // as above
		err = context.Cause(ctx)
	}
	if err != nil {
		stop(err)
		return fmt.Errorf("it does not start: %w", err)
	}
	l.session, l.stamps = session, nil
	return nil
}

// startProgram starts the server's program in the sandbox, where it sees the same files as the
// agent's commands, and may not write to the tree.
func (l *lspSession) startProgram(life context.Context) (io.ReadWriteCloser, error) {
	e := l.lookup.env
	c := sandbox.Command{
		Args: l.command, Dir: e.Dir, Env: slices.Clone(e.Vars), Mark: e.Mark, Cap: 64 << 10, Hidden: l.lookup.set.SecretPaths(),
		Readable: append([]string{e.Dir}, e.Readable...), Writable: e.Writable,
		Limits: sandbox.ResourceLimits{Memory: min(maxMemory, e.Box.DefaultLimits().Memory)},
	}
	if e.Writes && e.Tmp != "" { // its cached data about packages stays with the attempt
		c.Tmp = e.Tmp
		at := "/tmp"
		if !e.Box.HidesHost() {
			at = e.Tmp
		}
		c.Env = append(c.Env, "GOPLSCACHE="+filepath.Join(at, ".gopls"))
	}
	p, err := sandbox.StartProcess(life, e.Box.Run, c)
	l.process = p
	return p, err
}

// syncFiles notifies the server of the files that changed: the agent writes them, and its commands
// do.
func (l *lspSession) syncFiles(ctx context.Context) error {
	tree := l.lookup.set.AgentTree()
	now := map[string]fileVersionStamp{}
	err := tree.Hidden.WalkUnignored(tree.Root, ".", func(name string, d fs.DirEntry) bool {
		if d.Type().IsRegular() && l.server.watchesFile(name) {
			if info, err := d.Info(); err == nil { // otherwise it was deleted
				now[name] = fileVersionStamp{info.Size(), info.ModTime()}
			}
		}
		return len(now) < maxWatched && ctx.Err() == nil
	})
	if err != nil {
		return err
	}
	if l.stamps == nil {
		l.stamps = now
		return nil
	}
	moved := map[string]int{}
	for name, s := range now {
		if old, had := l.stamps[name]; !had {
			moved[name] = lsp.FileCreated
		} else if old != s {
			moved[name] = lsp.FileChanged
		}
	}
	for name := range l.stamps {
		if _, has := now[name]; !has {
			moved[name] = lsp.FileDeleted
		}
	}
	for _, name := range l.session.OpenFileNames() {
		if how, is := moved[name]; is {
			if err := l.resyncFile(ctx, name, how); err != nil {
				return err
			}
		}
	}
	if err := l.session.NotifyFileChanges(ctx, moved); err != nil {
		return err
	}
	l.stamps = maps.Clone(now)
	return nil
}

// resyncFile sends the text of a changed file to the server.
func (l *lspSession) resyncFile(ctx context.Context, name string, how int) error {
	text, err := l.lookup.set.AgentTree().Text(name)
	if how == lsp.FileDeleted || err != nil {
		return l.session.CloseFile(ctx, name)
	}
	return l.session.OpenFile(ctx, name, languageID(name), text)
}

// releaseBrokenServer releases a server that is no longer usable.
func (l *lspSession) releaseBrokenServer() {
	if l.session != nil {
		l.session.Close()
		l.session = nil
	}
}

// endServer ends the server.
func (l *lspSession) endServer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseBrokenServer()
	l.starts = maxStarts
}
