package files

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// caches are the opened directories outside of a tree.
type caches struct {
	mu   sync.Mutex // guards open
	open map[string]*Tree
}

// At returns the tree for a model's path: one of the caches if the path is absolute and inside
// it, this tree for all others. A cache is never written; its names are relative to it, and
// [Tree.name] adds its directory. Files that are hidden in the worktree are hidden there as
// well, and no link leads out of it.
func (t *Tree) At(name string) *Tree {
	if !path.IsAbs(name) || t.beside == nil || strings.ContainsRune(name, 0) || name == t.Dir || strings.HasPrefix(name, t.Dir+"/") {
		return t
	}
	at := ""
	for _, dir := range t.Caches {
		if rel, err := filepath.Rel(dir, path.Clean(name)); err == nil && filepath.IsLocal(rel) && len(dir) > len(at) {
			at = dir
		}
	}
	if at == "" {
		return t
	}
	t.beside.mu.Lock()
	defer t.beside.mu.Unlock()
	if c := t.beside.open[at]; c != nil {
		return c
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return t
	}
	c := New(at, root)
	// settings of visible files apply to the worktree only
	c.Hidden, c.apart, c.beside = HiddenRules{}.Ready(), true, nil
	if t.beside.open == nil {
		t.beside.open = map[string]*Tree{}
	}
	t.beside.open[at] = c
	return c
}

// name returns an agent's name for a file of the tree.
func (t *Tree) name(name string) string {
	if t.apart {
		return path.Join(t.Dir, name)
	}
	return name
}

// Apart reports whether it is a cache beside a worktree.
func (t *Tree) Apart() bool { return t.apart }

// close closes the caches.
func (c *caches) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.open {
		t.Close()
		_ = t.Root.Close() // it was opened for reading only
	}
	c.open = nil
}
