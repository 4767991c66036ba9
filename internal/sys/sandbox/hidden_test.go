//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHidden holds that a command reaches nothing of what is hidden, whatever
// name it takes, and all that is beside it; and that the tree is as it was.
func TestHidden(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		tree, outside := t.TempDir(), t.TempDir()
		for _, name := range []string{"config/key.json", "config/plain", "kept/a", "kept/deep/b", "beside"} {
			write(t, filepath.Join(tree, name), "s3cret of "+name+"\n")
		}
		write(t, filepath.Join(outside, "x"), "outside")
		if err := os.Symlink(outside, filepath.Join(tree, "away")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("config/key.json", filepath.Join(tree, "link")); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(tree, "config", "key.json"), filepath.Join(tree, "hard")); err != nil {
			t.Fatal(err)
		}
		hidden := []string{"config/key.json", "kept", "away/x", "link", "gone/x", "hard"}
		for i := range hidden {
			hidden[i] = filepath.Join(tree, hidden[i])
		}
		commands := []Command{{Dir: tree}, {Dir: tree, Readable: []string{tree}}}
		over := filepath.Join(t.TempDir(), "over")
		if err := MakeLayerDirs(over); err != nil {
			t.Fatal(err)
		}
		if b.SupportsWriteOverlay(t.Context(), tree, over) {
			commands = append(commands, Command{Dir: tree, Over: over})
		}
		for _, c := range commands {
			c.Hidden = hidden
			for _, script := range []string{
				"cat config/key.json", "cat link", "cat hard", "cat ./config/../config/key.json", "cat kept/a kept/deep/b", "cp -r config copy && cat copy/key.json", "find . -name key.json -exec cat {} +",
				"chmod 600 config/key.json; cat config/key.json", "mv config/key.json got; cat got", "ln config/key.json got; cat got", "rm -f config/key.json && echo s3cret of", "echo x >config/key.json && echo s3cret of",
				"mv config moved && cat moved/key.json; mv moved config", "umount config/key.json; cat config/key.json", "cat /proc/self/root" + tree + "/config/key.json", "tar cf - config kept", "chmod 700 kept; ls kept/* && echo s3cret of",
			} {
				if r := sh(t, b, c, script); strings.Contains(string(r.Stdout), "s3cret of config/key.json") || strings.Contains(string(r.Stdout), "s3cret of kept") || strings.Contains(string(r.Stdout), "s3cret of\n") {
					t.Errorf("%s: %s", script, r.Stdout)
				}
			}
			if r := sh(t, b, c, "cat config/plain beside && ls -d kept config/key.json"); r.Exit != 0 {
				t.Errorf("beside it: exit %d: %s", r.Exit, r.Stderr)
			}
		}
		for _, name := range []string{"config/key.json", "kept/deep/b", "hard"} {
			if data, err := os.ReadFile(filepath.Join(tree, name)); err != nil || !strings.HasPrefix(string(data), "s3cret of ") {
				t.Errorf("%s holds %q afterwards: %v", name, data, err)
			}
		}
		if info, err := os.Stat(filepath.Join(tree, "config", "key.json")); err != nil || info.Mode().Perm() == 0 {
			t.Errorf("%v, %v", info, err)
		}
	})
}
