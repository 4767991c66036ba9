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
	"github.com/nexus-ai-builder/nexus/internal/face/cli/servecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/watchcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// checkTerminal returns an error if there is no interactive terminal to draw on.
func (d *demoStage) checkTerminal() error {
	if !d.watched {
		return nil
	}
	return watchcmd.CheckTerminal(d.app)
}

// showFullScreen moves the demo with its model into a background process, and shows it on the whole
// screen. Closing the screen does not end the demo.
func (d *demoStage) showFullScreen(ctx context.Context) error {
	inner := d.innerConsole("http://127.0.0.1:9") // the model is in the other process
	other := inner.Copy()
	other.Args, other.Environ = []string{"demo", "--slow", "--dir", d.home}, d.app.Environ
	show := func(run nexus.RunID) error { return watchcmd.ShowRun(ctx, inner, d.execute, run) }
	if d.genesis {
		other.Args = append(other.Args, "genesis")
		inner.Dir = filepath.Join(d.home, genesisName)
		show = func(run nexus.RunID) error { return d.watchBoth(ctx, inner, run) }
	}
	begun, err := progress.StartInBackground(ctx, other, progress.RunCommandOptions{Yes: true})
	if err != nil {
		return err
	}
	err = show(begun.Run)
	d.sayWhereSampleIs(context.WithoutCancel(ctx), inner)
	return err
}

// errBuilds ends the display of an interview because its result is being built.
var errBuilds = errors.New("the project is being built from the interview")

// watchBoth shows an interview until it has started a run that builds something, and then that
// run. If the user closes the screen earlier, nothing more is shown.
func (d *demoStage) watchBoth(ctx context.Context, inner *console.Console, interview nexus.RunID) error {
	p, err := inner.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	here, end := context.WithCancelCause(ctx)
	var then nexus.RunID
	var beside sync.WaitGroup
	beside.Go(func() {
		if then = awaitSecondRun(here, p); then != "" {
			end(errBuilds)
		}
	})
	err = watchcmd.ShowRun(here, inner, d.execute, interview)
	end(nil)
	beside.Wait()
	if then == "" || ctx.Err() != nil {
		return err
	}
	return watchcmd.ShowRun(ctx, inner, d.execute, then)
}

// looks is the interval of the check for another run.
const looks = 200 * time.Millisecond

// awaitSecondRun waits for the run after the first one, and returns it; empty if the context ends first.
func awaitSecondRun(ctx context.Context, p *app.Repository) nexus.RunID {
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

// serveDemo works on the goal and serves the pages that show it, until the context ends.
func (d *demoStage) serveDemo(ctx context.Context, inner *console.Console) error {
	if !d.genesis {
		if err := d.createSample(ctx, inner); err != nil {
			return err
		}
	}
	work, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	played := make(chan error, 1)
	began := make(chan nexus.RunID, 2) // an interview, and the run that it starts
	begin := func() { all.Go(func() { played <- d.playWhileServing(ctx, work, stop, inner, began) }) }
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
	err := servecmd.Serve(work, inner, d.execute, func(s servecmd.ServeResult) error {
		d.app.Say("the demo is at %s\nOpen it in a browser. Ctrl-C ends it.", s.URL)
		all.Go(func() { d.printPageAddresses(work, s.Address, began) })
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
			d.app.Say("interrupted; nothing is lost, continue with: %s", d.continueCommand())
		}
		return cmp.Or(ended, err)
	default:
		return err
	}
}

// playWhileServing runs the demo while its pages are served. An error ends the pages.
func (d *demoStage) playWhileServing(ctx, work context.Context, stop context.CancelCauseFunc, inner *console.Console, began chan<- nexus.RunID) error {
	quiet := inner.Copy()
	quiet.Out, quiet.Host.Watched = io.Discard, true
	quiet.Host.Began = func(id nexus.RunID) { began <- id }
	play := d.finishRun
	if d.genesis {
		play = d.playNewProject
	}
	err := play(work, quiet)
	d.sayEnd(ctx, err)
	if _, ended := errors.AsType[console.ExitError](err); err != nil && !ended {
		stop(err)
	}
	return err
}

// printPageAddresses prints the most useful pages of each run that begins.
func (d *demoStage) printPageAddresses(ctx context.Context, base string, began <-chan nexus.RunID) {
	most := []demoPage{{"", "board"}, {"graph", "graph"}, {"timeline", "timeline"}, {"t/T4/diff", "what T4 changes"}}
	if d.genesis {
		most = []demoPage{{"interview", "interview"}}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-began:
			d.app.Say("%s", pageAddresses(base, id, most))
			most = []demoPage{{"", "board"}, {"graph", "graph"}, {"timeline", "timeline"}, {"t/T1/diff", "what T1 changes"}}
		}
	}
}

// sayEnd prints how the demo ended while its pages are still served.
func (d *demoStage) sayEnd(ctx context.Context, err error) {
	if ctx.Err() == nil && err == nil {
		d.app.Say("the run is done; its pages stay until you press Ctrl-C")
	}
}

// demoPage is a page of a run, and its description.
type demoPage struct{ path, what string }

// pageAddresses lists the most useful pages of a run.
func pageAddresses(base string, run nexus.RunID, most []demoPage) string {
	var b strings.Builder
	b.WriteString("once the browser shows the page, look at these:")
	for _, s := range most {
		b.WriteString("\n  " + base + "/r/" + url.PathEscape(string(run)) + "/" + s.path + "  " + s.what)
	}
	return b.String()
}

// sayWhereSampleIs prints the location of the sample, and commands to explore it.
func (d *demoStage) sayWhereSampleIs(ctx context.Context, inner *console.Console) {
	fixed := "T4" // a task with much to show
	if d.genesis {
		fixed = "T1"
	}
	state := filepath.Join(d.home, "state")
	text := "the sample and its journal are kept; look around:\n  cd " + inner.Dir + "; export XDG_STATE_HOME=" + state +
		"\n  nexus status " + fixed + "           # attempts, findings and fixes\n  nexus logs                # everything that happened" +
		"\n  nexus status --report     # the report\n  nexus watch               # the run on the whole screen" +
		"\n  nexus serve               # the run in the browser: open the address that it prints" +
		"\n  git log --stat --branches # the landed commits\nremove them with: rm -rf " + d.home + "\nto open in a browser:"
	if page := filepath.Join(d.home, "report.html"); d.writeReportPage(ctx, inner, page) {
		text += "\n  " + (&url.URL{Scheme: "file", Path: page}).String() + "   # the result"
	}
	if !d.genesis {
		text += "\n  nexus demo --serve --dir " + d.home + "   # prints the address of the dashboard"
	}
	d.app.Say("%s", text)
}

// writeReportPage writes the result of the run as a page, and reports whether there was a result.
func (d *demoStage) writeReportPage(ctx context.Context, inner *console.Console, page string) bool {
	h := host.Host{Console: inner, Execute: d.execute}
	r := h.Run(context.WithoutCancel(ctx), host.Invocation{Args: []string{"-C", inner.Dir, "status", "--html", page}})
	return r.Failure == nil && r.Code == console.CodeOK
}
