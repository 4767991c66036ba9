package worktree_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestPoints pins what checkpoints need, each under its own name. What is unpinned is
// no point any more, and touches no other one, whose name begins alike.
func TestPoints(t *testing.T) {
	ctx, user := t.Context(), userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	tr := add(t, s, "T1.1", base)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "new\n"})
	work, _ := snap(t, s, tr)
	pinned := func(name string) map[string]string {
		t.Helper()
		return must[map[string]string](t)(s.CheckpointPins(ctx, "r", name))
	}
	for range 2 { // a process that died may have done it before
		for name, trees := range map[string][]nexus.PinnedAttemptTree{"one": {{Attempt: "T1.1", Commit: work}, {Attempt: "T2.1", Commit: base}}, "one-more": nil} {
			if err := s.PinCheckpoint("r", name, base, trees); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.PinCheckpoint("other", "else", base, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"tip": base, "tree/T1.1": work, "tree/T2.1": base}
	if d := cmp.Diff(want, pinned("one")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if all := slices.Sorted(slices.Values(must[[]string](t)(s.PinnedCheckpoints(ctx, "r")))); !slices.Equal(all, []string{"one", "one-more"}) {
		t.Errorf("the points are %q", all)
	}
	if err := s.UnpinCheckpoint(ctx, "r", "one"); err != nil {
		t.Fatal(err)
	}
	if all := must[[]string](t)(s.PinnedCheckpoints(ctx, "r")); !slices.Equal(all, []string{"one-more"}) || len(pinned("one")) > 0 {
		t.Errorf("the points are %q, and of the one that is gone %v is pinned", all, pinned("one"))
	}
	if d := cmp.Diff(map[string]string{"tip": base}, pinned("one-more")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// TestPointsThatCannotBePinned are an error, whichever of the commits it is about, and so is
// whatever git cannot say of them.
func TestPointsThatCannotBePinned(t *testing.T) {
	ctx, user := t.Context(), userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	for name, way := range map[string]string{"tip": "tip.lock", "tree": "tree/T1.1.lock"} {
		lock := filepath.Join(s.PrivateRepo().Dir, "refs/nexus/r/checkpoint", name, way)
		gittest.WriteFiles(t, lock, map[string]string{"in": "the way\n"})
		if err := s.PinCheckpoint("r", name, base, []nexus.PinnedAttemptTree{{Attempt: "T1.1", Commit: base}, {Attempt: "T2.1", Commit: base}}); err == nil {
			t.Errorf("%s is in the way, and that is no error", way)
		}
		if err := os.RemoveAll(lock); err != nil {
			t.Fatal(err)
		}
	}
	fails, calls, _ := gittest.InstallFailingGit(t)
	if err := s.PinCheckpoint("r", "one", base, nil); err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func() error{
		"unpin": func() error { return s.UnpinCheckpoint(ctx, "r", "one") },
		"pinned": func() error {
			_, err := s.CheckpointPins(ctx, "r", "one")
			return err
		},
		"points": func() error {
			_, err := s.PinnedCheckpoints(ctx, "r")
			return err
		},
	} {
		for n := 1; ; n++ {
			if err := s.PinCheckpoint("r", "one", base, nil); err != nil {
				t.Fatal(err)
			}
			fails(n)
			err := do()
			if calls() < n {
				break // it does not ask git so often
			}
			if err == nil {
				t.Errorf("%s: git fails at call %d, and nobody says so", what, n)
			}
			fails(0)
		}
		fails(0)
	}
}

// TestWhole tells the commits that have all their files from those of which something is
// gone, and from those that are not there.
func TestWhole(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	tr := add(t, s, "T1.1", base)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "only here\n"})
	whole, _ := snap(t, s, tr)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "lost\n"})
	torn, _ := snap(t, s, tr)
	blob := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", torn+":n")
	if err := os.Remove(filepath.Join(s.PrivateRepo().Dir, "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	none := "0123456789012345678901234567890123456789"
	broken, err := s.IncompleteCommits(t.Context(), []string{base, torn, whole, none})
	if err != nil || !slices.Equal(broken, []string{torn, none}) {
		t.Errorf("broken are %q: %v", broken, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if broken, err := s.IncompleteCommits(ctx, []string{base}); err == nil || broken != nil {
		t.Errorf("nobody had the time to look, and broken are %q", broken)
	}
}

// TestReturn takes the run's branch back. The commit that it leaves stays under a name, also
// where git packed the branch, and doing it again changes nothing.
func TestReturn(t *testing.T) {
	ctx, user := t.Context(), userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	const ref, left = "refs/heads/nexus/r/train", "refs/nexus/r/left/undone-"
	at := func(name string) string {
		t.Helper()
		return gittest.RunGit(t, s.PrivateRepo().Dir, "for-each-ref", "--format=%(objectname)", name)
	}
	if err := s.RestoreRunBranch(ctx, "r", ref, "undone", base); err != nil || at(ref) != "" {
		t.Fatalf("nothing landed, and the branch is at %q: %v", at(ref), err)
	}
	tr := add(t, s, "T1.1", base)
	for n, text := range []string{"one\n", "two\n"} {
		gittest.WriteFiles(t, tr.Dir, map[string]string{"n": text})
		tip, _ := snap(t, s, tr)
		gittest.RunGit(t, s.PrivateRepo().Dir, "update-ref", ref, tip)
		if n == 1 {
			gittest.RunGit(t, s.PrivateRepo().Dir, "pack-refs", "--all")
		}
		for range 2 {
			if err := s.RestoreRunBranch(ctx, "r", ref, "undone", base); err != nil {
				t.Fatal(err)
			}
			if at(ref) != base || at(left+tip[:12]) != tip {
				t.Errorf("the branch is at %s, and %s is left", at(ref), at(left+tip[:12]))
			}
		}
	}
	tip, _ := snap(t, s, tr)
	gittest.RunGit(t, s.PrivateRepo().Dir, "update-ref", ref, tip)
	gittest.RunGit(t, s.PrivateRepo().Dir, "update-ref", "-d", left+tip[:12])
	gittest.WriteFiles(t, filepath.Join(s.PrivateRepo().Dir, left+tip[:12]+".lock"), map[string]string{"in": "the way\n"})
	if err := s.RestoreRunBranch(ctx, "r", ref, "undone", base); err == nil || at(ref) != tip {
		t.Errorf("what it leaves is kept nowhere, and the branch is at %s: %v", at(ref), err)
	}
}
