package progress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/background"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// person is the word for a process whose questions a person at a terminal will answer.
const person = "person"

// keptLog is how long the messages of a process in the background are kept.
const keptLog = 30 * 24 * time.Hour

// DetachFlag is the flag of commands whose run can go on in the background.
func DetachFlag(c *cobra.Command, o *Order) {
	c.Flags().BoolVarP(&o.Detach, "detach", "d", false,
		"continue in the background; nexus attach shows the run, nexus ps lists all in progress")
	c.MarkFlagsMutuallyExclusive("detach", "jsonl")
}

// WatchFlag is the flag of commands whose run can be shown on the whole screen.
func WatchFlag(c *cobra.Command, o *Order) {
	c.Flags().BoolVarP(&o.Watch, "watch", "w", false,
		"start the run in the background, and show it on the whole screen (ui.watch)")
	c.Flags().BoolVar(&o.Lines, "no-watch", false, "show the run in lines, not on the whole screen (ui.watch)")
	c.MarkFlagsMutuallyExclusive("watch", "no-watch")
	c.MarkFlagsMutuallyExclusive("watch", "detach")
	c.MarkFlagsMutuallyExclusive("watch", "jsonl")
	c.MarkFlagsMutuallyExclusive("watch", "json")
	c.MarkFlagsMutuallyExclusive("watch", "headless")
}

// NeedsFullScreen reports whether the run is to be shown on the whole screen: a flag or the
// setting says so, a person is there, and this is not the process that does it. Where it
// is to be once its tasks begin, and the run goes on here, that is noted in the order.
func (o *Order) NeedsFullScreen(a *console.Console) (bool, error) {
	if a.Host.Parent != nil || a.Host.Served || a.Host.Watched || a.Watch == nil || o.JSONL || a.JSON || o.Headless || a.Played() || o.Lines {
		return false, nil
	}
	if !o.Watch {
		settings, _, err := a.Settings()
		if err != nil || settings.Watch == config.WatchNever || !a.Person() || !a.Live(a.Out) {
			return false, err
		}
		if settings.Watch != config.WatchAlways {
			o.Screen = a.Screen != nil && !o.Detach && a.Fits()
			return false, nil
		}
	} else if !a.Person() || !a.Live(a.Out) {
		return false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no terminal to show the run on",
			Hint: "Leave out --watch: progress is printed in lines. Or use --detach, and nexus watch at a terminal.",
		}
	}
	return true, nil
}

// BackgroundStarter returns how the run is left in the background: shown, or not; nil: it is not.
func (o *Order) BackgroundStarter(a *console.Console, dry bool) (func(context.Context, *console.Console, Order) error, error) {
	watched, err := o.NeedsFullScreen(a)
	switch {
	case err != nil:
		return nil, err
	case watched && !dry:
		return StartInBackgroundAndWatch, nil
	case o.NeedsBackground(a):
		return StartInBackgroundAndReport, nil
	}
	return nil, nil //nolint:nilnil // it stays here
}

// StartInBackgroundAndWatch leaves a run in the background, and shows it on the whole screen until the
// person leaves that.
func StartInBackgroundAndWatch(ctx context.Context, a *console.Console, o Order) error {
	d, err := StartInBackground(ctx, a, o)
	if err != nil {
		return err
	}
	return a.Watch(ctx, d.Run)
}

// NeedsBackground reports whether the command line is to be done in the background, and
// this is not the process there.
func (o *Order) NeedsBackground(a *console.Console) bool { return o.Detach && a.Host.Parent == nil }

// NeedsPlanConsent reports whether the person who started this process, in the background or
// at a terminal that may be gone by now, is to agree to a plan.
func NeedsPlanConsent(a *console.Console) bool {
	return a.Host.Parent != nil && a.Host.Parent.Word == person || a.Host.Front != nil
}

// BackgroundRun is what a command prints with --json that leaves its run in the background.
type BackgroundRun struct {
	Run nexus.RunID `json:"run"`
	PID int         `json:"pid"`
	Log string      `json:"log"` // file with the messages of the process

	consulted bool // it waits for a person to agree to its plan
}

