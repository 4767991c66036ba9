package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// settled is the age after which a git lock cannot be in the middle of being taken.
const settled = time.Minute

// fixScope is the set of repairs to make.
type fixScope int

const (
	nothing fixScope = iota
	closes           // repairs that remove nothing
	everything
)

// askFixConsent lists the repairs and asks the person at the terminal. Without a person and without
// --yes, nothing is removed.
func (l *inspection) askFixConsent(ctx context.Context, open []Check) (fixScope, error) {
	a := l.app
	asks := !l.Yes && a.HasPerson() && !a.JSON
	text := "Fixed:\n"
	switch {
	case !l.Yes && !asks:
		return closes, nil
	case asks:
		text = "Would be fixed:\n"
	}
	for _, c := range open {
		text += "- " + c.Name + ": " + view.EscapeForTerminal(c.Detail) + "\n"
	}
	if a.Ask(text); l.Yes {
		return everything, nil
	}
	answer, err := a.Keyboard().AskLine(ctx, "Fix it? [y/N]: ")
	if err != nil || !nexus.IsYes(answer) {
		return nothing, err
	}
	return everything, nil
}

// checkAndFixLeftovers finds leftovers of dead processes, and removes those that the user agrees
// to.
func (l *inspection) checkAndFixLeftovers(ctx context.Context, runs []journal.RecordedRun) []Check {
	found := checkLeftovers(ctx, l.app, l.place, runs, false)
	if !l.Fix {
		return found
	}
	var open []Check
	for _, c := range found {
		if c.State == Notice {
			open = append(open, c)
		}
	}
	how := everything
	if len(open) > 0 {
		var err error
		if how, err = l.askFixConsent(ctx, open); err != nil {
			return append(found, checkOf("fix", "", err))
		}
	}
	switch how {
	case everything:
		return checkLeftovers(ctx, l.app, l.place, runs, true)
	case closes:
		found[0] = checkModes(l.place.State, true)
		for n := range found {
			if found[n].State == Notice {
				found[n].Hint = "Remove it with nexus doctor --fix --yes."
			}
		}
	case nothing:
	}
	return found
}

// checkLeftovers finds leftovers of dead processes in the state directory, and removes them if fix is
// set.
func checkLeftovers(ctx context.Context, a *console.Console, p *app.Repository, runs []journal.RecordedRun, fix bool) []Check {
	all := []Check{checkModes(p.State, fix), checkOrphans(runs, fix), checkLocks(a, p, runs, fix), checkTemps(a, p, fix)}
	stale, err := p.RemoveStaleWorktrees(ctx, !fix)
	// Every run leaves its locks and the base files of its trees behind: that is no damage.
	stale = slices.DeleteFunc(stale, func(path string) bool {
		in := filepath.Base(filepath.Dir(path))
		return in == "locks" || in == "lower"
	})
	return append(all, leftoverCheck("worktrees", "worktree", len(stale), err, fix))
}

// leftoverCheck reports how many leftovers of a kind exist, or were removed.
func leftoverCheck(name, noun string, n int, err error, fix bool) Check {
	c := checkOf(name, "none left over", err)
	switch {
	case err != nil || n == 0:
	case fix:
		c.Detail = view.CountWithNoun(n, noun) + " removed"
	default:
		c.State, c.Detail, c.Hint = Notice, view.CountWithNoun(n, noun)+" left over", "Remove it with nexus doctor --fix."
	}
	return c
}

// checkModes finds state files that other users could read: they contain the project's code and
// conversations about it.
func checkModes(dir string, fix bool) Check {
	var open []string
	for _, name := range []string{"", "blobs", "trees", "repo.git"} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 == 0 || name != "" && len(open) == 0 {
			continue // files below a closed directory are unreachable
		}
		open = append(open, path)
	}
	c := Check{Name: "state", State: Fine, Detail: dir}
	switch {
	case len(open) == 0:
	case fix:
		if err := os.Chmod(dir, 0o700); err != nil {
			return checkOf("state", "", err)
		}
		c.Detail = dir + " closed to other users"
	default:
		c.State, c.Detail, c.Hint = Notice, "other users can read "+dir, "Make it private with nexus doctor --fix."
	}
	return c
}

// checkOrphans finds processes of agents and gates whose run has no conductor.
func checkOrphans(runs []journal.RecordedRun, fix bool) Check {
	n := 0
	var failed error
	for _, r := range runs {
		switch {
		case r.Holder != nil:
		case fix:
			killed, err := proc.KillProcessesOf(string(r.ID))
			n, failed = n+killed, errors.Join(failed, err)
		default:
			n += proc.CountProcessesOf(string(r.ID))
		}
	}
	return leftoverCheck("processes", "process", n, failed, fix)
}

// checkTemps finds files of a killed import, repair or restore: unfinished copies, whose
// originals are unchanged.
func checkTemps(a *console.Console, p *app.Repository, fix bool) Check {
	n := 0
	var failed error
	for _, pattern := range []string{"import-*.bundle", "journal.db.repaired-*", "journal.db.restored-*"} {
		found, _ := filepath.Glob(filepath.Join(p.State, pattern)) // the patterns are valid
		for _, path := range found {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || a.Now().Sub(info.ModTime()) < settled {
				continue
			}
			n++
			if fix {
				failed = errors.Join(failed, os.Remove(path))
			}
		}
	}
	return leftoverCheck("files", "temporary file", n, failed, fix)
}

// checkLocks finds locks that a killed git left in the private clone. While a run has a
// conductor, their owner is unknown.
func checkLocks(a *console.Console, p *app.Repository, runs []journal.RecordedRun, fix bool) Check {
	for _, r := range runs {
		if r.Holder != nil {
			return Check{Name: "locks", State: Fine, Detail: fmt.Sprintf("run %s is in progress", r.ID)}
		}
	}
	n := 0
	err := filepath.WalkDir(filepath.Join(p.State, "repo.git"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "objects":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(d.Name(), ".lock"):
			return nil
		}
		info, err := d.Info()
		if err != nil || a.Now().Sub(info.ModTime()) < settled {
			return nil //nolint:nilerr // it is gone, which is fine
		}
		n++
		if fix {
			return os.Remove(path)
		}
		return nil
	})
	return leftoverCheck("locks", "lock", n, err, fix)
}
