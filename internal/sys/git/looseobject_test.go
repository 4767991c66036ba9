package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// Objects of every size around where the way of storing changes, written from
// many goroutines, are what git itself would have made of the same content.
func TestLooseObjectsAreGits(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := repo(t, "--object-format="+format)
			o, err := r.openObjects(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = o.Close() }()
			var all sync.WaitGroup
			sizes := []int{0, 1, maxUncompressed - 12, maxUncompressed - 10, maxUncompressed - 9, maxUncompressed - 8, maxUncompressed, maxUncompressed + 1, 70_000, 2 << 20}
			for i, n := range sizes {
				all.Go(func() {
					data := []byte(strings.Repeat(fmt.Sprintf("%d\x00line\n", i), n/7+1)[:n])
					id, err := o.WriteObject("blob", data)
					if err != nil {
						t.Errorf("%d bytes: %v", n, err)
						return
					}
					file := filepath.Join(t.TempDir(), "f")
					if err := os.WriteFile(file, data, 0o600); err != nil {
						t.Error(err)
					}
					if want := gittest.RunGit(t, r.Work, "hash-object", file); id != want {
						t.Errorf("%d bytes are named %s, git says %s", n, id, want)
					}
					if _, got, err := o.ReadObject(t.Context(), id); err != nil || !bytes.Equal(got, data) {
						t.Errorf("%d bytes were read back as %d: %v", n, len(got), err)
					}
				})
			}
			all.Wait()
			if out := gittest.RunGit(t, r.Work, "fsck", "--strict", "--full"); strings.Contains(out, "error") || strings.Contains(out, "garbage") {
				t.Error(out)
			}
			if left, _ := filepath.Glob(filepath.Join(r.Dir, "objects", "*", "tmp_obj_*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			// Git can pack what we wrote, and clones get it.
			gittest.RunGit(t, r.Work, "gc", "-q", "--prune=never")
		})
	}
}

// A compressor is not made again for each object.
func TestWritingAllocatesLittle(t *testing.T) {
	r := repo(t)
	o, err := r.openObjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("x"), 10_000)
	write := func(n int) {
		copy(data, fmt.Sprintf("%d ", n))
		if _, err := o.WriteObject("blob", data); err != nil {
			t.Fatal(err)
		}
	}
	write(0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 100
	for n := range times {
		write(n + 1)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 600_000 { // 1.2 MB without; the race detector drops every fourth
		t.Errorf("an object takes %d bytes of allocations", each)
	}
}

// openObjects returns access to the objects of r.
func (r Repo) openObjects(ctx context.Context) (*ObjectStore, error) {
	format, err := r.RunLine(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return nil, err
	}
	o := &ObjectStore{repo: Repo{Dir: r.Dir}, size: 20}
	if format == "sha256" {
		o.size = 32
	}
	return o, nil
}
