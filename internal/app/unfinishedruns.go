package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// repositoryFile is the file in a state directory with the path of its repository.
const repositoryFile = "repository"

// recordRepository stores the path of the repository, once. Only lists of all repositories read
// it: without it they name the state directory.
func (p *Repository) recordRepository(dir string) {
	path := filepath.Join(p.State, repositoryFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		_ = os.WriteFile(path, []byte(dir+"\n"), 0o600)
	}
}

// UnfinishedRun is a run that is not over: it is in progress, waits for a person, or was
// interrupted.
type UnfinishedRun struct {
	Repository string // its directory, or its state directory if the path is not stored
	Run        journal.RecordedRun
	State      *state.State
}

// UnfinishedRuns returns the runs of the repository that are not over, the latest last.
func (p *Repository) UnfinishedRuns(ctx context.Context) ([]UnfinishedRun, error) {
	if p.Journal == nil {
		return nil, nil
	}
	runs, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	over, err := p.Journal.RunEndings(ctx)
	if err != nil {
		return nil, err
	}
	var all []UnfinishedRun
	for _, r := range runs {
		if p.IsViewOnly(r.ID) {
			continue
		}
		if end, ended := over[r.ID]; ended && end.Status != nexus.StatusWaiting && r.Holder == nil {
			continue
		}
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, UnfinishedRun{Repository: p.Repo.Work, Run: r, State: s})
	}
	return all, nil
}

// UnfinishedRunsOfAllRepositories returns the runs of all repositories that are not over, ordered by
// repository. The error names journals that could not be read; the runs of the others are
// returned.
func (a *App) UnfinishedRunsOfAllRepositories(ctx context.Context) ([]UnfinishedRun, error) {
	found, err := filepath.Glob(filepath.Join(a.StateHome(), "*", "journal.db"))
	if err != nil {
		return nil, err
	}
	var all []UnfinishedRun
	for _, path := range found {
		runs, other := a.unfinishedRunsAt(ctx, path)
		all, err = append(all, runs...), errors.Join(err, other)
	}
	slices.SortStableFunc(all, func(x, y UnfinishedRun) int { return cmp.Compare(x.Repository, y.Repository) })
	return all, err
}

func (a *App) unfinishedRunsAt(ctx context.Context, path string) (all []UnfinishedRun, err error) {
	p := &Repository{State: filepath.Dir(path), mask: a.Mask.Mask}
	if p.Journal, err = journal.Open(ctx, path, journal.Options{Now: a.Now, ReadOnly: true, Mask: a.Mask.Mask}); err != nil {
		return nil, err
	}
	defer p.Close()
	name := p.State
	if data, err := os.ReadFile(filepath.Join(p.State, repositoryFile)); err == nil {
		name = strings.TrimSpace(string(data))
	}
	p.Repo = git.Repo{Work: name}
	return p.UnfinishedRuns(ctx)
}
