package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// add makes a tree, and snap makes a snapshot and lists what it holds.
func add(t *testing.T, s *worktree.Store, id nexus.AttemptID, base string) *worktree.AttemptTree {
	t.Helper()
	return must[*worktree.AttemptTree](t)(s.AddTree(t.Context(), "r", id, base))
}

func snap(t *testing.T, s *worktree.Store, tr *worktree.AttemptTree) (commit, files string) {
	t.Helper()
	commit, _, err := tr.Snapshot(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	return commit, gittest.RunGit(t, s.PrivateRepo().Dir, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", commit)
}

func head(t *testing.T, dir string) string {
	t.Helper()
	return gittest.RunGit(t, dir, "rev-parse", "HEAD")
}

func TestNestedRepositoryIsKeptAsFiles(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		sub := filepath.Join(tr.Dir, "x/sub")
		os.MkdirAll(sub, 0o755)
		gittest.RunGit(t, sub, "init", "-q")
		gittest.WriteFiles(t, sub, map[string]string{"f": "f\n", "d/g": "g\n"})
		gittest.RunGit(t, sub, "add", "-A")
		gittest.RunGit(t, sub, "commit", "-qm", "inner")
		gittest.WriteFiles(t, sub, map[string]string{"late": "l\n"})
		if _, files := snap(t, s, tr); files != "a\nx/sub/d/g\nx/sub/f\nx/sub/late" {
			t.Errorf("holds %q", files)
		}
	})
}

func TestSubmodules(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		inner := userRepo(t, map[string]string{"i": "i\n"})
		user := userRepo(t, map[string]string{"a": "a\n"})
		gittest.RunGit(t, user, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "mod")
		gittest.RunGit(t, user, "commit", "-qm", "mod")
		s := open(t, user, way)
		base := head(t, user)
		tr := add(t, s, "T", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"b": "b\n"})
		commit, files := snap(t, s, tr)
		if files != ".gitmodules\na\nb\nmod" {
			t.Errorf("holds %q", files)
		}
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "ls-tree", commit, "mod"); !strings.HasPrefix(got, "160000 commit "+head(t, inner)) {
			t.Errorf("the submodule became %q", got)
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"mod/own": "o\n"})
		if _, files := snap(t, s, tr); files != ".gitmodules\na\nb\nmod/own" {
			t.Errorf("after a write into it, holds %q", files)
		}
		if err := tr.Restore(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		if _, tree := tr.LastSnapshot(); tree != gittest.RunGit(t, user, "rev-parse", "HEAD^{tree}") {
			t.Errorf("restored to %s", tree)
		}
		os.Remove(filepath.Join(tr.Dir, "mod"))
		if _, files := snap(t, s, tr); files != ".gitmodules\na" {
			t.Errorf("without the directory, holds %q", files)
		}
	})
}

func TestNamesGitRefuses(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := open(t, user, worktree.FillPlain)
	for i, name := range []string{".GIT/config", "d/.gIt", "git~1/x", ".git /x", ".git./x", ".g\u200cit/x", ".git:stream"} {
		tr := add(t, s, nexus.AttemptID(fmt.Sprint("T", i)), head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{name: "x", "ok": "ok\n"})
		for range 3 { // what was found once is found again
			if _, _, err := tr.Snapshot(t.Context(), "s"); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
				t.Errorf("%q: %v", name, err)
			}
		}
		if err := tr.Remove(t.Context()); err == nil {
			t.Errorf("%q: removed with something in it that is nowhere else", name)
		}
		if err := tr.Restore(t.Context(), head(t, user)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(tr.Dir, name)); err == nil {
			t.Errorf("%q is still there after a restore", name)
		}
	}
}

func TestChangeThatHides(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "aaaa\n", "b": "bbbb\n"})
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		snap(t, s, tr)
		for i := range 20 {
			name := filepath.Join(tr.Dir, "a")
			info, _ := os.Stat(name)
			os.WriteFile(name, fmt.Appendf(nil, "%04d\n", i), 0o644)
			os.Chtimes(name, info.ModTime(), info.ModTime())
			commit, _ := snap(t, s, tr)
			if got := gittest.RunGit(t, s.PrivateRepo().Dir, "show", commit+":a"); got != fmt.Sprintf("%04d", i) {
				t.Fatalf("round %d: the snapshot has %q", i, got)
			}
		}
	})
}

