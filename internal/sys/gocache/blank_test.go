package gocache_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
)

// laid returns a build cache as the go command lays it out where another
// program keeps what it builds; see TestBlanksOfGo.
func laid(t *testing.T) string {
	t.Helper()
	cache := t.TempDir()
	for i := range 256 {
		if err := os.Mkdir(filepath.Join(cache, fmt.Sprintf("%02x", i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(cache, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return cache
}

// TestBlanksOfGo lets the go command lay out a build cache, and use it again
// when it has been kept.
func TestBlanksOfGo(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "a.go": "package m\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, cache := gocache.Blanks{Dir: filepath.Join(tmp, "blank")}, filepath.Join(tmp, "cache")
	var made os.FileInfo
	for range 2 {
		build(t, dir, "GOFLAGS=", "GOCACHE="+cache, "GOCACHEPROG="+gocache.Program(os.Args[0], filepath.Join(tmp, "own")))
		if err := errors.Join(b.Give(cache), b.Take(cache)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(cache, "00"))
		if err != nil || made != nil && !os.SameFile(made, info) {
			t.Fatalf("it is another one: %v", err)
		}
		made = info
	}
}

// TestBlanks gives away a build cache that the go command laid out, once, and
// none that its user did anything with.
func TestBlanks(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"":                      nil, // it is as it was
		"an entry":              func(dir string) error { return os.WriteFile(filepath.Join(dir, "7f", "x-a"), nil, 0o600) },
		"a file more":           func(dir string) error { return os.WriteFile(filepath.Join(dir, "trim.txt"), nil, 0o600) },
		"a directory less":      func(dir string) error { return os.Remove(filepath.Join(dir, "00")) },
		"another name":          func(dir string) error { return os.Rename(filepath.Join(dir, "00"), filepath.Join(dir, "x0")) },
		"one nobody may write":  func(dir string) error { return os.Chmod(filepath.Join(dir, "ff"), 0o500) },
		"a link in its place":   func(dir string) error { return swap(dir, "ab", "../elsewhere") },
		"a link to a text":      func(dir string) error { return swap(dir, "README", "/etc/hostname") },
		"a link around in it":   func(dir string) error { return swap(dir, "cd", "ce") },
		"a directory as a text": func(dir string) error { return swap(dir, "README", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, late := range []bool{false, true} { // when it is kept already, by who had it
				cache, to := laid(t), filepath.Join(t.TempDir(), "to")
				b := gocache.Blanks{Dir: filepath.Join(t.TempDir(), "kept", "blank")}
				if err := b.Take(to); err != nil {
					t.Fatal(err)
				}
				if spoil != nil && !late {
					if err := spoil(cache); err != nil {
						t.Fatal(err)
					}
				}
				if err := b.Give(cache); err != nil {
					t.Fatal(err)
				}
				has, _ := os.ReadDir(b.Dir)
				if (len(has) == 1) != (spoil == nil || late) {
					t.Fatalf("%v are kept", has)
				}
				if spoil != nil && late {
					if err := spoil(filepath.Join(b.Dir, has[0].Name())); err != nil {
						t.Fatal(err)
					}
				}
				if err := b.Take(to); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Lstat(to); (err == nil) != (spoil == nil) {
					t.Errorf("taken: %v", err)
				}
				if left, err := os.ReadDir(b.Dir); err == nil && len(left) > 0 {
					t.Errorf("%v are kept", left)
				}
			}
		})
	}
}

// swap puts a link in the place of an entry, or a directory.
func swap(dir, name, to string) error {
	at := filepath.Join(dir, name)
	if err := os.Remove(at); err != nil {
		return err
	}
	if to == "" {
		return os.Mkdir(at, 0o700)
	}
	return os.Symlink(to, at)
}

// TestBlanksAtOnce lets many take one blank: one gets it.
func TestBlanksAtOnce(t *testing.T) {
	b, at := gocache.Blanks{Dir: filepath.Join(t.TempDir(), "blank")}, t.TempDir()
	if err := b.Give(laid(t)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := b.Take(filepath.Join(at, string(rune('a'+i)))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := os.ReadDir(at); err != nil || len(got) != 1 {
		t.Errorf("%v got one, %v", got, err)
	}
}
