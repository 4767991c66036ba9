package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

func tree(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEntrusted asks for trust in everything that a repository wants to run,
// with the scripts behind it, and in what it wants to give to agents.
func TestEntrusted(t *testing.T) {
	dir := tree(t, map[string]string{
		"nexus.toml":    "[environment]\ninstall = \"./ci/install.sh --all && make deps\"\ninit = \"sh setup.sh\"\nlink = [\"models/\"]\n",
		"setup.sh":      "echo setup\n",
		"ci/install.sh": "echo install\n",
		"Makefile":      "deps:\n",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "make")); err != nil {
		t.Fatal(err)
	}
	items, err := environmentTrustItems(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, i := range items {
		got[i.Name] = i.Text
	}
	want := map[string]string{
		"nexus.toml environment.install": "./ci/install.sh --all && make deps\n", "nexus.toml environment.init": "sh setup.sh\n",
		"nexus.toml environment.link": "models\n", "setup.sh": "echo setup\n", "ci/install.sh": "echo install\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if items, err := environmentTrustItems(tree(t, map[string]string{"nexus.toml": "[environment]\ninstall = false\n"})); err != nil || len(items) > 0 {
		t.Error(items, err)
	}
	if _, err := environmentTrustItems(tree(t, map[string]string{"nexus.toml": "[environment]\nenv_files = [\".env\"]\n"})); err == nil {
		t.Error("a project's file may name files of keys")
	}
	for _, bad := range []string{"../x", "/etc", ".git/config", "a\\u0007"} {
		if _, err := environmentTrustItems(tree(t, map[string]string{"nexus.toml": "[environment]\nlink = [\"" + bad + "\"]\n"})); err == nil {
			t.Error("took", bad)
		}
	}
}

func TestVariables(t *testing.T) {
	dir := tree(t, map[string]string{".env.test": "# c\nexport A='x y' \nB=\"q\"\nC = plain # said\n\nD=\n"})
	var learnt []string
	vars, err := environmentVariables(provisionerOptions{
		Checkout: dir, Env: func(n string) string { return map[string]string{"TOKEN": "t"}[n] }, Learn: func(s string) { learnt = append(learnt, s) },
		Config: config.Config{Worktree: config.WorktreeEnvironmentSettings{EnvFiles: []string{".env.test", ".env.missing"}, Variables: []string{"TOKEN", "UNSET"}}},
	})
	if d := cmp.Diff([]string{"TOKEN=t", "A=x y", "B=q", "C=plain", "D="}, vars); d != "" || err != nil {
		t.Error(d, err)
	}
	if d := cmp.Diff([]string{"t", "x y", "q", "plain", ""}, learnt); d != "" {
		t.Error(d)
	}
	if _, err := parseAssignments("BAD NAME=secret-value"); err == nil || strings.Contains(err.Error(), "secret-value") {
		t.Error(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if vars, err := environmentVariables(provisionerOptions{Checkout: dir, Config: config.Config{Worktree: config.WorktreeEnvironmentSettings{EnvFiles: []string{"out"}}}}); err == nil {
		t.Error("followed a link out:", vars)
	}
}

func FuzzAssignments(f *testing.F) {
	f.Add("A=b\nexport C='d'\n#\nE=\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		vars, err := parseAssignments(text)
		for _, v := range vars {
			name, value, ok := strings.Cut(v, "=")
			if err == nil && (!ok || name == "" || strings.ContainsAny(name, " \x00\n=") || strings.ContainsAny(value, "\x00\n")) {
				t.Errorf("%q of %q", v, text)
			}
		}
	})
}

// TestIsAddress holds which variables of an agent are no secret.
func TestIsAddress(t *testing.T) {
	for value, want := range map[string]bool{
		"http://provider.example:8080": true, "https://gateway.example/v1/": true, "a-key-of-the-provider-0123": false,
		"https://ann:secret@gateway.example": false, "https://gateway.example/?key=0123456789abcdef": false,
		"https://gateway.example/0123456789abcdef0123/v1": false, "": false,
	} {
		if got := isAddress(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