func TestOddFilesAndClosedDirectories(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n", "d/b": "b\n"})
	s := open(t, user, worktree.FillAny)
	tr := add(t, s, "T", head(t, user))
	if err := syscall.Mkfifo(filepath.Join(tr.Dir, "pipe"), 0o600); err != nil {
		testenv.NeedMachine(t, "a pipe", err)
	}
	os.Symlink("/etc", filepath.Join(tr.Dir, "etc"))
	os.Symlink("nowhere", filepath.Join(tr.Dir, "dangling"))
	os.Remove(filepath.Join(tr.Dir, "a"))
	syscall.Mkfifo(filepath.Join(tr.Dir, "a"), 0o600)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"closed/c": "c\n"})
	os.Chmod(filepath.Join(tr.Dir, "closed/c"), 0)
	os.Chmod(filepath.Join(tr.Dir, "closed"), 0)
	if _, files := snap(t, s, tr); files != "closed/c\nd/b\ndangling\netc" {
		t.Errorf("holds %q", files)
	}
	if err := tr.Restore(t.Context(), head(t, user)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"a": "---------- a\n", "d/b": "---------- b\n"}, listing(t, tr.Dir)); d != "" {
		t.Error(d)
	}
}

func TestTreeAsBase(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := open(t, user, worktree.FillAny)
	tree := gittest.RunGit(t, user, "rev-parse", "HEAD^{tree}")
	tr := add(t, s, "T", tree)
	if got := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", tr.Base+"^{tree}"); got != tree {
		t.Errorf("base has %s", got)
	}
}

func TestIDs(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := open(t, user, worktree.FillAny)
	for _, id := range []nexus.AttemptID{"", ".", "..", "../x", "a/b", "-x", "a..b", "a.lock", ".new-1", "a b", "é", "train", nexus.AttemptID(strings.Repeat("x", 101))} {
		if _, err := s.AddTree(t.Context(), "r", id, head(t, user)); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []nexus.AttemptID{nexus.AttemptID(strings.Repeat("x", 100)), "T3.2", "F001-A-01.2", "plan.1", "train.1"} {
		add(t, s, id, head(t, user))
	}
}

// TestResume continues from the pins alone, as another machine would.
func TestResume(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "b": "b\n"})
		s := open(t, user, way)
		base := head(t, user)
		tr := add(t, s, "T", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"a": "changed\n", "n/m": "m\n"})
		if err := tr.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		last, _ := tr.LastSnapshot()
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", worktree.AttemptBranch("r", "T")); got != last {
			t.Errorf("the branch is at %s, the last snapshot is %s", got, last)
		}
		back := add(t, s, "T", base)
		want := map[string]string{"a": "---------- changed\n", "b": "---------- b\n", "n/m": "---------- m\n"}
		if d := cmp.Diff(want, listing(t, back.Dir)); d != "" {
			t.Error(d)
		}
		if got := gittest.RunGit(t, back.Dir, "status", "--porcelain"); got != "" {
			t.Errorf("the agent's git says %q", got)
		}
		if err := back.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, user, map[string]string{"a": "user\n"})
		gittest.RunGit(t, user, "commit", "-qam", "user")
		other := must[string](t)(s.Fetch(t.Context(), "main"))
		fresh := add(t, s, "T", other)
		if d := cmp.Diff(map[string]string{"a": "---------- user\n", "b": "---------- b\n"}, listing(t, fresh.Dir)); d != "" {
			t.Error(d)
		}
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "for-each-ref", "--contains", last, "refs/nexus/r/T"); !strings.Contains(got, "old-"+last[:12]) {
			t.Errorf("the old work is at %q", got)
		}
	})
}

// TestTreesApart writes in one tree in every way and looks at the others.
func TestTreesApart(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "aaaa\n", "d/b": "b\n"})
		s := open(t, user, way)
		base := head(t, user)
		one, two := add(t, s, "T1", base), add(t, s, "T2", base)
		want := listing(t, two.Dir)
		f, err := os.OpenFile(filepath.Join(one.Dir, "a"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteAt([]byte("X"), 0)
		f.Close()
		os.Link(filepath.Join(one.Dir, "d/b"), filepath.Join(one.Dir, "linked"))
		os.WriteFile(filepath.Join(one.Dir, "linked"), []byte("L"), 0o644)
		os.Chmod(filepath.Join(one.Dir, "d/b"), 0o755)
		if d := cmp.Diff(want, listing(t, two.Dir)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(want, listing(t, add(t, s, "T3", base).Dir)); d != "" {
			t.Error(d)
		}
	})
}

