package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// viewOnlyDir is the directory in a repository's state with the names of imported runs that are
// only shown.
const viewOnlyDir = "shown"

// IsViewOnly reports whether a run was imported only to be shown: it does not continue here,
// spends nothing, and no lessons are learned from it.
func (p *Repository) IsViewOnly(run nexus.RunID) bool {
	if run == "" { // one that has no name yet
		return false
	}
	_, err := os.Stat(filepath.Join(p.State, viewOnlyDir, string(run)))
	return err == nil
}

// MarkViewOnly marks a run that is about to be imported as only shown. It is called before the
// run exists, so that no kill results in one that could continue.
func (p *Repository) MarkViewOnly(run nexus.RunID) error {
	dir := filepath.Join(p.State, viewOnlyDir)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, string(run)), nil, 0o600)
	}
	return filewrite.WrapError("import run "+string(run), err)
}

// ClearViewOnly reverts [Repository.MarkViewOnly].
func (p *Repository) ClearViewOnly(run nexus.RunID) error {
	err := os.Remove(filepath.Join(p.State, viewOnlyDir, string(run)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return filewrite.WrapError("import run "+string(run), err)
}

// acquireLease acquires the lease of a run, unless the run is only shown here.
func (p *Repository) acquireLease(ctx context.Context, run nexus.RunID) (*journal.Lease, error) {
	if err := p.checkRunContinuesHere(run); err != nil {
		return nil, err
	}
	return p.Journal.Acquire(ctx, run, journal.CallingProcess(), leaseTTL)
}

// checkRunContinuesHere returns an error for a run that is only shown here.
func (p *Repository) checkRunContinuesHere(run nexus.RunID) error {
	if !p.IsViewOnly(run) {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "run " + string(run) + " was imported for viewing, and does not continue here",
		Hint: "Look at it with nexus status, logs, cost or watch. Where it ran, all commands work.",
	}
}

// withoutViewOnly removes imported runs that are only shown.
func (p *Repository) withoutViewOnly(all []runhistory.RunRecord) []runhistory.RunRecord {
	return slices.DeleteFunc(all, func(r runhistory.RunRecord) bool { return p.IsViewOnly(r.ID) })
}
