package worktree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// AttemptTree has one attempt's files. Its methods may be called from any goroutine; they are serialized.
type AttemptTree struct {
	Run  nexus.RunID
	ID   nexus.AttemptID
	Dir  string         // the files
	Git  string         // git directory for the agent's own git; never read here
	Tmp  string         // scratch space
	Base string         // commit from which the attempt started
	Way  TreeFillMethod // method by which the files were created

	s    *Store
	home string         // directory with Dir, Git and Tmp
	kept unignoredPaths // see [AttemptTree.ForceInclude]

	mu    sync.Mutex // guards the fields below, and serializes changes of the files
	last  string     // commit of the last snapshot, or Base
	tree  string     // its tree
	note  treeRecord // record in the home; it does not change
	lower string     // tree of the overlay's lower layer; empty without one
	attrs bool       // some .gitattributes may affect how files are stored
	known treeScanCache

	judged gateRepoUse // git directory for gates
}

// treeRecord is the record of a tree in its home, in tree.json.
type treeRecord struct {
	Base  string         `json:"base"`
	Way   TreeFillMethod `json:"way"`
	Tree  string         `json:"tree"`            // tree that the index describes
	Since int64          `json:"since"`           // time of that state; see survey.Since
	Shown string         `json:"shown,omitempty"` // objects that the agent's git borrows; empty for those of the private clone
}

// objectsDir returns the directory of objects that the agent's git borrows.
func (n treeRecord) objectsDir(s *Store) string {
	return cmp.Or(n.Shown, filepath.Join(s.git.Dir, "objects"))
}

// AttemptBranch returns the ref of the attempt's branch in the private clone.
func AttemptBranch(run nexus.RunID, id nexus.AttemptID) string {
	return "refs/heads/nexus/" + string(run) + "/" + string(id)
}

// SnapshotRef returns the ref of the attempt's last snapshot in the private clone. The branch is another
// name for it.
func SnapshotRef(run nexus.RunID, id nexus.AttemptID) string {
	return attemptRefPrefix(run, id) + "snap"
}

// RoundRef returns the ref of the result of the attempt's n-th round, from 1. Like the pin it remains
// after the files are removed.
func RoundRef(run nexus.RunID, id nexus.AttemptID, n int) string {
	return fmt.Sprintf("%sround-%d", attemptRefPrefix(run, id), n)
}

func attemptRefPrefix(run nexus.RunID, id nexus.AttemptID) string {
	return "refs/nexus/" + string(run) + "/" + string(id) + "/"
}

// ReadablePaths lists the paths that a sandbox must make readable for the agent's own git, besides
// the files.
func (t *AttemptTree) ReadablePaths() []string { return []string{t.note.objectsDir(t.s)} }

// LastSnapshot returns the last snapshot and its tree, or the base if there is no snapshot.
func (t *AttemptTree) LastSnapshot() (commit, tree string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.tree
}

// AddTree makes a tree of base, which is a commit or a tree. It is idempotent: an existing tree of
// that ID is returned unchanged. If its files are gone but its last snapshot is pinned, the files
// are restored from the snapshot.
func (s *Store) AddTree(ctx context.Context, run nexus.RunID, id nexus.AttemptID, base string) (*AttemptTree, error) {
	t, err := s.newTree(run, id)
	if err != nil {
		return nil, err
	}
	if err := s.withTreeLock(ctx, run, id, func(ctx context.Context) error { return t.createOrAdoptTree(ctx, base) }); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *AttemptTree) createOrAdoptTree(ctx context.Context, base string) error {
	if _, err := os.Stat(t.home); err == nil {
		return t.adoptExisting(ctx)
	}
	var err error
	if t.Base, err = t.s.commitForRev(ctx, base); err != nil {
		return err
	}
	if err := t.createRefs(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.home), 0o700); err != nil {
		return filewrite.WrapError("make a worktree", err)
	}
	aside, err := os.MkdirTemp(filepath.Dir(t.home), newPrefix)
	if err != nil {
		return filewrite.WrapError("make a worktree", err)
	}
	if err := t.buildTree(ctx, aside); err != nil {
		return errors.Join(err, t.s.moveToTrash(aside))
	}
	if err := os.Rename(aside, t.home); err != nil {
		return errors.Join(filewrite.WrapError("put a worktree in place", err), t.s.moveToTrash(aside))
	}
	if t.Way == FillOverlay {
		t.s.recordMount(t.home)
	}
	return nil
}

