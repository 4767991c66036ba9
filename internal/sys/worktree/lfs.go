package worktree

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// PlaceLFSContent replaces LFS pointers in the work tree of r by their content, as far as the LFS store
// of r has it, and marks the files as unchanged in the index; size is the length of object names
// in bytes. The files must match the index, which may be that of some files only. No program of
// git LFS runs.
func PlaceLFSContent(ctx context.Context, r git.Repo, size int) error {
	if r.LFS.IsEmpty() {
		return nil
	}
	data, err := os.ReadFile(r.Index)
	if err != nil {
		return filewrite.WrapError("read an index", err)
	}
	index, err := git.ParseIndex(data, size)
	if err != nil {
		return filewrite.WrapError("read an index", err)
	}
	placed, err := placeLFSFiles(ctx, r, index)
	if err != nil || len(placed) == 0 {
		return err
	}
	for i := range index {
		if e, ok := placed.Find(index[i].Path); ok {
			index[i] = e
		}
	}
	if data, err = index.Encode(size); err != nil {
		return err
	}
	return filewrite.WriteFile(r.Index, data)
}

// placeLFSFiles is PlaceLFSContent without writing the index; it returns the changed entries.
func placeLFSFiles(ctx context.Context, r git.Repo, index git.Index) (placed git.Index, err error) {
	if r.LFS.IsEmpty() {
		return placed, nil
	}
	paths, err := r.LFSPaths(ctx)
	if err != nil || len(paths) == 0 {
		return placed, err
	}
	root, err := os.OpenRoot(r.Work)
	if err != nil {
		return placed, filewrite.WrapError("put content in place", err)
	}
	defer root.Close() //nolint:errcheck // each file is closed
	var sum int64
	for _, name := range paths {
		e, ok := index.Find(name)
		if !ok || e.Mode != git.ModeFile && e.Mode != git.ModeExec {
			continue
		}
		text, pointer, ok := pointerAt(root, e)
		if !ok || sum+pointer.Size > git.MaxLFSTree {
			continue
		}
		switch ok, err := placeContent(root, r.LFS, name, text, pointer); {
		case err != nil:
			return placed, filewrite.WrapError("put content in place", err)
		case ok:
			sum += pointer.Size
			if e.Stat, err = lstat(filepath.Join(r.Work, name)); err != nil {
				return placed, filewrite.WrapError("put content in place", err)
			}
			placed = append(placed, e)
		}
	}
	return placed, nil
}

// pointerAt returns the pointer in a file, with its text, if it is the one of the index entry.
func pointerAt(root *os.Root, e git.IndexEntry) (text string, p git.LFSPointer, ok bool) {
	info, err := root.Lstat(e.Path)
	if err != nil || !info.Mode().IsRegular() || info.Size() >= git.MaxLFSPointer {
		return "", p, false
	}
	data, err := root.ReadFile(e.Path)
	if err != nil || git.BlobID(data, len(e.Raw)) != e.ObjectName() {
		return "", p, false
	}
	p, ok = git.ParseLFSPointer(string(data))
	return string(data), p, ok
}

