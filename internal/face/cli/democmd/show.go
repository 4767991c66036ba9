package democmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/watchcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// seated returns an error if there is no interactive terminal to draw on.
func (d *stage) seated() error {
	if !d.watched {
		return nil
	}
	return watchcmd.Attended(d.app)
}

// watch moves the demo with its model into a background process, and shows it on the whole
// screen. Closing the screen does not end the demo.
func (d *stage) watch(ctx context.Context) error {
	inner := d.inside("http://127.0.0.1:9") // the model is in the other process
	other := inner.Copy()
	other.Args, other.Environ = []string{"demo", "--slow", "--dir", d.home}, d.app.Environ
	show := func(run nexus.RunID) error { return watchcmd.Show(ctx, inner, d.execute, run) }
	if d.genesis {
		other.Args = append(other.Args, "genesis")
		inner.Dir = filepath.Join(d.home, genesisName)
		show = func(run nexus.RunID) error { return d.watchBoth(ctx, inner, run) }
	}
	begun, err := progress.StartInBackground(ctx, other, progress.Order{Yes: true})
	if err != nil {
		return err
	}
	err = show(begun.Run)
	d.leave(context.WithoutCancel(ctx), inner)
	return err
}

// errBuilds ends the display of an interview because its result is being built.
var errBuilds = errors.New("Nexus builds the project from the interview")

// watchBoth shows an interview until it has started a run that builds something, and then that
// run. If the user closes the screen earlier, nothing more is shown.
func (d *stage) watchBoth(ctx context.Context, inner *console.Console, interview nexus.RunID) error {
	p, err := inner.Open(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	here, end := context.WithCancelCause(ctx)
	var then nexus.RunID
	var beside sync.WaitGroup
	beside.Go(func() {
		if then = after(here, p); then != "" {
			end(errBuilds)
		}
	})
	err = watchcmd.Show(here, inner, d.execute, interview)
	end(nil)
	beside.Wait()
	if then == "" || ctx.Err() != nil {
		return err
	}
	return watchcmd.Show(ctx, inner, d.execute, then)
}

// looks is the interval of the check for another run.
const looks = 200 * time.Millisecond

// after waits for the run after the first one, and returns it; empty if the context ends first.
func after(ctx context.Context, p *app.Repository) nexus.RunID {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ""
		case <-tick.C:
			if all, err := p.Runs(ctx); err == nil && len(all) > 1 { // the display reports read errors
				return all[len(all)-1].ID
			}
		}
	}
}

// serve works on the goal and serves the pages that show it, until the context ends.
func (d *stage) serve(ctx context.Context, inner *console.Console) error {
	if !d.genesis {
		if err := d.sample(ctx, inner); err != nil {
			return err
		}
	}
	work, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	played := make(chan error, 1)
	began := make(chan nexus.RunID, 2) // an interview, and the run that it starts
	begin := func() { all.Go(func() { played <- d.perform(ctx, work, stop, inner, began) }) }
	if d.genesis {
		begin()
		select {
		case id := <-began: // there is a page to show
			began <- id
			inner.Dir = filepath.Join(d.home, genesisName)
		case err := <-played:
			return err
		}
	}
	err := runscmd.Serve(work, inner, d.execute, func(s runscmd.Served) error {
		d.app.Say("the demo is at %s\nOpen it in a browser. Ctrl-C ends it.", s.URL)
		all.Go(func() { d.guide(work, s.Address, began) })
		if !d.genesis {
			begin()
		}
		return nil
	})
	if ctx.Err() == nil {
		return cmp.Or(context.Cause(work), err)
	}
	all.Wait()
	select {
	case ended := <-played: // it was over before, or was interrupted now
		if errors.Is(ended, console.ExitError(console.CodeInterrupted)) && !d.genesis {
			d.app.Say("interrupted; nothing is lost, continue with: %s", d.again())
		}
		return cmp.Or(ended, err)
	default:
		return err
	}
}

// perform runs the demo while its pages are served. An error ends the pages.
func (d *stage) perform(ctx, work context.Context, stop context.CancelCauseFunc, inner *console.Console, began chan<- nexus.RunID) error {
	quiet := inner.Copy()
	quiet.Out, quiet.Host.Watched = io.Discard, true
	quiet.Host.Began = func(id nexus.RunID) { began <- id }
	play := d.conduct
	if d.genesis {
		play = d.begin
	}
	err := play(work, quiet)
	d.told(ctx, err)
	if _, ended := errors.AsType[console.ExitError](err); err != nil && !ended {
		stop(err)
	}
	return err
}

// guide prints the most useful pages of each run that begins.
func (d *stage) guide(ctx context.Context, base string, began <-chan nexus.RunID) {
	most := []screen{{"", "board"}, {"graph", "graph"}, {"timeline", "timeline"}, {"t/T4/diff", "what T4 changes"}}
	if d.genesis {
		most = []screen{{"interview", "interview"}}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-began:
			d.app.Say("%s", addresses(base, id, most))
			most = []screen{{"", "board"}, {"graph", "graph"}, {"timeline", "timeline"}, {"t/T1/diff", "what T1 changes"}}
		}
	}
}

// told prints how the demo ended while its pages are still served.
func (d *stage) told(ctx context.Context, err error) {
	if ctx.Err() == nil && err == nil {
		d.app.Say("the run is done; its pages stay until you press Ctrl-C")
	}
}

// screen is a page of a run, and its description.
type screen struct{ path, what string }

// addresses lists the most useful pages of a run.
func addresses(base string, run nexus.RunID, most []screen) string {
	var b strings.Builder
	b.WriteString("once the browser shows the page, look at these:")
	for _, s := range most {
		b.WriteString("\n  " + base + "/r/" + url.PathEscape(string(run)) + "/" + s.path + "  " + s.what)
	}
	return b.String()
}

// leave prints the location of the sample, and commands to explore it.
func (d *stage) leave(ctx context.Context, inner *console.Console) {
	fixed := "T4" // a task with much to show
	if d.genesis {
		fixed = "T1"
	}
	state := filepath.Join(d.home, "state")
	text := "the sample and its journal are kept; look around:\n  cd " + inner.Dir + "; export XDG_STATE_HOME=" + state +
		"\n  nexus show " + fixed + "             # attempts, findings and fixes\n  nexus logs                # everything that happened" +
		"\n  nexus report              # the report\n  nexus watch               # the run on the whole screen" +
		"\n  nexus serve               # the run in the browser: open the address that it prints" +
		"\n  git log --stat --branches # the landed commits\nremove them with: rm -rf " + d.home + "\nto open in a browser:"
	if page := filepath.Join(d.home, "report.html"); d.report(ctx, inner, page) {
		text += "\n  " + (&url.URL{Scheme: "file", Path: page}).String() + "   # the result"
	}
	if !d.genesis {
		text += "\n  nexus demo --serve --dir " + d.home + "   # prints the address of the dashboard"
	}
	d.app.Say("%s", text)
}

// report writes the result of the run as a page, and reports whether there was a result.
func (d *stage) report(ctx context.Context, inner *console.Console, page string) bool {
	h := host.Host{Console: inner, Execute: d.execute}
	r := h.Run(context.WithoutCancel(ctx), host.Invocation{Args: []string{"-C", inner.Dir, "report", "--html", page}})
	return r.Failure == nil && r.Code == console.CodeOK
}
