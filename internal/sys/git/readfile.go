package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ReadFile returns at most limit bytes of a file of a commit or tree, and reports whether there were
// more.
func (r Repo) ReadFile(ctx context.Context, rev, path string, limit int) (text string, cut bool, err error) {
	name := rev + ":" + path
	if o := r.objectReader(name); o != nil {
		text, cut, err := o.readBlob(ctx, name, limit)
		if errors.Is(err, errMissing) {
			err = &ExitError{Args: []string{"cat-file", "blob", name}, Status: 128, Stderr: fmt.Sprintf("fatal: there is no file %q in %s", path, rev)}
			return "", false, err
		}
		if err == nil {
			return text, cut, nil
		} // the command below reports the error
	}
	return r.RunWithLimit(ctx, limit, "cat-file", "blob", name)
}

// TreeEntries returns the entries of a commit's or tree's top directory. The caller must not change
// them.
func (r Repo) TreeEntries(ctx context.Context, rev string) ([]TreeEntry, error) {
	if o := r.objectReader(rev); o != nil {
		tree, err := r.TreeID(ctx, rev)
		if err != nil {
			return nil, err
		}
		return o.treeNodes(ctx, tree)
	}
	return r.listTree(ctx, rev)
}

// EntryAt returns the entry of a path in a commit or tree, and whether there is one.
func (r Repo) EntryAt(ctx context.Context, rev, path string) (TreeEntry, bool, error) {
	if r.objectReader(rev) == nil {
		all, err := r.listTree(ctx, rev, path)
		if err != nil || len(all) == 0 {
			return TreeEntry{}, false, err
		}
		return all[0], true, nil
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		all, err := r.TreeEntries(ctx, rev)
		if err != nil {
			return TreeEntry{}, false, err
		}
		found := false
		var e TreeEntry
		for _, e = range all {
			if found = e.Name == part; found {
				break
			}
		}
		if !found || i < len(parts)-1 && e.Mode != ModeTree {
			return TreeEntry{}, false, nil
		}
		if i == len(parts)-1 {
			return e, true, nil
		}
		rev = e.ID
	}
	return TreeEntry{}, false, nil
}

// listTree returns the entries of a tree, or those of the paths, from git ls-tree.
func (r Repo) listTree(ctx context.Context, rev string, paths ...string) ([]TreeEntry, error) {
	out, err := r.Run(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", rev, "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	var all []TreeEntry
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if line == "" {
			continue
		}
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head) // mode, kind, object
		if len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", line)
		}
		mode, err := strconv.ParseUint(f[0], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", line)
		}
		all = append(all, TreeEntry{Name: name, Mode: uint32(mode), ID: f[2]})
	}
	return all, nil
}

// objectReader returns what answers about an object without a process of its own, or nil if only a
// process can: the reader knows neither another environment nor an index, and takes one line.
func (r Repo) objectReader(name string) *ObjectStore {
	if r.objects == nil || r.objects.repo.Dir != r.Dir || len(r.Env) > 0 || strings.HasPrefix(name, ":") || strings.ContainsAny(name, "\n\x00") {
		return nil
	}
	return r.objects
}
