// Package memory stores the lessons learned in a repository, and finds those that a task
// needs.
//
// Approved episodes are files of the repository ([memoryentry.Dir]), which people read, edit
// and commit. Proposals, and forgotten episodes, are files of the same form in the state
// directory. Proposals derive from the journal: a lost one is created again, under the same
// name.
package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// maxEntries limits how many files of a directory are read.
const maxEntries = 10_000

// MemoryEntryStore gives access to the memory of a repository. The zero value is empty and cannot be
// written.
type MemoryEntryStore struct {
	Repo  string              // the user's checkout; empty: there is none
	State string              // directory of the repository's state
	Mask  func([]byte) []byte // masks keys in files that are written; may be nil
	Show  []string            // patterns of files that agents may read though they may contain secrets
}

// StoredMemoryEntry is an episode with its location.
type StoredMemoryEntry struct {
	memoryentry.MemoryEntry

	Path   string // path of its file: relative to the root of the repository, or absolute
	Shared bool   // it is in the repository
}

// InvalidMemoryEntry is a file that is no valid episode, with the reason.
type InvalidMemoryEntry struct {
	File string `json:"file"`
	Why  string `json:"why"`
	Hint string `json:"hint,omitzero"`
}

func (s MemoryEntryStore) entryDirectory() string { return filepath.Join(s.State, "memory") }

// LoadEntries reads all episodes, in the order of [memoryentry.SortEntries], and returns invalid files as
// problems. An episode in the repository takes precedence over one of the same name in the
// state directory, unless it was forgotten here.
func (s MemoryEntryStore) LoadEntries() ([]StoredMemoryEntry, []InvalidMemoryEntry, error) {
	var all []StoredMemoryEntry
	var problems []InvalidMemoryEntry
	if s.Repo != "" {
		kept, wrong, err := readEntries(s.Repo, memoryentry.Dir, true)
		if err != nil {
			return nil, nil, err
		}
		all, problems = kept, wrong
	}
	if s.State != "" {
		own, wrong, err := readEntries(s.State, "memory", false)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, wrong...)
		for _, k := range own {
			switch i := slices.IndexFunc(all, func(o StoredMemoryEntry) bool { return o.ID == k.ID }); {
			case i < 0:
				all = append(all, k)
			case k.State == memoryentry.Forgotten:
				all[i].State = memoryentry.Forgotten // its file came back, with a merge for instance
			}
		}
	}
	return orderEntries(all), problems, nil
}

func orderEntries(all []StoredMemoryEntry) []StoredMemoryEntry {
	at := map[string]StoredMemoryEntry{}
	episodes := make([]memoryentry.MemoryEntry, len(all))
	for i, k := range all {
		at[k.ID], episodes[i] = k, k.MemoryEntry
	}
	memoryentry.SortEntries(episodes)
	for i, e := range episodes {
		all[i] = at[e.ID]
	}
	return all
}

// readEntries reads the episodes of a directory below top, without following links. An invalid
// directory is reported as a problem, and reading continues.
func readEntries(top, dir string, shared bool) (all []StoredMemoryEntry, problems []InvalidMemoryEntry, err error) {
	root, err := os.OpenRoot(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, filewrite.WrapError("read the memory", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	if err := filewrite.CheckNoLinks(root, dir+"/"); err != nil {
		return nil, []InvalidMemoryEntry{newEntryProblem(dir, err)}, nil
	}
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, []InvalidMemoryEntry{{dir, err.Error(), "It must be a readable directory."}}, nil
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		at := name
		if !shared {
			at = filepath.Join(top, name)
		}
		if !strings.HasSuffix(name, ".md") || strings.EqualFold(entry.Name(), "README.md") || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if len(all) == maxEntries {
			problems = append(problems, InvalidMemoryEntry{
				at, fmt.Sprintf("there are more than %d files; the rest are not read", maxEntries), "Run nexus memory gc.",
			})
			break
		}
		e, err := readEntry(root, name, at)
		if err != nil {
			problems = append(problems, newEntryProblem(at, err))
			continue
		}
		all = append(all, StoredMemoryEntry{e, at, shared})
	}
	return all, problems, nil
}

func readEntry(root *os.Root, name, at string) (memoryentry.MemoryEntry, error) {
	data, err := readEntryFile(root, name)
	if err != nil {
		return memoryentry.MemoryEntry{}, err
	}
	return memoryentry.ParseEntry(at, data)
}

// readEntryFile reads a regular file, up to one byte more than an episode may have.
func readEntryFile(root *os.Root, name string) (data []byte, err error) {
	if err := filewrite.CheckNoLinks(root, name); err != nil {
		return nil, err
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, memoryentry.MaxFile+1))
	return data, errors.Join(err, f.Close())
}

