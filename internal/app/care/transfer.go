// Package care takes care of the journal: it repairs one that is damaged, and
// takes runs from machine to machine.
package care

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
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal/pack"
)

// Moved says what of a run was written to a file, or taken from one.
type Moved struct {
	Run    nexus.RunID `json:"run"`
	Path   string      `json:"path"`
	Events int         `json:"events"`
	Blobs  int         `json:"blobs"`
	Refs   int         `json:"refs"`            // that keep the run's commits
	Absent int         `json:"absent,omitzero"` // blobs that events name and that are nowhere

	NoCommits bool `json:"no_commits,omitzero"` // they were left out: the repository lacks the one below them
}

// Export writes a run that nobody conducts to a new file, with all that another
// machine needs to show it or to continue it. Keys were masked when they were
// recorded; those that the mask knows now are masked, too. The file gets its name
// when it is whole.
func Export(ctx context.Context, p *app.Place, r journal.Run, path string, mask func([]byte) []byte) (m Moved, err error) {
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
	m = Moved{Run: r.ID, Path: path}
	manifest := pack.Manifest{Run: r.ID}
	var events []journal.Foreign
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
		events = append(events, journal.Foreign{Seq: e.Seq, At: e.At, Kind: kind, Data: data})
	}
	m.Events = len(events)
	slices.Sort(named)
	part, err := fresh(path)
	if err != nil {
		return m, disk.Fail("export run "+string(r.ID), err)
	}
	defer func() { err = errors.Join(err, gone(os.Remove(part)), gone(os.Remove(part+".bundle"))) }()
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
		err = m.write(p, part, bundle, manifest, events, slices.Compact(named), mask)
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	return m, disk.Fail("export run "+string(r.ID), err)
}

// fresh makes an empty file beside a path, under a name that nothing had before: what
// somebody else wrote there stays.
func fresh(path string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// gone drops the error that there is nothing to remove.
func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// write writes the file and syncs it.
func (m *Moved) write(p *app.Place, path, bundle string, manifest pack.Manifest, events []journal.Foreign, named []string,
	mask func([]byte) []byte,
) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is closed below, where that matters
	blobs, err := p.Blobs()
	if err != nil {
		return err
	}
	c := cover{blobs, mask, map[string]string{}}
	if err := c.look(named, m); err != nil {
		return err
	}
	for i := range events {
		if events[i].Data, err = c.event(events[i].Data); err != nil {
			return err
		}
	}
	w, err := pack.NewWriter(f, manifest, events)
	if err != nil {
		return err
	}
	for _, hash := range named {
		data, err := blobs.Get(hash)
		if err != nil {
			continue // it is counted
		}
		if err := w.Blob(c.name(hash), mask(data)); err != nil {
			return err
		}
	}
	if manifest.Bundle {
		if err := add(w, bundle); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), f.Sync(), f.Close())
}

func add(w *pack.Writer, bundle string) error {
	f, err := os.Open(bundle)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return w.Bundle(info.Size(), f)
}

// Import takes a run in from a file that [Export] wrote, here or on another
// machine, by this version or an older one: to continue it, or only to show it.
// The events come last, all or none: a kill before leaves what nothing names.
//
// A run that is only shown needs no history: where the repository lacks the commit
// from which it started, its own commits are left out.
func Import(ctx context.Context, p *app.Place, path string, shown bool) (m Moved, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "open the file", Cause: err,
			Hint: "Name a file that nexus journal export RUN --to FILE wrote.",
		}
	}
	defer f.Close() //nolint:errcheck // it was only read
	r, err := pack.Open(f)
	if err != nil {
		return m, err
	}
	m = Moved{Run: r.Manifest.Run, Path: path, Events: len(r.Events), Refs: len(r.Manifest.Refs)}
	if err := m.absent(ctx, p); err != nil {
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
	if err := m.blobs(p, r); err != nil {
		return m, err
	}
	if err := m.commits(ctx, p, clone, r); err != nil {
		return m, err
	}
	mark := p.Continues
	if shown {
		mark = p.ShowOnly
	}
	if err := mark(m.Run); err != nil {
		return m, err
	}
	return m, p.Journal.Adopt(ctx, m.Run, r.Events)
}

// absent refuses a run that is here already.
func (m *Moved) absent(ctx context.Context, p *app.Place) error {
	runs, err := p.Runs(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(runs, func(known journal.Run) bool { return known.ID == m.Run }) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s is here already", m.Run),
			Hint: "Nothing was changed: a run is never merged with another, and none is overwritten.",
		}
	}
	return nil
}

// blobs takes in the data that events name.
func (m *Moved) blobs(p *app.Place, r *pack.Reader) error {
	blobs, err := p.Blobs()
	if err != nil {
		return err
	}
	return r.Blobs(func(_ string, data []byte) error {
		m.Blobs++
		_, err := blobs.Put(data)
		return err
	})
}

// commits takes in the commits, unless they are left out.
func (m *Moved) commits(ctx context.Context, p *app.Place, clone *git.Clone, r *pack.Reader) (err error) {
	bundle := filepath.Join(p.State, "import-"+string(m.Run)+".bundle")
	defer func() { err = errors.Join(err, gone(os.Remove(bundle))) }()
	if err := r.Bundle(func(in io.Reader) error { return spool(bundle, in) }); err != nil {
		return disk.Fail("import run "+string(m.Run), err)
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

// spool writes what is read to a file of ours.
func spool(path string, in io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close())
}
