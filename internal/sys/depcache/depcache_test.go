package depcache_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

func store(t *testing.T, copies bool) *depcache.DependencySetStore {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &depcache.DependencySetStore{Dir: filepath.Join(dir, "sets"), Copy: copies, Now: time.Now}
	if !copies {
		testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(filepath.Join(dir, "probe")))
	}
	return s
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// modules makes a set of two directories, one file of which names its place.
func modules(t *testing.T) func(context.Context, string, string) (depcache.DependencySet, error) {
	t.Helper()
	return func(_ context.Context, aside, files string) (depcache.DependencySet, error) {
		write(t, filepath.Join(files, "node_modules/jest/index.js"), "real")
		write(t, filepath.Join(files, "web/.venv/bin/pytest"), "#!"+aside+"/tree/web/.venv/bin/python\n")
		if err := errors.Join(os.Chmod(filepath.Join(files, "web/.venv/bin/pytest"), 0o755), os.Symlink("jest/index.js", filepath.Join(files, "node_modules/main"))); err != nil {
			t.Error(err)
		}
		return depcache.DependencySet{Source: "made", Root: filepath.Join(aside, "tree"), Paths: []string{"web/.venv", "node_modules"}}, nil
	}
}

// tree makes a home with a tree in it.
func tree(t *testing.T, s *depcache.DependencySetStore, name string) (home, dir string) {
	t.Helper()
	home = filepath.Join(filepath.Dir(s.Dir), "trees", "r", name)
	dir = filepath.Join(home, "tree")
	write(t, filepath.Join(dir, "package.json"), "{}")
	t.Cleanup(func() {
		all, _ := overlay.MountsBelow(home)
		for _, m := range all {
			_ = overlay.Unmount(m)
		}
	})
	return home, dir
}

func TestMakeOnce(t *testing.T) {
	s := store(t, true)
	var made atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			set, first, err := s.MakeSet(t.Context(), "k", func(ctx context.Context, aside, files string) (depcache.DependencySet, error) {
				made.Add(1)
				return modules(t)(ctx, aside, files)
			})
			if err != nil || set.Files != 3 || set.Bytes == 0 {
				t.Error(set, first, err)
			}
		})
	}
	wait.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
	set, ok := s.FindSet("k")
	if d := cmp.Diff([]string{"web/.venv/bin/pytest"}, set.Bound); !ok || d != "" {
		t.Error(ok, d)
	}
	if _, _, err := s.MakeSet(t.Context(), "../x", modules(t)); err == nil {
		t.Error("took a key that leads out")
	}
}

// TestCutOff leaves nothing of a making that failed or was killed.
func TestCutOff(t *testing.T) {
	s := store(t, true)
	boom := errors.New("boom")
	_, _, err := s.MakeSet(t.Context(), "k", func(_ context.Context, _, files string) (depcache.DependencySet, error) {
		write(t, filepath.Join(files, "half"), "half")
		return depcache.DependencySet{}, boom
	})
	if _, ok := s.FindSet("k"); !errors.Is(err, boom) || ok {
		t.Error(err, ok)
	}
	write(t, filepath.Join(s.Dir, ".new-k/files/node_modules/old"), "of one that was killed")
	write(t, filepath.Join(s.Dir, "k/files/node_modules/old"), "without a word of what it is")
	if _, _, err := s.MakeSet(t.Context(), "k", modules(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "k/files/node_modules/old")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("took over what was half made")
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, ".new-*")); len(left) > 0 {
		t.Error(left)
	}
}

func TestLend(t *testing.T) {
	for name, copies := range map[string]bool{"overlay": false, "copy": true} {
		t.Run(name, func(t *testing.T) {
			s := store(t, copies)
			set, _, err := s.MakeSet(t.Context(), "k", modules(t))
			if err != nil {
				t.Fatal(err)
			}
			lend := func(home, dir string, fresh bool, sets ...depcache.DependencySet) {
				t.Helper()
				if err := s.InstallSets(t.Context(), home, dir, sets, fresh); err != nil {
					t.Fatal(err)
				}
			}
			home1, dir1 := tree(t, s, "a")
			home2, dir2 := tree(t, s, "b")
			lend(home1, dir1, false, set)
			lend(home2, dir2, false, set)
			shebang := "#!" + dir1 + "/web/.venv/bin/python\n"
			if got := read(filepath.Join(dir1, "web/.venv/bin/pytest")); got != shebang {
				t.Errorf("%q", got)
			}
			if info, err := os.Stat(filepath.Join(dir1, "web/.venv/bin/pytest")); err != nil || info.Mode().Perm() != 0o755 {
				t.Error(info, err)
			}

			// one tree's poison reaches neither the other nor the set
			write(t, filepath.Join(dir1, "node_modules/jest/index.js"), "fake")
			write(t, filepath.Join(dir1, "node_modules/evil/index.js"), "evil")
			lend(home1, dir1, false, set)
			if got := read(filepath.Join(dir1, "node_modules/jest/index.js")); got != "fake" {
				t.Error("took away what the tree's own work wrote:", got)
			}
			for _, at := range []string{dir2, filepath.Join(s.Dir, "k/files")} {
				if got := read(filepath.Join(at, "node_modules/main")); got != "real" {
					t.Error(at, got)
				}
			}

			// and is gone when it must be as it was
			lend(home1, dir1, true, set)
			if got := read(filepath.Join(dir1, "node_modules/main")); got != "real" {
				t.Error(got)
			}
			if _, err := os.Stat(filepath.Join(dir1, "node_modules/evil")); err == nil {
				t.Error("evil stays")
			}
			if got := read(filepath.Join(dir1, "web/.venv/bin/pytest")); got != shebang {
				t.Errorf("%q", got)
			}

			// nothing is done again for who changed nothing
			before, err := os.Stat(filepath.Join(home1, "lent.json"))
			lend(home1, dir1, true, set)
			if after, err2 := os.Stat(filepath.Join(home1, "lent.json")); err != nil || err2 != nil || !after.ModTime().Equal(before.ModTime()) {
				t.Error("made again", err, err2)
			}

			lend(home1, dir1, true)
			if _, err := os.Lstat(filepath.Join(dir1, "node_modules")); !errors.Is(err, fs.ErrNotExist) {
				t.Error("was not taken back", err)
			}
			if read(filepath.Join(s.Dir, "k/files/node_modules/main")) != "real" {
				t.Error("the set was removed with it")
			}
		})
	}
}

