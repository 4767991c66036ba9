package gocache_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
)

// TestLay lays out a build cache where there is none, and leaves alone what the
// go command made. TestBuildsFromTheSharedCacheAndWritesItsOwn builds with one.
func TestLay(t *testing.T) {
	for name, c := range map[string]struct {
		before func(cache string) error
		want   string // the entries 01 and ff: that of 00, or a directory of their own
	}{
		"none yet":          {func(string) error { return nil }, "00, 00"},
		"no entry yet":      {func(cache string) error { return os.MkdirAll(cache, 0o700) }, "00, 00"},
		"laid out before":   {gocache.CreateBuildCacheDir, "00, 00"},
		"a directory":       {func(cache string) error { return os.MkdirAll(filepath.Join(cache, "01"), 0o700) }, "own, none"},
		"a directory later": {func(cache string) error { return os.MkdirAll(filepath.Join(cache, "ff"), 0o700) }, "00, own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := filepath.Join(t.TempDir(), "kept", "cache")
			if err := errors.Join(c.before(cache), gocache.CreateBuildCacheDir(cache)); err != nil {
				t.Fatal(err)
			}
			first, err := os.Stat(filepath.Join(cache, "00"))
			if err != nil {
				t.Fatal(err)
			}
			is := func(name string) string {
				switch entry, err := os.Stat(filepath.Join(cache, name)); {
				case err != nil:
					return "none"
				case os.SameFile(entry, first):
					return "00"
				}
				return "own"
			}
			if got := is("01") + ", " + is("ff"); got != c.want {
				t.Errorf("it has %s, not %s", got, c.want)
			}
		})
	}
}

// TestLayNowhere cannot make a directory below a file.
func TestLayNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := gocache.CreateBuildCacheDir(filepath.Join(file, "cache")); err == nil {
		t.Error("it is laid out")
	}
}
