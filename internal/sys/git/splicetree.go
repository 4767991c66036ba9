package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EditTreePaths creates a copy of a tree with changes at the given paths and returns its name. A zero
// Mode removes the path, a file or a whole directory. Splice reads and writes only the directories
// on these paths.
func (o *ObjectStore) EditTreePaths(ctx context.Context, tree string, changes map[string]TreeEntry) (string, error) {
	root, err := newTreeEdit(changes)
	if err != nil {
		return "", err
	}
	n, err := o.applyTreeEdit(ctx, TreeEntry{Mode: ModeTree, ID: tree}, root)
	if err != nil {
		return "", err
	}
	if n.Mode == 0 { // nothing remains
		return o.WriteObject("tree", nil)
	}
	return n.ID, nil
}

// directoryEdit is a set of changes in one directory.
type directoryEdit struct {
	leaf *TreeEntry                // new entry of the path; nil if only entries below it change
	sub  map[string]*directoryEdit // changes below, by name
}

// newTreeEdit converts paths to a tree of names.
func newTreeEdit(changes map[string]TreeEntry) (*directoryEdit, error) {
	root := &directoryEdit{sub: map[string]*directoryEdit{}}
	for path, node := range changes {
		at := root
		for name := range strings.SplitSeq(path, "/") {
			if name == "" || name == "." || name == ".." {
				return nil, fmt.Errorf("path %q cannot be in a tree", path)
			}
			if at.sub == nil {
				at.sub = map[string]*directoryEdit{}
			}
			next := at.sub[name]
			if next == nil {
				next = &directoryEdit{}
				at.sub[name] = next
			}
			at = next
		}
		at.leaf = &node
	}
	return root, nil
}

// applyTreeEdit applies the changes at and below one node.
func (o *ObjectStore) applyTreeEdit(ctx context.Context, old TreeEntry, t *directoryEdit) (TreeEntry, error) {
	if t.leaf != nil && t.leaf.Mode != 0 {
		return TreeEntry{Name: old.Name, Mode: t.leaf.Mode, ID: t.leaf.ID}, nil
	}
	if len(t.sub) == 0 {
		return TreeEntry{Name: old.Name}, nil
	}
	var nodes []TreeEntry
	if old.Mode == ModeTree && t.leaf == nil {
		was, err := o.treeNodes(ctx, old.ID)
		if err != nil {
			return TreeEntry{}, err
		}
		nodes = slices.Clone(was)
	}
	for name, sub := range t.sub {
		i := slices.IndexFunc(nodes, func(n TreeEntry) bool { return n.Name == name })
		was := TreeEntry{Name: name}
		if i >= 0 {
			was = nodes[i]
			nodes = slices.Delete(nodes, i, i+1)
		}
		now, err := o.applyTreeEdit(ctx, was, sub)
		if err != nil {
			return TreeEntry{}, err
		}
		if now.Mode != 0 {
			nodes = append(nodes, now)
		}
	}
	if len(nodes) == 0 && old.Mode != ModeTree && t.leaf == nil {
		return old, nil // a file: there is nothing to remove below it
	}
	if len(nodes) == 0 {
		return TreeEntry{Name: old.Name}, nil
	}
	id, err := o.writeTree(nodes)
	return TreeEntry{Name: old.Name, Mode: ModeTree, ID: id}, err
}

// writeTree stores a tree of nodes. It sorts them in git's order: a directory as if its name ended
// with a slash.
func (o *ObjectStore) writeTree(nodes []TreeEntry) (string, error) {
	key := func(n TreeEntry) string {
		if n.Mode == ModeTree {
			return n.Name + "/"
		}
		return n.Name
	}
	slices.SortStableFunc(nodes, func(a, b TreeEntry) int { return strings.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, n := range nodes {
		id, err := hex.DecodeString(n.ID)
		if err != nil || len(id) != o.size {
			return "", fmt.Errorf("tree: %q is not an object name", n.ID)
		}
		b.WriteString(strconv.FormatUint(uint64(n.Mode), 8) + " " + n.Name + "\x00")
		b.Write(id)
	}
	id, err := o.WriteObject("tree", b.Bytes())
	if err == nil {
		o.mu.Lock()
		o.cacheTree(id, nodes)
		o.mu.Unlock()
	}
	return id, err
}

// LookupPath returns the entry at a path of a tree; a zero Mode means that there is none.
func (o *ObjectStore) LookupPath(ctx context.Context, tree, path string) (TreeEntry, error) {
	n := TreeEntry{Mode: ModeTree, ID: tree}
	for name := range strings.SplitSeq(path, "/") {
		if n.Mode != ModeTree {
			return TreeEntry{}, nil
		}
		nodes, err := o.treeNodes(ctx, n.ID)
		if err != nil {
			return TreeEntry{}, err
		}
		i := slices.IndexFunc(nodes, func(n TreeEntry) bool { return n.Name == name })
		if i < 0 {
			return TreeEntry{}, nil
		}
		n = nodes[i]
	}
	return n, nil
}
