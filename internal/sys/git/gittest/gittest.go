// Package gittest makes repositories for tests with plain git and an identity of its own. The
// machine's git configuration is ignored.
package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// RunGit runs git in dir and returns its output without surrounding space. It ends the test if git
// fails.
func RunGit(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.org", "GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// WriteFiles writes files below dir, by slash-separated paths, and creates missing directories.
func WriteFiles(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // as users have them
			tb.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil { //nolint:gosec // as users have them
			tb.Fatal(err)
		}
	}
}

// BrokenMessage is the output of a git that fails because of [InstallFailingGit].
const BrokenMessage = "git-is-broken-here"

// InstallFailingGit puts a wrapper before the real git that fails at one call: the n-th, from 1, since fail
// was called, or none for 0. The function calls returns the number of calls since then, and failed
// the arguments of the failed call, or "".
func InstallFailingGit(tb testing.TB) (fail func(n int), calls func() int, failed func() string) {
	tb.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		tb.Fatal(err)
	}
	bin := tb.TempDir()
	log, asked, script := filepath.Join(bin, "log"), filepath.Join(bin, "asked"), filepath.Join(bin, "git")
	fail = func(n int) {
		tb.Helper()
		text := fmt.Sprintf("#!/bin/sh\necho >>'%s'\n", log)
		if n > 0 { // only shell builtins: there are many calls
			text += fmt.Sprintf("n=0; while read -r _; do n=$((n+1)); done <'%s'\n", log)
			text += fmt.Sprintf("if [ $n = %d ]; then echo \"$*\" >'%s'; echo %s >&2; exit 128; fi\n", n, asked, BrokenMessage)
		}
		text += fmt.Sprintf("exec '%s' \"$@\"\n", git)
		WriteFiles(tb, bin, map[string]string{"log": "", "asked": ""})
		testenv.WriteProgram(tb, script, text)
	}
	fail(0)
	tb.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	read := func(file string) []byte {
		tb.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		return text
	}
	calls = func() int { tb.Helper(); return bytes.Count(read(log), []byte("\n")) }
	failed = func() string { tb.Helper(); return string(read(asked)) }
	return fail, calls, failed
}
