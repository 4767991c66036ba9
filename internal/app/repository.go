package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// Repository is a repository with the data of Nexus about it.
type Repository struct {
	Repo    git.Repo
	State   string           // directory of the journal, the blobs, the clone and the worktrees
	Journal *journal.Journal // nil if there are no runs yet, unless the command creates it

	mask func([]byte) []byte
	want RepositoryAccessMode
}

// RepositoryAccessMode is a command's access to a repository.
type RepositoryAccessMode int

// The kinds of access.
const (
	ReadAccess   RepositoryAccessMode = iota // reads existing data
	ChangeAccess                             // changes existing data
	CreateAccess                             // also creates the journal, if there is none
)

// OpenRepository opens the repository that the command works in, and its journal.
func (a *App) OpenRepository(ctx context.Context, want RepositoryAccessMode) (*Repository, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	p := &Repository{mask: a.Mask.Mask, want: want}
	if p.Repo, err = git.FindRepo(ctx, dir); err != nil {
		return nil, err
	}
	common, err := p.Repo.CommonDir(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(common))
	name := filepath.Base(cmp.Or(p.Repo.Work, strings.TrimSuffix(common, ".git")))
	p.State = filepath.Join(a.StateHome(), fileNameSlug(name)+"-"+hex.EncodeToString(sum[:5]))
	path := filepath.Join(p.State, "journal.db")
	if _, err := os.Stat(path); want != CreateAccess && errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	p.Journal, err = journal.Open(ctx, path, journal.Options{Now: a.Now, ReadOnly: want == ReadAccess, Mask: a.Mask.Mask})
	if err == nil {
		if want != ReadAccess {
			p.recordRepository(cmp.Or(p.Repo.Work, common))
		}
		_ = worktree.UnmountLeftovers(ctx, p.State, p.deadRuns) // the next command tries again
	}
	return p, err
}

// deadRuns returns the runs whose process is certain to be dead, or released them.
func (p *Repository) deadRuns(ctx context.Context) ([]nexus.RunID, error) {
	all, err := p.Journal.Runs(ctx)
	var ids []nexus.RunID
	for _, r := range all {
		if r.Gone {
			ids = append(ids, r.ID)
		}
	}
	return ids, err
}

// fileNameSlug keeps the characters that are safe in a file name on every system.
func fileNameSlug(name string) string {
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
func (p *Repository) Close() {
	if p.Journal != nil {
		_ = p.Journal.Close() // confirmed events are durable already
	}
}

// OpenBlobStore opens the store of the blobs that facts name. Small ones are in the journal.
func (p *Repository) OpenBlobStore() (*journal.BlobStore, error) {
	store, err := journal.OpenBlobStore(filepath.Join(p.State, "blobs"))
	if err != nil {
		return nil, err
	}
	store.WithMask(p.mask)
	if p.Journal == nil {
		return store, nil
	}
	return store.WithSmallBlobs(p.Journal), nil
}

// Runs returns the runs of the repository, the latest last.
func (p *Repository) Runs(ctx context.Context) ([]journal.RecordedRun, error) {
	if p.Journal == nil {
		return nil, nil
	}
	all, err := p.Journal.Runs(ctx)
	slices.SortStableFunc(all, func(x, y journal.RecordedRun) int { return x.First.Compare(y.First) })
	return all, err
}

// Replay folds a run.
func (p *Repository) Replay(ctx context.Context, run nexus.RunID) (*state.State, error) {
	return state.ReplayRun(run, p.Journal.Events(ctx, run, 0))
}

// WithRunForReading opens the repository for reading, folds the run with a name, and passes both to f.
func (a *App) WithRunForReading(ctx context.Context, name string, f func(p *Repository, r journal.RecordedRun, s *state.State) error) error {
	return a.withRun(ctx, ReadAccess, name, f)
}

// WithRunForChanging is [App.WithRunForReading] for callers that change the run.
func (a *App) WithRunForChanging(ctx context.Context, name string, f func(p *Repository, r journal.RecordedRun, s *state.State) error) error {
	return a.withRun(ctx, ChangeAccess, name, f)
}

func (a *App) withRun(ctx context.Context, want RepositoryAccessMode, name string, f func(p *Repository, r journal.RecordedRun, s *state.State) error) error {
	p, err := a.OpenRepository(ctx, want)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.FindRun(ctx, name)
	if err != nil {
		return err
	}
	s, err := p.Replay(ctx, r.ID)
	if err != nil {
		return err
	}
	return f(p, r, s)
}
