package attempt

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

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

// breaches returns the files that are against a rule.
func breaches(files []string, rule func(name string) error) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool { return rule == nil || rule(name) == nil })
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
	base := cmp.Or(t.Attempt.Snapshot.Commit, t.Attempt.Start, t.Attempt.Base)
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
	clean, err := s.Trees.Git().Without(ctx, filepath.Dir(t.Tree.Dir), tree, base, files)
	if err != nil {
		return nil, fmt.Errorf("take back changes: %w", err)
	}
	return files, t.Tree.Restore(ctx, clean)
}
