//go:build linux

package sandbox_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// openBox returns a tree, a layer over it and a box that can use it.
func openBox(t *testing.T, files map[string]string) (string, sandbox.OverlayLayer, *sandbox.Box) {
	t.Helper()
	home := t.TempDir()
	tree, over := filepath.Join(home, "tree"), filepath.Join(home, "over")
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(tree, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	if err := sandbox.MakeLayerDirs(over); err != nil {
		t.Fatal(err)
	}
	b, err := sandbox.FindSandbox(t.Context(), sandbox.ModeNative)
	testenv.NeedMachine(t, "a sandbox", err)
	if !b.SupportsWriteOverlay(t.Context(), tree, over) {
		t.Skip(testenv.NoMachine + "no overlay can be mounted in a sandbox here")
	}
	return tree, sandbox.OverlayLayer{Dir: over, Tree: root}, b
}

func list(t *testing.T, tree string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(tree, p)
		if to, err := os.Readlink(p); err == nil {
			all[name] = "-> " + to
			return nil
		}
		data, err := os.ReadFile(p)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isTest(name string) bool {
	return strings.HasSuffix(name, "_test") || strings.HasPrefix(name, "tests/")
}

// While a command runs, and after it, the tree is as it was: only what may be
// is taken over.
func TestTake(t *testing.T) {
	files := map[string]string{
		"code": "code", "dir/code": "code", "a_test": "old", "b_test": "old", "same_test": "same",
		"tests/data": "data", "tests/gone": "gone", "tests/sub/x": "x", "moved/code": "code", "moved/c_test": "test", ".git": "gitdir: x\n",
	}
	tree, l, b := openBox(t, files)
	run := func(script string) {
		t.Helper()
		r, err := b.Run(t.Context(), sandbox.Command{Args: []string{"/bin/sh", "-c", script}, Dir: tree, Over: l.Dir, Env: sandbox.AgentCommandEnv(), Timeout: time.Minute})
		if err != nil || r.Exit != 0 {
			t.Fatalf("%s: %v, exit %d: %s", script, err, r.Exit, r.Stderr)
		}
	}
	run(`set -e
		echo broken >code; test "$(cat code)" = broken; echo x >made; rm dir/code; rmdir dir
		echo new >a_test; rm b_test; touch same_test; echo made >new_test; mkdir -p deep/er; echo deep >deep/er/d_test
		rm tests/gone; rm -rf tests/sub; mkdir tests/sub; echo y >tests/sub/y; ln -s /etc/passwd tests/link; mkfifo tests/pipe; chmod +x tests/data
		mv moved there; ln a_test hard
		! echo x >.git; ! rm -f .git; ! mv .git git`)
	if diff := cmp.Diff(files, list(t, tree)); diff != "" {
		t.Fatalf("the tree was written to:\n%s", diff)
	}
	left, err := l.ApplyChanges(time.Time{}, isTest)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"code": "code", "dir/code": "code", "a_test": "new\n", "same_test": "same", "new_test": "made\n", "deep/er/d_test": "deep\n", "there/c_test": "test",
		"tests/data": "data", "tests/sub/y": "y\n", "tests/link": "-> /etc/passwd", "moved/code": "code", ".git": "gitdir: x\n",
	}
	if diff := cmp.Diff(want, list(t, tree)); diff != "" {
		t.Errorf("taken over (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"code", "dir/code", "hard", "made", "moved/code", "tests/pipe", "there/code"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(tree, "tests/data")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode of tests/data: %v, %v", info.Mode(), err)
	}

	if err := l.RemoveExcept([]string{"made"}); err != nil {
		t.Fatal(err)
	}
	run(`test -e made && test "$(cat code)" = code && test -e dir/code && test "$(cat a_test)" = new && ! test -e hard`)
	if left, err := l.ApplyChanges(time.Time{}, isTest); err != nil || !slices.Equal(left, []string{"made"}) {
		t.Errorf("left %q, %v", left, err)
	}
	if left, err := l.ApplyChanges(time.Now().Add(time.Hour), isTest); err != nil || left != nil {
		t.Errorf("of later changes: %q, %v", left, err)
	}
}

// A link that a command made leads nobody out of the tree.
func TestTakeFollowsNoLink(t *testing.T) {
	out := t.TempDir()
	tree, l, b := openBox(t, map[string]string{"a_test": "a", "tests/x": "x"})
	if err := os.Symlink(out, filepath.Join(tree, "away")); err != nil {
		t.Fatal(err)
	}
	r, err := b.Run(t.Context(), sandbox.Command{
		Args: []string{"/bin/sh", "-c", `rm away; mkdir away; echo x >away/b_test; rm -r tests; ln -s "$0" tests; rm a_test; ln -s "$0/made" a_test`, out},
		Dir:  tree, Over: l.Dir, Env: sandbox.AgentCommandEnv(), Timeout: time.Minute,
	})
	if err != nil || r.Exit != 0 {
		t.Fatalf("%v, exit %d: %s", err, r.Exit, r.Stderr)
	}
	if _, err := l.ApplyChanges(time.Time{}, isTest); err == nil {
		t.Error("a file was taken over through a link that leads out")
	}
	if made, _ := filepath.Glob(filepath.Join(out, "*")); made != nil {
		t.Errorf("made outside: %q", made)
	}
}

// Only namespaces of our own can do it, and only where it was tried.
func TestLayers(t *testing.T) {
	tree, _, b := openBox(t, map[string]string{"x": "x"})
	if b.SupportsWriteOverlay(t.Context(), tree, filepath.Join(tree, "none")) {
		t.Error("a layer that is not there")
	}
	for _, m := range []sandbox.ConfinementMode{sandbox.ModeBwrap, sandbox.ModeLandlock, sandbox.ModeOff} {
		if b, err := sandbox.FindSandbox(t.Context(), m); err == nil && b.SupportsWriteOverlay(t.Context(), tree, t.TempDir()) {
			t.Errorf("%s has layers", m)
		}
	}
}
