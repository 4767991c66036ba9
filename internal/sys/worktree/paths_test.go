package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestRestoreOfWhatIsNotThere says so where git cannot tell what to restore,
// and leaves the files as they are.
func TestRestoreOfWhatIsNotThere(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.Way) {
		ctx := t.Context()
		user := userRepo(t, map[string]string{"a.txt": "a\n"})
		base := gittest.Run(t, user, "rev-parse", "HEAD")
		s := open(t, user, way)
		tr := must[*worktree.Tree](t)(s.Add(ctx, "run-1", "T1.1", base))
		gittest.Write(t, tr.Dir, map[string]string{"d/b.txt": "b\n"})
		c1, _, err := tr.Snapshot(ctx, "one")
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Restore(ctx, base); err != nil {
			t.Fatal(err)
		}
		below := gittest.Run(t, s.Git().Dir, "rev-parse", c1+":d")
		if err := os.Remove(filepath.Join(s.Git().Dir, "objects", below[:2], below[2:])); err != nil {
			t.Fatal(err)
		}
		for _, rev := range []string{c1, strings.Repeat("1", len(c1))} {
			if err := tr.Restore(ctx, rev); err == nil {
				t.Errorf("%s was restored", rev)
			}
		}
		if text, err := os.ReadFile(filepath.Join(tr.Dir, "a.txt")); err != nil || string(text) != "a\n" {
			t.Errorf("what was there is %q, %v", text, err)
		}
	})
}

// TestSnapshotOfPaths keeps what a look at the whole tree keeps, whatever the
// named paths are now and were before.
func TestSnapshotOfPaths(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(dir string)
		paths []string
		want  string
	}{
		"a directory that is a file": {func(dir string) {
			os.RemoveAll(filepath.Join(dir, "d"))
			gittest.Write(t, dir, map[string]string{"d": "d\n"})
		}, []string{"d"}, ".gitignore\na\nd"},
		"a directory that is gone": {func(dir string) { os.RemoveAll(filepath.Join(dir, "d")) }, []string{"d"}, ".gitignore\na"},
		"a file that is a directory": {func(dir string) {
			os.Remove(filepath.Join(dir, "a"))
			gittest.Write(t, dir, map[string]string{"a/x": "x\n"})
		}, []string{"a"}, ".gitignore\na/x\nd/b\nd/c"},
		"said twice":      {func(dir string) { gittest.Write(t, dir, map[string]string{"n": "n\n", "a": "n\n"}) }, []string{"n", "a", "n"}, ".gitignore\na\nd/b\nd/c\nn"},
		"said otherwise":  {func(dir string) { gittest.Write(t, dir, map[string]string{"n": "n\n"}) }, []string{"./d/../n"}, ".gitignore\na\nd/b\nd/c\nn"},
		"ignored":         {func(dir string) { gittest.Write(t, dir, map[string]string{"n.out": "n\n"}) }, []string{"n.out"}, ".gitignore\na\nd/b\nd/c"},
		"other rules":     {func(dir string) { gittest.Write(t, dir, map[string]string{"d/.gitignore": "!*.out\n"}) }, []string{"d/.gitignore"}, ".gitignore\na\nd/.gitignore\nd/b\nd/c\nd/old.out"},
		"gone":            {func(dir string) { os.Remove(filepath.Join(dir, "d/b")) }, []string{"d/b"}, ".gitignore\na\nd/c"},
		"a link":          {func(dir string) { os.Symlink("a", filepath.Join(dir, "l")) }, []string{"l"}, ".gitignore\na\nd/b\nd/c\nl"},
		"beyond the tree": {func(dir string) { gittest.Write(t, dir, map[string]string{"n": "n\n"}) }, []string{"../n", "n"}, ".gitignore\na\nd/b\nd/c\nn"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			user := userRepo(t, map[string]string{"a": "a\n", "d/b": "b\n", "d/c": "c\n", ".gitignore": "*.out\n"})
			s := open(t, user, worktree.Plain)
			tr := add(t, s, "T", head(t, user))
			gittest.Write(t, tr.Dir, map[string]string{"d/old.out": "o\n"})
			if _, _, err := tr.Snapshot(ctx, "before"); err != nil {
				t.Fatal(err)
			}
			c.do(tr.Dir)
			commit, some, err := tr.SnapshotPaths(ctx, "some", c.paths)
			if err != nil {
				t.Fatal(err)
			}
			if got := gittest.Run(t, s.Git().Dir, "ls-tree", "-r", "--name-only", commit); got != c.want {
				t.Errorf("it holds %q, want %q", got, c.want)
			}
			if _, all, err := tr.Snapshot(ctx, "all"); err != nil || all != some {
				t.Errorf("a look at all finds %s, %v, want %s", all, err, some)
			}
		})
	}
}
