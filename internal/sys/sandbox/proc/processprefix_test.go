package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

const kind = "nexus-thing-"

func TestMain(m *testing.M) {
	if os.Getenv("TEST_MAKE") != "" {
		dir, err := proc.MakeTempDir(kind)
		if err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString(dir)
		return
	}
	os.Exit(m.Run())
}

// What a dead process left is removed, and nothing else is.
func TestSweep(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_MAKE=1")
	dead, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	mine, err := proc.MakeTempDir(kind)
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := proc.ProcessPrefix(kind)
	if err != nil {
		t.Fatal(err)
	}
	space, _, _ := strings.Cut(strings.TrimPrefix(prefix, kind), "-")
	stay := []string{mine, kind + "123", kind + "1-2-3-x", kind + space + "-x-1-y", kind + space + "-1", "other-" + space + "-999999-1-x"}
	for _, name := range stay[1:] {
		if err := os.Mkdir(filepath.Join(tmp, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(tmp, kind+space+"-999999-1-file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reused := filepath.Join(tmp, kind+space+"-1-1-reused") // the number of a living process that began at another time
	if err := os.Mkdir(reused, 0o700); err != nil {
		t.Fatal(err)
	}
	proc.SweepTemp(kind)
	for _, gone := range []string{string(dead), reused} {
		if _, err := os.Lstat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	for _, name := range append(stay, file) {
		if _, err := os.Lstat(filepath.Join(tmp, filepath.Base(name))); err != nil {
			t.Error(err)
		}
	}
}
