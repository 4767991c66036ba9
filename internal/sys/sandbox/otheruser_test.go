//go:build linux

package sandbox

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// nobody is a user who owns nothing.
const nobody = 65534

// TestAsAnotherUser runs the suites once more as a user without privileges:
// what root may do hides what the kernel allows to others, and the other way
// round.
func TestAsAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip(testenv.NoMachine + "this user has no privileges already")
	}
	testenv.NeedToolchains(t)
	dir, err := os.MkdirTemp("", "nx-") //nolint:usetesting // its parents must be open to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "bin", "sandbox.test") // its directory is shown in boxes
	for _, d := range []string{dir, filepath.Join(dir, "bin"), filepath.Join(dir, "t"), filepath.Join(dir, "home")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(d, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, os.Args[0], program)
	least := 60
	suites := []string{
		"^TestEscapePaths$", "^TestRun$", "^TestFiles$", "^TestNothingSurvives$", "^TestKernelLimits$", "^TestForkBomb$",
		"^TestPrivileges$", "^TestNetwork$", "^TestEnvironment$", "^TestPrivateTmp$",
	}
	if testenv.RunsNightly() {
		suites, least = append(suites, "^TestEscapeCommands$"), 300 // some hundred commands in each kind of box
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.timeout=40m", "-test.run="+strings.Join(suites, "|"))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "t"), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if os.IsPermission(err) {
		testenv.NeedMachine(t, "another user", err)
	}
	passed, failed := 0, 0
	for line := range strings.Lines(string(out)) {
		switch f := strings.TrimSpace(line); {
		case strings.HasPrefix(f, "--- PASS"):
			passed++
		case strings.HasPrefix(f, "--- FAIL"):
			failed++
			t.Error(f)
		case strings.Contains(line, "_test.go:") && strings.Contains(line, "tried in"):
			t.Log(f)
		}
	}
	t.Logf("%d passed, %d failed", passed, failed)
	if err != nil || passed < least {
		t.Errorf("%v: %s", err, out)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
