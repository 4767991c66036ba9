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
	"github.com/nexus-ai-builder/nexus/internal/face/common/projectionhub"
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Execute host.ExecuteFunc // runs what the person does
	Run     string           // as a person names it; empty: the default run
	ASCII   bool             // use only ASCII
	Linear  bool             // print sentences instead of drawing
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, execute host.ExecuteFunc, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, Execute: execute}
	if run == nil {
		run = watch
	}
	const use, short = "watch [RUN] [--ascii] [--screen-reader]", "show a run on the whole screen, and steer it with keys"
	command := c.Command(use, short, func(ctx context.Context, args []string) (err error) {
		if o.Run, err = console.NamedRun(o.Run, args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 1)
	command.Flags().BoolVar(&o.ASCII, "ascii", false, "use only ASCII, as NEXUS_ASCII=1 does")
	command.Flags().BoolVar(&o.Linear, "screen-reader", false, "print sentences instead of drawing, as NEXUS_A11Y=1 does")
	c.RunFlag(command, &o.Run)
	return command
}

// watch shows the run.
func watch(ctx context.Context, o *Options) error {
	return showRun(ctx, o.Console, o.Execute, o.Run, displayOptions{ascii: o.ASCII, linear: o.Linear})
}

// displayOptions are the options for showing a run.
type displayOptions struct {
	ascii, linear bool
	own           bool // this process conducts the run
}

// ShowRun shows a run in the background, and prints its status when the person detaches.
func ShowRun(ctx context.Context, a *console.Console, execute host.ExecuteFunc, run nexus.RunID) error {
	return showRun(ctx, a, execute, string(run), displayOptions{})
}

// ShowOwnRun shows the run that this process conducts, from the start of its tasks until it ends or the
// person detaches. Ctrl-C works as without the screen.
func ShowOwnRun(ctx context.Context, a *console.Console, execute host.ExecuteFunc, run nexus.RunID) error {
	how := displayOptions{}.withEnvironment(a)
	how.own = true
	return showRun(ctx, a, execute, string(run), how)
}

// CheckTerminal returns an error if there is no interactive terminal.
func CheckTerminal(a *console.Console) error {
	return checkDrawable(a, displayOptions{}.withEnvironment(a))
}

// withEnvironment returns the options with the settings from the environment.
func (l displayOptions) withEnvironment(a *console.Console) displayOptions {
	set := func(name string) bool { v := a.Env(name); return v != "" && v != "0" }
	return displayOptions{own: l.own, ascii: l.ascii || set("NEXUS_ASCII"), linear: l.linear || set("NEXUS_A11Y")}
}

func showRun(ctx context.Context, a *console.Console, execute host.ExecuteFunc, name string, how displayOptions) error {
	how = how.withEnvironment(a)
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	if err := tui.KeyBindings(settings.Keys).Check(); err != nil {
		return err
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := a.FindRunToWatch(ctx, p, name)
	if err != nil {
		return err
	}
	if err := checkDrawable(a, how); err != nil {
		return err
	}
	here, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	hub, err := projectionhub.OpenHub(here, p.Journal, projectionhub.Options{
		Repository: p.Repo.Work, Now: a.Now,
		Place: func(run nexus.RunID, id nexus.AttemptID) (dir, branch string) {
			return worktree.LocateAttemptFiles(p.State, run, id)
		},
	})
	if err != nil {
		return err
	}
	s := &hubSource{hub: hub, journal: p.Journal, now: a.Now}
	var beside sync.WaitGroup
	beside.Go(func() {
		err := hub.Follow(here)
		if s.recordFailure(err); p.Journal.CheckFile() != nil {
			leave(err)
		}
	})
	o := tui.Options{
		Run: r.ID, Place: repositoryAndBranch(ctx, p.Repo), Source: s, Keys: settings.Keys,
		Style: a.Style(a.Out), In: a.In, Out: a.Out, Environ: a.Environ, Clock: a.Now,
		Verbs: &commandRunner{a: a, execute: execute},
	}
	o.Style.Plain, o.Style.ASCII = false, o.Style.ASCII || how.ascii
	if how.own {
		o.Interrupt = interruptSelf
	}
	last, err := watchRun(here, o, how)
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
	return sayRunState(a, r.ID, last, err)
}

// repositoryAndBranch names the repository, and the checked-out branch.
func repositoryAndBranch(ctx context.Context, r git.Repo) string {
	branch, err := r.RunLine(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil { // no branch: only a name is missing
		branch = ""
	}
	return strings.TrimSpace(filepath.Base(r.Work) + " " + branch)
}

func watchRun(ctx context.Context, o tui.Options, how displayOptions) (tui.RunSnapshot, error) {
	if how.linear {
		return runLinear(ctx, o)
	}
	return tui.RunInterface(ctx, o)
}

// checkDrawable returns an error if there is no interactive terminal to draw on.
func checkDrawable(a *console.Console, how displayOptions) error {
	in, file := a.In.(*os.File)
	if how.linear || file && in != nil && a.CanRedraw(a.Out) && a.HasPerson() {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "there is no terminal to draw on",
		Hint: "nexus attach and nexus logs --follow print lines anywhere, and nexus watch --screen-reader prints sentences.",
	}
}

// sayRunState prints the status of the run when the display ends.
func sayRunState(a *console.Console, id nexus.RunID, last tui.RunSnapshot, err error) error {
	if err != nil && !errors.Is(err, tui.ErrInterrupted) {
		return err
	}
	switch r := last.Run; {
	case r.Status.HasEnded():
		a.Say("run %s is %s: %d of %s landed; for details: nexus status --report %s", id, r.Status, r.Counts.Landed, view.CountWithNoun(r.Counts.Total, "task"), id)
	case last.Interrupted:
		a.Say("run %s is not in progress; nothing is lost, continue with: nexus resume %s", id, id)
	default:
		a.Say("run %s continues without you; nexus watch %s shows it again, nexus stop %s ends it", id, id, id)
	}
	if err != nil {
		return console.ExitError(console.CodeInterrupted)
	}
	return nil
}