// placeContent overwrites the text of a pointer with its content, if that is available, complete,
// and within the size limit. The file gets an old modification time that is derived from the
// content, so that git always recognizes it as unchanged, and never as modified in the second in
// which the index was written.
func placeContent(root *os.Root, from git.LFSStore, name, text string, p git.LFSPointer) (ok bool, err error) {
	if p.Size > git.MaxLFSFile || p.Size == 0 || !from.Has(p) {
		return false, nil
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_TRUNC|noFollow, 0)
	if err != nil {
		return false, err
	}
	err = from.Copy(f, p)
	if errors.Is(err, git.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		_, err1 := f.Seek(0, io.SeekStart)
		_, err2 := f.WriteString(text)
		return false, errors.Join(err1, err2, f.Truncate(int64(len(text))), f.Close())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	at := contentTime(p)
	return true, root.Chtimes(name, at, at)
}

// contentTime returns the time of files with a content: between 2001 and 2010, and different for
// other contents.
func contentTime(p git.LFSPointer) time.Time {
	n, _ := strconv.ParseInt(p.Hash[:7], 16, 64) // cannot fail for a hash
	return time.Unix(1_000_000_000+n, 0)
}

// storeLFS stores the LFS files among the paths as pointers, and returns the others.
func (t *AttemptTree) storeLFS(ctx context.Context, paths []string, files map[string]knownFileState) (rest []string, err error) {
	if !t.attrs || len(paths) == 0 {
		return paths, nil
	}
	large, err := t.repoWithIndex("none").FilterLFSPaths(ctx, paths)
	if _, ok := errors.AsType[*git.ExitError](err); err != nil && !ok {
		return nil, err
	}
	for _, p := range paths {
		if !large[p] {
			rest = append(rest, p)
			continue
		}
		f, done, err := t.storePointer(ctx, p)
		if _, gone := os.Lstat(filepath.Join(t.Dir, p)); err != nil && errors.Is(gone, fs.ErrNotExist) {
			continue // the next scan finds that it is gone
		}
		if err != nil {
			return nil, filewrite.WrapError("keep "+p, err)
		}
		if done {
			files[p] = f
		} else {
			rest = append(rest, p)
		}
	}
	return rest, nil
}

// storePointer stores the pointer for a file's content: the same one as in the last snapshot, if
// the content is the same. A file that is a pointer already remains one, and gets its content back
// if the agent's git had replaced it by the pointer. A file that was committed as it is, in spite
// of the attribute, is so until it changes.
func (t *AttemptTree) storePointer(ctx context.Context, p string) (f knownFileState, done bool, err error) {
	in, st, err := openFile(filepath.Join(t.Dir, p))
	if err != nil || in == nil {
		return f, false, err
	}
	defer in.Close() //nolint:errcheck // only read
	f = knownFileState{Mode: st.Mode, Stat: st}
	was, old, err := t.committedFile(ctx, p)
	if err != nil {
		return f, false, err
	}
	if done, err := t.storePointerUnchanged(p, in, was, &f); done || err != nil {
		return f, done, err
	}
	now, err := git.HashLFSContent(in)
	if err != nil {
		return f, false, err
	}
	if pointer, ok := git.ParseLFSPointer(old); ok && pointer == now {
		f.ID = was
		return f, true, t.restoreContentTime(p, now, &f)
	}
	if was != "" {
		if same, err := t.isBlob(ctx, p, was, now.Size); same || err != nil {
			return f, false, err // store it like all other files
		}
	}
	if !t.s.git.LFS.Has(now) {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return f, false, err
		}
		if now, err = t.s.git.LFS.StoreOwn(in); err != nil {
			return f, false, err
		}
	}
	f.ID, err = t.s.objects.WriteObject("blob", []byte(now.String()))
	return f, true, err
}

// storePointerUnchanged stores a file that is a pointer, or empty, unchanged. Otherwise it rewinds the file.
func (t *AttemptTree) storePointerUnchanged(p string, in *os.File, was string, f *knownFileState) (done bool, err error) {
	text, err := io.ReadAll(io.LimitReader(in, git.MaxLFSPointer))
	if err != nil {
		return false, err
	}
	pointer, ok := git.ParseLFSPointer(string(text))
	if !ok && len(text) > 0 {
		_, err = in.Seek(0, io.SeekStart)
		return false, err
	}
	if f.ID, err = t.s.objects.WriteObject("blob", text); err == nil && f.ID == was && ok {
		err = t.restoreLFSContent(p, string(text), pointer, f)
	}
	return true, err
}

// openFile opens a regular file, with its stat; it returns nil for any other file.
func openFile(name string) (*os.File, git.IndexFileStat, error) {
	st, err := lstat(name)
	if err != nil || st.Mode != git.ModeFile && st.Mode != git.ModeExec {
		return nil, st, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrPermission) && os.Chmod(name, 0o600) == nil {
		f, err = os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	}
	if err != nil {
		return nil, st, err
	}
	if st, err = fileStat(f); err == nil && st.Mode != git.ModeFile && st.Mode != git.ModeExec {
		err = fmt.Errorf("%s is no longer a file", name)
	}
	if err != nil {
		return nil, st, errors.Join(err, f.Close())
	}
	return f, st, nil
}

