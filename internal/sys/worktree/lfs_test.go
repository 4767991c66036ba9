package worktree_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// pointTo returns the pointer to a content.
func pointTo(content string) git.LFSPointer {
	sum := sha256.Sum256([]byte(content))
	return git.LFSPointer{Hash: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// putLFS puts a content into the store of a user's repository under the name of a pointer.
func putLFS(t *testing.T, user string, p git.LFSPointer, content string) {
	t.Helper()
	gittest.WriteFiles(t, user, map[string]string{filepath.Join(".git/lfs/objects", p.Hash[:2], p.Hash[2:4], p.Hash): content})
}

// largeRepo makes a repository with files that git LFS keeps, and others with the attribute or
// with a pointer alone.
func largeRepo(t *testing.T) string {
	t.Helper()
	a := pointTo("content\n")
	user := userRepo(t, map[string]string{
		".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
		"d/a.bin":        a.String(),
		"gone.bin":       pointTo("gone").String(),
		"bad.bin":        "version https://git-lfs.github.com/spec/v1\nsize 4\noid sha256:" + pointTo("good").Hash + "\n",
		"big.bin":        git.LFSPointer{Hash: strings.Repeat("e", 64), Size: git.MaxLFSFile + 1}.String(),
		"raw.bin":        "never a pointer",
		"talk.txt":       a.String(),
		"plain.txt":      "plain\n",
	})
	putLFS(t, user, a, "content\n")
	putLFS(t, user, pointTo("good"), "evil")
	return user
}

func read(t *testing.T, tr *worktree.AttemptTree, name string) string {
	t.Helper()
	return string(must[[]byte](t)(os.ReadFile(filepath.Join(tr.Dir, name))))
}

// TestLFSContent reads the content of files that git LFS keeps where the user has it, and finds
// the pointers unchanged in snapshots, to the agent's git, and to those who judge.
func TestLFSContent(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := largeRepo(t)
		base := head(t, user)
		tree := gittest.RunGit(t, user, "rev-parse", "HEAD^{tree}")
		s := open(t, user, way)
		tr := add(t, s, "T", base)
		agents := "" // what the agent's git says
		unchanged := func(when string) {
			t.Helper()
			if got := read(t, tr, "d/a.bin"); got != "content\n" {
				t.Errorf("%s: the content is %q", when, got)
			}
			if _, now, err := tr.Snapshot(t.Context(), "s"); err != nil || now != tree {
				t.Errorf("%s: the snapshot has %s, %v: %s", when, now, err, gittest.RunGit(t, s.PrivateRepo().Dir, "diff", tree, now))
			}
			if got := gittest.RunGit(t, tr.Dir, "status", "--porcelain"); got != agents {
				t.Errorf("%s: the agent's git says %q", when, got)
			}
			_, done, err := tr.ExposeGateRepo(t.Context(), tree)
			if err != nil {
				t.Fatal(err)
			}
			if got := gittest.RunGit(t, tr.Dir, "status", "--porcelain") + gittest.RunGit(t, tr.Dir, "diff-files"); got != "" {
				t.Errorf("%s: to a gate git says %q", when, got)
			}
			if err := done(); err != nil {
				t.Fatal(err)
			}
		}
		unchanged("at first")
		for name, want := range map[string]string{
			"gone.bin": pointTo("gone").String(), "raw.bin": "never a pointer", "talk.txt": pointTo("content\n").String(),
			"bad.bin": gittest.RunGit(t, user, "show", "HEAD:bad.bin") + "\n", "big.bin": gittest.RunGit(t, user, "show", "HEAD:big.bin") + "\n",
		} {
			if got := read(t, tr, name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"d/a.bin": "content\n", "raw.bin": "never a pointer"})
		unchanged("written again")
		gittest.WriteFiles(t, tr.Dir, map[string]string{"d/a.bin": "another\n"})
		if _, now, err := tr.Snapshot(t.Context(), "s"); err != nil || now == tree {
			t.Fatalf("a change is none: %s, %v", now, err)
		}
		if got := gittest.RunGit(t, tr.Dir, "status", "--porcelain"); got != "M d/a.bin" {
			t.Errorf("the agent's git says %q of a change", got)
		}
		if err := tr.ResetExactly(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		unchanged("restored")
		os.Remove(filepath.Join(tr.Dir, "d/a.bin"))
		gittest.RunGit(t, tr.Dir, "checkout", "-q", "--", "d/a.bin")
		if got := read(t, tr, "d/a.bin"); !strings.HasPrefix(got, "version") {
			t.Errorf("the agent's git wrote %q", got)
		}
		if _, now, err := tr.Snapshot(t.Context(), "s"); err != nil || now != tree {
			t.Errorf("the snapshot has %s, %v", now, err)
		}
		agents = "M d/a.bin" // it knows the pointer that it wrote
		unchanged("after the agent's git wrote the pointer")
	})
}

// TestLFSContentChanged stores what an agent wrote as a pointer, and gives the user the content
// when the commit is published.
func TestLFSContentChanged(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := largeRepo(t)
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"d/a.bin": "changed\n", "new.bin": "new", "raw.bin": "changed too", "empty.bin": "", "b.txt": "b\n"})
		if err := os.Chmod(filepath.Join(tr.Dir, "new.bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		commit, tree, err := tr.Snapshot(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"d/a.bin": pointTo("changed\n").String(), "new.bin": pointTo("new").String(), "raw.bin": pointTo("changed too").String(),
			"empty.bin": "", "b.txt": "b\n", "gone.bin": pointTo("gone").String(),
		} {
			if got := gittest.RunGit(t, s.PrivateRepo().Dir, "show", commit+":"+name); got != strings.TrimSuffix(want, "\n") {
				t.Errorf("%s is %q in the commit", name, got)
			}
		}
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "ls-tree", commit, "new.bin"); !strings.HasPrefix(got, "100755") {
			t.Errorf("new.bin is %q", got)
		}
		before := time.Now()
		_, done, err := tr.ExposeGateRepo(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := gittest.RunGit(t, tr.Dir, "status", "--porcelain"); got != "" {
			t.Errorf("after %s git says %q to a gate", time.Since(before), got)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
		later := add(t, s, "later", commit)
		if got := read(t, later, "d/a.bin") + read(t, later, "new.bin"); got != "changed\nnew" {
			t.Errorf("a tree of the commit has %q", got)
		}
		if err := s.PublishBranch(t.Context(), "nexus/r", commit); err != nil {
			t.Fatal(err)
		}
		for _, content := range []string{"changed\n", "new", "changed too"} {
			p := pointTo(content)
			got, err := os.ReadFile(filepath.Join(user, ".git/lfs/objects", p.Hash[:2], p.Hash[2:4], p.Hash))
			if string(got) != content || err != nil {
				t.Errorf("the user has %q of %q, %v", got, content, err)
			}
		}
	})
}

