// Package mcpcmd serves Nexus to other agents and editors, through the Model Context Protocol.
//
// A tool is a command line: its arguments become flags and words, the command runs in this
// process, and the object that it prints with --json is the result. A tool therefore behaves and
// answers as the command does, and nothing is written twice.
package mcpcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// httpResult is the JSON output of `mcp --http`.
type httpResult struct {
	URL       string `json:"url"`
	Token     string `json:"token,omitzero"` // generated here, and shown only once
	TokenFile string `json:"token_file,omitzero"`
}

// Options are the options of the command.
type Options struct {
	Console   *console.Console
	Execute   host.ExecuteFunc // runs the command line of a tool
	HTTP      bool             // serve over HTTP instead of standard input and output
	Listen    string           // address and port; empty: a free port of 127.0.0.1
	TokenFile string           // file with the token; empty: a token is printed
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, execute host.ExecuteFunc, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, Execute: execute}
	if run == nil {
		run = serve
	}
	const use = "mcp [--http] [--listen ADDRESS:PORT] [--token-file FILE] [--json]"
	command := c.Command(use, "serve Nexus to other agents and editors, as an MCP server", func(ctx context.Context, _ []string) error {
		if !o.HTTP && (o.Listen != "" || o.TokenFile != "" || c.JSON) {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "--listen, --token-file and --json need --http",
				Hint: "Without --http, standard input and output carry the protocol.",
			}
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	f := command.Flags()
	f.BoolVar(&o.HTTP, "http", false, "serve over HTTP on this machine, for clients with the token, instead of on standard input and output")
	f.StringVar(&o.Listen, "listen", "", "`ADDRESS:PORT` on this machine to serve at; the default is a free port of 127.0.0.1")
	f.StringVar(&o.TokenFile, "token-file", "", "`FILE` with the token, which only you may read; made if missing; by default, a token is printed")
	c.JSONFlag(command)
	return command
}

// serve serves clients until they are gone or the command is interrupted.
func serve(ctx context.Context, o *Options) error {
	s := &toolServer{Host: host.Host{Console: o.Console, Execute: o.Execute}, life: ctx}
	offered, err := mcpserver.NewServer(s.serverOffer())
	if err != nil {
		return err
	}
	if !o.HTTP {
		s.serveStdio(ctx, offered)
		return nil
	}
	return s.serveHTTP(ctx, offered, cmp.Or(o.Listen, "127.0.0.1:0"), o.TokenFile)
}

// serveStdio serves the client that started this process. Its runs continue after it has disconnected.
func (s *toolServer) serveStdio(ctx context.Context, offered *mcpserver.Server) {
	// A client that dies during a write to it must not end the runs. A signal that is caught is
	// not inherited by commands; one that is ignored would be.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	if s.Console.HasPerson() {
		s.Console.Say("waiting for a client of the Model Context Protocol on standard input; docs/integrate.md shows how to set one up")
	}
	serving, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer context.AfterFunc(ctx, func() { s.jobs.Drain(); end(context.Cause(ctx)) })()
	offered.ServeStdio(serving, s.Console.In, s.Console.Out)
	if n := s.jobs.Running(); n > 0 && ctx.Err() == nil {
		s.Console.Say("the client has disconnected; its work continues until it is done (%s); interrupt to stop", view.CountWithNoun(n, "call"))
	}
	s.jobs.Drain()
}

// serveHTTP serves clients over HTTP until it is interrupted.
func (s *toolServer) serveHTTP(ctx context.Context, offered *mcpserver.Server, address, file string) error {
	token, err := mcpserver.LoadOrCreateToken(file)
	if err != nil {
		return err
	}
	w, err := offered.Listen(ctx, address, token, s.Console.Now)
	if err != nil {
		return err
	}
	told := httpResult{URL: w.URL(), Token: token}
	if file != "" {
		s.Console.Mask.AddSecret(token)
		told.Token, told.TokenFile = "", file
	}
	if err := s.Console.Answer(told, func(view.OutputStyle) string {
		if file != "" {
			return fmt.Sprintf("serving at %s; the token is in %s\n", told.URL, view.EscapeForTerminal(file))
		}
		return fmt.Sprintf("serving at %s; the token, printed this once: %s\n", told.URL, told.Token)
	}); err != nil {
		return err
	}
	serving, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer context.AfterFunc(ctx, func() { s.jobs.Drain(); end(context.Cause(ctx)) })()
	err = w.Serve(serving)
	s.jobs.Drain()
	return err
}

// about is the introduction that a client's model reads before it uses the tools.
const about = `Nexus turns a goal into reviewed, tested commits: it plans tasks, lets agents write them in worktrees of their own, runs the project's gates, and puts the result on a branch nexus/RUN.
Start with plan or run, or quick for one small task. A run takes minutes to hours: call run with wait false, then look at status. questions in a status wait for a person: show them to the user before you call answer or approve.
Runs continue without you. RUN is a run's ID or a part of it; without one, the latest is meant.`

func (s *toolServer) serverOffer() mcpserver.ServedToolsAndResources {
	o := mcpserver.ServedToolsAndResources{About: about, Resources: s.listResources()}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		o.Version = info.Main.Version
	}
	for _, t := range allTools() {
		o.Tools = append(o.Tools, s.newTool(t))
	}
	return o
}