// committedFile returns a file's object in the last snapshot, and its text if that is as short as a
// pointer.
func (t *AttemptTree) committedFile(ctx context.Context, p string) (id, text string, err error) {
	node, err := t.s.objects.LookupPath(ctx, t.tree, p)
	if err != nil || node.Mode != git.ModeFile && node.Mode != git.ModeExec {
		return "", "", err
	}
	text, cut, err := t.s.git.RunWithLimit(ctx, git.MaxLFSPointer, "cat-file", "blob", node.ID)
	if cut {
		text = ""
	}
	return node.ID, text, err
}

// isBlob reports whether a file of that size is identical to an object.
func (t *AttemptTree) isBlob(ctx context.Context, p, id string, size int64) (bool, error) {
	length, err := t.s.git.RunLine(ctx, "cat-file", "-s", id)
	if err != nil || length != strconv.FormatInt(size, 10) {
		return false, err
	}
	out, err := t.repoWithIndex("none").RunLine(ctx, "hash-object", "--no-filters", "--", p)
	return out == id, err
}

// restoreLFSContent restores the content in a file that is the pointer of the last snapshot. Meanwhile
// the pointer is recorded beside the tree, so that a partial content is never mistaken for the
// agent's work.
func (t *AttemptTree) restoreLFSContent(p, text string, pointer git.LFSPointer, f *knownFileState) error {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // each file is closed
	if err := filewrite.WriteFile(t.lfsPlacingRecordPath(), []byte(p+"\x00"+text)); err != nil {
		return err
	}
	ok, err := placeContent(root, t.s.git.LFS, p, text, pointer)
	if ok && err == nil {
		f.Stat, err = lstat(filepath.Join(t.Dir, p))
	}
	if err != nil {
		return err
	}
	return os.Remove(t.lfsPlacingRecordPath())
}

// lfsPlacingRecordPath returns the path of the record of [AttemptTree.restoreLFSContent].
func (t *AttemptTree) lfsPlacingRecordPath() string { return filepath.Join(t.home, "placing") }

// undoInterruptedPlacing restores the pointer if a process died while it replaced the pointer by its content.
func (t *AttemptTree) undoInterruptedPlacing() error {
	data, err := os.ReadFile(t.lfsPlacingRecordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return filewrite.WrapError("put content in place", err)
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return filewrite.WrapError("put content in place", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	name, text, _ := strings.Cut(string(data), "\x00")
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return filewrite.WrapError("put content in place", err)
		}
	}
	return filewrite.WrapError("put content in place", os.Remove(t.lfsPlacingRecordPath()))
}

// restoreContentTime restores the time of a file that was touched but has the same content.
func (t *AttemptTree) restoreContentTime(p string, pointer git.LFSPointer, f *knownFileState) error {
	at := contentTime(pointer)
	if f.Stat.Modified == at.UnixNano() {
		return nil
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	if err := root.Chtimes(p, at, at); err != nil {
		return err
	}
	f.Stat, err = lstat(filepath.Join(t.Dir, p))
	return err
}

// placeLateLFSContent adds LFS content that was not available when the shared files of the overlay were
// made. It returns the changed files as changes of files that remain the same.
func (t *AttemptTree) placeLateLFSContent(ctx context.Context, dir string, low writtenCheckout) ([]ChangedTreeFile, git.Index, error) {
	if !low.Attributes {
		return nil, nil, nil
	}
	r := t.s.git
	r.Work, r.Index = dir, t.s.checkouts.checkoutPath(low.Tree, "index")
	late, err := placeLFSFiles(ctx, r, low.Index)
	var changes []ChangedTreeFile
	for _, e := range late {
		changes = append(changes, ChangedTreeFile{Status: "M", Path: e.Path, Mode: fmt.Sprintf("%o", e.Mode), ID: hex.EncodeToString([]byte(e.Raw))})
	}
	return changes, late, err
}

// sortByPath sorts the entries of an index by path.
func sortByPath(x git.Index) git.Index {
	slices.SortStableFunc(x, func(a, b git.IndexEntry) int { return strings.Compare(a.Path, b.Path) })
	return x
}
