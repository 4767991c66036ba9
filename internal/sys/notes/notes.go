// Package notes reads and writes git notes with git's plumbing: no hook runs,
// the ref moves by compare and swap, and what others wrote there stays.
package notes

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

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Ref is where notes of Nexus stand.
const Ref = "refs/notes/nexus"

// maxNote is the largest note that is read.
const maxNote = 1 << 20

// tries is how often the ref may be moved by others while notes are written.
const tries = 5

// Edit makes what a note is to be of what it was; nil where there was none.
type Edit func(old []byte) ([]byte, error)

// at is where the notes of a ref stand.
type at struct {
	repo  git.Repo
	tip   string              // empty: there are none yet
	blobs map[string][]string // paths of notes in the tree, by the object they are about
	depth int                 // directories above a note
}

// Read returns the note of an object, nil where it has none.
func Read(ctx context.Context, r git.Repo, object string) ([]byte, error) {
	n, err := open(ctx, r)
	if err != nil {
		return nil, err
	}
	return n.read(ctx, object)
}

// Write edits the notes of objects in one commit. Where nothing changes there
// is none. Its index is a file of its own below dir.
func Write(ctx context.Context, r git.Repo, dir string, edits map[string]Edit) (err error) {
	home, err := os.MkdirTemp(dir, ".notes-")
	if err != nil {
		return fmt.Errorf("write notes: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	for try := range tries {
		r.Index = filepath.Join(home, fmt.Sprintf("index-%d", try))
		done, failed := write(ctx, r, edits)
		if done || failed != nil && ctx.Err() != nil {
			return failed
		}
		err = failed
	}
	return err
}

// write tries once, and reports whether trying again is of no use.
func write(ctx context.Context, r git.Repo, edits map[string]Edit) (bool, error) {
	n, err := open(ctx, r)
	if err != nil {
		return true, err
	}
	entries, err := n.entries(ctx, edits)
	if err != nil || entries == "" {
		return true, err
	}
	commit, err := n.commit(ctx, entries)
	if err != nil {
		return true, err
	}
	was := n.tip
	if was == "" {
		was = strings.Repeat("0", len(commit))
	}
	if _, err := r.Run(ctx, "update-ref", "--no-deref", "--end-of-options", Ref, commit, was); err != nil {
		return false, fmt.Errorf("move %s: %w", Ref, err)
	}
	return true, nil
}

// open finds the notes of a repository.
func open(ctx context.Context, r git.Repo) (*at, error) {
	n := &at{repo: r, blobs: map[string][]string{}}
	to, err := r.Line(ctx, "symbolic-ref", "--quiet", Ref)
	if err == nil {
		return nil, fmt.Errorf("%s stands for %s, which is not written to", Ref, to)
	}
	if x, ok := errors.AsType[*git.ExitError](err); !ok || x.Status != 1 {
		return nil, err
	}
	n.tip, err = r.Resolve(ctx, Ref)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return n, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", n.tip)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		what, path, _ := strings.Cut(entry, "\t")
		object := strings.ReplaceAll(path, "/", "")
		if f := strings.Fields(what); len(f) == 3 && f[1] == "blob" && git.ID(object) {
			n.blobs[object] = append(n.blobs[object], path)
			n.depth = strings.Count(path, "/")
		}
	}
	return n, nil
}

// read returns the note of an object. As for git, several are one.
func (n *at) read(ctx context.Context, object string) ([]byte, error) {
	var all []byte
	for _, path := range n.blobs[object] {
		part, cut, err := n.repo.RunTo(ctx, maxNote, "cat-file", "blob", n.tip+":"+path)
		if err != nil {
			return nil, err
		}
		if cut || len(all)+len(part) > maxNote {
			return nil, fmt.Errorf("the note of %.12s in %s has more than %d bytes", object, Ref, maxNote)
		}
		if len(all) > 0 {
			all = append(all, '\n')
		}
		all = append(all, part...)
	}
	return all, nil
}

// entries returns what changes in the tree, as update-index takes it.
func (n *at) entries(ctx context.Context, edits map[string]Edit) (string, error) {
	var b strings.Builder
	for _, object := range slices.Sorted(maps.Keys(edits)) {
		if !git.ID(object) {
			return "", fmt.Errorf("%q is no object name", object)
		}
		old, err := n.read(ctx, object)
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
		blob, err := n.repo.RunIn(ctx, bytes.NewReader(now), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		paths := n.blobs[object]
		if len(paths) == 0 {
			paths = []string{n.path(object)}
		}
		for _, more := range paths[1:] {
			fmt.Fprintf(&b, "0 %s\t%s\x00", strings.Repeat("0", len(object)), more)
		}
		fmt.Fprintf(&b, "100644 %s\t%s\x00", strings.TrimSpace(blob), paths[0])
	}
	return b.String(), nil
}

// path returns where a new note goes: as deep as those that are there.
func (n *at) path(object string) string {
	var b strings.Builder
	for range n.depth {
		b.WriteString(object[:2] + "/")
		object = object[2:]
	}
	return b.String() + object
}

// commit puts the entries into the tree of notes.
func (n *at) commit(ctx context.Context, entries string) (string, error) {
	args := []string{"commit-tree", "-m", "Notes added by nexus"}
	read := []string{"read-tree", "--empty"}
	if n.tip != "" {
		read = []string{"read-tree", n.tip}
		args = append(args, "-p", n.tip)
	}
	if _, err := n.repo.Run(ctx, read...); err != nil {
		return "", err
	}
	if _, err := n.repo.RunIn(ctx, strings.NewReader(entries), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := n.repo.Line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	return n.repo.Line(ctx, append(args, tree)...)
}
