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
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundprocess"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// person marks a process whose questions a person at a terminal will answer.
const person = "person"

// keptLog is the retention time of background processes' messages.
const keptLog = 30 * 24 * time.Hour

// DetachFlag adds the flag of commands whose run can continue in the background.
func DetachFlag(c *cobra.Command, o *RunCommandOptions) {
	c.Flags().BoolVarP(&o.Detach, "detach", "d", false,
		"continue in the background; nexus attach shows the run, nexus runs --active lists all in progress")
	c.MarkFlagsMutuallyExclusive("detach", "jsonl")
}

// WatchFlag adds the flag of commands whose run can be shown on the whole screen.
func WatchFlag(c *cobra.Command, o *RunCommandOptions) {
	c.Flags().BoolVarP(&o.Watch, "watch", "w", false,
		"start the run in the background, and show it on the whole screen (ui.watch)")
	c.Flags().BoolVar(&o.Lines, "no-watch", false, "show the run in lines, not on the whole screen (ui.watch)")
	c.MarkFlagsMutuallyExclusive("watch", "no-watch")
	c.MarkFlagsMutuallyExclusive("watch", "detach")
	c.MarkFlagsMutuallyExclusive("watch", "jsonl")
	c.MarkFlagsMutuallyExclusive("watch", "json")
	c.MarkFlagsMutuallyExclusive("watch", "headless")
}

// NeedsFullScreen reports whether to show the run on the whole screen: a flag or the setting asks
// for that, there is a person, and this is not the process that shows it. If the screen opens
// only once the tasks begin, and this process conducts the run, it notes that in the order.
func (o *RunCommandOptions) NeedsFullScreen(a *console.Console) (bool, error) {
	if a.Host.Parent != nil || a.Host.Served || a.Host.Watched || a.Watch == nil || o.JSONL || a.JSON || o.Headless || a.HasPlayedPerson() || o.Lines {
		return false, nil
	}
	if !o.Watch {
		settings, _, err := a.LoadSettings()
		if err != nil || settings.Watch == config.WatchNever || !a.HasPerson() || !a.CanRedraw(a.Out) {
			return false, err
		}
		if settings.Watch != config.WatchAlways {
			o.Screen = a.Screen != nil && !o.Detach && a.FitsFullScreen()
			return false, nil
		}
	} else if !a.HasPerson() || !a.CanRedraw(a.Out) {
		return false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no terminal to show the run on",
			Hint: "Leave out --watch: progress is printed in lines. Or use --detach, and nexus watch at a terminal.",
		}
	}
	return true, nil
}

// BackgroundStarter returns the function that starts the run in the background, with or without
// showing it; nil if the run stays here.
func (o *RunCommandOptions) BackgroundStarter(a *console.Console, dry bool) (func(context.Context, *console.Console, RunCommandOptions) error, error) {
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

// StartInBackgroundAndWatch starts a run in the background, and shows it on the whole screen
// until the person closes that.
func StartInBackgroundAndWatch(ctx context.Context, a *console.Console, o RunCommandOptions) error {
	d, err := StartInBackground(ctx, a, o)
	if err != nil {
		return err
	}
	return a.Watch(ctx, d.Run)
}

// NeedsBackground reports whether the command line is to run in the background, and this is not
// the background process.
func (o *RunCommandOptions) NeedsBackground(a *console.Console) bool {
	return o.Detach && a.Host.Parent == nil
}

// NeedsPlanConsent reports whether the person who started this process is to agree to the plan.
// The process may run in the background, or at a terminal that may be gone by now.
func NeedsPlanConsent(a *console.Console) bool {
	return a.Host.Parent != nil && a.Host.Parent.Word == person || a.Host.Front != nil
}

// BackgroundRun is the JSON output of a command that starts its run in the background.
type BackgroundRun struct {
	Run nexus.RunID `json:"run"`
	PID int         `json:"pid"`
	Log string      `json:"log"` // file with the messages of the process

	consulted bool // it waits for a person to agree to its plan
}

// StartInBackgroundAndReport runs the command line in a background process, and returns when its
// run is in progress. If the command ends earlier, its output is printed as if it had run here.
func StartInBackgroundAndReport(ctx context.Context, a *console.Console, o RunCommandOptions) error {
	d, err := StartInBackground(ctx, a, o)
	if err != nil {
		return err
	}
	return a.Answer(d, func(s view.OutputStyle) string {
		about := ""
		if d.consulted {
			about = "it waits for you to approve its plan\n"
		}
		return backgroundText(s, string(d.Run), d.PID, about)
	})
}

// backgroundText returns the message that a process continues a run, and how to return to it.
func backgroundText(s view.OutputStyle, run string, pid int, about string) string {
	return fmt.Sprintf("run %s continues in the background, as process %d\n", run, pid) + about +
		s.Dim("  nexus attach "+run+"      # see it, and answer its questions") + "\n" +
		s.Dim("  nexus stop --run "+run+"  # end it") + "\n"
}

// StartInBackground runs the command line in a background process, and returns its run once that
// is in progress. If the command ends earlier, its output is printed as if it had run here.
func StartInBackground(ctx context.Context, a *console.Console, o RunCommandOptions) (BackgroundRun, error) {
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
	out, log, err := createOutputFiles(backgroundLogDir(a))
	if err != nil {
		return BackgroundRun{}, err
	}
	defer out.Close() //nolint:errcheck // only read from now on
	defer log.Close() //nolint:errcheck // only read from now on
	order := backgroundprocess.Options{Exe: exe, Args: a.Args, Env: a.Environ, Out: out, Err: log, Word: "nobody"}
	switch in, file := a.In.(*os.File); {
	case a.Host.Leaves:
		order.Word = person // the reader of the pages is asked there
	case a.HasPerson():
		if !o.Headless && !o.Yes {
			order.Word = person
		}
	case file:
		order.In = in // it may contain the goal
	}
	p, err := backgroundprocess.StartProcess(order)
	if err != nil {
		return BackgroundRun{}, errors.Join(err, os.Remove(log.Name()))
	}
	run, code, err := p.WaitUntilReady(ctx)
	if err != nil {
		return BackgroundRun{}, err
	}
	if run == "" {
		return BackgroundRun{}, errors.Join(copyOutput(out, a.Out), copyOutput(log, a.Err), os.Remove(log.Name()), console.ExitError(code))
	}
	kept := logFile(filepath.Dir(log.Name()), run)
	if err := os.Rename(log.Name(), kept); err != nil {
		return BackgroundRun{}, err
	}
	return BackgroundRun{Run: nexus.RunID(run), PID: p.PID, Log: kept, consulted: order.Word == person}, nil
}

// backgroundLogDir returns the directory of background processes' messages, after removing old ones.
func backgroundLogDir(a *console.Console) string {
	dir := filepath.Join(a.StateHome(), "background")
	pruneLogs(dir, a.Now().Add(-keptLog))
	return dir
}

// logFile returns the file with the messages of the process that conducts a run.
func logFile(dir, run string) string { return filepath.Join(dir, run+".log") }

// createOutputFiles returns the files that a background process writes to. The first has been unlinked
// already, so it disappears when no process has it open.
func createOutputFiles(dir string) (out, log *os.File, err error) {
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

// pruneLogs removes the messages of processes that wrote nothing since then.
func pruneLogs(dir string, then time.Time) {
	all, _ := filepath.Glob(filepath.Join(dir, "*.log")) // the pattern is valid
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(then) {
			_ = os.Remove(path) // the next call tries again
		}
	}
}

// copyOutput copies a process's output, which has no colours and is masked.
func copyOutput(f *os.File, to io.Writer) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(to, f)
	return err
}
