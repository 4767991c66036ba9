package worktree_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestPointIsCheap holds what a checkpoint costs beside its fact, by counts: no program is started, there is one new file
// for each commit that is pinned, and no more is read or written where the tree and the number of checkpoints are large.
func TestPointIsCheap(t *testing.T) {
	var costs []int64
	path := os.Getenv("PATH")
	for _, n := range []int{10, 2_000} {
		user := bigRepo(t, n)
		base := gittest.RunGit(t, user, "rev-parse", "main")
		state := filepath.Join(t.TempDir(), "state")
		s := openAt(t, user, state, worktree.FillPlain)
		var trees []nexus.PinnedAttemptTree
		for i := range 4 {
			trees = append(trees, nexus.PinnedAttemptTree{Attempt: nexus.AttemptID(fmt.Sprintf("T%d.1", i)), Commit: base})
		}
		for i := range n / 10 {
			if err := s.PinCheckpoint("r", fmt.Sprintf("wave-%d", i), base, trees); err != nil {
				t.Fatal(err)
			}
		}
		before := filesIn(t, state)
		t.Setenv("PATH", t.TempDir()) // who starts git fails
		least := int64(-1)
		for i := range 5 { // what else the process does at the same time is none of it
			from := transferred(t)
			if err := s.PinCheckpoint("r", fmt.Sprintf("more-%d", i), base, trees); err != nil {
				t.Error(err)
			}
			if cost := transferred(t) - from; least < 0 || cost < least {
				least = cost
			}
		}
		t.Setenv("PATH", path)
		costs = append(costs, least)
		if made := filesIn(t, state) - before; made != 5*(1+len(trees)) {
			t.Errorf("%d files were made for 5 checkpoints of %d commits", made, 1+len(trees))
		}
	}
	if costs[0] <= 0 || costs[1] > costs[0]+1024 || costs[1] > 8<<10 {
		t.Errorf("it reads and writes %d bytes in a small repository, and %d in a large one", costs[0], costs[1])
	}
}

// transferred returns how many bytes this process has read and written.
func transferred(t *testing.T) (n int64) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		var one int64
		if _, err := fmt.Sscanf(line, "rchar: %d", &one); err == nil {
			n += one
		}
		if _, err := fmt.Sscanf(line, "wchar: %d", &one); err == nil {
			n += one
		}
	}
	return n
}

func filesIn(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
