package worktree_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestModel does random things to a tree, as an agent would, and compares
// every snapshot with what plain git makes of a copy of the files.
func TestModel(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		first, n := uint64(0), 1
		if testenv.RunsNightly() {
			n = 50
		}
		if more := os.Getenv("NEXUS_MODEL_SEEDS"); more != "" { // "100+50"
			if _, err := fmt.Sscanf(more, "%d+%d", &first, &n); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			seed := first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) { model(t, way, seed) })
		}
	})
}

// oracle is plain git on a copy of the files.
type oracle struct {
	tb  testing.TB
	dir string
	git string
}

// snapshot copies the files, without any .git, and adds all of them.
func (o *oracle) snapshot(from string) string {
	o.tb.Helper()
	work := filepath.Join(o.dir, "work")
	os.RemoveAll(work)
	copyTree(o.tb, from, work)
	o.run(work, "add", "-A")
	return o.run(work, "write-tree")
}

func (o *oracle) run(work string, args ...string) string {
	o.tb.Helper()
	return gittest.RunGit(o.tb, work, append([]string{"--git-dir=" + o.git, "--work-tree=" + work}, args...)...)
}

func copyTree(tb testing.TB, from, to string) {
	tb.Helper()
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, p)
		dst := filepath.Join(to, rel)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() == ".git":
			return nil
		case d.IsDir():
			return os.MkdirAll(dst, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(to, dst)
		case !info.Mode().IsRegular():
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(dst, data, info.Mode().Perm())
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// listing returns what is in a tree, without .git and what is ignored.
func listing(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() == ".git", d.IsDir():
		case d.Type() == fs.ModeSymlink:
			to, _ := os.Readlink(p)
			all[rel] = "-> " + to
		default:
			info, _ := d.Info()
			data, _ := os.ReadFile(p)
			all[rel] = fmt.Sprintf("%v %s", info.Mode()&0o100, data)
		}
		return nil
	})
	return all
}

func model(t *testing.T, way worktree.TreeFillMethod, seed uint64) {
	t.Helper()
	ctx := t.Context()
	r := rand.New(rand.NewPCG(seed, 7))
	user := userRepo(t, map[string]string{
		".gitignore": "*.o\n/out/\n!keep.o\n", "a": "a\n", "b/c": "c\n", "b/d/e": "e\n", "b/d/f.go": "f\n",
		"g/h/i/j": "j\n", "g/h/k": "k\n", "tracked.o": "x", "ünï/ö": "o\n", ":(top)x": "1", "-dash": "2",
	})
	gittest.RunGit(t, user, "add", "-f", "tracked.o")
	gittest.RunGit(t, user, "commit", "-qm", "more")
	base := gittest.RunGit(t, user, "rev-parse", "HEAD")
	state := filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, state, way)
	tr := must[*worktree.AttemptTree](t)(s.AddTree(ctx, "r", "T1.1", base))
	o := &oracle{tb: t, dir: t.TempDir()}
	o.git = filepath.Join(o.dir, "git")
	gittest.RunGit(t, o.dir, "clone", "-q", "--bare", user, o.git)
	o.run(o.dir, "read-tree", "HEAD")
	w := &agent{t: t, r: r, dir: tr.Dir}
	var commits []string
	trees := map[string]string{}
	for step := range 40 {
		w.log = append(w.log, fmt.Sprintf("-- %d", step))
		w.act(1 + r.IntN(4))
		switch r.IntN(12) {
		case 0: // another process continues
			s = openAt(t, user, state, way)
			tr = must[*worktree.AttemptTree](t)(s.AddTree(ctx, "r", "T1.1", base))
		case 1:
			if len(commits) > 0 {
				c := commits[r.IntN(len(commits))]
				w.log = append(w.log, "restore "+c)
				if err := tr.Restore(ctx, c); err != nil {
					t.Fatal(err, w.log)
				}
				o.run(o.dir, "read-tree", trees[c])
				if _, tree := tr.LastSnapshot(); tree != trees[c] {
					t.Fatalf("restored %s, last is %s", trees[c], tree)
				}
				work := filepath.Join(o.dir, "restored")
				os.RemoveAll(work)
				os.Mkdir(work, 0o755)
				o.run(work, "checkout-index", "-a", "-f")
				if d := cmp.Diff(listing(t, work), tracked(o, tr.Dir)); d != "" {
					t.Fatalf("restore to %s (-want +got):\n%s\n%s", c, d, strings.Join(w.log, "\n"))
				}
			}
		}
		commit, tree, err := tr.Snapshot(ctx, "step")
		if err != nil {
			t.Fatal(err, strings.Join(w.log, "\n"))
		}
		if want := o.snapshot(tr.Dir); tree != want {
			t.Fatalf("step %d: tree differs\n%s\n%s", step, o.run(o.dir, "diff", "--stat", want, "--"), strings.Join(w.log, "\n")+
				"\nwant\n"+o.run(o.dir, "ls-tree", "-r", want)+"\ngot\n"+gittest.RunGit(t, s.PrivateRepo().Dir, "ls-tree", "-r", tree))
		}
		commits = append(commits, commit)
		trees[commit] = tree
	}
	if out := gittest.RunGit(t, s.PrivateRepo().Dir, "fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") {
		t.Error(out)
	}
}

