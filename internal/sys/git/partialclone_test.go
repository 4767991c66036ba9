package git

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestLacking counts what a blobless, sparse clone has not of its commit; the command that it
// gives fetches just that, and then nothing is lacking.
func TestLacking(t *testing.T) {
	server, dir := t.TempDir(), t.TempDir()
	gittest.RunGit(t, server, "init", "-q", "-b", "main")
	gittest.RunGit(t, server, "config", "uploadpack.allowFilter", "true")
	gittest.RunGit(t, server, "config", "uploadpack.allowAnySHA1InWant", "true")
	gittest.WriteFiles(t, server, map[string]string{"a/1": "1\n", "b/1": "2\n", "b/2": "3\n"})
	gittest.RunGit(t, server, "add", ".")
	gittest.RunGit(t, server, "commit", "-q", "-m", "one")
	whole := want[Repo](t)(FindRepo(t.Context(), server))
	if n, command, err := whole.CountMissingObjects(t.Context(), "HEAD"); n != 0 || command != "" || err != nil {
		t.Errorf("a whole repository lacks %d: %q, %v", n, command, err)
	}
	gittest.RunGit(t, dir, "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+filepath.ToSlash(server), ".")
	gittest.RunGit(t, dir, "sparse-checkout", "set", "--cone", "a")
	gittest.RunGit(t, dir, "checkout", "-q", "main")
	r := want[Repo](t)(FindRepo(t.Context(), dir))
	n, command, err := r.CountMissingObjects(t.Context(), "HEAD")
	if n != 2 || err != nil {
		t.Fatalf("it lacks %d: %v", n, err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	if n, _, err := r.CountMissingObjects(t.Context(), "HEAD"); n != 0 || err != nil {
		t.Errorf("after the command it lacks %d: %v", n, err)
	}
}
