package frame

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/blob"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// WorkDir returns the directory that the command works in.
func (a *App) WorkDir() (string, error) {
	dir, err := filepath.Abs(cmp.Or(a.Dir, "."))
	if err != nil {
		return "", &nexus.Error{Code: nexus.CodeNotFound, Message: "the working directory is gone", Cause: err, Hint: "Change to one that exists."}
	}
	return dir, nil
}

// Top returns the top of the work tree around dir, or dir where there is
// none. It does not ask git, so that it also works without.
func Top(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// Settings reads the configuration that holds in the working directory.
func (a *App) Settings() (config.Config, config.Origins, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return config.Config{}, nil, err
	}
	s := config.Paths(a.Home("XDG_CONFIG_HOME", ".config"), Top(dir))
	s.System = a.organisation()
	s.Environ, s.Flags = a.Environ, a.Flags
	c, o, err := config.Load(s)
	if err != nil {
		return c, o, err
	}
	return c, o, readable(c.Gates, o)
}

// organisation returns the configuration file of whoever runs the machine:
// the first that is there where the XDG standard looks for those.
func (a *App) organisation() string {
	for dir := range strings.SplitSeq(cmp.Or(a.Env("XDG_CONFIG_DIRS"), "/etc/xdg"), ":") {
		name := filepath.Join(dir, "nexus", "config.toml")
		if _, err := os.Stat(name); err == nil && filepath.IsAbs(dir) {
			return name
		}
	}
	return ""
}

// readable refuses gates whose commands sh cannot read, before anybody pays
// for work that they would judge.
func readable(g config.Gates, o config.Origins) error {
	for _, name := range slices.Sorted(maps.Keys(g.Commands)) {
		line := g.Commands[name]
		if line == "" { // switched off
			continue
		}
		if err := shell.Syntax(line); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("%s: gates.%s, %q, cannot be read by sh: %v", o.Of("gates."+name).Where, name, line, err),
				Hint: "Mend the command; for what only bash understands, put it into a script and call that.",
			}
		}
	}
	return nil
}

// Home returns the directory that a variable of the XDG standard names, or
// its usual place under the home directory.
func (a *App) Home(variable, usual string) string {
	if dir := a.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(a.Env("HOME"), usual)
}

// Place is a repository with what Nexus knows about it.
type Place struct {
	Repo    git.Repo
	State   string           // directory of the journal, the blobs, the clone and the worktrees
	Journal *journal.Journal // nil where nothing ran yet, unless the command makes it

	mask func([]byte) []byte
}

// Access says what a command wants of a place.
type Access int

// What a command may want.
const (
	Reads   Access = iota // what is there
	Changes               // what is there
	Makes                 // the journal too, where there is none
)

// Open opens the repository that the command works in, and its journal.
func (a *App) Open(ctx context.Context, want Access) (*Place, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	p := &Place{mask: a.Mask.Mask}
	if p.Repo, err = git.Find(ctx, dir); err != nil {
		return nil, err
	}
	common, err := p.Repo.Common(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(common))
	name := filepath.Base(cmp.Or(p.Repo.Work, strings.TrimSuffix(common, ".git")))
	p.State = filepath.Join(a.Home("XDG_STATE_HOME", ".local/state"), "nexus", slug(name)+"-"+hex.EncodeToString(sum[:5]))
	path := filepath.Join(p.State, "journal.db")
	if _, err := os.Stat(path); want != Makes && errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	p.Journal, err = journal.Open(ctx, path, journal.Options{Now: a.Now, ReadOnly: want == Reads, Mask: a.Mask.Mask})
	if err == nil {
		_ = worktree.Unmount(ctx, p.State, p.gone) // the next command tries again
	}
	return p, err
}

// gone returns the runs whose process is certain to be dead, or let them go.
func (p *Place) gone(ctx context.Context) ([]nexus.RunID, error) {
	all, err := p.Journal.Runs(ctx)
	var ids []nexus.RunID
	for _, r := range all {
		if r.Gone {
			ids = append(ids, r.ID)
		}
	}
	return ids, err
}

