// Package journalmaintenance maintains the journal: it repairs a damaged one, and exports and imports
// runs.
package journalmaintenance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal/runarchive"
)

// RunTransferSummary counts the parts of a run that were written to a file, or read from one.
type RunTransferSummary struct {
	Run    nexus.RunID `json:"run"`
	Path   string      `json:"path"`
	Events int         `json:"events"`
	Blobs  int         `json:"blobs"`
	Refs   int         `json:"refs"`            // that keep the run's commits
	Absent int         `json:"absent,omitzero"` // blobs that events name and that do not exist

	NoCommits bool `json:"no_commits,omitzero"` // they were omitted: the repository lacks their parent
}

// ExportRun writes a run that is not running to a new file, with all data that another machine
// needs to show or continue it. Keys were masked when they were recorded; keys that the mask
// knows now are masked, too. The file gets its name when it is complete.
func ExportRun(ctx context.Context, p *app.Repository, r journal.RecordedRun, path string, mask func([]byte) []byte) (m RunTransferSummary, err error) {
	if r.Holder != nil {
		return m, &nexus.Error{
			Code: nexus.CodeRunHeld, Message: fmt.Sprintf("run %s is in progress", r.ID),
			Hint: "Wait for it or end it with nexus stop, then try again: it would continue in two places.",
		}
	}
	if _, err := os.Lstat(path); err == nil {
		return m, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: path + " already exists",
			Hint: "Name a path that does not exist: nothing is overwritten.",
		}
	}
	m = RunTransferSummary{Run: r.ID, Path: path}
	manifest := runarchive.RunArchiveManifest{Run: r.ID}
	var events []journal.ImportableEvent
	var named []string
	for e, err := range p.Journal.Events(ctx, r.ID, 0) {
		if err != nil {
			return m, err
		}
		kind, data, err := nexus.EncodeFact(e.Fact)
		if err != nil {
			return m, err
		}
		if f, ok := e.Fact.(nexus.GoalAccepted); ok {
			manifest.Base = f.Base
		}
		named = append(named, nexus.Blobs(e.Fact)...)
		events = append(events, journal.ImportableEvent{Seq: e.Seq, At: e.At, Kind: kind, Data: data})
	}
	m.Events = len(events)
	slices.Sort(named)
	part, err := createPartFile(path)
	if err != nil {
		return m, filewrite.WrapError("export run "+string(r.ID), err)
	}
	defer func() {
		err = errors.Join(err, ignoreNotExist(os.Remove(part)), ignoreNotExist(os.Remove(part+".bundle")))
	}()
	clone, err := git.OpenClone(ctx, p.Repo, p.State)
	if err != nil {
		return m, err
	}
	defer clone.Close() //nolint:errcheck // it only read
	if manifest.Refs, err = clone.RefsBelow(ctx, "refs/nexus/"+string(r.ID)+"/"); err != nil {
		return m, err
	}
	m.Refs = len(manifest.Refs)
	var refs []string
	for ref := range manifest.Refs {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	bundle, err := filepath.Abs(part + ".bundle")
	if err == nil {
		manifest.Bundle, err = clone.Bundle(ctx, bundle, manifest.Base, refs)
	}
	if err == nil {
		err = m.writeFile(p, part, bundle, manifest, events, slices.Compact(named), mask)
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	return m, filewrite.WrapError("export run "+string(r.ID), err)
}

// createPartFile creates an empty file beside a path, under a new name: an existing file stays.
func createPartFile(path string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// ignoreNotExist drops the error that there is nothing to remove.
func ignoreNotExist(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// writeFile writes the file and syncs it.
func (m *RunTransferSummary) writeFile(p *app.Repository, path, bundle string, manifest runarchive.RunArchiveManifest, events []journal.ImportableEvent, named []string,
	mask func([]byte) []byte,
) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is closed below, where that matters
	blobs, err := p.OpenBlobStore()
	if err != nil {
		return err
	}
	c := exportMasker{blobs, mask, map[string]string{}}
	if err := c.findMasked(named, m); err != nil {
		return err
	}
	for i := range events {
		if events[i].Data, err = c.maskEvent(events[i].Data); err != nil {
			return err
		}
	}
	w, err := runarchive.NewRunPackWriter(f, manifest, events)
	if err != nil {
		return err
	}
	for _, hash := range named {
		data, err := blobs.Get(hash)
		if err != nil {
			continue // it is counted
		}
		if err := w.WriteBlob(c.maskedName(hash), mask(data)); err != nil {
			return err
		}
	}
	if manifest.Bundle {
		if err := addBundle(w, bundle); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), f.Sync(), f.Close())
}

func addBundle(w *runarchive.RunArchiveWriter, bundle string) error {
	f, err := os.Open(bundle)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return w.WriteBundle(info.Size(), f)
}

// ImportRunFile reads a run from a file that [ExportRun] wrote, here or on another machine, by this
// version or an older one: to continue it, or only to show it. The events come last, all or
// none: after a kill before that, nothing refers to the data.
//
// A run that is only shown needs no history: if the repository lacks the commit from which it
// started, its own commits are omitted.
func ImportRunFile(ctx context.Context, p *app.Repository, path string, shown bool) (m RunTransferSummary, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "open the file", Cause: err,
			Hint: "Name a file that nexus journal export RUN --to FILE wrote.",
		}
	}
	defer f.Close() //nolint:errcheck // it was only read
	r, err := runarchive.OpenPack(f)
	if err != nil {
		return m, err
	}
	m = RunTransferSummary{Run: r.Manifest.Run, Path: path, Events: len(r.Events), Refs: len(r.Manifest.Refs)}
	if err := m.checkAbsent(ctx, p); err != nil {
		return m, err
	}
	clone, err := git.OpenClone(ctx, p.Repo, p.State)
	if err != nil {
		return m, err
	}
	defer clone.Close() //nolint:errcheck // what it did is done
	if _, err := clone.Fetch(ctx, r.Manifest.Base); err != nil {
		if !shown {
			return m, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the repository has no commit %.12s, from which the run started", r.Manifest.Base),
				Cause: err,
				Hint: "Fetch it first (git fetch), or import the run in a clone of its repository. " +
					"nexus import takes it in without its commits, to be looked at. Nothing was changed.",
			}
		}
		m.NoCommits, m.Refs = true, 0
	}
	if err := m.importBlobs(p, r); err != nil {
		return m, err
	}
	if err := m.importCommits(ctx, p, clone, r); err != nil {
		return m, err
	}
	mark := p.ClearViewOnly
	if shown {
		mark = p.MarkViewOnly
	}
	if err := mark(m.Run); err != nil {
		return m, err
	}
	return m, p.Journal.ImportRun(ctx, m.Run, r.Events)
}

