package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

func nothing(context.Context, []string) (map[string]bool, error) { return nil, nil }

func write(t *testing.T, name string) git.Stat {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	st, err := lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func look(t *testing.T, tree survey, k *known, now int64) found {
	t.Helper()
	f, err := tree.look(t.Context(), k, now)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSameMoment does not trust a stat from the moment in which it was taken:
// the file may have changed again within the tick of a coarse clock.
func TestSameMoment(t *testing.T) {
	dir := t.TempDir()
	st := write(t, filepath.Join(dir, "a"))
	tree := survey{Dir: dir, Base: git.Index{{Path: "a", Mode: st.Mode, Stat: st}}, Ignored: nothing}
	for since, want := range map[int64][]string{st.Changed: {"a"}, st.Changed + 1: nil} {
		tree.Since = since
		if d := cmp.Diff(want, look(t, tree, &known{}, st.Changed+1).Changed); d != "" {
			t.Errorf("since %d: %s", since-st.Changed, d)
		}
	}
}

func TestSetAtThatMoment(t *testing.T) {
	for now, want := range map[int64]int64{7: 0, 8: 0, 9: 8} {
		k := &known{}
		k.Set("a", surveyed{Mode: git.ModeFile, Stat: git.Stat{Changed: 8}}, now)
		if got := k.Recent["a"].Stat.Changed; got != want {
			t.Errorf("at %d, keeps %d", now, got)
		}
	}
}

// TestDirectoryOfThisMoment does not trust the names of a directory either.
func TestDirectoryOfThisMoment(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "d", "a"))
	d, err := lstat(filepath.Join(dir, "d"))
	if err != nil {
		t.Fatal(err)
	}
	for now, want := range map[int64]bool{d.Changed: false, d.Changed + 1: true} {
		k := &known{}
		look(t, survey{Dir: dir, Ignored: nothing}, k, now)
		if _, kept := k.dirs["d"]; kept != want {
			t.Errorf("%d after its change, the directory is trusted: %v", now-d.Changed, kept)
		}
	}
}

func TestClock(t *testing.T) {
	dir := t.TempDir()
	st := write(t, filepath.Join(dir, "a"))
	now, err := fileClock(filepath.Join(dir, "clock"))
	if err != nil || now < st.Changed {
		t.Errorf("the clock shows %d, before %d: %v", now, st.Changed, err)
	}
	if later := write(t, filepath.Join(dir, "b")); later.Changed < now {
		t.Error("time went back")
	}
	if _, err := fileClock(filepath.Join(dir, "none", "clock")); err == nil {
		t.Error("a clock without a directory")
	}
}