// newEntryProblem returns a problem with a file, beginning with the position in it.
func newEntryProblem(at string, err error) InvalidMemoryEntry {
	p := InvalidMemoryEntry{File: at, Why: err.Error()}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		p.Hint = e.Hint
	}
	if rest, ok := strings.CutPrefix(p.Why, at+":"); ok {
		line, why, found := strings.Cut(rest, ": ")
		if p.Why = strings.TrimSpace(rest); found && strings.Trim(line, "0123456789") == "" {
			p.File, p.Why = at+":"+line, why
		}
	}
	return p
}

// FindEntry returns the episode with a name: its ID, or a part of it that is in no other.
func FindEntry(all []StoredMemoryEntry, name string) (StoredMemoryEntry, error) {
	var found []StoredMemoryEntry
	for _, k := range all {
		if k.ID == name {
			return k, nil
		}
		if name != "" && strings.Contains(k.ID, name) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return StoredMemoryEntry{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no episode %q", name),
			Hint: "nexus memory lists them.",
		}
	}
	return StoredMemoryEntry{}, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%d episodes have %q in their names", len(found), name),
		Hint: "Give more of the name; nexus memory lists them.",
	}
}

// hasHiddenFile reports whether one of an episode's files is hidden from agents.
func (s MemoryEntryStore) hasHiddenFile(paths ...string) bool {
	rules := files.HiddenPathRules{Show: s.Show}
	for _, p := range paths {
		if rules.NameReason(p) != "" {
			return true
		}
	}
	if s.Repo == "" || len(paths) == 0 {
		return false
	}
	root, err := os.OpenRoot(s.Repo)
	if err != nil {
		return true // unknown: assume that it is hidden
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	return slices.ContainsFunc(paths, func(p string) bool { return rules.IsIgnored(root, p) })
}

// withLockedEntries calls do with the current episodes while no other process changes the memory:
// episodes that were read before may have been approved or forgotten meanwhile.
func (s MemoryEntryStore) withLockedEntries(ctx context.Context, do func(all []StoredMemoryEntry) error) error {
	return filewrite.WithLock(ctx, filepath.Join(s.State, "memory.lock"), func(context.Context) error {
		all, _, err := s.LoadEntries()
		if err != nil {
			return err
		}
		return do(all)
	})
}

// findIfUnchanged returns an episode as it is now, and whether it is the one that was read.
func findIfUnchanged(all []StoredMemoryEntry, k StoredMemoryEntry) (StoredMemoryEntry, bool) {
	i := slices.IndexFunc(all, func(o StoredMemoryEntry) bool { return o.ID == k.ID })
	if i < 0 {
		return k, false
	}
	now := all[i]
	return now, now.State == k.State && now.Shared == k.Shared && now.Text == k.Text
}

// ApproveEntry makes an episode available to agents: its file is then in the repository. If its
// files changed, it is approved for their present version, which now returns; Approve reports
// whether they had changed. An episode that is not merged is approved as it was learned, the
// first time. A lasting one stays valid when its files change. An episode that differs from
// the one that the caller read is not approved.
func (s MemoryEntryStore) ApproveEntry(
	ctx context.Context, k StoredMemoryEntry, stand memoryentry.EntryFreshness, lasting bool, now func(path string) string,
) (moved StoredMemoryEntry, refreshed bool, err error) {
	if s.Repo == "" {
		return k, false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no checkout to write to",
			Hint: "Approve it in a checkout of the repository.",
		}
	}
	moved = k
	err = s.withLockedEntries(ctx, func(all []StoredMemoryEntry) error {
		is, same := findIfUnchanged(all, k)
		if !same {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: k.ID + " was changed meanwhile",
				Hint: "Read it with nexus memory show " + k.ID + ", and approve it again.",
			}
		}
		moved, refreshed, err = s.approveLoadedEntry(is, stand, lasting, now)
		return err
	})
	return moved, refreshed, err
}