// TestFifty makes fifty trees at once, from two processes.
func TestFifty(t *testing.T) {
	if dir := os.Getenv("NEXUS_FIFTY"); dir != "" {
		fifty(t, openAt2(t, dir), "child")
		return
	}
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "d/b": "b\n"})
		state := filepath.Join(t.TempDir(), "state")
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFifty$", "-test.v")
		child.Env = append(os.Environ(), "NEXUS_FIFTY="+user+"\n"+state+"\n"+string(way))
		var out strings.Builder
		child.Stdout, child.Stderr = &out, &out
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		s := openAt(t, user, state, way)
		fifty(t, s, "parent")
		if err := child.Wait(); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	})
}

func openAt2(t *testing.T, where string) *worktree.Store {
	t.Helper()
	f := strings.Split(where, "\n")
	s := openAt(t, f[0], f[1], worktree.TreeFillMethod(f[2]))
	return s
}

func fifty(t *testing.T, s *worktree.Store, who string) {
	t.Helper()
	base := gittest.RunGit(t, s.PrivateRepo().Dir, "for-each-ref", "--format=%(objectname)", "refs/user")
	errs := make(chan error)
	rounds := 2
	for round := range rounds {
		for i := range 50 {
			go func() {
				run := nexus.RunID(fmt.Sprintf("%s-%d", who, round))
				tr, err := s.AddTree(t.Context(), run, nexus.AttemptID(fmt.Sprintf("T%d", i)), base)
				if err == nil {
					os.WriteFile(filepath.Join(tr.Dir, "own"), []byte(run), 0o644)
					_, _, err = tr.Snapshot(t.Context(), "own")
				}
				if err == nil && i%2 == 0 {
					err = tr.Remove(t.Context())
				}
				errs <- err
			}()
		}
		for range 50 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
	if got := strings.Count(gittest.RunGit(t, s.PrivateRepo().Dir, "for-each-ref", "refs/nexus/"+who+"-*/*/snap"), "\n") + 1; got != 50*rounds {
		t.Errorf("%d snapshots", got)
	}
}

func TestSweep(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		ctx := t.Context()
		user := userRepo(t, map[string]string{"a": "a\n"})
		state := filepath.Join(t.TempDir(), "state")
		s := openAt(t, user, state, way)
		base := head(t, user)
		kept, gone := add(t, s, "kept", base), add(t, s, "gone", base)
		gittest.WriteFiles(t, gone.Dir, map[string]string{"unsaved": "work\n"})
		// What a process leaves that is killed while it makes a tree.
		half := filepath.Join(state, "trees/r/.new-1")
		gittest.WriteFiles(t, half, map[string]string{"tree/f": "f"})
		if way == worktree.FillOverlay {
			l := overlay.Layers{Lower: filepath.Join(half, "l"), Upper: filepath.Join(half, "u"), Work: filepath.Join(half, "w"), Dir: filepath.Join(half, "tree")}
			for _, d := range []string{l.Lower, l.Upper, l.Work} {
				os.Mkdir(d, 0o700)
			}
			if err := overlay.MountOverlay(l); err != nil {
				t.Fatal(err)
			}
		}
		gittest.WriteFiles(t, state, map[string]string{"trash/tree-1/gone/x": "x"})
		keep := func(_ nexus.RunID, id nexus.AttemptID) bool { return id == "kept" }
		dry := must[[]string](t)(s.RemoveTrees(ctx, keep, true))
		if _, err := os.Stat(gone.Dir); err != nil {
			t.Fatal("a dry sweep removed something")
		}
		did := must[[]string](t)(s.RemoveTrees(ctx, keep, false))
		s.Close() // waits for what is deleted beside
		for _, d := range []string{filepath.Dir(gone.Dir), half, filepath.Join(state, "trash/tree-1")} {
			if !strings.Contains(strings.Join(dry, "\n")+"\n", d+"\n") || !strings.Contains(strings.Join(did, "\n")+"\n", d+"\n") {
				t.Errorf("%s is not named by\n%s\nand\n%s", d, dry, did)
			}
			if _, err := os.Stat(d); err == nil {
				t.Errorf("%s is still there", d)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(state, "trash/*")); len(left) > 0 {
			t.Errorf("trash: %v", left)
		}
		mounts := must[[]string](t)(overlay.MountsBelow(state))
		if len(mounts) > 0 {
			t.Errorf("mounts: %v", mounts)
		}
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "show", worktree.SnapshotRef("r", "gone")+":unsaved"); got != "work" {
			t.Errorf("the pin has %q", got)
		}
		if _, files := snap(t, s, kept); files != "a" {
			t.Errorf("the kept one holds %q", files)
		}
	})
}

