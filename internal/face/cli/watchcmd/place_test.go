package watchcmd

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// TestPlace holds that the header names the repository, and the branch where one is
// checked out.
func TestPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "units")
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args, err, out)
		}
	}
	run("init", "-q", "-b", "feature/sizes", dir)
	run("-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "--allow-empty", "-m", "start")
	r, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := repositoryAndBranch(t.Context(), r); got != "units feature/sizes" {
		t.Errorf("%q", got)
	}
	run("-C", dir, "checkout", "-q", "--detach")
	if got := repositoryAndBranch(t.Context(), r); got != "units" {
		t.Errorf("%q on no branch", got)
	}
}