// TestLFSContentThatComesLate is in trees that are made after the user got it, whatever there
// was to mount them over.
func TestLFSContentThatComesLate(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := largeRepo(t)
		s := open(t, user, way)
		first := add(t, s, "first", head(t, user))
		putLFS(t, user, pointTo("gone"), "gone")
		second := add(t, s, "second", head(t, user))
		if got := read(t, second, "gone.bin"); got != "gone" {
			t.Errorf("it is %q", got)
		}
		if got := read(t, first, "gone.bin"); got == "gone" {
			t.Error("a tree changed under its agent")
		}
		for _, tr := range []*worktree.AttemptTree{first, second} {
			if _, tree, err := tr.Snapshot(t.Context(), "s"); err != nil || tree != gittest.RunGit(t, user, "rev-parse", "HEAD^{tree}") {
				t.Errorf("%s: the snapshot has %s, %v", tr.ID, tree, err)
			}
			if got := gittest.RunGit(t, tr.Dir, "status", "--porcelain"); got != "" {
				t.Errorf("%s: git says %q", tr.ID, got)
			}
		}
	})
}

// TestLFSContentCutOff finds part of a content where a process died while it put that in place, and takes it for
// nobody's work.
func TestLFSContentCutOff(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := largeRepo(t)
		tree := gittest.RunGit(t, user, "rev-parse", "HEAD^{tree}")
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"d/a.bin": "cont"})
		note := filepath.Join(filepath.Dir(tr.Dir), "placing")
		if err := os.WriteFile(note, []byte("d/a.bin\x00"+pointTo("content\n").String()), 0o600); err != nil {
			t.Fatal(err)
		}
		tr = add(t, s, "T", head(t, user))
		if _, now, err := tr.Snapshot(t.Context(), "s"); err != nil || now != tree {
			t.Errorf("the snapshot has %s, %v", now, err)
		}
		if got := read(t, tr, "d/a.bin"); got != "content\n" {
			t.Errorf("the content is %q", got)
		}
		if _, err := os.Lstat(note); err == nil {
			t.Error("the note is still there")
		}
	})
}
