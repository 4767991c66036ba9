package files

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// openCacheDirs are the opened directories outside of a tree.
type openCacheDirs struct {
	mu   sync.Mutex // guards open
	open map[string]*AgentTree
}

// TreeForPath returns the tree for a model's path: one of the caches if the path is absolute and inside
// it, this tree for all others. A cache is never written; its names are relative to it, and
// [AgentTree.displayName] adds its directory. Files that are hidden in the worktree are hidden there as
// well, and no link leads out of it.
func (t *AgentTree) TreeForPath(name string) *AgentTree {
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
	c := NewAgentTree(at, root)
	// settings of visible files apply to the worktree only
	c.Hidden, c.apart, c.beside = HiddenPathRules{}.WithMasker(), true, nil
	if t.beside.open == nil {
		t.beside.open = map[string]*AgentTree{}
	}
	t.beside.open[at] = c
	return c
}

// displayName returns an agent's name for a file of the tree.
func (t *AgentTree) displayName(name string) string {
	if t.apart {
		return path.Join(t.Dir, name)
	}
	return name
}

// IsCache reports whether it is a cache beside a worktree.
func (t *AgentTree) IsCache() bool { return t.apart }

// closeAll closes the caches.
func (c *openCacheDirs) closeAll() {
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
