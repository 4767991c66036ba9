package worktree_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// TestWhatIsBrokenIsSaid breaks what is kept about a tree, one thing at a time.
// Whatever is asked of the tree then is an error that names the thing, no file is
// touched, and once it is back all is as before.
func TestWhatIsBrokenIsSaid(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		for _, what := range []string{"pin", "note", "index", "clock", "commit"} {
			t.Run(what, func(t *testing.T) { testBroken(t, way, what) })
		}
	})
}

func testBroken(t *testing.T, way worktree.TreeFillMethod, what string) {
	t.Helper()
	user, state := userRepo(t, map[string]string{"a": "a\n", "d/b": "b\n"}), filepath.Join(t.TempDir(), "state")
	s, base := openAt(t, user, state, way), head(t, user)
	tr := add(t, s, "T1.1", base)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "new\n"})
	commit, _ := snap(t, s, tr)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"m": "more\n"})
	home := filepath.Dir(tr.Dir)
	index := filepath.Join(home, "index")
	if way == worktree.FillOverlay {
		index = must[[]string](t)(filepath.Glob(filepath.Join(state, "lower", "*", "index")))[0]
	}
	path := map[string]string{
		"pin": filepath.Join(s.PrivateRepo().Dir, worktree.SnapshotRef("r", "T1.1")), "note": filepath.Join(home, "tree.json"), "index": index,
		"clock": filepath.Join(home, "clock"), "commit": filepath.Join(s.PrivateRepo().Dir, "objects", commit[:2], commit[2:]),
	}[what]
	name := map[bool]string{true: commit, false: path}[what == "commit"]
	whole := filepath.Join(t.TempDir(), "whole")
	if err := os.Rename(path, whole); err != nil {
		t.Fatal(err)
	}
	gittest.WriteFiles(t, path, map[string]string{"in": "the way\n"})

	use := func(tr *worktree.AttemptTree) map[string]error {
		ctx, all := t.Context(), map[string]error{}
		_, _, all["snapshot"] = tr.Snapshot(ctx, "x")
		all["restore"], all["exact"], all["reset"], all["remove"] = tr.Restore(ctx, base), tr.ResetExactly(ctx, base), tr.Reset(ctx, base), tr.Remove(ctx)
		return all
	}
	errs := map[string]error{}
	known := way == worktree.FillOverlay && (what == "note" || what == "index") // to whoever mounted it
	if !known && what != "note" {                                               // which is read once
		errs = use(tr)
	}
	other := openAt(t, user, state, way)
	if back, err := other.AddTree(t.Context(), "r", "T1.1", base); err != nil || what != "clock" {
		errs["add"] = err // nothing is read from the clock until then
	} else {
		for op, err := range use(back) {
			errs["by another process: "+op] = err
		}
	}
	if !known {
		_, errs["sweep"] = other.RemoveTrees(context.Background(), none, false)
	}
	for op, err := range errs {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", op, err)
		}
	}

	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(whole, path); err != nil {
		t.Fatal(err)
	}
	last, files := snap(t, other, add(t, other, "T1.1", base))
	if files != "a\nd/b\nm\nn" || gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", last+"^") != commit {
		t.Errorf("afterwards the tree holds %q", files)
	}
}

// TestWhereGitFailsOnce, whatever it was asked for, it is said, and what was to be
// done is done when it is asked for again.
func TestWhereGitFailsOnce(t *testing.T) {
	fails, calls, _ := gittest.InstallFailingGit(t)
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "d/b": "b\n", ".gitignore": "*.log\n"})
		base := head(t, user)
		story := func(n int) (said []error, all int, files string) {
			fails(0)
			s := open(t, user, way)
			fails(n)
			works := func(do func(context.Context) error) {
				t.Helper()
				err := do(t.Context())
				if err != nil {
					said = append(said, err)
					err = do(t.Context())
				}
				if err != nil {
					t.Fatalf("git fails at call %d, and what follows from that does later: %v", n, err)
				}
			}
			var tr *worktree.AttemptTree
			add := func(id nexus.AttemptID, rev string) {
				t.Helper()
				works(func(ctx context.Context) (err error) {
					tr, err = s.AddTree(ctx, "r", id, rev)
					return err
				})
			}
			add("T1.1", base)
			gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "new\n", "d/b": "changed\n", "x.log": "ignored\n"})
			var commit, tree string
			works(func(ctx context.Context) (err error) {
				commit, tree, err = tr.Snapshot(ctx, "x")
				return err
			})
			works(func(ctx context.Context) error { return tr.Restore(ctx, base) })
			works(func(ctx context.Context) error { return tr.ResetExactly(ctx, tree) })
			if _, err := os.Lstat(filepath.Join(tr.Dir, "x.log")); err == nil {
				t.Errorf("git fails at call %d: what is ignored stays", n)
			}
			works(tr.Remove)
			add("T1.2", commit)
			add("T1.1", base)
			works(func(ctx context.Context) error {
				_, err := s.RemoveTrees(ctx, func(_ nexus.RunID, id nexus.AttemptID) bool { return id == "T1.1" }, false)
				return err
			})
			all = calls()
			fails(0)
			_, files = snap(t, s, tr)
			return said, all, files + ": " + string(must[[]byte](t)(os.ReadFile(filepath.Join(tr.Dir, "d/b"))))
		}
		said, all, want := story(0)
		if len(said) > 0 || all < 10 {
			t.Fatal(said, all)
		}
		for n := 1; n < all; n++ { // after the first, which reads the base: there is another way to do that
			if said, _, files := story(n + 1); len(said) != 1 || files != want {
				t.Errorf("git fails at call %d of %d: %v, %q, want %q", n+1, all, said, files, want)
			}
		}
	})
}

