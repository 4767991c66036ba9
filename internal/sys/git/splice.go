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

// Splice creates a copy of a tree with changes at the given paths and returns its name. A zero
// Mode removes the path, a file or a whole directory. Splice reads and writes only the directories
// on these paths.
func (o *Objects) Splice(ctx context.Context, tree string, changes map[string]Node) (string, error) {
	root, err := newTreeEdit(changes)
	if err != nil {
		return "", err
	}
	n, err := o.splice(ctx, Node{Mode: ModeTree, ID: tree}, root)
	if err != nil {
		return "", err
	}
	if n.Mode == 0 { // nothing remains
		return o.Write("tree", nil)
	}
	return n.ID, nil
}

// treeEdit is a set of changes in one directory.
type treeEdit struct {
	leaf *Node                // new entry of the path; nil if only entries below it change
	sub  map[string]*treeEdit // changes below, by name
}

// newTreeEdit converts paths to a tree of names.
func newTreeEdit(changes map[string]Node) (*treeEdit, error) {
	root := &treeEdit{sub: map[string]*treeEdit{}}
	for path, node := range changes {
		at := root
		for name := range strings.SplitSeq(path, "/") {
			if name == "" || name == "." || name == ".." {
				return nil, fmt.Errorf("path %q cannot be in a tree", path)
			}
			if at.sub == nil {
				at.sub = map[string]*treeEdit{}
			}
			next := at.sub[name]
			if next == nil {
				next = &treeEdit{}
				at.sub[name] = next
			}
			at = next
		}
		at.leaf = &node
	}
	return root, nil
}

// splice applies the changes at and below one node.
func (o *Objects) splice(ctx context.Context, old Node, t *treeEdit) (Node, error) {
	if t.leaf != nil && t.leaf.Mode != 0 {
		return Node{Name: old.Name, Mode: t.leaf.Mode, ID: t.leaf.ID}, nil
	}
	if len(t.sub) == 0 {
		return Node{Name: old.Name}, nil
	}
	var nodes []Node
	if old.Mode == ModeTree && t.leaf == nil {
		was, err := o.treeNodes(ctx, old.ID)
		if err != nil {
			return Node{}, err
		}
		nodes = slices.Clone(was)
	}
	for name, sub := range t.sub {
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
		was := Node{Name: name}
		if i >= 0 {
			was = nodes[i]
			nodes = slices.Delete(nodes, i, i+1)
		}
		now, err := o.splice(ctx, was, sub)
		if err != nil {
			return Node{}, err
		}
		if now.Mode != 0 {
			nodes = append(nodes, now)
		}
	}
	if len(nodes) == 0 && old.Mode != ModeTree && t.leaf == nil {
		return old, nil // a file: there is nothing to remove below it
	}
	if len(nodes) == 0 {
		return Node{Name: old.Name}, nil
	}
	id, err := o.writeTree(nodes)
	return Node{Name: old.Name, Mode: ModeTree, ID: id}, err
}

// writeTree stores a tree of nodes. It sorts them in git's order: a directory as if its name ended
// with a slash.
func (o *Objects) writeTree(nodes []Node) (string, error) {
	key := func(n Node) string {
		if n.Mode == ModeTree {
			return n.Name + "/"
		}
		return n.Name
	}
	slices.SortStableFunc(nodes, func(a, b Node) int { return strings.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, n := range nodes {
		id, err := hex.DecodeString(n.ID)
		if err != nil || len(id) != o.size {
			return "", fmt.Errorf("tree: %q is not an object name", n.ID)
		}
		b.WriteString(strconv.FormatUint(uint64(n.Mode), 8) + " " + n.Name + "\x00")
		b.Write(id)
	}
	id, err := o.Write("tree", b.Bytes())
	if err == nil {
		o.mu.Lock()
		o.cacheTree(id, nodes)
		o.mu.Unlock()
	}
	return id, err
}

// Lookup returns the entry at a path of a tree; a zero Mode means that there is none.
func (o *Objects) Lookup(ctx context.Context, tree, path string) (Node, error) {
	n := Node{Mode: ModeTree, ID: tree}
	for name := range strings.SplitSeq(path, "/") {
		if n.Mode != ModeTree {
			return Node{}, nil
		}
		nodes, err := o.treeNodes(ctx, n.ID)
		if err != nil {
			return Node{}, err
		}
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
		if i < 0 {
			return Node{}, nil
		}
		n = nodes[i]
	}
	return n, nil
}
