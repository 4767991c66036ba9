package gate_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"

	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestVersionOfGo reads the version out of the go command, as that says it, and
// asks what is in front of one.
func TestVersionOfGo(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	exe, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(strings.TrimSpace(string(out)), "go version ")
	env := []string{"PATH=" + filepath.Join(strings.TrimSpace(string(exe)), "bin")}
	asked := 0
	ask := func([]string) ([]byte, bool) { asked++; return []byte("go version of a script\n"), true }
	var v gate.ToolVersionCache
	if got := v.VersionOf(env, []string{"go", "version"}, ask); got != want || asked != 0 {
		t.Errorf("%q, want %q; asked %d times", got, want, asked)
	}
	dir := t.TempDir()
	testenv.WriteProgram(t, filepath.Join(dir, "go"), "#!/bin/sh\n")
	for range 2 {
		if got := v.VersionOf([]string{"PATH=" + dir + ":" + env[0][5:]}, []string{"go", "version"}, ask); got != "of a script" || asked != 1 {
			t.Errorf("%q; asked %d times", got, asked)
		}
	}
}