// newPrefix is the prefix of an unfinished home. No ID begins with a dot.
const newPrefix = ".new-"

// newTree returns the tree of an attempt with only its paths set.
func (s *Store) newTree(run nexus.RunID, id nexus.AttemptID) (*AttemptTree, error) {
	for _, n := range []string{string(run), string(id)} {
		if err := checkID(n); err != nil {
			return nil, err
		}
	}
	home := filepath.Join(s.dir, "trees", string(run), string(id))
	return &AttemptTree{
		Run: run, ID: id, s: s, home: home,
		Dir: filepath.Join(home, "tree"), Git: filepath.Join(home, "git"), Tmp: filepath.Join(home, "tmp"),
	}, nil
}

// LocateAttemptFiles returns the directory of an attempt's files below the directory of a store, and its
// branch. The path is "" if there are no files, or if the ID is invalid.
func LocateAttemptFiles(dir string, run nexus.RunID, id nexus.AttemptID) (path, branch string) {
	if checkID(string(run)) != nil || checkID(string(id)) != nil {
		return "", ""
	}
	path = filepath.Join(dir, "trees", string(run), string(id), "tree")
	if _, err := os.Stat(path); err != nil {
		path = ""
	}
	return path, strings.TrimPrefix(AttemptBranch(run, id), "refs/heads/")
}

// TreeDir returns the directory of an attempt's files, which may not exist.
func (s *Store) TreeDir(run nexus.RunID, id nexus.AttemptID) (string, error) {
	t, err := s.newTree(run, id)
	if err != nil {
		return "", err
	}
	return t.Dir, nil
}

// checkID returns an error if an ID cannot be the name of a directory and a part of a ref.
func checkID(id string) error {
	plain := strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	err := git.CheckRef(id)
	if err == nil && plain && len(id) <= 100 && id != "train" {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("id %q cannot name a worktree", id),
		Hint: "Use letters, digits, dots and dashes, but not the name train, which is reserved.", Cause: err,
	}
}

// startingTreeMessage is the message of a commit that is made from a tree.
const startingTreeMessage = "nexus: a tree to start from"

// commitForRev returns rev if it is a commit, and a commit without parents if it is a tree.
func (s *Store) commitForRev(ctx context.Context, rev string) (string, error) {
	if !git.IsObjectID(rev) {
		commit, err := s.git.Resolve(ctx, rev)
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return commit, err
		}
		if rev, err = s.git.TreeID(ctx, rev); err != nil {
			return "", err
		}
	}
	switch kind, _, err := s.objects.ReadObject(ctx, rev); {
	case err == nil && kind == "commit":
		return rev, nil
	case err == nil && kind == "tree":
		return s.objects.Commit(rev, nil, s.Who, 1, startingTreeMessage)
	default:
		return s.git.Resolve(ctx, rev)
	}
}

// dateForNextCommit returns the date for a commit on top of another, in Unix seconds.
func (s *Store) dateForNextCommit(ctx context.Context, last string) (int64, error) {
	if s.Now != nil {
		return s.Now().Unix(), nil
	}
	_, at, err := s.treeAndDateOfCommit(ctx, last)
	return at + 1, err
}

// treeAndDateOfCommit returns the tree and the date of a commit.
func (s *Store) treeAndDateOfCommit(ctx context.Context, commit string) (tree string, at int64, err error) {
	kind, data, err := s.objects.ReadObject(ctx, commit)
	if err == nil && kind != "commit" {
		err = fmt.Errorf("%s is a %s, not a commit", commit, kind)
	}
	if err != nil {
		return "", 0, err
	}
	return git.ParseCommit(data)
}

