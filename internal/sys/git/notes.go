package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NotesRef is the ref of Nexus' notes.
const NotesRef = "refs/notes/nexus"

// maxNote limits the size of a note.
const maxNote = 1 << 20

// maxTries limits the retries if others move the ref while notes are written.
const maxTries = 5

// NoteEditFunc returns the new content of a note for its old content, which is nil if there was none.
type NoteEditFunc func(old []byte) ([]byte, error)

// gitNotesTree is the tree of a notes ref.
type gitNotesTree struct {
	repo  Repo
	tip   string              // empty: no notes yet
	blobs map[string][]string // paths of notes in the tree, by annotated object
	depth int                 // number of directories above a note
	flat  map[string]string   // all entries by path, as "mode kind object"; nil if some are in directories
}

// ReadNote returns the note of an object, nil if it has none.
func ReadNote(ctx context.Context, r Repo, object string) ([]byte, error) {
	n, err := openNotes(ctx, r)
	if err != nil {
		return nil, err
	}
	return n.readNote(ctx, object)
}

// WriteNotes edits the notes of objects in one commit, or in none if nothing changes. Its index is
// a file of its own below dir.
func WriteNotes(ctx context.Context, r Repo, dir string, edits map[string]NoteEditFunc) (err error) {
	home, err := os.MkdirTemp(dir, ".notes-")
	if err != nil {
		return fmt.Errorf("write notes: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	for try := range maxTries {
		r.Index = filepath.Join(home, fmt.Sprintf("index-%d", try))
		done, failed := writeNotesOnce(ctx, r, edits)
		if done || failed != nil && ctx.Err() != nil {
			return failed
		}
		err = failed
	}
	return err
}

// writeNotesOnce makes one attempt. Its result is false if the attempt may be repeated.
func writeNotesOnce(ctx context.Context, r Repo, edits map[string]NoteEditFunc) (bool, error) {
	n, err := openNotes(ctx, r)
	if err != nil {
		return true, err
	}
	entries, err := n.updateIndexInput(ctx, edits)
	if err != nil || entries == "" {
		return true, err
	}
	commit, err := n.commitEntries(ctx, entries)
	if err != nil {
		return true, err
	}
	was := n.tip
	if was == "" {
		was = strings.Repeat("0", len(commit))
	}
	if _, err := r.Run(ctx, "update-ref", "--no-deref", "--end-of-options", NotesRef, commit, was); err != nil {
		return false, fmt.Errorf("move %s: %w", NotesRef, err)
	}
	return true, nil
}

// openNotes reads the notes tree of a repository.
func openNotes(ctx context.Context, r Repo) (*gitNotesTree, error) {
	n := &gitNotesTree{repo: r, blobs: map[string][]string{}, flat: map[string]string{}}
	listed, err := r.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(symref)", NotesRef)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(listed) {
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == NotesRef {
			return nil, fmt.Errorf("%s points at %s, which is not written to", NotesRef, f[2])
		}
		if len(f) == 2 && f[0] == NotesRef {
			n.tip = f[1]
		}
	}
	if n.tip == "" {
		return n, nil
	}
	out, err := r.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", n.tip)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		what, path, _ := strings.Cut(entry, "\t")
		if strings.Contains(path, "/") {
			n.flat = nil
		} else if n.flat != nil && path != "" {
			n.flat[path] = what
		}
		object := strings.ReplaceAll(path, "/", "")
		if f := strings.Fields(what); len(f) == 3 && f[1] == "blob" && IsObjectID(object) {
			n.blobs[object] = append(n.blobs[object], path)
			n.depth = strings.Count(path, "/")
		}
	}
	return n, nil
}

// readNote returns the note of an object. Several notes are joined, as git does.
func (n *gitNotesTree) readNote(ctx context.Context, object string) ([]byte, error) {
	var all []byte
	for _, path := range n.blobs[object] {
		part, cut, err := n.repo.RunWithLimit(ctx, maxNote, "cat-file", "blob", n.tip+":"+path)
		if err != nil {
			return nil, err
		}
		if cut || len(all)+len(part) > maxNote {
			return nil, fmt.Errorf("the note of %.12s in %s has more than %d bytes", object, NotesRef, maxNote)
		}
		if len(all) > 0 {
			all = append(all, '\n')
		}
		all = append(all, part...)
	}
	return all, nil
}

// updateIndexInput returns the changes of the tree in the format of update-index.
func (n *gitNotesTree) updateIndexInput(ctx context.Context, edits map[string]NoteEditFunc) (string, error) {
	var b strings.Builder
	for _, object := range slices.Sorted(maps.Keys(edits)) {
		if !IsObjectID(object) {
			return "", fmt.Errorf("%q is not an object name", object)
		}
		old, err := n.readNote(ctx, object)
		if err != nil {
			return "", err
		}
		now, err := edits[object](old)
		if err != nil {
			return "", err
		}
		if bytes.Equal(old, now) {
			continue
		}
		blob, err := n.repo.RunWithInput(ctx, bytes.NewReader(now), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		paths := n.blobs[object]
		if len(paths) == 0 {
			paths = []string{n.notePath(object)}
		}
		for _, more := range paths[1:] {
			fmt.Fprintf(&b, "0 %s\t%s\x00", strings.Repeat("0", len(object)), more)
		}
		fmt.Fprintf(&b, "100644 %s\t%s\x00", strings.TrimSpace(blob), paths[0])
	}
	return b.String(), nil
}

// notePath returns the path of a new note, at the depth of the existing ones.
func (n *gitNotesTree) notePath(object string) string {
	var b strings.Builder
	for range n.depth {
		b.WriteString(object[:2] + "/")
		object = object[2:]
	}
	return b.String() + object
}

// commitEntries writes the entries to a new commit of notes.
func (n *gitNotesTree) commitEntries(ctx context.Context, entries string) (string, error) {
	tree, err := n.writeTree(ctx, entries)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-m", "Notes added by nexus"}
	if n.tip != "" {
		args = append(args, "-p", n.tip)
	}
	return n.repo.RunLine(ctx, append(args, tree)...)
}

// writeTree writes a tree with the entries changed. Directories need an index for that.
func (n *gitNotesTree) writeTree(ctx context.Context, entries string) (string, error) {
	if n.flat != nil && !strings.Contains(entries, "/") {
		return n.writeFlatTree(ctx, entries)
	}
	if _, err := n.repo.Run(ctx, "read-tree", n.tip); err != nil {
		return "", err
	}
	if _, err := n.repo.RunWithInput(ctx, strings.NewReader(entries), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return n.repo.RunLine(ctx, "write-tree")
}

// writeFlatTree writes a tree without directories.
func (n *gitNotesTree) writeFlatTree(ctx context.Context, entries string) (string, error) {
	for entry := range strings.SplitSeq(strings.TrimSuffix(entries, "\x00"), "\x00") {
		what, path, _ := strings.Cut(entry, "\t")
		mode, object, _ := strings.Cut(what, " ")
		if delete(n.flat, path); mode != "0" {
			n.flat[path] = mode + " blob " + object
		}
	}
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(n.flat)) {
		b.WriteString(n.flat[path] + "\t" + path + "\x00")
	}
	tree, err := n.repo.RunWithInput(ctx, strings.NewReader(b.String()), "mktree", "-z")
	return strings.TrimSpace(tree), err
}

// EditNotes edits the notes of commits in the user's repository, in one commit on [NotesRef]. It
// is idempotent if the edits are.
func (c *PrivateClone) EditNotes(ctx context.Context, edits map[string]NoteEditFunc) error {
	return WriteNotes(ctx, c.user, c.git.Dir, edits)
}