// tracked lists the files of dir that git would add.
func tracked(o *oracle, dir string) map[string]string {
	work := filepath.Join(o.dir, "work")
	os.RemoveAll(work)
	copyTree(o.tb, dir, work)
	o.run(work, "add", "-A")
	all := listing(o.tb, work)
	keep := map[string]bool{}
	for p := range strings.SplitSeq(o.run(work, "ls-files", "-z"), "\x00") {
		keep[p] = true
	}
	maps.DeleteFunc(all, func(p, _ string) bool { return !keep[p] })
	return all
}

// agent does things to a tree.
type agent struct {
	t   *testing.T
	r   *rand.Rand
	dir string
	log []string
}

// act does n things.
func (a *agent) act(n int) {
	for range n {
		a.one()
	}
}

func (a *agent) paths(dirs bool) []string {
	var all []string
	filepath.WalkDir(a.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(a.dir, p)
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if rel != "." && d.IsDir() == dirs {
			all = append(all, rel)
		}
		return nil
	})
	slices.Sort(all)
	return all
}

func (a *agent) pick(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return all[a.r.IntN(len(all))]
}

func (a *agent) fresh() string {
	names := []string{"n1", "n2", "n3.o", "keep.o", "n4.go", "é", ":!x", "out", "sub", "dir/x", "b/new", "g/h/new/deep", "a b", "q\"\n"}
	p := a.pick(names)
	if a.r.IntN(3) == 0 {
		p = filepath.Join(a.pick(a.paths(true)), p)
	}
	return p
}

func (a *agent) one() {
	say := func(f string, args ...any) { a.log = append(a.log, fmt.Sprintf(f, args...)) }
	abs := func(p string) string { return filepath.Join(a.dir, p) }
	switch k := a.r.IntN(18); k {
	case 0, 1, 2, 3: // a new file, by a file tool
		p := a.fresh()
		if err := os.MkdirAll(filepath.Dir(abs(p)), 0o755); err != nil {
			return
		}
		for d := filepath.Dir(p); d != "."; d = filepath.Dir(d) {
			if info, err := os.Lstat(abs(d)); err != nil || !info.IsDir() {
				return // through a link
			}
		}
		if info, err := os.Lstat(abs(p)); err == nil && !info.Mode().IsRegular() {
			return
		}
		say("write %q", p)
		os.WriteFile(abs(p), fmt.Append(nil, a.r.IntN(1000)), 0o644)
	case 4, 5, 6: // in place, same size, time set back
		p := a.pick(a.paths(false))
		info, err := os.Lstat(abs(p))
		if err != nil || !info.Mode().IsRegular() {
			return
		}
		data, _ := os.ReadFile(abs(p))
		if len(data) > 0 {
			data[0]++
		}
		say("change %q in place", p)
		os.WriteFile(abs(p), data, 0o644)
		os.Chtimes(abs(p), info.ModTime(), info.ModTime())
	case 7, 8:
		p := a.pick(a.paths(false))
		say("remove %q", p)
		os.Remove(abs(p))
	case 9:
		p := a.pick(a.paths(true))
		say("remove dir %q", p)
		os.RemoveAll(abs(p))
	case 10, 11:
		p, q := a.pick(a.paths(true)), a.fresh()
		say("rename dir %q %q: %v", p, q, os.Rename(abs(p), abs(q)))
	case 12:
		p, q := a.pick(a.paths(false)), a.fresh()
		say("rename %q %q: %v", p, q, os.Rename(abs(p), abs(q)))
	case 13:
		p, q := a.pick(append(a.paths(true), a.paths(false)...)), a.fresh()
		os.RemoveAll(abs(q))
		say("link %q %q: %v", p, q, os.Symlink(p, abs(q)))
	case 14:
		p := a.pick(a.paths(false))
		if info, err := os.Lstat(abs(p)); err == nil && info.Mode().IsRegular() {
			say("chmod %q: %v", p, os.Chmod(abs(p), info.Mode().Perm()^0o111))
		}
	case 15:
		p := filepath.Join(a.pick(append(a.paths(true), ".")), ".gitignore")
		text := a.pick([]string{"*\n", "*.go\n", "n*\n!n1\n", "", "sub/\n"})
		say("rules %q %q: %v", p, text, os.WriteFile(abs(p), []byte(text), 0o644))
	case 16: // a repository within
		p := a.pick(append(a.paths(true), "sub"))
		if os.MkdirAll(abs(p), 0o755) == nil {
			gittest.RunGit(a.t, abs(p), "init", "-q")
			say("init %q", p)
		}
	case 17:
		p := a.pick(append(a.paths(true), a.paths(false)...))
		q := a.pick(a.paths(false))
		os.RemoveAll(abs(p))
		say("link file %q %q: %v", q, p, os.Link(abs(q), abs(p)))
	}
}