// slug keeps what is harmless in a file name on every system.
func slug(name string) string {
	keep := func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' || r == '.') {
			return r
		}
		return '_'
	}
	name = strings.Trim(strings.Map(keep, name), ".")
	return name[:min(len(name), 40)]
}

// Close closes the journal.
func (p *Place) Close() {
	if p.Journal != nil {
		_ = p.Journal.Close() // what was confirmed is durable already
	}
}

// Blobs opens the store of what the facts name. Small ones lie in the journal.
func (p *Place) Blobs() (*blob.Store, error) {
	store, err := blob.Open(filepath.Join(p.State, "blobs"))
	if err != nil {
		return nil, err
	}
	store.Masked(p.mask)
	if p.Journal == nil {
		return store, nil
	}
	return store.With(p.Journal), nil
}

// Runs returns the runs of the repository, the latest last.
func (p *Place) Runs(ctx context.Context) ([]journal.Run, error) {
	if p.Journal == nil {
		return nil, nil
	}
	all, err := p.Journal.Runs(ctx)
	slices.SortStableFunc(all, func(x, y journal.Run) int { return x.First.Compare(y.First) })
	return all, err
}

// Run returns the run that name means: its ID, a part of it that no other run
// has, or the latest when it is empty.
func (p *Place) Run(ctx context.Context, name string) (journal.Run, error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return journal.Run{}, err
	}
	if len(all) == 0 {
		return journal.Run{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "there is no run in this repository yet", Hint: "Start one: nexus run GOAL, or see nexus demo.",
		}
	}
	if name == "" {
		return all[len(all)-1], nil
	}
	var found []journal.Run
	for _, r := range all {
		if string(r.ID) == name {
			return r, nil
		}
		if strings.Contains(string(r.ID), name) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return journal.Run{}, NotFound("run", name, "nexus runs lists them.")
	default:
		return journal.Run{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%d runs have %s in their names", len(found), view.Quote(name)),
			Hint: "Name more of it; nexus runs lists them.",
		}
	}
}

// Named returns the run that name means, or the latest run and the task or
// attempt of it that name means.
func (p *Place) Named(ctx context.Context, name string) (r journal.Run, part string, err error) {
	r, err = p.Run(ctx, name)
	if name == "" || !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return r, "", err
	}
	latest, other := p.Run(ctx, "")
	if other != nil {
		return r, "", other
	}
	s, other := p.Replay(ctx, latest.ID)
	if other != nil {
		return r, "", other
	}
	if s.Task(nexus.TaskID(name)) == nil && s.Attempt(nexus.AttemptID(name)) == nil {
		return r, "", &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no run %s, and run %s has no such task or attempt", view.Quote(name), latest.ID),
			Hint: "nexus runs lists runs, nexus status the tasks of the latest.",
		}
	}
	return latest, name, nil
}

// NotFound says that there is nothing of that name.
func NotFound(what, name, hint string) error {
	return &nexus.Error{Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no %s %s", what, view.Quote(name)), Hint: hint}
}

// Replay folds a run.
func (p *Place) Replay(ctx context.Context, run nexus.RunID) (*state.State, error) {
	return state.Replay(run, p.Journal.Events(ctx, run, 0))
}

// Look opens the place for reading, folds the run that name means, and hands
// both over.
func (a *App) Look(ctx context.Context, name string, f func(p *Place, r journal.Run, s *state.State) error) error {
	p, err := a.Open(ctx, Reads)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Run(ctx, name)
	if err != nil {
		return err
	}
	s, err := p.Replay(ctx, r.ID)
	if err != nil {
		return err
	}
	return f(p, r, s)
}

// Tell returns what there is to tell about a run.
func (a *App) Tell(r journal.Run, s *state.State) view.Run {
	now := a.Now()
	gone := r.Holder == nil && !s.Status.Ended()
	if gone {
		now = s.Updated // its clock stands still
	}
	v := view.Of(s, now)
	if v.Held = r.Holder; gone {
		v.Status = nexus.StatusInterrupted
	}
	return v
}

// First returns the first argument, or nothing.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// RunFlag gives a command --run.
func (a *App) RunFlag(c *cobra.Command, run *string) {
	c.Flags().StringVar(run, "run", "", "the `RUN`; the latest if not given")
}
