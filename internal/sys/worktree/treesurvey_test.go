package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

func nothing(context.Context, []string) (map[string]bool, error) { return nil, nil }

func write(t *testing.T, name string) git.IndexFileStat {
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

func look(t *testing.T, tree treeChangeFinder, k *treeScanCache, now int64) treeScanResult {
	t.Helper()
	f, err := tree.findChanges(t.Context(), k, now)
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
	tree := treeChangeFinder{Dir: dir, Base: git.Index{{Path: "a", Mode: st.Mode, Stat: st}}, Ignored: nothing}
	for since, want := range map[int64][]string{st.Changed: {"a"}, st.Changed + 1: nil} {
		tree.Since = since
		if d := cmp.Diff(want, look(t, tree, &treeScanCache{}, st.Changed+1).Changed); d != "" {
			t.Errorf("since %d: %s", since-st.Changed, d)
		}
	}
}

func TestSetAtThatMoment(t *testing.T) {
	for now, want := range map[int64]int64{7: 0, 8: 0, 9: 8} {
		k := &treeScanCache{}
		k.Set("a", knownFileState{Mode: git.ModeFile, Stat: git.IndexFileStat{Changed: 8}}, now)
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
		k := &treeScanCache{}
		look(t, treeChangeFinder{Dir: dir, Ignored: nothing}, k, now)
		if _, kept := k.dirs["d"]; kept != want {
			t.Errorf("%d after its change, the directory is trusted: %v", now-d.Changed, kept)
		}
	}
}

// TestRulesThatChange finds what was ignored once the rules that left it out
// changed or are gone, wherever they stand.
func TestRulesThatChange(t *testing.T) {
	for name, c := range map[string]struct {
		rules  string
		remove bool
	}{
		"changed":        {rules: ".gitignore"},
		"of a directory": {rules: "d/.gitignore"},
		"gone":           {rules: ".gitignore", remove: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			st := write(t, filepath.Join(dir, c.rules))
			write(t, filepath.Join(dir, "d", "o"))
			ignored := map[string]bool{"d/o": true, "d": true}
			tree := treeChangeFinder{
				Dir: dir, Since: st.Changed + 1, Base: git.Index{{Path: c.rules, Mode: st.Mode, Stat: st}},
				Ignored: func(_ context.Context, paths []string) (map[string]bool, error) {
					found := map[string]bool{}
					for _, p := range paths {
						found[p] = ignored[p]
					}
					return found, nil
				},
			}
			k := &treeScanCache{}
			if f := look(t, tree, k, st.Changed+1); len(f.Changed)+len(f.Gone) > 0 {
				t.Fatalf("at first there is %+v", f)
			}
			ignored = nil
			want := treeScanResult{Changed: []string{c.rules, "d/o"}}
			if c.remove {
				if err := os.Remove(filepath.Join(dir, c.rules)); err != nil {
					t.Fatal(err)
				}
				want = treeScanResult{Changed: []string{"d/o"}, Gone: []string{c.rules}}
			} else if err := os.WriteFile(filepath.Join(dir, c.rules), []byte("nothing"), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := tree.findChanges(t.Context(), k, st.Changed+1)
			if err != nil {
				t.Fatal(err)
			}
			if f.Now = 0; cmp.Diff(want, f) != "" {
				t.Error(cmp.Diff(want, f))
			}
		})
	}
}

// TestRulesThatCannotBeAsked leave it unknown what changed, also where that is
// so only once they changed.
func TestRulesThatCannotBeAsked(t *testing.T) {
	broken := errors.New("no answer")
	for name, c := range map[string]struct {
		file string // that is new
		asks int    // that are answered
		want error
	}{
		"at first":            {"a", 0, broken},
		"when they changed":   {ignoreFileName, 1, broken},
		"they are never gone": {"a", 1, nil},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, c.file))
		tree := treeChangeFinder{Dir: dir, Ignored: func(context.Context, []string) (map[string]bool, error) {
			if c.asks--; c.asks < 0 {
				return nil, broken
			}
			return nil, nil
		}}
		if f, err := tree.findChanges(t.Context(), &treeScanCache{}, 1); !errors.Is(err, c.want) || err == nil && len(f.Changed) != 1 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// TestManyDirectories that nobody touched are as they were, in whatever order the file system
// names them: none is gone and back, also where the rules leave out what is new.
func TestManyDirectories(t *testing.T) {
	dir := t.TempDir()
	var base git.Index
	since := int64(0)
	for i := range 40 {
		p := fmt.Sprintf("%x/a", i*7919%257) // in no order
		st := write(t, filepath.Join(dir, p))
		base, since = append(base, git.IndexEntry{Path: p, Mode: st.Mode, Stat: st}), st.Changed+1
	}
	slices.SortFunc(base, func(a, b git.IndexEntry) int { return strings.Compare(a.Path, b.Path) })
	var asked []string
	tree := treeChangeFinder{Dir: dir, Base: base, Since: since, Ignored: func(_ context.Context, paths []string) (map[string]bool, error) {
		asked = append(asked, paths...)
		return nil, nil
	}}
	if f := look(t, tree, &treeScanCache{}, since); len(f.Changed)+len(f.Gone)+len(f.Odd)+len(asked) > 0 {
		t.Errorf("%+v, and the rules are asked about %q", f, asked)
	}
	for _, i := range []int{0, 20, 39} {
		if err := os.RemoveAll(filepath.Join(dir, filepath.Dir(base[i].Path))); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{base[0].Path, base[20].Path, base[39].Path}
	if f := look(t, tree, &treeScanCache{}, since); cmp.Diff(want, f.Gone) != "" || len(f.Changed)+len(f.Odd)+len(asked) > 0 {
		t.Errorf("%+v, and the rules are asked about %q", f, asked)
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
