// Package acpcmd serves Nexus to editors, as an agent of the Agent Client Protocol.
//
// A session is a conversation with runs: a person's message becomes the goal of a run, the plan
// and the tasks are shown as they progress, and questions are put to the person. A command line
// in this process does the work, as in nexus mcp; the display is built from the run's events.
package acpcmd

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Execute host.ExecuteFunc // runs the command line of a request
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, execute host.ExecuteFunc, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, Execute: execute}
	if run == nil {
		run = serveEditor
	}
	return c.Command("acp", "serve Nexus to an editor, by the Agent Client Protocol",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
}

// serveEditor serves the editor that started this process until it disconnects.
func serveEditor(ctx context.Context, o *Options) error {
	serveClient(ctx, host.Host{Console: o.Console, Execute: o.Execute})
	return nil
}

// login describes how a person sets Nexus up.
const login = "Nexus uses API keys and agents that are installed here. Run: nexus doctor, nexus config key set PROVIDER"

// serveClient serves the client that started this process.
func serveClient(ctx context.Context, h host.Host) {
	// A client that dies during a write to it must not end the runs.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	if h.Console.HasPerson() {
		h.Console.Say("waiting for a client of the Agent Client Protocol on standard input; docs/integrate.md shows how to set one up")
	}
	s := acpserver.Server{Login: login, Gone: func(prompts int) {
		h.Console.Say("the client has disconnected; its work stops (%s), and nexus resume continues it", view.CountWithNoun(prompts, "prompt"))
	}}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		s.Version = info.Main.Version
	}
	s.Serve(ctx, &editorAgent{h}, h.Console.In, h.Console.Out)
}

// editorAgent implements the agent side of the protocol.
type editorAgent struct{ host.Host }

// appIn returns the environment of a directory.
func (g *editorAgent) appIn(dir string) app.App {
	at := g.Console.App
	at.Dir = cmp.Or(dir, at.Dir)
	return at
}

// maskError returns an error with its keys masked, fit for a client.
func (g *editorAgent) maskError(err error) error {
	if err == nil || errors.Is(err, acpserver.ErrCancelled) || errors.Is(err, acpserver.ErrGone) || errors.Is(err, acpserver.ErrClosed) {
		return err
	}
	f := g.Console.Failure(err)
	return &nexus.Error{Code: f.Code, Message: f.Message, Hint: f.Hint}
}

// Ready implements [acpserver.ServedAgent].
func (g *editorAgent) Ready(context.Context) error { return g.maskError(g.checkModels()) }

func (g *editorAgent) checkModels() error {
	at := g.appIn("")
	settings, _, err := at.LoadSettings()
	if err != nil {
		return err
	}
	return at.CheckModels(settings, app.RunOptions{})
}

// Open implements [acpserver.ServedAgent].
func (g *editorAgent) Open(ctx context.Context, c *acpserver.Client, o acpserver.SessionOpenParams) (acpserver.ServedSession, error) {
	s, err := g.open(ctx, c, o)
	return s, g.maskError(err)
}

func (g *editorAgent) open(ctx context.Context, c *acpserver.Client, o acpserver.SessionOpenParams) (acpserver.ServedSession, error) {
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no directory " + view.QuoteForTerminal(o.Dir), Hint: "Open a directory of a git repository.",
		}
	}
	at := g.appIn(o.Dir)
	p, err := at.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	settings, _, err := at.LoadSettings()
	if err != nil {
		return nil, err
	}
	least := cmp.Or(settings.Limits.Approval, nexus.ApproveNone)
	s := &editorSession{agent: g, c: c, dir: o.Dir, top: p.Repo.Work, mode: runMode, tier: anyTier, approval: least, least: least}
	if o.Fresh {
		return s, nil
	}
	all, err := runsOf(ctx, p, c.ID)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, app.NotFoundError("session", c.ID, "session/list names those of this repository; one in which nothing was done is not kept.")
	}
	return s, s.restoreSession(ctx, p, all, o.Silent)
}

// Sessions implements [acpserver.ServedAgent].
func (g *editorAgent) Sessions(ctx context.Context, dir string) ([]acpserver.SessionListEntry, error) {
	all, err := g.listSessions(ctx, dir)
	return all, g.maskError(err)
}

func (g *editorAgent) listSessions(ctx context.Context, dir string) ([]acpserver.SessionListEntry, error) {
	at := g.appIn(dir)
	p, err := at.OpenRepository(ctx, app.ReadAccess)
	if dir == "" && errors.Is(err, &nexus.Error{Code: nexus.CodeNotRepository}) {
		return nil, nil // an editor may start this program anywhere
	}
	if err != nil {
		return nil, err
	}
	defer p.Close()
	runs, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var all []acpserver.SessionListEntry
	known := map[string]int{}
	for _, r := range slices.Backward(runs) { // the latest first
		goal, ok := goalOf(ctx, p, r.ID)
		if !ok {
			continue
		}
		id := cmp.Or(goal.Goal.Origin, string(r.ID))
		first := goalTitle(g.Console.Mask.MaskText(goal.Goal.Text))
		if i, again := known[id]; again {
			all[i].Title = first // title of the first goal
			continue
		}
		known[id] = len(all)
		all = append(all, acpserver.SessionListEntry{ID: id, Dir: p.Repo.Work, Title: first, Updated: r.Last.UTC().Format(time.RFC3339)})
	}
	return all, nil
}

// goalTitle shortens a goal to a few words.
func goalTitle(goal string) string {
	return sanitize.TruncateText(view.FirstLine(cmp.Or(spec.GoalTitle(goal), goal)), 100)
}

// runsOf returns the runs of a session, the latest last: the runs that it started, or the run
// whose ID is the session's.
func runsOf(ctx context.Context, p *app.Repository, id string) ([]journal.RecordedRun, error) {
	runs, err := p.Runs(ctx)
	return slices.DeleteFunc(runs, func(r journal.RecordedRun) bool {
		if string(r.ID) == id {
			return false
		}
		goal, ok := goalOf(ctx, p, r.ID)
		return !ok || goal.Goal.Origin != id
	}), err
}

// goalOf returns the accepted goal of a run.
func goalOf(ctx context.Context, p *app.Repository, id nexus.RunID) (nexus.GoalAccepted, bool) {
	for e, err := range p.Journal.Events(ctx, id, 0) {
		if err != nil {
			return nexus.GoalAccepted{}, false
		}
		if goal, ok := e.Fact.(nexus.GoalAccepted); ok {
			return goal, true
		}
	}
	return nexus.GoalAccepted{}, false
}

// cloneDir is the path of the private clone with the commits of a repository's runs.
func cloneDir(p *app.Repository) string { return filepath.Join(p.State, "repo.git") }
