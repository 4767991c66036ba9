package git_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

func repo(tb testing.TB, files map[string]string, init ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	gittest.RunGit(tb, dir, append([]string{"init", "-q", "-b", "main"}, init...)...)
	gittest.WriteFiles(tb, dir, files)
	gittest.RunGit(tb, dir, "add", "-A")
	gittest.RunGit(tb, dir, "commit", "-qm", "base")
	return dir
}

func openClone(tb testing.TB, user string) *git.PrivateClone {
	tb.Helper()
	r, err := git.FindRepo(tb.Context(), user)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := git.OpenClone(tb.Context(), r, tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}

// change makes a commit on top of base, in the private clone alone.
func change(tb testing.TB, c *git.PrivateClone, base string, files map[string]string) string {
	tb.Helper()
	changes := map[string]git.TreeEntry{}
	for name, text := range files {
		id, err := c.Objects().WriteObject("blob", []byte(text))
		if err != nil {
			tb.Fatal(err)
		}
		changes[name] = git.TreeEntry{Mode: git.ModeFile, ID: id}
	}
	was, err := c.PrivateRepo().TreeID(tb.Context(), base)
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := c.Objects().EditTreePaths(tb.Context(), was, changes)
	if err != nil {
		tb.Fatal(err)
	}
	commit, err := c.Commit(tb.Context(), tree, []string{base}, "change\n\nbody", time.Unix(1e9, 0))
	if err != nil {
		tb.Fatal(err)
	}
	return commit
}

// hashes lists every file below dir with its mode, content and time.
func hashes(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			all[rel] = info.Mode().String()
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			all[rel] = "-> " + to
		default:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all[rel] = fmt.Sprintf("%v %x %v", info.Mode(), sha256.Sum256(data), info.ModTime())
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// hooks gives a repository every hook there is; each leaves a mark.
func hooks(tb testing.TB, gitDir string) (mark string) {
	tb.Helper()
	mark = filepath.Join(tb.TempDir(), "mark")
	for _, h := range []string{
		"pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction", "post-merge",
		"pre-merge-commit", "pre-receive", "update", "post-receive", "post-update", "pre-push", "pre-auto-gc", "post-rewrite",
	} {
		gittest.WriteFiles(tb, gitDir, map[string]string{"hooks/" + h: "#!/bin/sh\necho " + h + " >> " + mark + "\n"})
		os.Chmod(filepath.Join(gitDir, "hooks", h), 0o755)
	}
	return mark
}

func isMoved(err error) bool { return errors.Is(err, &nexus.Error{Code: nexus.CodeTargetMoved}) }

// TestUserIsUntouched publishes into a repository in every state that a user
// leaves one in, and compares everything in it, byte for byte.
func TestUserIsUntouched(t *testing.T) {
	states := map[string]func(dir string){
		"clean": func(string) {},
		"dirty": func(dir string) {
			gittest.WriteFiles(t, dir, map[string]string{"a": "dirty\n", "staged": "s\n", "untracked": "u\n"})
			gittest.RunGit(t, dir, "add", "staged")
			gittest.RunGit(t, dir, "stash", "-q")
			gittest.WriteFiles(t, dir, map[string]string{"a": "dirty\n", "staged": "s\n", "untracked": "u\n"})
			gittest.RunGit(t, dir, "add", "staged")
		},
		"detached":   func(dir string) { gittest.RunGit(t, dir, "checkout", "-q", "--detach") },
		"mid-merge":  func(dir string) { conflict(t, dir, "merge", "side") },
		"mid-rebase": func(dir string) { conflict(t, dir, "rebase", "side") },
		"index.lock": func(dir string) { gittest.WriteFiles(t, dir, map[string]string{".git/index.lock": ""}) },
		"HEAD.lock": func(dir string) {
			gittest.WriteFiles(t, dir, map[string]string{".git/HEAD.lock": "", ".git/config.lock": ""})
		},
		"worktree": func(dir string) {
			gittest.RunGit(t, dir, "worktree", "add", "-q", "-b", "w", filepath.Join(t.TempDir(), "w"))
		},
		"packed refs": func(dir string) { gittest.RunGit(t, dir, "pack-refs", "--all"); gittest.RunGit(t, dir, "gc", "-q") },
		"insteadOf": func(dir string) {
			gittest.RunGit(t, dir, "config", "remote.origin.url", "ssh://nowhere/x")
			gittest.RunGit(t, dir, "config", "fetch.prune", "true")
		},
		"signing": func(dir string) {
			gittest.RunGit(t, dir, "config", "commit.gpgSign", "true")
			gittest.RunGit(t, dir, "config", "gpg.program", "/nowhere")
		},
	}
	for name, state := range states {
		t.Run(name, func(t *testing.T) {
			dir := repo(t, map[string]string{"a": "a\n", "ünï/b": "b\n", "run.sh": "x"})
			os.Symlink("a", filepath.Join(dir, "link"))
			state(dir)
			mark := hooks(t, filepath.Join(dir, ".git"))
			before := hashes(t, dir)
			c := openClone(t, dir)
			head, _, err := c.PrivateRepo().Head(t.Context())
			_ = head
			_ = err
			base := gittest.RunGit(t, dir, "rev-parse", "HEAD")
			commit := change(t, c, base, map[string]string{"a": "new\n"})
			for range 2 { // it is idempotent
				if err := c.PublishBranch(t.Context(), "nexus/run-1", commit); err != nil {
					t.Fatal(err)
				}
			}
			after := hashes(t, dir)
			for p := range after {
				if _, ok := before[p]; ok {
					continue
				}
				object := strings.HasPrefix(p, ".git/objects/")
				if !object && p != ".git/refs/heads/nexus" && p != ".git/refs/heads/nexus/run-1" {
					t.Errorf("%s is new", p)
				}
				delete(after, p)
			}
			if d := cmp.Diff(before, after); d != "" {
				t.Error(d)
			}
			if got := gittest.RunGit(t, dir, "rev-parse", "nexus/run-1"); got != commit {
				t.Errorf("published %s", got)
			}
			gittest.RunGit(t, dir, "fsck", "--strict")
			if data, err := os.ReadFile(mark); err == nil {
				t.Errorf("hooks ran: %s", data)
			}
		})
	}
}

// conflict leaves a repository in the middle of something.
func conflict(t *testing.T, dir, verb, with string) {
	t.Helper()
	gittest.RunGit(t, dir, "checkout", "-qb", with)
	gittest.WriteFiles(t, dir, map[string]string{"a": "side\n"})
	gittest.RunGit(t, dir, "commit", "-qam", "side")
	gittest.RunGit(t, dir, "checkout", "-q", "main")
	gittest.WriteFiles(t, dir, map[string]string{"a": "main\n"})
	gittest.RunGit(t, dir, "commit", "-qam", "main")
	cmd := exec.Command("git", verb, with)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_NAME=U", "GIT_COMMITTER_EMAIL=u@x", "GIT_AUTHOR_NAME=U", "GIT_AUTHOR_EMAIL=u@x")
	if cmd.Run() == nil {
		t.Fatal("there is no conflict")
	}
}

func TestPublishKeepsWorkOfOthers(t *testing.T) {
	dir := repo(t, map[string]string{"a": "a\n"})
	c := openClone(t, dir)
	base := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	one := change(t, c, base, map[string]string{"a": "1\n"})
	two := change(t, c, one, map[string]string{"a": "2\n"})
	other := change(t, c, base, map[string]string{"a": "other\n"})
	for _, step := range []struct {
		commit string
		moved  bool
		before func()
	}{
		{commit: one},
		{commit: two},
		{commit: two, before: func() { // as after a process that died before it noted where the branch is
			gittest.RunGit(t, c.PrivateRepo().Dir, "update-ref", "refs/published/nexus/r", one)
		}},
		{commit: other}, // ours, so it may be replaced
		{commit: one, moved: true, before: func() {
			gittest.RunGit(t, dir, "checkout", "-q", "nexus/r")
			gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "user's")
			gittest.RunGit(t, dir, "checkout", "-q", "main")
		}},
		{commit: one, before: func() { gittest.RunGit(t, dir, "branch", "-D", "nexus/r") }},
		{commit: two, moved: true, before: func() { gittest.RunGit(t, dir, "checkout", "-q", "nexus/r") }},
	} {
		if step.before != nil {
			step.before()
		}
		was := gittest.RunGit(t, dir, "for-each-ref", "refs/heads/nexus")
		err := c.PublishBranch(t.Context(), "nexus/r", step.commit)
		if isMoved(err) != step.moved || err != nil && !step.moved {
			t.Fatalf("%+v: %v", step, err)
		}
		if now := gittest.RunGit(t, dir, "for-each-ref", "refs/heads/nexus"); step.moved && now != was {
			t.Errorf("refused, but moved to %s", now)
		}
	}
	for _, branch := range []string{"main", "nexus", "nexus/", "nexus/../main", "refs/heads/main", "-x", "nexus/a b"} {
		if err := c.PublishBranch(t.Context(), branch, one); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
			t.Errorf("%q: %v", branch, err)
		}
	}
}

