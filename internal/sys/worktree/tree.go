package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Tree is one attempt's files. Its methods may be called from any goroutine;
// they wait for each other.
type Tree struct {
	Run  nexus.RunID
	ID   nexus.AttemptID
	Dir  string // the files
	Git  string // git directory for the agent's own git; never read here
	Tmp  string // scratch space
	Base string // commit the attempt started from

	s    *Store
	home string // what holds Dir, Git and Tmp

	mu   sync.Mutex // guards last and tree, and serialises changes of the files
	last string     // commit of the last snapshot, or Base
	tree string     // its tree
}

// note is what a tree's home says about itself, in tree.json.
type note struct {
	Base string `json:"base"`
}

// Branch is the ref of the attempt's branch in the private clone.
func Branch(run nexus.RunID, id nexus.AttemptID) string {
	return "refs/heads/nexus/" + string(run) + "/" + string(id)
}

// Pin is the ref of the attempt's last snapshot in the private clone.
func Pin(run nexus.RunID, id nexus.AttemptID) string { return pins(run, id) + "snap" }

func pins(run nexus.RunID, id nexus.AttemptID) string {
	return "refs/nexus/" + string(run) + "/" + string(id) + "/"
}

// Add makes a tree of base, which is a commit or a tree. It is idempotent: a
// tree of that id that is there already is returned as it is, and one whose
// files are gone but whose last snapshot is pinned comes back as it was then.
func (s *Store) Add(ctx context.Context, run nexus.RunID, id nexus.AttemptID, base string) (*Tree, error) {
	t, err := s.name(run, id)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(t.home); err == nil {
		return t, t.adopt(ctx)
	}
	if t.Base, err = s.commitOf(ctx, base); err != nil {
		return nil, err
	}
	if err := t.resume(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(t.home), 0o700); err != nil {
		return nil, storage("make a worktree", err)
	}
	aside, err := os.MkdirTemp(filepath.Dir(t.home), ".new-")
	if err != nil {
		return nil, storage("make a worktree", err)
	}
	if err := t.build(ctx, aside); err != nil {
		return nil, errors.Join(err, s.discard(aside))
	}
	if err := os.Rename(aside, t.home); err != nil {
		if errors.Is(err, fs.ErrExist) { // somebody else was faster
			return t, errors.Join(s.discard(aside), t.adopt(ctx))
		}
		return nil, errors.Join(storage("put a worktree in place", err), s.discard(aside))
	}
	return t, nil
}

// name returns the tree of an attempt with nothing known but its paths.
func (s *Store) name(run nexus.RunID, id nexus.AttemptID) (*Tree, error) {
	for _, n := range []string{string(run), string(id)} {
		if err := idOK(n); err != nil {
			return nil, err
		}
	}
	home := filepath.Join(s.dir, "trees", string(run), string(id))
	return &Tree{
		Run: run, ID: id, s: s, home: home,
		Dir: filepath.Join(home, "tree"), Git: filepath.Join(home, "git"), Tmp: filepath.Join(home, "tmp"),
	}, nil
}

// idOK reports why an id may not name a directory and a part of a ref.
func idOK(id string) error {
	plain := strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	err := git.RefOK(id)
	if err == nil && plain && len(id) <= 100 && id != "train" {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("id %q cannot name a worktree", id),
		Hint: "Use letters, digits, dots and dashes, and not the name train.", Cause: err,
	}
}

// commitOf returns rev if it is a commit, and a commit without parents if it
// is a tree.
func (s *Store) commitOf(ctx context.Context, rev string) (string, error) {
	commit, err := s.git.Resolve(ctx, rev)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return commit, err
	}
	tree, err := s.git.Tree(ctx, rev)
	if err != nil {
		return "", err
	}
	return s.git.Line(ctx, "commit-tree", "-m", "nexus: a tree to start from", tree)
}

// resume makes the refs of the tree. A snapshot of an earlier tree with this
// id and base is where the new one goes on; with another base it is kept
// under a name of its own.
func (t *Tree) resume(ctx context.Context) error {
	base, err := t.s.ref(ctx, pins(t.Run, t.ID)+"base")
	if err != nil {
		return err
	}
	snap, err := t.s.ref(ctx, Pin(t.Run, t.ID))
	if err != nil {
		return err
	}
	t.last = t.Base
	var b strings.Builder
	fmt.Fprintf(&b, "update %sbase %s\n", pins(t.Run, t.ID), t.Base)
	switch {
	case snap == "":
	case base == t.Base:
		t.last = snap
	default:
		fmt.Fprintf(&b, "update %sold-%s %s\ndelete %s\n", pins(t.Run, t.ID), snap[:12], snap, Pin(t.Run, t.ID))
	}
	fmt.Fprintf(&b, "update %s %s\n", Branch(t.Run, t.ID), t.last)
	if _, err := t.s.git.RunIn(ctx, strings.NewReader(b.String()), "update-ref", "--stdin"); err != nil {
		return err
	}
	t.tree, err = t.s.git.Tree(ctx, t.last)
	return err
}

// ref returns the commit a ref of the private clone points to, or "".
func (s *Store) ref(ctx context.Context, name string) (string, error) {
	commit, err := s.git.Resolve(ctx, name)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return "", nil
	}
	return commit, err
}

