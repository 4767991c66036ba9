// Package servecmd implements the command "nexus serve".
package servecmd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/noticesetup"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/questionchannelsetup"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/common/projectionhub"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/api"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ServeResult is the JSON output of nexus serve.
type ServeResult struct {
	Address  string   `json:"address"`
	URL      string   `json:"url"` // logs a browser in, unless the token was set by the user
	Channels []string `json:"channels"`
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Execute host.ExecuteFunc // runs what people do on the pages

	Listen       string // address and port, instead of channels.web.listen
	Public       bool   // other machines may reach it
	Cert, Key    string // files for TLS, in PEM
	BehindProxy  bool   // a proxy in front does TLS
	TrustForward bool   // trust the X-Forwarded-Host of that proxy
	Hosts        []string
	OpenAPI      bool // print the description of the API instead
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, execute host.ExecuteFunc, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, Execute: execute}
	if run == nil {
		run = serve
	}
	const use, short = "serve [--listen ADDRESS:PORT] [--json]", "serve the web dashboard, its API and the configured channels"
	command := c.Command(use, short, func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	f := command.Flags()
	f.StringVar(&o.Listen, "listen", "", "`ADDRESS:PORT` to serve at, instead of channels.web.listen; port 0 picks a free one")
	f.BoolVar(&o.Public, "public", false, "let other machines reach it; requires your own token (channels.web.secret_env) and TLS")
	f.StringVar(&o.Cert, "tls-cert", "", "`FILE` with the certificate for TLS, in PEM")
	f.StringVar(&o.Key, "tls-key", "", "`FILE` with the key of the certificate")
	f.BoolVar(&o.BehindProxy, "behind-proxy", false, "a proxy in front does TLS; give its name with --host")
	f.BoolVar(&o.TrustForward, "forwarded-host", false, "trust the X-Forwarded-Host of that proxy")
	f.StringSliceVar(&o.Hosts, "host", nil, "additional host `NAME` that it may be called by, such as that of a proxy")
	f.BoolVar(&o.OpenAPI, "openapi", false, "print the description of the API (OpenAPI 3.1) and exit")
	c.JSONFlag(command)
	command.AddCommand(NewToken(c))
	return command
}

// serve serves until the context ends, or prints the description of the API.
func serve(ctx context.Context, o *Options) error {
	if o.OpenAPI {
		doc, err := api.OpenAPI()
		if err != nil {
			return err
		}
		return o.Console.Print(string(doc) + "\n")
	}
	return startServing(ctx, o, func(s ServeResult) error {
		return o.Console.Answer(s, func(view.OutputStyle) string { return fmt.Sprintf("answer questions at %s\n", s.URL) })
	})
}

// Serve serves a repository on loopback until the context ends. It calls began with the address
// before it serves anything.
func Serve(ctx context.Context, a *console.Console, execute host.ExecuteFunc, began func(ServeResult) error) error {
	return startServing(ctx, &Options{Console: a, Execute: execute}, began)
}

func startServing(ctx context.Context, f *Options, began func(ServeResult) error) error {
	a := f.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	set := settings.Channels
	set.Order = slices.DeleteFunc(slices.Clone(set.Order), func(name string) bool { return name == config.WebChannel })
	if f.Listen != "" {
		set.WebListen = f.Listen
	}
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	crew := questionchannelsetup.Channels{App: &a.App, Place: p, Set: set, Say: a.Say, Deliver: progress.NewDeliverer(a, p, a.Say)}
	return f.serveUntilDone(ctx, crew, settings.Notify, began)
}

// webOptions returns the options of the server, also together with an error about them.
func (f *Options) webOptions(crew questionchannelsetup.Channels) (web.Options, error) {
	o, err := questionchannelsetup.WebOptions(crew.App, crew.Set)
	o.Public, o.Hosts, o.TLSCert, o.TLSKey, o.BehindProxy, o.Forwarded = f.Public, f.Hosts, f.Cert, f.Key, f.BehindProxy, f.TrustForward
	if err != nil && !f.Public {
		return o, err
	}
	o.Book = access.TokenStoreOf(crew.Place.State)
	return o, web.CheckOptions(o)
}

