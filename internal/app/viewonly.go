package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// viewOnlyDir is where the state of a repository names the runs of elsewhere that it
// only shows.
const viewOnlyDir = "shown"

// IsViewOnly reports whether a run was taken in to be looked at, and nothing else: it
// neither continues here nor spends, and nobody learns from it.
func (p *Repository) IsViewOnly(run nexus.RunID) bool {
	if run == "" { // one that has no name yet
		return false
	}
	_, err := os.Stat(filepath.Join(p.State, viewOnlyDir, string(run)))
	return err == nil
}

// MarkViewOnly says that a run that is about to be taken in is only shown. It is said
// before the run is there, so that no kill leaves one that could continue.
func (p *Repository) MarkViewOnly(run nexus.RunID) error {
	dir := filepath.Join(p.State, viewOnlyDir)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, string(run)), nil, 0o600)
	}
	return disk.WrapError("import run "+string(run), err)
}

// ClearViewOnly takes back [Repository.MarkViewOnly].
func (p *Repository) ClearViewOnly(run nexus.RunID) error {
	err := os.Remove(filepath.Join(p.State, viewOnlyDir, string(run)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return disk.WrapError("import run "+string(run), err)
}

// acquireLease takes the lease of a run, unless that is only shown here.
func (p *Repository) acquireLease(ctx context.Context, run nexus.RunID) (*journal.Lease, error) {
	if err := p.checkNotViewOnly(run); err != nil {
		return nil, err
	}
	return p.Journal.Acquire(ctx, run, journal.Self(), leaseTTL)
}

// checkNotViewOnly refuses a run that is only shown here.
func (p *Repository) checkNotViewOnly(run nexus.RunID) error {
	if !p.IsViewOnly(run) {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "run " + string(run) + " was imported for viewing, and does not continue here",
		Hint: "Look at it with nexus report, status, logs, show or watch. Where it ran, all commands work.",
	}
}

// withoutViewOnly leaves out what runs of elsewhere came to, that are only shown.
func (p *Repository) withoutViewOnly(all []history.Run) []history.Run {
	return slices.DeleteFunc(all, func(r history.Run) bool { return p.IsViewOnly(r.ID) })
}
