package gocache_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
)

// TestMain serves as the cache program of the builds that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "gocache" {
		c := gocache.GoBuildCache{Now: time.Now}
		for _, arg := range os.Args[2:] {
			if v, ok := strings.CutPrefix(arg, "--own="); ok {
				c.Own = v
			}
			if v, ok := strings.CutPrefix(arg, "--shared="); ok {
				c.Shared = append(c.Shared, v)
			}
		}
		if err := c.Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// build runs go build in dir and returns the packages that it compiled.
func build(t *testing.T, dir string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-v", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return string(out)
}

// TestBuildsWithoutRoom builds with a private directory that cannot be
// written, as on a full disk, and nothing of it stays behind.
func TestBuildsWithoutRoom(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": "package m\n\nimport \"example.com/m/n\"\n\nvar M = n.N\n", "n/n.go": "package n\n\nvar N = 1\n", "full": "",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	build(t, dir, "GOCACHEPROG="+gocache.CacheProgCommand(exe, filepath.Join(dir, "full", "own")), "GOCACHE="+t.TempDir(), "TMPDIR="+tmp)
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBuildsFromTheSharedCacheAndWritesItsOwn(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "n/n.go": "package n\n\nvar N = 1\n",
		"m.go": "package m\n\nimport \"example.com/m/n\"\n\nvar M = n.N\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shared, own := filepath.Join(t.TempDir(), "shared"), filepath.Join(t.TempDir(), "own")
	if err := gocache.CreateBuildCacheDir(shared); err != nil {
		t.Fatal(err)
	}
	if out := build(t, dir, "GOCACHE="+shared); !strings.Contains(out, "example.com/m/n") {
		t.Fatalf("a cold build compiled only %q", out)
	}
	before := listing(t, shared)
	prog := "GOCACHEPROG=" + gocache.CacheProgCommand(exe, own, shared)
	if out := build(t, dir, prog); out != "" {
		t.Errorf("the shared cache was not used: compiled %q", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("package m\n\nimport \"example.com/m/n\"\n\nvar M = n.N + 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := build(t, dir, prog); !strings.Contains(out, "example.com/m") || strings.Contains(out, "example.com/m/n") {
		t.Errorf("a changed file was not compiled: %q", out)
	}
	if out := build(t, dir, prog); out != "" {
		t.Errorf("the own cache was not used: compiled %q", out)
	}
	if after := listing(t, shared); after != before {
		t.Error("the shared cache was written to")
	}
	if listing(t, own) == "" {
		t.Error("nothing was written to the own cache")
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, "-a") {
			b.WriteString(path + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRefusesWhatItCannotServe(t *testing.T) {
	c := gocache.GoBuildCache{Own: t.TempDir(), Now: time.Now}
	in := `{"ID":1,"Command":"put","ActionID":"YQ==","OutputID":"Yg==","BodySize":5}` + "\n" + `"YWJj"` + "\n" +
		`{"ID":2,"Command":"frob"}` + "\n" + `{"ID":3,"Command":"get","ActionID":"YQ=="}` + "\n" + `{"ID":4,"Command":"close"}` + "\n"
	var out bytes.Buffer
	if err := c.Serve(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	var got []struct {
		ID   int
		Err  string
		Miss bool
	}
	d := json.NewDecoder(&out)
	for d.More() {
		got = append(got, struct {
			ID   int
			Err  string
			Miss bool
		}{})
		if err := d.Decode(&got[len(got)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 5 || got[1].Err == "" || got[2].Err == "" || !got[3].Miss || got[4].Err != "" {
		t.Errorf("answered %+v", got)
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"ID":1,"Command":"get","ActionID":"YQ=="}`))
	f.Add([]byte(`{"ID":1,"Command":"put","ActionID":"Lw==","OutputID":"Yg==","BodySize":3}` + "\n" + `"YWJj"`))
	dir := f.TempDir()
	f.Fuzz(func(_ *testing.T, in []byte) {
		_ = gocache.GoBuildCache{Own: dir, Now: time.Now}.Serve(bytes.NewReader(in), io.Discard)
	})
}
