package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// TestSeenWhileItExecutes looks again and again for a process that does
// nothing but execute itself again: there is a moment in which it shows no
// environment, and it must be seen all the same.
func TestSeenWhileItExecutes(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again.sh")
	if err := os.WriteFile(again, []byte("exec sh \"$0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	owner := fmt.Sprintf("test-exec-%d", os.Getpid())
	cmd := exec.CommandContext(t.Context(), "sh", again)
	cmd.Env = []string{"PATH=/usr/bin:/bin", proc.Mark + "=" + owner + "/x"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		if proc.CountProcessesOf(owner) != 1 {
			t.Errorf("look %d did not see it", i)
			break
		}
	}
	if n, err := proc.KillProcessesOf(owner); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	_ = cmd.Wait()
	if n := proc.CountProcessesOf(owner); n != 0 {
		t.Errorf("%d are left", n)
	}
}
