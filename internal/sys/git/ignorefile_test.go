package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestUserIgnore finds the user's own ignore file wherever their settings name it,
// and notices when it changes.
func TestUserIgnore(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	user := t.TempDir()
	gittest.RunGit(t, user, "init", "-q", "-b", "main")
	gittest.RunGit(t, user, "commit", "-q", "--allow-empty", "-m", "base")
	dir := t.TempDir()
	want := func(text string) {
		t.Helper()
		c, err := git.OpenClone(t.Context(), git.Repo{Dir: filepath.Join(user, ".git"), Work: user}, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if data, _ := os.ReadFile(filepath.Join(c.PrivateRepo().Dir, git.UserIgnore)); string(data) != text {
			t.Errorf("got %q, want %q", data, text)
		}
	}
	want("")
	gittest.WriteFiles(t, home, map[string]string{".config/git/ignore": "by-default\n"})
	want("by-default\n")
	gittest.WriteFiles(t, home, map[string]string{".config/git/config": "[core]\n\texcludesFile = ~/xdg\n", "xdg": "by-xdg\n"})
	want("by-xdg\n")
	gittest.WriteFiles(t, home, map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/own\n", "own": "by-home\n"})
	want("by-home\n")
	gittest.WriteFiles(t, home, map[string]string{"own": "changed\n"})
	want("changed\n")
	gittest.RunGit(t, user, "config", "core.excludesFile", filepath.Join(home, "repository"))
	gittest.WriteFiles(t, home, map[string]string{"repository": "by-repository\n"})
	want("by-repository\n")
}