// TestALockThatAKilledProcessLeft on what an attempt's refs are does not keep the
// next process from going on.
func TestALockThatAKilledProcessLeft(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	tr := add(t, s, "T1.1", base)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "new\n"})
	kept, _ := snap(t, s, tr)
	refs := filepath.Dir(filepath.Join(s.PrivateRepo().Dir, worktree.SnapshotRef("r", "T1.1")))
	for _, start := range []string{base, base + "^{tree}"} {
		if err := tr.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, refs, map[string]string{"base.lock": "half", "snap.lock": "half", "old-" + kept[:12] + ".lock": ""})
		tr = add(t, s, "T1.1", start)
		want := map[bool]string{true: "a\nn", false: "a"}[start == base]
		if _, files := snap(t, s, tr); files != want {
			t.Errorf("from %s the tree holds %q", start, files)
		}
	}
	if at := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", "refs/nexus/r/T1.1/old-"+kept[:12]); at != kept {
		t.Errorf("what there was is kept as %s, want %s", at, kept)
	}
}

// TestARefThatCannotBeWritten keeps the tree from being made: nothing says then
// what is in it.
func TestARefThatCannotBeWritten(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	for _, name := range []string{"base.lock", "snap.lock"} {
		way := filepath.Join(filepath.Dir(filepath.Join(s.PrivateRepo().Dir, worktree.SnapshotRef("r", "T1.1"))), name)
		gittest.WriteFiles(t, way, map[string]string{"in": "the way\n"})
		if tr, err := s.AddTree(t.Context(), "r", "T1.1", base); err == nil || !strings.Contains(err.Error(), way) {
			t.Errorf("%+v, %v", tr, err)
		}
		if err := os.RemoveAll(way); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, "T1.1", base)
}

// TestATreeThatCannotBeMade leaves nothing behind, and is made once it can be.
func TestATreeThatCannotBeMade(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user, state := userRepo(t, map[string]string{"a": "a\n", "d/b": "only here\n"}), filepath.Join(t.TempDir(), "state")
		s, base := openAt(t, user, state, way), head(t, user)
		blob := gittest.RunGit(t, user, "rev-parse", "HEAD:d/b")
		var objects []string
		for _, dir := range []string{filepath.Join(user, ".git"), s.PrivateRepo().Dir} {
			object := filepath.Join(dir, "objects", blob[:2], blob[2:])
			if os.Rename(object, object+".away") == nil {
				objects = append(objects, object)
			}
		}
		if _, err := s.AddTree(t.Context(), "r", "T1.1", base); err == nil || len(objects) == 0 {
			t.Errorf("a tree without one of its files: %v", err)
		}
		place := must[string](t)(s.TreeDir("r", "T1.1"))
		if left, _ := filepath.Glob(filepath.Join(state, "trees", "*", "*")); len(left) > 0 {
			t.Errorf("left are %q", left)
		}
		for _, object := range objects {
			if err := os.Rename(object+".away", object); err != nil {
				t.Fatal(err)
			}
		}
		tr := add(t, s, "T1.1", base)
		if _, files := snap(t, s, tr); files != "a\nd/b" || tr.Dir != place || tr.Way != way {
			t.Errorf("%s in %s holds %q, and is to be in %s", tr.Way, tr.Dir, files, place)
		}
		if dir, err := s.TreeDir("r", "../T1"); err == nil {
			t.Errorf("an attempt is in %s", dir)
		}
	})
}

// TestARestoreThatCannotWriteAFile says so, and does all of it once it can.
func TestARestoreThatCannotWriteAFile(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T1.1", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"b": "only here\n", "d/e/f": "f\n"})
		commit, _ := snap(t, s, tr)
		if err := tr.Restore(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(tr.Dir, "d")); !os.IsNotExist(err) {
			t.Errorf("directories stay that are empty now: %v", err)
		}
		blob := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":b")
		object := filepath.Join(s.PrivateRepo().Dir, "objects", blob[:2], blob[2:])
		if err := os.Rename(object, object+".away"); err != nil {
			t.Fatal(err)
		}
		if err := tr.Restore(t.Context(), commit); err == nil {
			t.Error("no error")
		}
		if err := os.Rename(object+".away", object); err != nil {
			t.Fatal(err)
		}
		if err := tr.Restore(t.Context(), commit); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(filepath.Join(tr.Dir, "b")); string(text) != "only here\n" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// TestAFileInTheWay of what a store makes is said.
func TestAFileInTheWay(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	repo := must[git.Repo](t)(git.FindRepo(t.Context(), user))
	for _, name := range []string{"", "repo.git", "trees", "lower"} {
		state := filepath.Join(t.TempDir(), "state")
		way := filepath.Join(state, name)
		gittest.WriteFiles(t, filepath.Dir(way), map[string]string{filepath.Base(way): "in the way\n"})
		s, err := worktree.OpenStore(t.Context(), repo, state)
		if err == nil {
			if s.Way = worktree.FillOverlay; name != "lower" {
				s.Way = worktree.FillPlain
			}
			_, err = s.AddTree(t.Context(), "r", "T1.1", head(t, user))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err == nil || name != "repo.git" && !strings.Contains(err.Error(), way) { // git names no directory that is none
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestTheWayIsTheBestThatThereIs where nobody chose one.
func TestTheWayIsTheBestThatThereIs(t *testing.T) {
	want := worktree.FillOverlay
	if overlay.ProbeOverlay(t.TempDir()) != nil {
		want = worktree.FillPlain
	}
	user := userRepo(t, map[string]string{"a": "a\n"})
	if tr := add(t, open(t, user, worktree.FillAny), "T1.1", head(t, user)); tr.Way != want {
		t.Errorf("it is made %s, want %s", tr.Way, want)
	}
}