// StartInBackgroundAndReport has the command line done by a process in the background, and returns
// when a run is under way there. What ends before is as if it were done here.
func StartInBackgroundAndReport(ctx context.Context, a *console.Console, o Order) error {
	d, err := StartInBackground(ctx, a, o)
	if err != nil {
		return err
	}
	return a.Answer(d, func(s view.Style) string {
		about := ""
		if d.consulted {
			about = "it waits for you to approve its plan\n"
		}
		return continues(s, string(d.Run), d.PID, about)
	})
}

// continues says that a process goes on with a run, and how to come back to it.
func continues(s view.Style, run string, pid int, about string) string {
	return fmt.Sprintf("run %s continues in the background, as process %d\n", run, pid) + about +
		s.Dim("  nexus attach "+run+"      # see it, and answer its questions") + "\n" +
		s.Dim("  nexus stop --run "+run+"  # end it") + "\n"
}

// StartInBackground has the command line done by a process in the background, and returns the
// run that is under way there. What ends before is printed as if it were done here.
func StartInBackground(ctx context.Context, a *console.Console, o Order) (BackgroundRun, error) {
	if a.Host.Served && !a.Host.Leaves {
		return BackgroundRun{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "a server does not leave runs in the background",
			Hint: "Leave out --detach: a run that a server started continues by itself.",
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return BackgroundRun{}, err
	}
	out, log, err := outputs(logs(a))
	if err != nil {
		return BackgroundRun{}, err
	}
	defer out.Close() //nolint:errcheck // only read from now on
	defer log.Close() //nolint:errcheck // only read from now on
	order := background.Options{Exe: exe, Args: a.Args, Env: a.Environ, Out: out, Err: log, Word: "nobody"}
	switch in, file := a.In.(*os.File); {
	case a.Host.Leaves:
		order.Word = person // who reads the pages is asked there
	case a.Person():
		if !o.Headless && !o.Yes {
			order.Word = person
		}
	case file:
		order.In = in // the goal may come from there
	}
	p, err := background.Start(order)
	if err != nil {
		return BackgroundRun{}, errors.Join(err, os.Remove(log.Name()))
	}
	run, code, err := p.Ready(ctx)
	if err != nil {
		return BackgroundRun{}, err
	}
	if run == "" {
		return BackgroundRun{}, errors.Join(repeat(out, a.Out), repeat(log, a.Err), os.Remove(log.Name()), console.ExitError(code))
	}
	kept := logFile(filepath.Dir(log.Name()), run)
	if err := os.Rename(log.Name(), kept); err != nil {
		return BackgroundRun{}, err
	}
	return BackgroundRun{Run: nexus.RunID(run), PID: p.PID, Log: kept, consulted: order.Word == person}, nil
}

// logs is where the messages of processes in the background are, without those that are
// too old.
func logs(a *console.Console) string {
	dir := filepath.Join(a.StateHome(), "background")
	prune(dir, a.Now().Add(-keptLog))
	return dir
}

// logFile is the file with the messages of the process that conducts a run.
func logFile(dir, run string) string { return filepath.Join(dir, run+".log") }

// outputs returns the files that a process in the background writes to. The first
// has no name any more: it is gone when nobody has it open.
func outputs(dir string) (out, log *os.File, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	if out, err = os.CreateTemp(dir, "out-*"); err != nil {
		return nil, nil, err
	}
	if err := os.Remove(out.Name()); err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	if log, err = os.CreateTemp(dir, "starting-*.log"); err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return out, log, nil
}

// prune removes the messages of processes that said nothing since then.
func prune(dir string, then time.Time) {
	all, _ := filepath.Glob(filepath.Join(dir, "*.log")) // the pattern is well-formed
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(then) {
			_ = os.Remove(path) // the next one tries again
		}
	}
}

// repeat writes what a process wrote, which had no colours and is masked.
func repeat(f *os.File, to io.Writer) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(to, f)
	return err
}