// createRefs creates the refs of the tree. It continues from the snapshot of an earlier tree with this
// ID and base; with another base, that snapshot is stored under another ref.
func (t *AttemptTree) createRefs(ctx context.Context) error {
	o, all, pin := t.s.objects, attemptRefPrefix(t.Run, t.ID), SnapshotRef(t.Run, t.ID)
	if err := o.UnlockRef(pin); err != nil {
		return filewrite.WrapError("unlock a worktree", err)
	}
	base, err1 := o.ReadRef(all + "base")
	snap, err2 := o.ReadRef(pin)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	t.last = t.Base
	if snap != "" && base == t.Base {
		t.last = snap
	}
	if snap != "" && snap != t.last {
		if err := o.ForceRef(all+"old-"+snap[:12], snap); err != nil {
			return err
		}
	}
	if err := errors.Join(o.ForceRef(all+"base", t.Base), o.MoveRef(pin, t.last, snap)); err != nil {
		return err
	}
	if err := filewrite.WriteFile(filepath.Join(t.s.git.Dir, AttemptBranch(t.Run, t.ID)), []byte("ref: "+pin+"\n")); err != nil {
		return err
	}
	var err error
	t.tree, _, err = t.s.treeAndDateOfCommit(ctx, t.last)
	return err
}

// MarkRound sets the ref of the n-th round, from 1, to a snapshot. Only the process that holds the
// run may call it.
func (t *AttemptTree) MarkRound(n int, commit string) error {
	return filewrite.WrapError("name the result of a round", t.s.objects.ForceRef(RoundRef(t.Run, t.ID, n), commit))
}

// adoptExisting prepares an existing tree for use.
func (t *AttemptTree) adoptExisting(ctx context.Context) error {
	var err error
	if t.note, err = t.readNote(); err != nil {
		return err
	}
	t.Base, t.Way = t.note.Base, t.note.Way
	if err := t.s.objects.UnlockRef(SnapshotRef(t.Run, t.ID)); err != nil {
		return filewrite.WrapError("unlock a worktree", err)
	}
	if t.Way == FillOverlay {
		t.lower = t.note.Tree
		if err := t.remountTree(ctx); err != nil {
			return err
		}
	}
	if data, err := os.ReadFile(filepath.Join(t.Dir, ".git")); err == nil && string(data) == gateRepoGitFile {
		if err := t.linkAgentGit(); err != nil { // a killed process may have left the gates' link
			return err
		}
	}
	if err := t.undoInterruptedPlacing(); err != nil {
		return err
	}
	g, err := t.startState()
	if err != nil {
		return err
	}
	t.attrs = g.Attributes
	return t.reloadSnapshot(ctx)
}

// reloadSnapshot reads the last snapshot, and drops the known states of files.
func (t *AttemptTree) reloadSnapshot(ctx context.Context) error {
	var err error
	if t.last, err = t.s.objects.ReadRef(SnapshotRef(t.Run, t.ID)); err != nil {
		return err
	}
	if t.last == "" {
		t.last = t.Base
		if err := t.s.objects.MoveRef(SnapshotRef(t.Run, t.ID), t.last, ""); err != nil {
			return filewrite.WrapError("pin a worktree", err)
		}
	}
	if t.tree, _, err = t.s.treeAndDateOfCommit(ctx, t.last); err != nil {
		return err
	}
	t.known = treeScanCache{}
	if t.note.Tree == t.tree {
		return nil
	}
	changes, err := t.s.git.ChangedFiles(ctx, t.note.Tree, t.tree)
	if err != nil {
		return err
	}
	return t.recordChanges(changes, nil, 0)
}

// recordChanges records changes that were made to the files, with their stats from an index, at a time.
func (t *AttemptTree) recordChanges(changes []ChangedTreeFile, stats git.Index, now int64) error {
	for _, c := range changes {
		mode, err := c.ModeBits()
		if err != nil {
			return err
		}
		f := knownFileState{Mode: mode, ID: c.ID}
		if e, ok := stats.Find(c.Path); ok {
			f.Stat = e.Stat
		}
		t.known.Set(c.Path, f, now)
		t.attrs = t.attrs || isAttributesFile(c.Path)
	}
	return nil
}

func (t *AttemptTree) readNote() (treeRecord, error) {
	var n treeRecord
	data, err := os.ReadFile(filepath.Join(t.home, "tree.json"))
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	return n, filewrite.WrapError("read a worktree's note", err)
}

// Diff returns the patch from one commit or tree to another, cut at 16 MiB.
func (t *AttemptTree) Diff(ctx context.Context, from, to string) (string, error) {
	return t.s.git.Diff(ctx, from, to)
}

// ChangedFiles lists the files that differ between two commits or trees, by path.
func (t *AttemptTree) ChangedFiles(ctx context.Context, from, to string) ([]ChangedTreeFile, error) {
	return t.s.git.ChangedFiles(ctx, from, to)
}
