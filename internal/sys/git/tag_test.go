package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestTag makes a tag that git itself reads, runs no hook, and moves none that is there.
func TestTag(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir, r, head := notesRepo(t, "--object-format="+format)
		if err := os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		testenv.WriteProgram(t, filepath.Join(dir, ".git", "hooks", "reference-transaction"), "#!/bin/sh\ntouch "+filepath.Join(dir, "ran")+"\n")
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		make1 := func(name string) error {
			return git.MakeTag(t.Context(), r, git.Tag{Name: name, Commit: "HEAD", Message: "First\n\nThe body: \"x\".\n"}, git.CommitIdentity{Name: "A <b>\n", Email: "a@b"}, at)
		}
		if _, there, err := git.ReadTag(t.Context(), r, "v1"); there || err != nil {
			t.Fatalf("%v %v", there, err)
		}
		if err := make1("v1"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Error("a hook ran")
		}
		got, there, err := git.ReadTag(t.Context(), r, "v1")
		if !there || err != nil || got.Commit != head || got.Message != "First\n\nThe body: \"x\"." {
			t.Errorf("%+v %v %v", got, there, err)
		}
		if said := gittest.RunGit(t, dir, "for-each-ref", "--format=%(objecttype) %(taggername) %(taggerdate:iso)", "refs/tags/v1"); said != "tag A b 2026-01-02 03:04:05 +0000" {
			t.Errorf("git reads %q", said)
		}
		gittest.RunGit(t, dir, "fsck", "--strict")
		gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "next")
		if err := make1("v1"); err == nil || !strings.Contains(err.Error(), "there is a tag v1 already") {
			t.Errorf("again: %v", err)
		}
		if now := gittest.RunGit(t, dir, "rev-parse", "v1^{commit}"); now != head {
			t.Errorf("the tag moved to %s", now)
		}
		if err := make1("-x"); err == nil {
			t.Error("a tag that looks like an option was made")
		}
		gittest.RunGit(t, dir, "tag", "light", "HEAD")
		if got, there, err := git.ReadTag(t.Context(), r, "light"); !there || err != nil || got.Message != "" {
			t.Errorf("a light tag is %+v %v %v", got, there, err)
		}
	}
}