func (s MemoryEntryStore) approveLoadedEntry(k StoredMemoryEntry, stand memoryentry.EntryFreshness, lasting bool, now func(path string) string) (moved StoredMemoryEntry, refreshed bool, err error) {
	is, file := k.CheckFreshness(now)
	if stand != memoryentry.Unmerged || k.State == memoryentry.Approved {
		stand = is
	}
	if stand == memoryentry.Gone {
		return k, false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is about %s, which is no longer committed here", k.ID, file),
			Hint: "nexus memory forget " + k.ID + " removes it; or change the line file in " + k.Path + ".",
		}
	}
	data := []byte(k.String())
	if stand == memoryentry.Stale || lasting {
		refreshed = stand == memoryentry.Stale
		e := k.MemoryEntry
		e.Files = slices.Clone(e.Files)
		for i, f := range e.Files {
			switch {
			case lasting:
				e.Files[i].Blob = ""
			case f.Blob != "":
				e.Files[i].Blob = now(f.Path)
			}
		}
		k.MemoryEntry, data = e, []byte(e.String())
	} else if old, err := s.entryText(k); err == nil {
		data = old // with people's edits
	}
	to := k
	to.State, to.Path, to.Shared = memoryentry.Approved, path.Join(memoryentry.Dir, k.ID+".md"), true
	if k.Shared {
		to.Path = k.Path
	}
	if err := s.writeFile(s.Repo, to.Path, memoryentry.ReplaceState(data, memoryentry.Approved), 0o755, 0o644); err != nil {
		return k, false, err
	}
	return to, refreshed, s.deleteEntryFile(k.ID)
}

// Forget marks an episode so that it is neither used nor proposed again here, even if its file
// in the repository, which is removed, comes back.
func (s MemoryEntryStore) Forget(ctx context.Context, k StoredMemoryEntry) error {
	return s.withLockedEntries(ctx, func(all []StoredMemoryEntry) error {
		k, _ := findIfUnchanged(all, k)
		e := k.MemoryEntry
		e.State = memoryentry.Forgotten
		err := s.writeFile(s.State, path.Join("memory", k.ID+".md"), []byte(e.String()), 0o700, 0o600)
		if err == nil && k.Shared {
			err = removeFile(s.Repo, k.Path)
		}
		return err
	})
}

// Remove deletes the file of an episode, unless it differs from the one that the caller read.
func (s MemoryEntryStore) Remove(ctx context.Context, k StoredMemoryEntry) error {
	return s.withLockedEntries(ctx, func(all []StoredMemoryEntry) error {
		switch _, same := findIfUnchanged(all, k); {
		case !same:
			return nil
		case k.Shared:
			return removeFile(s.Repo, k.Path)
		}
		return s.deleteEntryFile(k.ID)
	})
}

// deleteEntryFile deletes the file of an episode in the state directory.
func (s MemoryEntryStore) deleteEntryFile(id string) error {
	return removeFile(s.State, path.Join("memory", id+".md"))
}

func removeFile(top, name string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return filewrite.WrapError("remove "+name, err)
	}
	if err = filewrite.CheckNoLinks(root, name); err == nil {
		err = root.Remove(filepath.FromSlash(name))
	}
	if closed := root.Close(); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = closed
	}
	if err != nil {
		return filewrite.WrapError("remove "+name, err)
	}
	return nil
}

// entryText returns the file of an episode as it is.
func (s MemoryEntryStore) entryText(k StoredMemoryEntry) ([]byte, error) {
	top, name := s.State, path.Join("memory", k.ID+".md")
	if k.Shared {
		top, name = s.Repo, k.Path
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	return readEntryFile(root, name)
}

// maskSecrets returns a text with its keys masked.
func (s MemoryEntryStore) maskSecrets(data []byte) []byte {
	if s.Mask == nil {
		return data
	}
	return s.Mask(data)
}

// writeFile replaces a file atomically, with keys masked, and without following links.
func (s MemoryEntryStore) writeFile(top, name string, data []byte, dirs, mode fs.FileMode) error {
	data = s.maskSecrets(data)
	err := os.MkdirAll(top, 0o700)
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(top)
	}
	if err == nil {
		defer func() { _ = root.Close() }() // the file was closed for itself
		err = filewrite.WriteBelowRoot(root, name, data, dirs, mode)
	}
	return filewrite.WrapError("write "+name, err)
}
