package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// TreeWithoutChanges creates a copy of a tree in which some files are as in base, or removed if
// base lacks them. It works in a directory of its own below dir, and returns the tree's name.
func (r Repo) TreeWithoutChanges(ctx context.Context, dir, tree, base string, files []string) (string, error) {
	were, err := r.Run(ctx, append([]string{"ls-tree", "-z", "-r", "--full-tree", base, "--"}, files...)...)
	if err != nil {
		return "", err
	}
	var in strings.Builder
	had := map[string]bool{}
	for entry := range strings.SplitSeq(were, "\x00") {
		what, name, ok := strings.Cut(entry, "\t")
		f := strings.Fields(what)
		if !ok || len(f) != 3 {
			continue
		}
		had[name] = true
		fmt.Fprintf(&in, "%s %s\t%s\x00", f[0], f[2], name)
	}
	var gone strings.Builder
	for _, name := range files {
		if !had[name] {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", len(tree)), name)
		}
	}
	return r.editTree(ctx, dir, tree, gone.String()+in.String())
}

// TreeWithFiles creates a copy of a tree in which some files are added or replaced, by path. It
// works in a directory of its own below dir, and returns the tree's name.
func (r Repo) TreeWithFiles(ctx context.Context, dir, tree string, files map[string][]byte) (string, error) {
	var in strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out, err := r.RunWithInput(ctx, bytes.NewReader(files[name]), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&in, "100644 %s\t%s\x00", strings.TrimSpace(out), name)
	}
	return r.editTree(ctx, dir, tree, in.String())
}

// editTree creates a copy of a tree with changed entries, in the format of git update-index -z
// --index-info.
func (r Repo) editTree(ctx context.Context, dir, tree, entries string) (string, error) {
	home, err := os.MkdirTemp(dir, "without-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(home) }() // with our own index
	r.Index = filepath.Join(home, "index")
	if _, err := r.Run(ctx, "read-tree", tree); err != nil {
		return "", err
	}
	if _, err := r.RunWithInput(ctx, strings.NewReader(entries), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return r.RunLine(ctx, "write-tree")
}
