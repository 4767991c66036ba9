package userpackagecache_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/userpackagecache"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, s := range stack.PackageDownloadCaches() {
		if s.Name == "" || names[s.Name] || len(s.Tools) == 0 || !filepath.IsLocal(s.Home) || s.Var == "" || s.Value != "" && !strings.Contains(s.Value, "@") {
			t.Errorf("%+v", s)
		}
		names[s.Name] = true
	}
}

// TestShow lets one command see what was fetched, and write there, and nobody
// else see that.
func TestShow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(filepath.Join(dir, "probe")))
	home := filepath.Join(dir, "home")
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, ".cargo/registry/index"), "index")
	write(filepath.Join(home, ".cargo/git/db"), "db")
	write(filepath.Join(home, ".cargo/credentials.toml"), "secret")
	write(filepath.Join(home, ".m2/repository/a.jar"), "jar")
	write(filepath.Join(dir, "pip/x"), "x")
	u := userpackagecache.CacheOwner{Home: home, Env: func(n string) string { return map[string]string{"PIP_CACHE_DIR": filepath.Join(dir, "pip")}[n] }}
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	t.Cleanup(func() { _, _ = userpackagecache.UnmountStores(one), userpackagecache.UnmountStores(two) })

	if s, err := u.MountStores(one, []string{"go", "node"}); err != nil || len(s.Env) > 0 {
		t.Error("showed what nothing uses", s, err)
	}
	words := []string{"/usr/bin/cargo", "test", "mvn", "pip"}
	s, err := u.MountStores(one, words)
	want := []string{"PIP_CACHE_DIR=" + one + "/at/pip", "CARGO_HOME=" + one + "/at/CARGO_HOME", "MAVEN_OPTS=-Dmaven.repo.local=" + one + "/at/maven"}
	if d := cmp.Diff(want, s.Env); err != nil || d != "" || len(s.Writable) != 3 {
		t.Fatal(err, d, s.Writable)
	}
	if _, err := os.Stat(filepath.Join(one, "at/CARGO_HOME/credentials.toml")); err == nil {
		t.Error("shows what holds keys")
	}
	write(filepath.Join(one, "at/CARGO_HOME/registry/index"), "poison")
	if _, err := u.MountStores(one, words); err != nil {
		t.Fatal(err)
	}
	if _, err := u.MountStores(two, words); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(one, "at/CARGO_HOME/registry/index"): "poison", filepath.Join(two, "at/CARGO_HOME/registry/index"): "index",
		filepath.Join(home, ".cargo/registry/index"): "index", filepath.Join(two, "at/CARGO_HOME/git/db"): "db", filepath.Join(two, "at/maven/a.jar"): "jar",
	} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, want %q: %v", name, got, want, err)
		}
	}
	if err := userpackagecache.UnmountStores(one); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(one); err == nil {
		t.Error("stays")
	}
	if got, _ := os.ReadFile(filepath.Join(home, ".m2/repository/a.jar")); string(got) != "jar" {
		t.Error("the user's own is gone")
	}
}

func BenchmarkShow(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	testenv.NeedMachine(b, "an overlay", errors.Join(os.MkdirAll(filepath.Join(dir, "home/.cargo/registry"), 0o755), overlay.ProbeOverlay(filepath.Join(dir, "probe"))))
	u := userpackagecache.CacheOwner{Home: filepath.Join(dir, "home")}
	for b.Loop() {
		if _, err := u.MountStores(filepath.Join(dir, "x"), []string{"cargo"}); err != nil {
			b.Fatal(err)
		}
		if err := userpackagecache.UnmountStores(filepath.Join(dir, "x")); err != nil {
			b.Fatal(err)
		}
	}
}