// TestInherit takes over a run whose process was killed: while it made a
// tree, while it tried overlays, and with a tree that is not asked for again.
func TestInherit(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		state := filepath.Join(t.TempDir(), "state")
		dead := openAt(t, user, state, way) // never closed before the end
		left := add(t, dead, "base", head(t, user))
		other := must[*worktree.AttemptTree](t)(dead.AddTree(t.Context(), "other", "T", head(t, user)))
		half := filepath.Join(state, "trees/r/.new-1")
		odd := []string{half, filepath.Join(state, ".probe-1")}
		for _, h := range odd {
			gittest.WriteFiles(t, h, map[string]string{"lower/f": "f", "upper/f": "f", "work/f": "f", "tree/f": "f"})
			if way != worktree.FillOverlay {
				continue
			}
			os.Remove(filepath.Join(h, "work/f"))
			l := overlay.Layers{Lower: filepath.Join(h, "lower"), Upper: filepath.Join(h, "upper"), Work: filepath.Join(h, "work"), Dir: filepath.Join(h, "tree")}
			if err := overlay.MountOverlay(l); err != nil {
				t.Fatal(err)
			}
		}
		s := openAt(t, user, state, way)
		if err := s.InheritRun(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		for _, h := range odd {
			if _, err := os.Stat(h); err == nil {
				t.Errorf("%s is still there", h)
			}
		}
		for _, tr := range []*worktree.AttemptTree{left, other} {
			if _, err := os.Stat(filepath.Join(tr.Dir, "a")); err != nil {
				t.Errorf("a tree that is ready is gone: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		var want []string // of a run that somebody else may hold
		if way == worktree.FillOverlay {
			want = []string{other.Dir}
		}
		if d := cmp.Diff(want, must[[]string](t)(overlay.MountsBelow(state))); d != "" {
			t.Errorf("mounts: %s", d)
		}
	})
}

// TestRemount loses the mounts, as a restart of the machine does.
func TestRemount(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "b": "b\n", "c": "c\n"})
		state := filepath.Join(t.TempDir(), "state")
		s := openAt(t, user, state, way)
		tr := add(t, s, "T", head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"a": "saved\n"})
		snap(t, s, tr)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "unsaved\n"})
		os.Remove(filepath.Join(tr.Dir, "b"))
		if way == worktree.FillOverlay {
			if err := overlay.Unmount(tr.Dir); err != nil {
				t.Fatal(err)
			}
			ready, _ := filepath.Glob(filepath.Join(state, "lower/*/ready"))
			os.WriteFile(ready[0], []byte("another-boot 1"), 0o600)
			os.WriteFile(filepath.Join(filepath.Dir(ready[0]), "tree/c"), nil, 0o600) // torn by the crash
		}
		back := add(t, openAt(t, user, state, way), "T", head(t, user))
		if d := cmp.Diff(map[string]string{"a": "---------- saved\n", "c": "---------- c\n", "n": "---------- unsaved\n"}, listing(t, back.Dir)); d != "" {
			t.Error(d)
		}
		if _, files := snap(t, s, back); files != "a\nc\nn" {
			t.Errorf("holds %q", files)
		}
	})
}

// TestNearLower makes a tree over files that differ a little.
func TestNearLower(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n", "b": "b\n", "d/c": "c\n"})
	s := open(t, user, worktree.FillAny)
	add(t, s, "T1", head(t, user))
	gittest.WriteFiles(t, user, map[string]string{"b": "new\n", "e/f": "f\n"})
	gittest.RunGit(t, user, "rm", "-q", "d/c")
	gittest.RunGit(t, user, "add", "-A")
	gittest.RunGit(t, user, "commit", "-qm", "two")
	next := must[string](t)(s.Fetch(t.Context(), "HEAD"))
	tr := add(t, s, "T2", next)
	if got := gittest.RunGit(t, tr.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("the agent's git says %q", got)
	}
	if d := cmp.Diff(map[string]string{"a": "---------- a\n", "b": "---------- new\n", "e/f": "---------- f\n"}, listing(t, tr.Dir)); d != "" {
		t.Error(d)
	}
	if commit, _ := snap(t, s, tr); commit != next {
		t.Errorf("an untouched tree has the snapshot %s", commit)
	}
}

func TestTwoOwners(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := open(t, user, worktree.FillAny)
	one, two := add(t, s, "T", head(t, user)), add(t, s, "T", head(t, user))
	gittest.WriteFiles(t, one.Dir, map[string]string{"one": "1\n"})
	snap(t, s, one)
	gittest.WriteFiles(t, two.Dir, map[string]string{"two": "2\n"})
	if _, files := snap(t, s, two); files != "a\none\ntwo" {
		t.Errorf("holds %q", files)
	}
	gittest.WriteFiles(t, one.Dir, map[string]string{"a": "A\n"})
	commit, _ := snap(t, s, one)
	if got := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-list", "--count", commit); got != "4" {
		t.Errorf("%s commits", got)
	}
}

