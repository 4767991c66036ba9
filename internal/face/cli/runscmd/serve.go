package runscmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/askpeople"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/tellpeople"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// served is what nexus serve prints with --json.
type served struct {
	Address  string   `json:"address"`
	URL      string   `json:"url"` // lets a browser in, unless the token is one that was set
	Channels []string `json:"channels"`
}

func serveCommand(a *console.Console) *cobra.Command {
	var listen string
	var public bool
	var hosts []string
	c := a.Command("serve [--listen ADDRESS:PORT] [--json]", "ask people on a web page and over the configured channels", func(ctx context.Context, _ []string) error {
		settings, _, err := a.Settings()
		if err != nil {
			return err
		}
		set := settings.Channels
		set.Order = slices.DeleteFunc(slices.Clone(set.Order), func(name string) bool { return name == config.WebChannel })
		if listen != "" {
			set.WebListen = listen
		}
		p, err := a.Open(ctx, app.Makes)
		if err != nil {
			return err
		}
		defer p.Close()
		crew := askpeople.Crew{App: &a.App, Place: p, Set: set, Say: a.Say, Deliver: progress.Deliverer(a, p, a.Say)}
		return serve(ctx, a, crew, settings.Notify, public, hosts)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	f := c.Flags()
	f.StringVar(&listen, "listen", "", "`ADDRESS:PORT` of the page, instead of channels.web.listen; port 0 picks a free one")
	f.BoolVar(&public, "public", false, "let other machines reach the page; requires your own token (channels.web.token_env)")
	f.StringSliceVar(&hosts, "host", nil, "additional host `NAME` of the page, such as that of a reverse proxy")
	a.JSONFlag(c)
	return c
}

// serve asks people until the context ends.
func serve(ctx context.Context, a *console.Console, crew askpeople.Crew, told config.Notify, public bool, hosts []string) error {
	if err := askpeople.Check(crew.App, crew.Place.State, crew.Set); err != nil {
		return err
	}
	o, err := askpeople.Page(crew.App, crew.Set)
	if err != nil && !public {
		return err
	}
	o.Public, o.Hosts = public, hosts
	watched := monitor{place: crew.Place, now: a.Now, runs: map[nexus.RunID]*state.State{}}
	o.Health = watched.look
	inbox, err := crew.Inbox(ctx)
	if err != nil {
		return err
	}
	page, err := crew.Listen(ctx, inbox, o)
	if err != nil {
		return err
	}
	answer := served{Address: page.Address(), URL: askpeople.Where(page, crew.Set), Channels: append([]string{config.WebChannel}, crew.Set.Order...)}
	if err := a.Answer(answer, func(view.Style) string { return fmt.Sprintf("answer questions at %s\n", answer.URL) }); err != nil {
		return err
	}
	told.Link = cmp.Or(told.Link, page.Address())
	stopTelling, err := tell(ctx, crew, told)
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
	all.Go(func() { crew.Hand(work, inbox) })
	all.Go(func() { asks.Ask(work) })
	return page.Serve(work)
}

// tell lets people hear what happens in all runs, until what it returns is called.
func tell(ctx context.Context, crew askpeople.Crew, told config.Notify) (stop func(), err error) {
	d, err := tellpeople.Desk(crew.App, crew.Place, told, crew.Say)
	if err != nil {
		crew.Say("%s", err) // the ways that work go on
	}
	if len(d.Ways) == 0 {
		return func() {}, nil
	}
	return d.Start(ctx, "")
}
