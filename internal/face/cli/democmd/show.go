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

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/watchcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// seated refuses to draw where nobody sits in front of it.
func (d *stage) seated() error {
	if !d.watched {
		return nil
	}
	return watchcmd.Attended(d.app)
}

// watch leaves the demo in a process in the background, with its model, and shows
// it on the whole screen. Leaving that ends nothing.
func (d *stage) watch(ctx context.Context) error {
	inner := d.inside("http://127.0.0.1:9") // the model is that of the other process
	other := inner.Copy()
	other.Args, other.Environ = []string{"demo", "--slow", "--dir", d.home}, d.app.Environ
	begun, err := progress.Leave(ctx, other, progress.Order{Yes: true})
	if err != nil {
		return err
	}
	err = watchcmd.Show(ctx, inner, d.execute, begun.Run)
	d.leave(context.WithoutCancel(ctx), inner)
	return err
}

// serve works on the goal while the pages show it, and serves them until the
// context ends.
func (d *stage) serve(ctx context.Context, inner *console.Console) (err error) {
	if err := d.sample(ctx, inner); err != nil {
		return err
	}
	work, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	played := make(chan error, 1)
	err = runscmd.Serve(work, inner, d.execute, func(s runscmd.Served) error {
		d.app.Say("the demo is at %s\nOpen it in a browser. Ctrl-C ends it.", s.URL)
		quiet := inner.Copy()
		quiet.Out, quiet.Host.Watched = io.Discard, true
		quiet.Host.Began = func(id nexus.RunID) { d.app.Say("%s", addresses(s.Address, id)) }
		all.Go(func() {
			err := d.conduct(work, quiet)
			d.told(ctx, err)
			if _, ended := errors.AsType[console.ExitError](err); err != nil && !ended {
				stop(err)
			}
			played <- err
		})
		return nil
	})
	if ctx.Err() == nil {
		return cmp.Or(context.Cause(work), err)
	}
	all.Wait()
	select {
	case ended := <-played: // it was over before, or was interrupted now
		if errors.Is(ended, console.ExitError(console.CodeInterrupted)) {
			d.app.Say("interrupted; nothing is lost, continue with: %s", d.again())
		}
		return cmp.Or(ended, err)
	default:
		return err
	}
}

// told says how the demo ended while its pages are still served.
func (d *stage) told(ctx context.Context, err error) {
	if ctx.Err() == nil && err == nil {
		d.app.Say("the run is done; its pages stay until you press Ctrl-C")
	}
}

// addresses are screens of the run that show most.
func addresses(base string, run nexus.RunID) string {
	var b strings.Builder
	b.WriteString("once the browser is in, these show most:")
	for _, s := range [][2]string{{"", "board"}, {"graph", "graph"}, {"timeline", "timeline"}, {"t/T4/diff", "what T4 changes"}} {
		b.WriteString("\n  " + base + "/r/" + url.PathEscape(string(run)) + "/" + s[0] + "  " + s[1])
	}
	return b.String()
}

// leave says where the sample is, and how to look around in it.
func (d *stage) leave(ctx context.Context, inner *console.Console) {
	fixed := "T4" // a task that shows most
	if d.genesis {
		fixed = "T1"
	}
	state := filepath.Join(d.home, "state")
	text := "the sample and its journal are kept; look around:\n  cd " + inner.Dir + "; export XDG_STATE_HOME=" + state +
		"\n  nexus show " + fixed + "             # what was tried, found and fixed\n  nexus logs                # everything that happened" +
		"\n  nexus report              # how well it went\n  nexus watch               # the run on the whole screen" +
		"\n  nexus serve               # the run in the browser: open the address that it prints" +
		"\n  git log --stat --branches # what landed\nremove them with: rm -rf " + d.home + "\nto open in a browser:"
	if page := filepath.Join(d.home, "report.html"); d.report(ctx, inner, page) {
		text += "\n  " + (&url.URL{Scheme: "file", Path: page}).String() + "   # what came of it"
	}
	if !d.genesis {
		text += "\n  nexus demo --serve --dir " + d.home + "   # prints the address of the dashboard"
	}
	d.app.Say("%s", text)
}

// report writes what came of the run as a page, and reports whether there was
// anything to write.
func (d *stage) report(ctx context.Context, inner *console.Console, page string) bool {
	h := host.Host{Console: inner, Execute: d.execute}
	r := h.Run(context.WithoutCancel(ctx), host.Order{Args: []string{"-C", inner.Dir, "report", "--html", page}})
	return r.Failure == nil && r.Code == console.CodeOK
}