// checkAbsent returns an error if the run exists already.
func (m *RunTransferSummary) checkAbsent(ctx context.Context, p *app.Repository) error {
	runs, err := p.Runs(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(runs, func(known journal.RecordedRun) bool { return known.ID == m.Run }) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s is here already", m.Run),
			Hint: "Nothing was changed: a run is never merged with another, and none is overwritten.",
		}
	}
	return nil
}

// importBlobs imports the data that events name.
func (m *RunTransferSummary) importBlobs(p *app.Repository, r *runarchive.RunArchiveReader) error {
	blobs, err := p.OpenBlobStore()
	if err != nil {
		return err
	}
	return r.ReadBlobs(func(_ string, data []byte) error {
		m.Blobs++
		_, err := blobs.Put(data)
		return err
	})
}

// importCommits imports the commits, unless the file has none.
func (m *RunTransferSummary) importCommits(ctx context.Context, p *app.Repository, clone *git.PrivateClone, r *runarchive.RunArchiveReader) (err error) {
	bundle := filepath.Join(p.State, "import-"+string(m.Run)+".bundle")
	defer func() { err = errors.Join(err, ignoreNotExist(os.Remove(bundle))) }()
	if err := r.ReadBundle(func(in io.Reader) error { return writeToFile(bundle, in) }); err != nil {
		return filewrite.WrapError("import run "+string(m.Run), err)
	}
	if m.NoCommits {
		return nil
	}
	if !r.Manifest.Bundle {
		bundle = ""
	}
	if err := clone.Unbundle(ctx, bundle, r.Manifest.Refs); err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the commits of the run cannot be taken in", Cause: err,
			Hint: "The file is damaged: export the run again. No run was added.",
		}
	}
	return nil
}

// writeToFile copies the input to a private file.
func writeToFile(path string, in io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close())
}
