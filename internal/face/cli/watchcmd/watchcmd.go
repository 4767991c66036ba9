// Package watchcmd shows a run in the terminal interface. People's actions there are command
// lines, which run in this process; see package host.
package watchcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/hub"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// Commands returns the commands.
func Commands(a *console.Console, execute host.Execute) []*cobra.Command {
	var how displayOptions
	const use, short = "watch [RUN] [--ascii] [--screen-reader]", "show a run on the whole screen, and steer it with keys"
	c := a.Command(use, short, func(ctx context.Context, args []string) error {
		return show(ctx, a, execute, console.First(args), how)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	c.Args = console.Takes(0, 1)
	c.Flags().BoolVar(&how.ascii, "ascii", false, "use only ASCII, as NEXUS_ASCII=1 does")
	c.Flags().BoolVar(&how.linear, "screen-reader", false, "print sentences instead of drawing, as NEXUS_A11Y=1 does")
	return []*cobra.Command{c}
}

// displayOptions are the options for showing a run.
type displayOptions struct {
	ascii, linear bool
	own           bool // this process conducts the run
}

// Show shows a run in the background, and prints its status when the person detaches.
func Show(ctx context.Context, a *console.Console, execute host.Execute, run nexus.RunID) error {
	return show(ctx, a, execute, string(run), displayOptions{})
}

// Here shows the run that this process conducts, from the start of its tasks until it ends or the
// person detaches. Ctrl-C works as without the screen.
func Here(ctx context.Context, a *console.Console, execute host.Execute, run nexus.RunID) error {
	how := displayOptions{}.with(a)
	how.own = true
	return show(ctx, a, execute, string(run), how)
}

// Attended returns an error if there is no interactive terminal.
func Attended(a *console.Console) error { return attended(a, displayOptions{}.with(a)) }

// with returns the options with the settings from the environment.
func (l displayOptions) with(a *console.Console) displayOptions {
	set := func(name string) bool { v := a.Env(name); return v != "" && v != "0" }
	return displayOptions{own: l.own, ascii: l.ascii || set("NEXUS_ASCII"), linear: l.linear || set("NEXUS_A11Y")}
}

func show(ctx context.Context, a *console.Console, execute host.Execute, name string, how displayOptions) error {
	how = how.with(a)
	settings, _, err := a.Settings()
	if err != nil {
		return err
	}
	if err := tui.Keys(settings.Keys).Check(); err != nil {
		return err
	}
	p, err := a.Open(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := latest(ctx, p, name)
	if err != nil {
		return err
	}
	if err := attended(a, how); err != nil {
		return err
	}
	here, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	hub, err := hub.Open(here, p.Journal, hub.Options{
		Repository: p.Repo.Work, Now: a.Now,
		Place: func(run nexus.RunID, id nexus.AttemptID) (dir, branch string) {
			return worktree.Locate(p.State, run, id)
		},
	})
	if err != nil {
		return err
	}
	s := &source{hub: hub, journal: p.Journal, now: a.Now}
	var beside sync.WaitGroup
	beside.Go(func() {
		err := hub.Follow(here)
		if s.lost(err); p.Journal.CheckFile() != nil {
			leave(err)
		}
	})
	o := tui.Options{
		Run: r.ID, Place: place(ctx, p.Repo), Source: s, Keys: settings.Keys,
		Style: a.Style(a.Out), In: a.In, Out: a.Out, Environ: a.Environ, Clock: a.Now,
		Verbs: &commandRunner{a: a, execute: execute},
	}
	o.Style.Plain, o.Style.ASCII = false, o.Style.ASCII || how.ascii
	if how.own {
		o.Interrupt = interrupt
	}
	last, err := watch(here, o, how)
	if here.Err() != nil && ctx.Err() == nil {
		err = context.Cause(here) // nothing is left to show
	}
	leave(errors.New("the person left"))
	beside.Wait()
	if how.own {
		if errors.Is(err, tui.ErrInterrupted) {
			return nil
		}
		return err
	}
	return parting(a, r.ID, last, err)
}

// place names the repository, and the checked-out branch.
func place(ctx context.Context, r git.Repo) string {
	branch, err := r.Line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil { // no branch: only a name is missing
		branch = ""
	}
	return strings.TrimSpace(filepath.Base(r.Work) + " " + branch)
}

func watch(ctx context.Context, o tui.Options, how displayOptions) (tui.Snapshot, error) {
	if how.linear {
		return runLinear(ctx, o)
	}
	return tui.Watch(ctx, o)
}

// attended returns an error if there is no interactive terminal to draw on.
func attended(a *console.Console, how displayOptions) error {
	in, file := a.In.(*os.File)
	if how.linear || file && in != nil && a.Live(a.Out) && a.Person() {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "there is no terminal to draw on",
		Hint: "nexus attach and nexus logs --follow print lines anywhere, and nexus watch --screen-reader prints sentences.",
	}
}

// latest returns the named run; without a name the latest that has a conductor, or else the
// latest.
func latest(ctx context.Context, p *app.Repository, name string) (journal.Run, error) {
	if name == "" {
		all, err := p.Runs(ctx)
		if err != nil {
			return journal.Run{}, err
		}
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Holder != nil {
				return all[i], nil
			}
		}
	}
	return p.Run(ctx, name)
}

// parting prints the status of the run when the display ends.
func parting(a *console.Console, id nexus.RunID, last tui.Snapshot, err error) error {
	if err != nil && !errors.Is(err, tui.ErrInterrupted) {
		return err
	}
	switch r := last.Run; {
	case r.Status.Ended():
		a.Say("run %s is %s: %d of %s landed; for details: nexus report %s", id, r.Status, r.Counts.Landed, view.Count(r.Counts.Total, "task"), id)
	case last.Interrupted:
		a.Say("run %s is not in progress; nothing is lost, continue with: nexus resume %s", id, id)
	default:
		a.Say("run %s continues without you; nexus watch %s shows it again, nexus stop --run %s ends it", id, id, id)
	}
	if err != nil {
		return console.ExitError(console.CodeInterrupted)
	}
	return nil
}