// TestLendOverLinks gives nothing to a place that a link of the tree leads to.
func TestLendOverLinks(t *testing.T) {
	for name, copies := range map[string]bool{"overlay": false, "copy": true} {
		t.Run(name, func(t *testing.T) {
			s := store(t, copies)
			set, _, err := s.MakeSet(t.Context(), "k", modules(t))
			if err != nil {
				t.Fatal(err)
			}
			home, dir := tree(t, s, "a")
			outside := t.TempDir()
			write(t, filepath.Join(outside, "node_modules/mine"), "mine")
			if err := os.Symlink(filepath.Join(outside, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			if err := s.InstallSets(t.Context(), home, dir, []depcache.DependencySet{set}, false); err != nil {
				t.Fatal(err)
			}
			if got := read(filepath.Join(outside, "node_modules/mine")); got != "mine" {
				t.Error(got)
			}
			if err := s.InstallSets(t.Context(), home, dir, nil, false); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(dir, "web2")); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, "web")), os.Rename(filepath.Join(dir, "web2"), filepath.Join(dir, "web"))); err != nil {
				t.Fatal(err)
			}
			if err := s.InstallSets(t.Context(), home, dir, []depcache.DependencySet{set}, false); err == nil {
				t.Error("wrote through a link")
			}
			if all, _ := os.ReadDir(outside); len(all) != 1 {
				t.Error(all)
			}
		})
	}
}

func TestSweep(t *testing.T) {
	s := store(t, true)
	for _, key := range []string{"a", "b", "c"} {
		if _, _, err := s.MakeSet(t.Context(), key, modules(t)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(s.Dir, ".new-d/files/x"), "half")
	home, dir := tree(t, s, "x")
	first, _ := s.FindSet("a")
	if err := s.InstallSets(t.Context(), home, dir, []depcache.DependencySet{first}, false); err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1, 0)
	if err := os.Chtimes(filepath.Join(s.Dir, "a/lent"), old, old); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		gone, err := s.SweepSets(t.Context(), []string{home}, depcache.CacheLimits{Sets: 1, Bytes: 1 << 30}, dry)
		if err != nil || len(gone) != 2 || !strings.HasSuffix(gone[0], ".new-d") || !strings.HasSuffix(gone[1], "/b") {
			t.Error(dry, gone, err)
		}
	}
	if _, ok := s.FindSet("a"); !ok {
		t.Error("removed what is in use")
	}
	if _, ok := s.FindSet("c"); !ok {
		t.Error("removed what is within bounds")
	}
	if gone, err := s.SweepSets(t.Context(), nil, depcache.CacheLimits{}, false); err != nil || len(gone) != 2 {
		t.Error(gone, err)
	}
}

// TestLendWithin lends a set that lies within another one, and one that has a
// path of another, in whichever order they come, and takes them back.
func TestLendWithin(t *testing.T) {
	for name, copies := range map[string]bool{"overlay": false, "copy": true} {
		t.Run(name, func(t *testing.T) {
			s := store(t, copies)
			put := func(key string, paths ...string) depcache.DependencySet {
				set, _, err := s.MakeSet(t.Context(), key, func(_ context.Context, _, files string) (depcache.DependencySet, error) {
					for _, p := range paths {
						write(t, filepath.Join(files, p, "from"), key)
					}
					return depcache.DependencySet{Source: "made", Paths: paths}, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return set
			}
			root, docs, within := put("root", "node_modules", "docs/node_modules"), put("docs", "docs/node_modules"), put("within", "node_modules/a/node_modules")
			home, dir := tree(t, s, "a")
			for _, sets := range [][]depcache.DependencySet{{root, docs, within}, {within, root, docs}, {docs}, {root, docs}} {
				for range 2 {
					if err := s.InstallSets(t.Context(), home, dir, sets, true); err != nil {
						t.Fatal(err)
					}
				}
				if got := read(filepath.Join(dir, "docs/node_modules/from")); got != "docs" {
					t.Errorf("docs has that of %s", got)
				}
				if got := read(filepath.Join(dir, "node_modules/a/node_modules/from")); len(sets) == 3 && got != "within" {
					t.Errorf("what lies within has that of %s", got)
				}
				write(t, filepath.Join(dir, "docs/node_modules/from"), "an agent")
			}
			if err := s.InstallSets(t.Context(), home, dir, nil, true); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "docs/node_modules")); !errors.Is(err, fs.ErrNotExist) {
				t.Error("was not taken back:", err)
			}
		})
	}
}
