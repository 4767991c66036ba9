//go:build linux

package overlay

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestMount(t *testing.T) {
	testenv.NeedMachine(t, "an overlay", ProbeOverlay(filepath.Join(t.TempDir(), "probe")))
	dir := filepath.Join(t.TempDir(), "with blank")
	l := probeLayers(dir)
	for _, d := range []string{l.Lower, l.Upper, l.Work, l.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // a volatile mount can be had again
		if err := MountOverlay(l); err != nil {
			t.Fatal(err)
		}
		open, err := os.Create(filepath.Join(l.Dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		if on, err := IsMounted(l.Dir); !on || err != nil {
			t.Error(on, err)
		}
		if got, err := MountsBelow(filepath.Dir(dir)); err != nil || cmp.Diff([]string{l.Dir}, got) != "" {
			t.Error(got, err)
		}
		if err := Unmount(l.Dir); err != nil { // though f is open
			t.Error(err)
		}
		open.Close()
		if on, err := IsMounted(l.Dir); on || err != nil {
			t.Error(on, err)
		}
	}
	if Unmount(l.Dir) == nil {
		t.Error("unmounted what is not mounted")
	}
	l.Upper = filepath.Join(dir, "a,b")
	if err := MountOverlay(l); !errors.Is(err, ErrNone) {
		t.Errorf("mounted %q: %v", l.Upper, err)
	}
}

// TestMountedOfWhatIsNotThere is an error, and no answer.
func TestMountedOfWhatIsNotThere(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "none", "tree")} {
		if on, err := IsMounted(dir); !errors.Is(err, os.ErrNotExist) || on {
			t.Errorf("%s: %v, %v", dir, on, err)
		}
	}
}

// TestProbeAgreesWithMount: where the system's own program can mount an overlay,
// so can we. The tests that need one are left out where the probe says no.
func TestProbeAgreesWithMount(t *testing.T) {
	l := probeLayers(filepath.Join(t.TempDir(), "own"))
	for _, d := range []string{l.Lower, l.Upper, l.Work, l.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	options := "lowerdir=" + l.Lower + ",upperdir=" + l.Upper + ",workdir=" + l.Work + ",redirect_dir=on,metacopy=off,index=off,volatile"
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "overlay", "nexus", "-o", options, l.Dir).CombinedOutput()
	if err != nil {
		testenv.NeedMachine(t, "an overlay", fmt.Errorf("%w: %s", err, out))
	}
	if err := unix.Unmount(l.Dir, 0); err != nil {
		t.Error(err)
	}
	dir := filepath.Join(t.TempDir(), "probe")
	if err := ProbeOverlay(dir); err != nil {
		t.Errorf("mount can mount an overlay, and we cannot: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the probe is still there")
	}
	if err := ProbeOverlay(filepath.Join("/dev/null", "probe")); err == nil {
		t.Error("an overlay in no directory")
	}
}

// TestProbeSees holds what makes an overlay one that cannot be used: here are
// directories that are none.
func TestProbeSees(t *testing.T) {
	for name, c := range map[string]struct {
		files []string // in the directory that stands for the mount
		lower bool     // which is the lower layer itself
		want  string
	}{
		"a directory cannot be renamed": {want: "rename"},
		"a file cannot be written":      {files: []string{"a/f"}, want: "no such file"},
		"the lower layer is written":    {files: []string{"a/b/f"}, lower: true, want: "the lower layer changed"},
		"redirects cannot be read":      {files: []string{"a/b/f"}, want: "redirects cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			l := probeLayers(filepath.Join(t.TempDir(), "probe"))
			for _, name := range append([]string{filepath.Join(l.Lower, "a", "b", "f"), filepath.Join(l.Upper, "x"), filepath.Join(l.Dir, "x")}, under(l.Dir, c.files)...) {
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte("f"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.lower {
				l.Lower = l.Dir
			}
			if err := tryOverlay(l); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func under(dir string, names []string) []string {
	var all []string
	for _, n := range names {
		all = append(all, filepath.Join(dir, n))
	}
	return all
}

func TestParseMounts(t *testing.T) {
	const info = `36 35 98:0 / /s/trees/r/a\040b/tree rw,noatime shared:1 master:2 - overlay nexus rw
37 35 98:0 / /s rw - overlay nexus rw
38 35 98:0 / /state rw - overlay nexus rw
39 35 98:0 / /s/x rw - ext4 /dev/vda rw
40 bad - overlay
41 35 98:0 / /s/y\9 rw - overlay nexus rw
42 35 98:0 / /s/z rw -
43 35 98:0 / /s/- rw - overlay nexus rw
`
	if d := cmp.Diff([]string{"/s/trees/r/a b/tree", "/s", `/s/y\9`, "/s/-"}, parseMounts(info, "/s")); d != "" {
		t.Error(d)
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add(`36 35 98:0 / /s/\040 rw - overlay nexus rw`)
	f.Fuzz(func(_ *testing.T, info string) { parseMounts(info, "/s") })
}

// TestClearOfWhatIsWithin unmounts an overlay that is mounted within another, and that one.
func TestClearOfWhatIsWithin(t *testing.T) {
	dir := t.TempDir()
	testenv.NeedMachine(t, "an overlay", ProbeOverlay(filepath.Join(dir, "probe")))
	outer, inner := probeLayers(filepath.Join(dir, "outer")), probeLayers(filepath.Join(dir, "inner"))
	inner.Dir = filepath.Join(outer.Dir, "within")
	for _, d := range []string{filepath.Join(outer.Lower, "within"), outer.Upper, outer.Work, outer.Dir, inner.Lower, inner.Upper, inner.Work} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(MountOverlay(outer), MountOverlay(inner)); err != nil {
		t.Fatal(err)
	}
	if got, err := MountsBelow(dir); err != nil || cmp.Diff([]string{inner.Dir, outer.Dir}, got) != "" {
		t.Error(got, err)
	}
	if err := UnmountAll(dir); err != nil {
		t.Error(err)
	}
	if got, err := MountsBelow(dir); err != nil || len(got) > 0 {
		t.Error(got, err)
	}
}