func TestDates(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := open(t, user, worktree.FillAny)
	tr := add(t, s, "T", head(t, user))
	s.Now = func() time.Time { return time.Unix(1e9, 0) }
	gittest.WriteFiles(t, tr.Dir, map[string]string{"a": "A\n"})
	commit, _ := snap(t, s, tr)
	if got := gittest.RunGit(t, s.PrivateRepo().Dir, "log", "-1", "--format=%ct %an %s", commit); got != "1000000000 nexus s" {
		t.Errorf("the commit says %q", got)
	}
}

// TestFallback forces overlays where the path cannot be one's option.
func TestFallback(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := openAt(t, user, filepath.Join(t.TempDir(), "a,b:c"), worktree.FillAny)
	if tr := add(t, s, "T", head(t, user)); tr.Way != worktree.FillPlain {
		t.Errorf("made the %s way", tr.Way)
	}
}

// TestDirectoryMadeAnew removes a directory and makes it again: what it held
// must not show through.
func TestDirectoryMadeAnew(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "d/b": "b\n", "d/e/f": "f\n", "g/h": "h\n"})
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		os.RemoveAll(filepath.Join(tr.Dir, "d"))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"d/new": "n\n"})
		if _, files := snap(t, s, tr); files != "a\nd/new\ng/h" {
			t.Errorf("holds %q", files)
		}
		os.RemoveAll(filepath.Join(tr.Dir, "d"))
		if err := os.Rename(filepath.Join(tr.Dir, "g"), filepath.Join(tr.Dir, "d")); err != nil {
			t.Fatal(err)
		}
		if _, files := snap(t, s, tr); files != "a\nd/h" {
			t.Errorf("after a rename, holds %q", files)
		}
	})
}

// TestRulesThatIgnoreThemselves changes a list of rules that ignores itself.
func TestRulesThatIgnoreThemselves(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"v/.gitignore": "*\n", "v/x": "x\n", "v/w/y": "y\n"})
		for range 3 {
			if _, files := snap(t, s, tr); files != "a" {
				t.Errorf("holds %q", files)
			}
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"v/.gitignore": "w\n"})
		if _, files := snap(t, s, tr); files != "a\nv/.gitignore\nv/x" {
			t.Errorf("with other rules, holds %q", files)
		}
	})
}

// TestTorn finds what a crash of the machine leaves of files that were not
// yet on the disk: nothing in them.
func TestTorn(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	state := filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, state, worktree.FillAny)
	tr := add(t, s, "T", head(t, user))
	gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "new\n"})
	commit, _ := snap(t, s, tr)
	pin := filepath.Join(s.PrivateRepo().Dir, worktree.SnapshotRef("r", "T"))
	blob := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":n")
	object := filepath.Join(s.PrivateRepo().Dir, "objects", blob[:2], blob[2:])
	os.Chmod(object, 0o600)
	for _, f := range []string{pin, object} {
		if err := os.Truncate(f, 0); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(pin+".lock", nil, 0o600)
	back := add(t, openAt(t, user, state, worktree.FillAny), "T", head(t, user))
	commit, files := snap(t, s, back)
	if files != "a\nn" {
		t.Errorf("holds %q", files)
	}
	if got := gittest.RunGit(t, s.PrivateRepo().Dir, "show", commit+":n"); got != "new" {
		t.Errorf("n is %q", got)
	}
}

// TestClosedStore leaves no mount, and loses nothing by it.
func TestClosedStore(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "b": "b\n"})
		state := filepath.Join(t.TempDir(), "state")
		s := openAt(t, user, state, way)
		tr := add(t, s, "T", head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "n\n"})
		snap(t, s, tr)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left := must[[]string](t)(overlay.MountsBelow(state)); len(left) > 0 {
			t.Errorf("mounted: %v", left)
		}
		if _, files := snap(t, s, tr); files != "a\nb\nn" { // of a tree still in somebody's hand
			t.Errorf("holds %q", files)
		}
		s.Close()
		back := add(t, openAt(t, user, state, way), "T", head(t, user))
		if d := cmp.Diff(map[string]string{"a": "---------- a\n", "b": "---------- b\n", "n": "---------- n\n"}, listing(t, back.Dir)); d != "" {
			t.Error(d)
		}
	})
}
