package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func openBlobs(tb testing.TB) (*journal.BlobStore, string) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "blobs")
	s, err := journal.OpenBlobStore(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return s, dir
}

// files returns the store's files with their modes, by their paths.
func files(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		rel, _ := filepath.Rel(dir, path)
		all[rel] = info.Mode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPutThenGet(t *testing.T) {
	s, dir := openBlobs(t)
	const hash = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
	for range 2 {
		got, err := s.Put([]byte("hello world"))
		if err != nil || got != hash {
			t.Fatalf("got %s, %v", got, err)
		}
	}
	want := map[string]fs.FileMode{filepath.Join(hash[:2], hash[2:]): 0o600}
	if d := cmp.Diff(want, files(t, dir)); d != "" {
		t.Errorf("the store holds something else (-want +got):\n%s", d)
	}
	again, err := journal.OpenBlobStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := again.Get(hash); err != nil || string(data) != "hello world" {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestEverythingPutIsGot(t *testing.T) {
	s, _ := openBlobs(t)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 4).Draw(t, "blobs")
		hashes, err := s.PutAll(want...)
		if err != nil {
			t.Fatal(err)
		}
		for i, hash := range hashes {
			if got, err := s.Get(hash); err != nil || !bytes.Equal(got, want[i]) {
				t.Fatalf("blob %d: put %q, got %q, %v", i, want[i], got, err)
			}
		}
	})
}

func TestGetRefuses(t *testing.T) {
	s, dir := openBlobs(t)
	hash, err := s.Put([]byte("the whole truth"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, hash[:2], hash[2:])
	damage := func(data string) {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	missing := strings.Repeat("ab", 32)
	for _, c := range []struct {
		name, hash string
		before     func()
		code       nexus.ErrorCode
	}{
		{"missing", missing, func() {}, nexus.CodeNotFound},
		{"changed", hash, func() { damage("the whole trutH") }, nexus.CodeStorage},
		{"cut off", hash, func() { damage("the whole") }, nexus.CodeStorage},
		{"empty", hash, func() { damage("") }, nexus.CodeStorage},
		{"no hash", "", func() {}, nexus.CodeInvalidInput},
		{"a path", "../../../../etc/passwd" + strings.Repeat("/", 42), func() {}, nexus.CodeInvalidInput},
		{"upper case", strings.ToUpper(missing), func() {}, nexus.CodeInvalidInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.before()
			data, err := s.Get(c.hash)
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok || e.Code != c.code || data != nil {
				t.Fatalf("got %q, %v", data, err)
			}
			if c.code == nexus.CodeNotFound && !strings.Contains(e.Message, c.hash) {
				t.Errorf("the message does not name the hash: %s", e.Message)
			}
		})
	}
	damage("the whole")
	if _, err := s.Put([]byte("the whole truth")); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Get(hash); err != nil || string(data) != "the whole truth" {
		t.Errorf("a blob that was cut off is not made whole by putting it again: %q, %v", data, err)
	}
}

func TestManyPutTheSame(t *testing.T) {
	_, dir := openBlobs(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s, err := journal.OpenBlobStore(dir)
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 20 {
				want := fmt.Appendf(nil, "blob %d", n)
				hash, err := s.Put(want)
				if err != nil {
					t.Errorf("putter %d: %v", i, err)
					return
				}
				if got, err := s.Get(hash); err != nil || !bytes.Equal(got, want) {
					t.Errorf("putter %d: got %q, %v", i, got, err)
				}
			}
		})
	}
	all.Wait()
	if got := files(t, dir); len(got) != 20 {
		t.Errorf("the store holds %d files, want 20: %v", len(got), got)
	}
}

func TestFailedPutLeavesNothing(t *testing.T) {
	s, dir := openBlobs(t)
	data := []byte("in the way")
	hash, err := s.Put(data)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, hash[:2], hash[2:])
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil { // rename cannot replace it
		t.Fatal(err)
	}
	_, err = s.Put(data)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeStorage}) {
		t.Fatalf("got %v", err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("the failed put left %v", got)
	}
}

func TestOpenWhereAFileIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "blobs")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.OpenBlobStore(path); !errors.Is(err, &nexus.Error{Code: nexus.CodeStorage}) {
		t.Fatalf("got %v", err)
	}
}

// BenchmarkPut keeps new blobs of 4 KB; bare is a file written and synced in
// place, the least that a durable blob can cost in a file of its own.
func BenchmarkPut(b *testing.B) {
	data := make([]byte, 4096)
	fresh := func() []byte {
		for i := range 32 {
			data[i] = byte(rand.Uint32())
		}
		return bytes.Clone(data)
	}
	b.Run("new", func(b *testing.B) {
		s, _ := openBlobs(b)
		for b.Loop() {
			if _, err := s.Put(fresh()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("four at once", func(b *testing.B) {
		s, _ := openBlobs(b)
		for b.Loop() {
			if _, err := s.PutAll(fresh(), fresh(), fresh(), fresh()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		s, _ := openBlobs(b)
		for b.Loop() {
			if _, err := s.Put(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		dir := b.TempDir()
		n := 0
		for b.Loop() {
			n++
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(n)))
			if err != nil {
				b.Fatal(err)
			}
			f.Write(fresh())
			f.Sync()
			f.Close()
		}
	})
}

// shelf is a shelf in memory.
type shelf map[string][]byte

func (s shelf) StoreSmallBlob(hash string, data []byte)   { s[hash] = bytes.Clone(data) }
func (s shelf) ReadSmallBlob(hash string) ([]byte, error) { return s[hash], nil }

// TestShelf: small blobs go on the shelf, large ones and the empty one into
// files; both are found, and what is on the shelf is checked like a file.
func TestShelf(t *testing.T) {
	dir := t.TempDir()
	files, err := journal.OpenBlobStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := files.Put([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := journal.OpenBlobStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	on := shelf{}
	store = store.WithSmallBlobs(on)
	all := [][]byte{nil, []byte("small"), bytes.Repeat([]byte("x"), 32<<10), bytes.Repeat([]byte("x"), 32<<10+1)}
	hashes, err := store.PutAll(all...)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hashes {
		if got, err := store.Get(h); !bytes.Equal(got, all[i]) || err != nil {
			t.Errorf("blob %d: %d bytes, %v", i, len(got), err)
		}
	}
	if len(on) != 2 {
		t.Errorf("%d blobs are on the shelf", len(on))
	}
	if got, err := store.Get(before); string(got) != "before" || err != nil {
		t.Errorf("a file of before: %q, %v", got, err)
	}
	on[hashes[1]] = []byte("other")
	if _, err := store.Get(hashes[1]); !errors.Is(err, &nexus.Error{Code: nexus.CodeStorage}) {
		t.Errorf("damaged: %v", err)
	}
}
