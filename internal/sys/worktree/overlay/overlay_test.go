//go:build linux

package overlay

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestMount(t *testing.T) {
	testenv.NeedMachine(t, "an overlay", Probe(filepath.Join(t.TempDir(), "probe")))
	dir := filepath.Join(t.TempDir(), "with blank")
	l := layers(dir)
	for _, d := range []string{l.Lower, l.Upper, l.Work, l.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // a volatile mount can be had again
		if err := Mount(l); err != nil {
			t.Fatal(err)
		}
		open, err := os.Create(filepath.Join(l.Dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		if on, err := Mounted(l.Dir); !on || err != nil {
			t.Error(on, err)
		}
		if got, err := Below(filepath.Dir(dir)); err != nil || cmp.Diff([]string{l.Dir}, got) != "" {
			t.Error(got, err)
		}
		if err := Unmount(l.Dir); err != nil { // though f is open
			t.Error(err)
		}
		open.Close()
		if on, err := Mounted(l.Dir); on || err != nil {
			t.Error(on, err)
		}
	}
	if Unmount(l.Dir) == nil {
		t.Error("unmounted what is not mounted")
	}
	l.Upper = filepath.Join(dir, "a,b")
	if err := Mount(l); !errors.Is(err, ErrNone) {
		t.Errorf("mounted %q: %v", l.Upper, err)
	}
}

func TestParseMounts(t *testing.T) {
	const info = `36 35 98:0 / /s/trees/r/a\040b/tree rw,noatime shared:1 master:2 - overlay nexus rw
37 35 98:0 / /s rw - overlay nexus rw
38 35 98:0 / /state rw - overlay nexus rw
39 35 98:0 / /s/x rw - ext4 /dev/vda rw
40 bad - overlay
41 35 98:0 / /s/y\9 rw - overlay nexus rw
`
	if d := cmp.Diff([]string{"/s/trees/r/a b/tree", "/s", `/s/y\9`}, parseMounts(info, "/s")); d != "" {
		t.Error(d)
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add(`36 35 98:0 / /s/\040 rw - overlay nexus rw`)
	f.Fuzz(func(_ *testing.T, info string) { parseMounts(info, "/s") })
}
