package attempt

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/work/tool/ignore"
)

// shown says what may be written in a tree where .nexusignore keeps files from
// agents: a command would not ask. It is nil where no such file is.
func shown(root *os.Root) func(name string) error {
	if _, err := root.Lstat(ignore.File); err != nil {
		return nil
	}
	return func(name string) error {
		if path.Base(name) == ignore.File || ignore.Hidden(root, name) {
			return fmt.Errorf("%s is refused (path.ignored): .nexusignore keeps it from agents", name)
		}
		return nil
	}
}

// both returns the rule that allows what two rules allow; nil allows all.
func both(a, b func(name string) error) func(name string) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(name string) error { return cmp.Or(a(name), b(name)) }
}

// undoAll takes back what is against a rule until nothing is: the files that
// make up the rule may be among what was taken back.
func (s *Shop) undoAll(ctx context.Context, t Talk, rule func(string) error) ([]string, error) {
	var all []string
	for range 3 {
		files, err := s.undo(ctx, t, rule)
		if err != nil || len(files) == 0 {
			return all, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// undo takes back what a role changed against its rule since the tree was
// pinned last, and returns which files that were. What it may write stays.
func (s *Shop) undo(ctx context.Context, t Talk, rule func(string) error) ([]string, error) {
	base := t.Attempt.Snapshot.Commit
	if base == "" {
		base = t.Attempt.Base
	}
	commit, tree, err := t.Tree.Snapshot(ctx, fmt.Sprintf("snapshot of %s", t.Attempt.ID))
	if err != nil {
		return nil, err
	}
	changed, err := t.Tree.Changed(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, c := range changed {
		if rule(c.Path) != nil {
			files = append(files, c.Path)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	clean, err := s.without(ctx, filepath.Dir(t.Tree.Dir), tree, base, files)
	if err != nil {
		return nil, fmt.Errorf("take back changes: %w", err)
	}
	return files, t.Tree.Restore(ctx, clean)
}

// without returns the tree with some files as they are in another.
func (s *Shop) without(ctx context.Context, dir, tree, base string, files []string) (string, error) {
	home, err := os.MkdirTemp(dir, "undo-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(home) }() // an index of our own
	repo := s.Trees.Git()
	repo.Index = filepath.Join(home, "index")
	if _, err := repo.Run(ctx, "read-tree", tree); err != nil {
		return "", err
	}
	were, err := repo.Run(ctx, append([]string{"ls-tree", "-z", "-r", "--full-tree", base, "--"}, files...)...)
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
	if _, err := repo.RunIn(ctx, strings.NewReader(gone.String()+in.String()), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return repo.Line(ctx, "write-tree")
}