func TestLand(t *testing.T) {
	files := map[string]string{"a": "a\n", "b": "b\n", ".gitignore": "ign\n"}
	next := map[string]string{"a": "new\n", "c/d": "d\n"}
	type world struct {
		dir, base, commit string
		c                 *git.PrivateClone
	}
	cases := []struct {
		name   string
		set    func(w *world)
		target string
		was    string
		moved  bool
		check  func(w *world)
	}{
		{name: "checked out and clean", check: func(w *world) {
			if got := gittest.RunGit(t, w.dir, "status", "--porcelain"); got != "" {
				t.Errorf("status: %s", got)
			}
		}},
		{name: "other changes stay", set: func(w *world) {
			gittest.WriteFiles(t, w.dir, map[string]string{"b": "mine\n", "staged": "s\n"})
			gittest.RunGit(t, w.dir, "add", "staged")
		}, check: func(w *world) {
			if got := gittest.RunGit(t, w.dir, "status", "--porcelain"); got != "M b\nA  staged" {
				t.Errorf("status: %s", got)
			}
		}},
		{name: "same file is dirty", moved: true, set: func(w *world) { gittest.WriteFiles(t, w.dir, map[string]string{"a": "mine\n"}) }},
		{name: "untracked in the way", moved: true, set: func(w *world) { gittest.WriteFiles(t, w.dir, map[string]string{"c/d": "mine\n"}) }},
		{name: "ignored in the way", moved: true, set: func(w *world) {
			gittest.WriteFiles(t, w.dir, map[string]string{"ign": "mine\n"})
			w.commit = change(t, w.c, w.commit, map[string]string{"ign": "theirs\n"})
		}},
		{name: "mid-merge", moved: true, set: func(w *world) { gittest.WriteFiles(t, w.dir, map[string]string{".git/MERGE_HEAD": w.base + "\n"}) }},
		{name: "index locked", moved: true, set: func(w *world) { gittest.WriteFiles(t, w.dir, map[string]string{".git/index.lock": ""}) }},
		{name: "user went on", moved: true, set: func(w *world) { gittest.RunGit(t, w.dir, "commit", "-q", "--allow-empty", "-m", "mine") }},
		{name: "no such branch", target: "other", moved: true},
		{name: "not forward", moved: true, set: func(w *world) {
			gittest.RunGit(t, w.dir, "commit", "-q", "--allow-empty", "-m", "mine")
			w.base = gittest.RunGit(t, w.dir, "rev-parse", "HEAD")
		}},
		{name: "not checked out", target: "rel/1.0", set: func(w *world) { gittest.RunGit(t, w.dir, "branch", "rel/1.0") }, check: func(w *world) {
			if got := gittest.RunGit(t, w.dir, "rev-parse", "HEAD"); got != w.base {
				t.Errorf("HEAD is at %s", got)
			}
		}},
		{name: "detached", set: func(w *world) { gittest.RunGit(t, w.dir, "checkout", "-q", "--detach") }},
		{name: "checked out elsewhere", target: "side", set: func(w *world) {
			gittest.RunGit(t, w.dir, "worktree", "add", "-q", "-b", "side", filepath.Join(w.dir, "../side"))
		}, check: func(w *world) {
			side := filepath.Join(w.dir, "../side")
			if got := gittest.RunGit(t, side, "status", "--porcelain"); got != "" {
				t.Errorf("status: %s", got)
			}
			if data, _ := os.ReadFile(filepath.Join(side, "a")); string(data) != "new\n" {
				t.Errorf("a is %q", data)
			}
		}},
		{name: "mid-rebase", moved: true, set: func(w *world) {
			conflict(t, w.dir, "rebase", "side")
			w.base = gittest.RunGit(t, w.dir, "rev-parse", "main")
			w.commit = change(t, w.c, must(t)(w.c.Fetch(t.Context(), "main")), next)
		}},
		{name: "filter", moved: true, set: func(w *world) {
			w.commit = change(t, w.c, w.commit, map[string]string{".gitattributes": "c/* filter=lfs\n"})
		}},
		{name: "files become a directory", set: func(w *world) {
			w.commit = change(t, w.c, w.commit, map[string]string{"e/f/g": "g"})
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "user")
			gittest.RunGit(t, repo(t, files), "clone", "-q", ".", dir)
			w := &world{dir: dir, base: gittest.RunGit(t, dir, "rev-parse", "HEAD"), c: openClone(t, dir)}
			w.commit = change(t, w.c, w.base, next)
			if tc.set != nil {
				tc.set(w)
			}
			mark := hooks(t, filepath.Join(dir, ".git"))
			before := hashes(t, dir)
			target := "main"
			if tc.target != "" {
				target = tc.target
			}
			err := w.c.LandOnUserBranch(t.Context(), target, w.commit, w.base)
			if isMoved(err) != tc.moved || err != nil && !tc.moved {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(mark); err == nil {
				t.Errorf("hooks ran: %s", data)
			}
			if tc.moved {
				after := hashes(t, dir)
				for p := range after {
					if _, ok := before[p]; !ok && strings.HasPrefix(p, ".git/objects/") {
						delete(after, p)
					}
				}
				if d := cmp.Diff(before, after); d != "" {
					t.Error(d)
				}
				return
			}
			if got := gittest.RunGit(t, dir, "rev-parse", target); got != w.commit {
				t.Errorf("%s is at %s", target, got)
			}
			if err := w.c.LandOnUserBranch(t.Context(), target, w.commit, w.base); err != nil {
				t.Errorf("again: %v", err)
			}
			if tc.check != nil {
				tc.check(w)
			}
		})
	}
}