// serveUntilDone serves until the context ends.
func (f *Options) serveUntilDone(ctx context.Context, crew questionchannelsetup.Channels, told config.NotificationSettings, began func(ServeResult) error) error {
	a := f.Console
	if err := questionchannelsetup.Check(crew.App, crew.Place.State, crew.Set); err != nil && !f.Public {
		return err
	}
	o, err := f.webOptions(crew)
	if err != nil {
		return err
	}
	if _, err := o.Book.Entries(); err != nil {
		return err
	}
	watched := healthMonitor{place: crew.Place, now: a.Now, runs: map[nexus.RunID]*state.State{}}
	o.Health = watched.checkHealth
	inbox, err := crew.OpenInbox(ctx)
	if err != nil {
		return err
	}
	if o.ServedRepository, err = NewWebContent(ctx, a, f.Execute, crew.Place); err != nil {
		return err
	}
	o.Metrics = runscmd.MetricsHandler(a, crew.Place)
	server, err := web.Listen(ctx, inbox, o)
	if err != nil {
		return err
	}
	answer := ServeResult{Address: server.Address(), URL: questionchannelsetup.AnswerPageAddress(server, crew.Set), Channels: append([]string{config.WebChannel}, crew.Set.Order...)}
	if err := began(answer); err != nil {
		return err
	}
	told.Link = cmp.Or(told.Link, server.Address())
	stopTelling, err := startNotifications(ctx, crew, told)
	if err != nil {
		return err
	}
	defer stopTelling()
	work, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	all.Go(func() { stop(inbox.Follow(work)) })
	asks := crew
	asks.Deliver = nil // once is enough
	all.Go(func() { crew.DeliverApproved(work, inbox) })
	all.Go(func() { asks.Ask(work) })
	if err := server.Serve(work); err != nil || ctx.Err() != nil {
		if err == nil {
			a.Say("the dashboard is closed; runs continue, and nexus runs --active lists those that have not ended")
		}
		return err
	}
	return context.Cause(work) // the shown data cannot be followed any more
}

// NewWebContent returns the content and the actions of a repository's pages and API.
func NewWebContent(ctx context.Context, a *console.Console, execute host.ExecuteFunc, p *app.Repository) (web.ServedRepository, error) {
	blobs, err := p.OpenBlobStore()
	if err != nil {
		return web.ServedRepository{}, err
	}
	head, err := p.Journal.Head(ctx)
	if err != nil {
		return web.ServedRepository{}, err
	}
	hub, err := projectionhub.OpenHub(ctx, p.Journal, projectionhub.Options{Repository: p.Repo.Work, Now: a.Now})
	if err != nil {
		return web.ServedRepository{}, err
	}
	site := access.WebBackend{Hub: hub, Journal: p.Journal, Blob: blobs.Get, Act: commandRunner(a, execute), Now: a.Now, Place: filepath.Base(p.Repo.Work)}
	return web.ServedRepository{Site: site, Feed: api.OpenFeed(p.Journal, head), Say: a.Say}, nil
}

// commandRunner returns a function that runs command lines on behalf of persons, if their role allows it.
func commandRunner(a *console.Console, execute host.ExecuteFunc) access.PersonCommandFunc {
	return func(ctx context.Context, by access.TokenOwner, o access.CommandInput) access.CommandLineResult {
		if needed := access.MinimumRole(o.Args); !by.HasRole(needed) {
			return access.CommandLineResult{
				Code: access.CodeRole, Text: fmt.Sprintf("nexus %s needs the role %s, and %s has the role %s", console.FirstArg(o.Args), needed, by.Name, by.Role),
				Hint: "Ask the person who runs the server for another token (nexus serve token add).", Exit: int(console.CodeUsage),
			}
		}
		args := o.Args
		if a.Dir != "" {
			// A run in the background starts in the directory of the server.
			args = append([]string{"-C", a.Dir}, args...)
		}
		order := host.Invocation{Args: args, Stdin: o.Stdin, Actor: by.Actor(), Leaves: true, Person: true, Watched: true}
		r := host.Host{Console: a, Execute: execute}.Run(ctx, order)
		out := access.CommandLineResult{Text: r.Text, Data: r.Data, Exit: r.Code}
		if r.Failure != nil {
			out.Text, out.Hint, out.Code = r.Failure.Message, r.Failure.Hint, string(r.Failure.Code)
		}
		return out
	}
}

// startNotifications sends notifications about all runs, until the returned function is called.
func startNotifications(ctx context.Context, crew questionchannelsetup.Channels, told config.NotificationSettings) (stop func(), err error) {
	d, err := noticesetup.NewNotifier(crew.App, crew.Place, told, crew.Say)
	if err != nil {
		crew.Say("%s", err) // the working channels continue
	}
	if len(d.Ways) == 0 {
		return func() {}, nil
	}
	return d.Start(ctx)
}
