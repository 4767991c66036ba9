package stopcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/killswitch"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// killSwitchResult is the JSON output of the kill switch commands.
type killSwitchResult struct {
	Thrown *killswitch.ActiveKillSwitch `json:"thrown"`         // nil: nothing prevents runs from starting
	Lifted []string                     `json:"lifted"`         // removed files
	Runs   []conductedRun               `json:"runs,omitempty"` // runs that were in progress
}

type conductedRun struct {
	State string      `json:"state"` // directory of the repository's journal
	Run   nexus.RunID `json:"run"`
	PID   int         `json:"pid"`
	Ended bool        `json:"ended"` // it has no conductor any more
}

// throwSwitch creates the file, and waits a while until the runs in progress have stopped.
func throwSwitch(ctx context.Context, a *console.Console, here bool, why string) error {
	dir, states := a.StateHome(), filepath.Join(a.StateHome(), "*", "journal.db")
	if here {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		p.Close()
		dir, states = p.State, filepath.Join(p.State, "journal.db")
	}
	found, err := filepath.Glob(states)
	if err != nil {
		return err
	}
	known := make([][]conductedRun, len(found)) // before the switch: a run may end at once
	soon, done := context.WithTimeoutCause(ctx, killswitch.PollInterval, runrequest.ErrPatience)
	for i, path := range found {
		known[i], _ = conductedRuns(soon, path) // it does not wait for unreadable journals
	}
	done()
	if err := killswitch.SwitchOn(dir, strings.TrimSpace(why+" (by "+a.UserName()+")")); err != nil {
		return err
	}
	told := killSwitchResult{Thrown: killswitch.Switch{dir}.ActiveStop(), Lifted: []string{}}
	until, cancel := context.WithTimeoutCause(ctx, progress.RequestTimeout, runrequest.ErrPatience)
	defer cancel()
	left := 0
	for i, path := range found {
		all := waitUntilStopped(until, path, known[i])
		for _, r := range all {
			if !r.Ended {
				left++
			}
		}
		told.Runs = append(told.Runs, all...)
	}
	return a.Answer(told, func(view.OutputStyle) string {
		text := fmt.Sprintf("kill switch on: %s; nothing starts or continues until nexus stop --lift\n", told.Thrown.Path)
		if n := len(told.Runs); n > 0 {
			text += fmt.Sprintf("%s in progress, %d ended\n", view.CountWithNoun(n, "run"), n-left)
		}
		return text
	})
}

// conductedRuns returns the runs of a journal that have a conductor.
func conductedRuns(ctx context.Context, path string) ([]conductedRun, error) {
	j, err := journal.Open(ctx, path, journal.Options{ReadOnly: true, Now: time.Now}) //nolint:forbidigo // leases run by the clock
	if err != nil {
		return nil, err
	}
	defer j.Close() //nolint:errcheck // only read
	runs, err := j.Runs(ctx)
	var all []conductedRun
	for _, r := range runs {
		if r.Holder != nil {
			all = append(all, conductedRun{State: filepath.Dir(path), Run: r.ID, PID: r.Holder.PID})
		}
	}
	return all, err
}

// waitUntilStopped waits until no run of a journal has a conductor. It returns the runs that were
// in progress, and others that still are.
func waitUntilStopped(ctx context.Context, path string, known []conductedRun) []conductedRun {
	beat := time.NewTicker(killswitch.PollInterval)
	defer beat.Stop()
	for {
		now, err := conductedRuns(ctx, path)
		if err != nil {
			return known // the others are unknown
		}
		runs := func(w conductedRun) bool {
			return slices.ContainsFunc(now, func(n conductedRun) bool { return n.Run == w.Run })
		}
		for _, n := range now {
			if !slices.ContainsFunc(known, func(w conductedRun) bool { return w.Run == n.Run }) {
				known = append(known, n)
			}
		}
		for i, w := range known {
			known[i].Ended = !runs(w)
		}
		if len(now) == 0 {
			return known
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			return known
		}
	}
}

// liftSwitch removes the files that the user may remove, and prints the remaining ones.
func liftSwitch(ctx context.Context, a *console.Console) error {
	dirs, state := []string{a.StateHome()}, ""
	if p, err := a.OpenRepository(ctx, app.ReadAccess); err == nil {
		p.Close()
		state = p.State
		dirs = append(dirs, state)
	}
	told := killSwitchResult{Lifted: []string{}}
	var failed error
	for _, dir := range dirs {
		was, err := killswitch.SwitchOff(dir)
		failed = errors.Join(failed, err)
		if was {
			told.Lifted = append(told.Lifted, filepath.Join(dir, killswitch.FileName))
		}
	}
	if failed != nil {
		return failed
	}
	if told.Thrown = a.KillSwitch(state).ActiveStop(); told.Thrown != nil {
		return told.Thrown.Err() // set for the machine: the user cannot lift it
	}
	return a.Answer(told, func(view.OutputStyle) string {
		if len(told.Lifted) == 0 {
			return "no kill switch is on\n"
		}
		return "lifted: " + strings.Join(told.Lifted, ", ") + "\n"
	})
}