func must(t *testing.T) func(string, error) string {
	t.Helper()
	return func(s string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// TestKinds clones every kind of repository, and works on without it.
func TestKinds(t *testing.T) {
	files := map[string]string{"a": "a\n", "d/b": "b\n"}
	kinds := map[string]func() string{
		"plain":  func() string { return repo(t, files) },
		"sha256": func() string { return repo(t, files, "--object-format=sha256") },
		"linked worktree": func() string {
			w := filepath.Join(t.TempDir(), "w")
			gittest.RunGit(t, repo(t, files), "worktree", "add", "-q", "--detach", w)
			return w
		},
		"bare": func() string {
			b := filepath.Join(t.TempDir(), "b")
			gittest.RunGit(t, repo(t, files), "clone", "-q", "--bare", ".", b)
			return b
		},
		"alternates": func() string {
			b := filepath.Join(t.TempDir(), "b")
			gittest.RunGit(t, repo(t, files), "clone", "-q", "--shared", ".", b)
			return b
		},
		"shallow": func() string {
			a, b := repo(t, files), filepath.Join(t.TempDir(), "b")
			gittest.RunGit(t, a, "commit", "-q", "--allow-empty", "-m", "two")
			gittest.RunGit(t, a, "clone", "-q", "--depth=1", "file://"+a, b)
			return b
		},
		"packed":       func() string { d := repo(t, files); gittest.RunGit(t, d, "gc", "-q"); return d },
		"subdirectory": func() string { return filepath.Join(repo(t, files), "d") },
		"space and ü": func() string {
			b := filepath.Join(t.TempDir(), "a b ü")
			gittest.RunGit(t, repo(t, files), "clone", "-q", ".", b)
			return b
		},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			dir := kind()
			c := openClone(t, dir)
			base := must(t)(c.Fetch(t.Context(), "HEAD"))
			commit := change(t, c, base, map[string]string{"a": "new\n"})
			if _, err := os.Stat(filepath.Join(c.PrivateRepo().Dir, "objects/info/alternates")); err == nil {
				t.Error("the clone stands on objects elsewhere")
			}
			if err := c.PublishBranch(t.Context(), "nexus/r", commit); err != nil {
				t.Fatal(err)
			}
			if got := gittest.RunGit(t, dir, "show", "nexus/r:a"); got != "new" {
				t.Errorf("published %q", got)
			}
			// The user's own cleaning up takes nothing from the clone.
			gittest.RunGit(t, dir, "branch", "-D", "nexus/r")
			gittest.RunGit(t, dir, "-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now")
			gittest.RunGit(t, c.PrivateRepo().Dir, "fsck", "--strict", "--connectivity-only", commit)
			if got := gittest.RunGit(t, c.PrivateRepo().Dir, "show", commit+":a"); got != "new" {
				t.Errorf("the clone has %q", got)
			}
		})
	}
}

