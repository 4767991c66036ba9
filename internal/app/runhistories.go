package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/work/runcache"
)

// RunHistory returns the results of a repository's runs, the oldest first, without those that only
// made a plan, which have no tasks of their own.
func (a *App) RunHistory(ctx context.Context, p *Repository) ([]runhistory.RunRecord, error) {
	if p.Journal == nil {
		return nil, nil
	}
	r, err := runcache.ReadPastRuns(ctx, p.Journal, p.State)
	if err != nil {
		return nil, err
	}
	if n := len(r.Broken); n > 0 {
		a.reportText(fmt.Sprintf("%d runs cannot be read and are left out, the first is %s; nexus journal verify says why", n, r.Broken[0]))
	}
	return slices.DeleteFunc(p.withoutViewOnly(r.Runs), func(r runhistory.RunRecord) bool { return r.Mode == nexus.Draft }), nil
}

// AllRunHistories returns the same for all repositories in which Nexus ran on this machine. It
// reports and skips one whose journal cannot be read.
func (a *App) AllRunHistories(ctx context.Context) ([]runhistory.RunRecord, error) {
	entries, err := os.ReadDir(a.StateHome())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, &nexus.Error{Code: nexus.CodeStorage, Message: "read the directory of the state", Cause: err}
	}
	var all []runhistory.RunRecord
	for _, e := range entries {
		dir := filepath.Join(a.StateHome(), e.Name())
		if _, err := os.Stat(filepath.Join(dir, "journal.db")); err != nil {
			continue
		}
		runs, err := a.historyOf(ctx, dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			a.reportError(err)
			continue
		}
		name := repositoryName(e.Name())
		if slices.ContainsFunc(entries, func(o os.DirEntry) bool { return o.Name() != e.Name() && repositoryName(o.Name()) == name }) {
			name = e.Name() // two repositories have that name
		}
		for i := range runs {
			runs[i].Repo = name
		}
		all = append(all, runs...)
	}
	slices.SortStableFunc(all, func(x, y runhistory.RunRecord) int { return x.Began.Compare(y.Began) })
	return all, nil
}

func (a *App) historyOf(ctx context.Context, dir string) ([]runhistory.RunRecord, error) {
	j, err := journal.Open(ctx, filepath.Join(dir, "journal.db"), journal.Options{Now: a.Now, ReadOnly: true, Mask: a.Mask.Mask})
	if err != nil {
		return nil, err
	}
	p := &Repository{State: dir, Journal: j}
	defer p.Close()
	return a.RunHistory(ctx, p)
}

// repositoryName returns the name of the repository from its state directory, which ends with a
// part of a hash.
func repositoryName(dir string) string {
	name, hash, ok := cutAtLast(dir, "-")
	if !ok || len(hash) != 10 {
		return dir
	}
	return name
}

func cutAtLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