// adopt reads what is known of a tree that is there.
func (t *Tree) adopt(ctx context.Context) error {
	data, err := os.ReadFile(filepath.Join(t.home, "tree.json"))
	if err != nil {
		return storage("adopt a worktree", err)
	}
	var n note
	if err := json.Unmarshal(data, &n); err != nil {
		return storage("adopt a worktree", err)
	}
	t.Base = n.Base
	if t.last, err = t.s.ref(ctx, Pin(t.Run, t.ID)); err != nil {
		return err
	}
	if t.last == "" {
		t.last = t.Base
	}
	t.tree, err = t.s.git.Tree(ctx, t.last)
	return err
}

// build fills home, which is not yet t.home, with everything of a tree.
func (t *Tree) build(ctx context.Context, home string) error {
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		return storage("make a worktree", err)
	}
	if err := t.checkout(ctx, home); err != nil {
		return err
	}
	if err := t.agentGit(ctx, home); err != nil {
		return err
	}
	data, err := json.Marshal(note{Base: t.Base})
	if err != nil {
		return err
	}
	return write(filepath.Join(home, "tree.json"), string(data))
}

// checkout writes the files.
func (t *Tree) checkout(ctx context.Context, home string) error {
	r := t.s.git
	r.Work, r.Index = filepath.Join(home, "tree"), filepath.Join(home, "index")
	if err := os.Mkdir(r.Work, 0o700); err != nil {
		return storage("make a worktree", err)
	}
	if _, err := r.Run(ctx, "read-tree", t.tree); err != nil {
		return err
	}
	_, err := r.Run(ctx, "-c", "checkout.workers=0", "checkout-index", "-a", "-u", "-f", "-q")
	return err
}

// agentGit writes the git directory that the agent's own git finds from the
// tree. It borrows the objects of the private clone.
func (t *Tree) agentGit(ctx context.Context, home string) error {
	format, err := t.s.git.Line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	dir := filepath.Join(home, "git")
	files := map[string]string{
		"config":                  config(format, false),
		"HEAD":                    "ref: " + Branch(t.Run, t.ID) + "\n",
		Branch(t.Run, t.ID):       t.last + "\n",
		"objects/info/alternates": filepath.Join(t.s.git.Dir, "objects") + "\n",
		"info/exclude":            "",
		"../tree/.git":            "gitdir: ../git\n",
	}
	for name, text := range files {
		if err := write(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	index, err := os.ReadFile(filepath.Join(home, "index"))
	if err != nil {
		return storage("copy the index", err)
	}
	return write(filepath.Join(dir, "index"), string(index))
}

// Snapshot keeps the files as they are as a commit on top of the last one,
// and pins it. If they are as the last snapshot has them, it is returned.
func (t *Tree) Snapshot(ctx context.Context, message string) (commit, tree string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.snapshot(ctx, message)
}

func (t *Tree) snapshot(ctx context.Context, message string) (commit, tree string, err error) {
	r := t.repo()
	if _, err := r.Run(ctx, "add", "-A"); err != nil {
		return "", "", err
	}
	if tree, err = r.Line(ctx, "write-tree"); err != nil {
		return "", "", err
	}
	if tree == t.tree {
		return t.last, t.tree, nil
	}
	if commit, err = t.s.git.Line(ctx, "commit-tree", "-m", message, "-p", t.last, tree); err != nil {
		return "", "", err
	}
	if err := t.pin(ctx, commit); err != nil {
		return "", "", err
	}
	t.last, t.tree = commit, tree
	return commit, tree, nil
}

func (t *Tree) pin(ctx context.Context, commit string) error {
	in := fmt.Sprintf("update %s %s\nupdate %s %s\n", Pin(t.Run, t.ID), commit, Branch(t.Run, t.ID), commit)
	_, err := t.s.git.RunIn(ctx, strings.NewReader(in), "update-ref", "--stdin")
	return err
}

// repo is the private clone pointed at the files.
func (t *Tree) repo() git.Repo {
	r := t.s.git
	r.Work, r.Index = t.Dir, filepath.Join(t.home, "index")
	return r
}

// Restore makes the files those of a commit or tree. Files that the tree
// ignores stay; everything else that is not in it goes.
func (t *Tree) Restore(ctx context.Context, rev string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, _, err := t.snapshot(ctx, "nexus: before a restore"); err != nil {
		return err
	}
	tree, err := t.s.git.Tree(ctx, rev)
	if err != nil {
		return err
	}
	if _, err := t.repo().Run(ctx, "read-tree", "-m", "-u", tree); err != nil {
		return err
	}
	if commit, err := t.s.git.Resolve(ctx, rev); err == nil {
		if err := t.pin(ctx, commit); err != nil {
			return err
		}
		t.last, t.tree = commit, tree
	}
	return nil
}

// Remove pins the files as they are and puts them out of the way. They are
// deleted in the background; see [Store.Close].
func (t *Tree) Remove(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := os.Stat(t.home); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, _, err := t.snapshot(ctx, "nexus: before removal"); err != nil {
		return err
	}
	return t.s.discard(t.home)
}

// discard renames dir into the trash and deletes it in the background.
func (s *Store) discard(dir string) error {
	trash := filepath.Join(s.dir, "trash")
	if err := os.MkdirAll(trash, 0o700); err != nil {
		return storage("remove a worktree", err)
	}
	to, err := os.MkdirTemp(trash, "tree-")
	if err != nil {
		return storage("remove a worktree", err)
	}
	if err := os.Rename(dir, filepath.Join(to, "gone")); err != nil {
		return storage("remove a worktree", err)
	}
	s.deleting.Go(func() { _ = os.RemoveAll(to) }) // what stays is swept
	return nil
}