func TestFetch(t *testing.T) {
	dir := repo(t, map[string]string{"a": "a\n"})
	c := openClone(t, dir)
	gittest.RunGit(t, dir, "checkout", "-qb", "topic")
	gittest.WriteFiles(t, dir, map[string]string{"a": "topic\n"})
	gittest.RunGit(t, dir, "commit", "-qam", "topic")
	got := must(t)(c.Fetch(t.Context(), "topic"))
	if want := gittest.RunGit(t, dir, "rev-parse", "topic"); got != want {
		t.Errorf("fetched %s, not %s", got, want)
	}
	if text := gittest.RunGit(t, c.PrivateRepo().Dir, "show", got+":a"); text != "topic" {
		t.Errorf("a is %q", text)
	}
	for _, rev := range []string{"nothing", "--help", "-x", "", "HEAD\nHEAD", "HEAD^{tree}", "@{u}", "main:a"} {
		if _, err := c.Fetch(t.Context(), rev); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			t.Errorf("%q: %v", rev, err)
		}
	}
}

func TestMove(t *testing.T) {
	dir := repo(t, map[string]string{"a": "a\n"})
	c := openClone(t, dir)
	ctx := t.Context()
	base := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	one, two := change(t, c, base, map[string]string{"a": "1"}), change(t, c, base, map[string]string{"a": "2"})
	const ref = "refs/nexus/run/train"
	for i, step := range []struct {
		to, from string
		moved    bool
	}{
		{one, base, true},
		{one, "", false},
		{one, "", false}, // is there already
		{two, "", true},
		{two, base, true},
		{two, one, false},
		{two, one, false}, // likewise
		{one, one, true},
	} {
		if err := c.MoveRef(ctx, ref, step.to, step.from); isMoved(err) != step.moved || err != nil && !step.moved {
			t.Errorf("step %d: %v", i, err)
		}
	}
	for _, bad := range []string{"HEAD", "refs/x/../y", "-d", "refs/heads/a b"} {
		if err := c.MoveRef(ctx, bad, one, ""); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if again := change(t, c, base, map[string]string{"a": "1"}); again != one {
		t.Errorf("the same commit came out as %s and %s", one, again)
	}
	if got := gittest.RunGit(t, c.PrivateRepo().Dir, "log", "-1", "--format=%an <%ae> %ct %s/%b", one); got != "nexus <nexus@localhost> 1000000000 change/body" {
		t.Errorf("the commit says %q", got)
	}
}

func TestMerge(t *testing.T) {
	dir := repo(t, map[string]string{"a": "1\n2\n3\n4\n5\n", "b": "b\n", "c": "c\n"})
	c := openClone(t, dir)
	base := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	ours := change(t, c, base, map[string]string{"a": "one\n2\n3\n4\n5\n", "ö": "o\n"})
	theirs := change(t, c, base, map[string]string{"a": "1\n2\n3\n4\nfive\n"})
	m, err := c.Merge(t.Context(), base, ours, theirs)
	if err != nil || len(m.Conflicts) > 0 {
		t.Fatal(m, err)
	}
	if got := gittest.RunGit(t, c.PrivateRepo().Dir, "show", m.Tree+":a"); got != "one\n2\n3\n4\nfive" {
		t.Errorf("merged to %q", got)
	}
	// The base that is given counts, not the one git would find.
	m, err = c.Merge(t.Context(), ours, base, ours)
	if err != nil || m.Tree != gittest.RunGit(t, dir, "rev-parse", "HEAD^{tree}") {
		t.Errorf("reverting gave %+v, %v", m, err)
	}
	clash := change(t, c, base, map[string]string{"a": "uno\n2\n3\n4\n5\n", "ö": "clash\n"})
	m, err = c.Merge(t.Context(), base, ours, clash)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", "ö"}, m.Conflicts); d != "" {
		t.Error(d)
	}
	if got := gittest.RunGit(t, c.PrivateRepo().Dir, "show", m.Tree+":a"); !strings.Contains(got, "<<<<<<<") || !strings.Contains(got, "uno") {
		t.Errorf("no markers in %q", got)
	}
}
