package git

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestLFSStore finds content by its pointer, and takes nothing for it that is another, that is
// not whole, or to which a link leads out of the store.
func TestLFSStore(t *testing.T) {
	dir := t.TempDir()
	s := LFSStore{User: filepath.Join(dir, "user"), Own: filepath.Join(dir, "own")}
	if !s.IsEmpty() {
		t.Error("what is not there is not empty")
	}
	p := want[LFSPointer](t)(s.StoreOwn(strings.NewReader("content")))
	text, hash := pointerTo("content")
	if p.String() != text || p.Hash != hash || !s.Has(p) || s.IsEmpty() {
		t.Errorf("kept %v", p)
	}
	if err := s.CopyToUser(p); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(s.User, hash[:2], hash[2:4], hash)); string(data) != "content" || err != nil {
		t.Errorf("the user has %q, %v", data, err)
	}
	if err := s.CopyToUser(LFSPointer{Hash: strings.Repeat("a", 64), Size: 1}); err != nil {
		t.Errorf("what nobody has: %v", err)
	}
	var out bytes.Buffer
	if err := s.Copy(&out, p); err != nil || out.String() != "content" {
		t.Errorf("copied %q, %v", &out, err)
	}
	if err := s.Copy(&out, LFSPointer{hash, 8}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another size: %v", err)
	}
	put := func(hash, text string) {
		t.Helper()
		gittest.WriteFiles(t, s.User, map[string]string{filepath.Join(hash[:2], hash[2:4], hash): text})
	}
	bad := strings.Repeat("b", 64)
	put(bad, "other")
	if err := s.Copy(&out, LFSPointer{bad, 5}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("corrupt: %v", err)
	}
	link := strings.Repeat("c", 64)
	put(link, "")
	gittest.WriteFiles(t, dir, map[string]string{"secret": "secret"})
	at := filepath.Join(s.User, link[:2], link[2:4], link)
	for _, to := range []string{filepath.Join(dir, "secret"), "../../../secret", "../../" + filepath.Join(bad[:2], bad[2:4], bad)} {
		os.Remove(at)
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		if s.Has(LFSPointer{link, 6}) || s.Has(LFSPointer{link, 5}) {
			t.Errorf("a link to %s is content", to)
		}
	}
}

// TestLFSStorePlace follows the user's configuration, from a linked work tree as well.
func TestLFSStorePlace(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	gittest.RunGit(t, dir, "init", "-q", "-b", "main")
	gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	linked := filepath.Join(t.TempDir(), "linked")
	gittest.RunGit(t, dir, "worktree", "add", "-q", linked)
	common := want[Repo](t)(FindRepo(t.Context(), dir)).Dir
	check := func(user string) {
		t.Helper()
		for _, from := range []string{dir, linked} {
			r := want[Repo](t)(FindRepo(t.Context(), from))
			if s, err := r.LFSStore(t.Context()); s.User != user || err != nil {
				t.Errorf("from %s it is %s, %v; want %s", from, s.User, err, user)
			}
		}
	}
	check(filepath.Join(common, "lfs", "objects"))
	gittest.WriteFiles(t, home, map[string]string{".gitconfig": "[lfs]\n\tstorage = ~/media\n"})
	check(filepath.Join(home, "media", "objects"))
	gittest.RunGit(t, dir, "config", "lfs.storage", "here")
	check(filepath.Join(common, "here", "objects"))
}
