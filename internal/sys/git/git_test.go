package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func repo(tb testing.TB, init ...string) Repo {
	tb.Helper()
	dir := tb.TempDir()
	gittest.RunGit(tb, dir, append([]string{"init", "-q", "-b", "main"}, init...)...)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a\n"), 0o644); err != nil {
		tb.Fatal(err)
	}
	gittest.RunGit(tb, dir, "add", "-A")
	gittest.RunGit(tb, dir, "commit", "-qm", "base")
	r, err := FindRepo(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestCheck(t *testing.T) {
	if err := CheckGit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for out, want := range map[string]string{
		"git version 2.39.5\n":                  "2.39",
		"git version 2.47.1.windows.1\n":        "2.47",
		"git version 2.39.5 (Apple Git-154)\n":  "2.39",
		"git version 3.0\n":                     "3.0",
		"":                                      "",
		"git version x.y":                       "",
		"git version -1.2":                      "",
		"hg version 2.39.5":                     "",
		"git version 99999999999999999999999.1": "",
	} {
		got := ""
		if major, minor, ok := parseVersion(out); ok {
			got = fmt.Sprintf("%d.%d", major, minor)
		}
		if got != want {
			t.Errorf("version(%q) = %q", out, got)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if err := CheckGit(t.Context()); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoGit}) {
		t.Errorf("without git: %v", err)
	}
}

func TestOldGit(t *testing.T) {
	dir := t.TempDir()
	testenv.WriteProgram(t, filepath.Join(dir, "git"), "#!/bin/sh\necho git version 2.37.9\n")
	t.Setenv("PATH", dir)
	if err := CheckGit(t.Context()); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoGit}) {
		t.Errorf("git 2.37: %v", err)
	}
}

func TestFind(t *testing.T) {
	r := repo(t)
	os.Mkdir(filepath.Join(r.Work, "d"), 0o755)
	got, err := FindRepo(t.Context(), filepath.Join(r.Work, "d"))
	if got.Dir != r.Dir || got.Work != r.Work || err != nil {
		t.Errorf("%+v, %v; want %+v", got, err, r)
	}
	if common, err := got.CommonDir(t.Context()); common != r.Dir || err != nil {
		t.Errorf("common directory %s, %v", common, err)
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	gittest.RunGit(t, r.Work, "clone", "-q", "--bare", ".", bare)
	if got, err := FindRepo(t.Context(), filepath.Join(bare, "refs")); got.Dir != bare || got.Work != "" || err != nil {
		t.Errorf("bare: %+v, %v", got, err)
	}
	lines := filepath.Join(t.TempDir(), "a\nfalse\nb")
	gittest.RunGit(t, r.Work, "clone", "-q", ".", lines)
	if got, err := FindRepo(t.Context(), lines); got.Dir != filepath.Join(lines, ".git") || got.Work != lines || err != nil {
		t.Errorf("a path of three lines: %+v, %v", got, err)
	}
	empty := t.TempDir()
	if _, err := FindRepo(t.Context(), empty); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotRepository}) {
		t.Errorf("no repository: %v", err)
	}
	if _, err := FindRepo(t.Context(), filepath.Join(empty, "nowhere")); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotRepository}) {
		t.Errorf("no directory: %v", err)
	}
	gittest.RunGit(t, empty, "init", "-q")
	if _, err := FindRepo(t.Context(), empty); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoCommits}) {
		t.Errorf("no commit: %v", err)
	}
	t.Setenv("GIT_DIR", filepath.Join(empty, ".git")) // the caller's own does not count
	if got, err := FindRepo(t.Context(), r.Work); got.Dir != r.Dir || err != nil {
		t.Error(got, err)
	}
}

// TestFindOfAnother leaves alone what somebody else owns, and says so.
func TestFindOfAnother(t *testing.T) {
	r := repo(t)
	if os.Getuid() != 0 {
		t.Skip(testenv.NoMachine + "only root gives files away")
	}
	for _, name := range []string{r.Work, filepath.Join(r.Work, ".git")} {
		if err := os.Chown(name, 4321, 4321); err != nil {
			testenv.NeedMachine(t, "another owner", err)
		}
	}
	os.Mkdir(filepath.Join(r.Work, "d"), 0o755)
	_, err := FindRepo(t.Context(), filepath.Join(r.Work, "d"))
	var e *nexus.Error
	if !errors.As(err, &e) || e.Message != r.Work+" belongs to another user, so git does not read it" || !strings.Contains(e.Hint, "safe.directory '"+r.Work+"'") {
		t.Errorf("%v", err)
	}
}

func TestHeadAndResolve(t *testing.T) {
	r := repo(t)
	want := gittest.RunGit(t, r.Work, "rev-parse", "HEAD")
	if commit, branch, err := r.Head(t.Context()); commit != want || branch != "main" || err != nil {
		t.Error(commit, branch, err)
	}
	gittest.RunGit(t, r.Work, "checkout", "-q", "--detach")
	if commit, branch, err := r.Head(t.Context()); commit != want || branch != "" || err != nil {
		t.Error(commit, branch, err)
	}
	gittest.RunGit(t, r.Work, "tag", "-a", "-m", "x", "v1")
	for _, rev := range []string{"main", "v1", want, want[:10], "HEAD^0"} {
		if got, err := r.Resolve(t.Context(), rev); got != want || err != nil {
			t.Errorf("%q: %s, %v", rev, got, err)
		}
	}
	for _, rev := range []string{"", "-h", "--all", "--git-dir", "nothing", "main..main", "^main", "main\nmain", "x\x00"} {
		if got, err := r.Resolve(t.Context(), rev); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			t.Errorf("%q: %s, %v", rev, got, err)
		}
	}
}

func TestRunSaysWhat(t *testing.T) {
	r := repo(t)
	_, err := r.Run(t.Context(), "cat-file", "-p", strings.Repeat("1", 40))
	x, ok := errors.AsType[*ExitError](err)
	if !ok || x.Status != 128 || !strings.Contains(err.Error(), "git cat-file: fatal: Not a valid object name") {
		t.Errorf("%v", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	in, w, _ := os.Pipe() // nobody writes: git waits
	defer w.Close()
	if _, err := r.RunWithInput(ctx, in, "cat-file", "--batch"); !errors.Is(err, cause) {
		t.Errorf("stopped: %v", err)
	}
	if out, cut, err := r.RunWithLimit(t.Context(), 3, "rev-parse", "HEAD"); len(out) != 3 || !cut || err != nil {
		t.Errorf("%q, %v, %v", out, cut, err)
	}
}

// TestHardened shows that the environment and the configuration around a
// repository do not reach git.
func TestHardened(t *testing.T) {
	r := repo(t)
	mark := filepath.Join(t.TempDir(), "mark")
	home := t.TempDir()
	os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\n\tfsmonitor = touch "+mark+"\n"), 0o644)
	for k, v := range map[string]string{
		"HOME": home, "GIT_TRACE": mark, "GIT_EXTERNAL_DIFF": "touch " + mark, "GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "touch " + mark, "GIT_INDEX_FILE": "/nowhere",
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='touch " + mark + "'", "GIT_PAGER": "touch " + mark,
	} {
		t.Setenv(k, v)
	}
	sh2 := exec.Command("git", "status")
	sh2.Dir = r.Work
	sh2.Run()
	if _, err := os.Stat(mark); err != nil {
		t.Fatal("plain git does not fire, so this proves nothing")
	}
	os.Remove(mark)
	for _, args := range [][]string{{"status"}, {"diff-index", "-p", "HEAD"}, {"add", "-A"}, {"log"}} {
		if _, err := r.Run(t.Context(), args...); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something ran")
	}
}

func TestIndexIsGits(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := repo(t, "--object-format="+format)
		for _, name := range []string{"b/c", "b.d", "b-e", "ü", strings.Repeat("long/", 100) + "x"} {
			os.MkdirAll(filepath.Dir(filepath.Join(r.Work, name)), 0o755)
			os.WriteFile(filepath.Join(r.Work, name), []byte(name), 0o755)
		}
		for i := range 12 {
			os.WriteFile(filepath.Join(r.Work, strings.Repeat("n", i+1)), nil, 0o644)
		}
		os.Symlink("a", filepath.Join(r.Work, "l"))
		gittest.RunGit(t, r.Work, "-c", "index.version=2", "add", "-A")
		size := len(gittest.RunGit(t, r.Work, "rev-parse", "HEAD")) / 2
		data, err := os.ReadFile(filepath.Join(r.Dir, "index"))
		if err != nil {
			t.Fatal(err)
		}
		x, err := ParseIndex(data, size)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, e := range x {
			list = append(list, fmt.Sprintf("%06o %s 0\t%s", e.Mode, e.ObjectName(), e.Path))
		}
		if d := cmp.Diff(gittest.RunGit(t, r.Work, "-c", "core.quotePath=false", "ls-files", "-s"), strings.Join(list, "\n")); d != "" {
			t.Error(d)
		}
		back, err := x.Encode(size)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseIndex(back, size); err != nil || cmp.Diff(x, again) != "" {
			t.Error(err)
		}
		os.WriteFile(filepath.Join(r.Dir, "index"), back, 0o644)
		if got := gittest.RunGit(t, r.Work, "status", "--porcelain", "--untracked-files=all"); strings.Contains(got, "??") || strings.Contains(got, "D ") {
			t.Errorf("git reads our index as\n%s", got)
		}
		if e, ok := x.Find("b/c"); !ok || e.Path != "b/c" || len(x.EntriesBelow("b")) != 1 || len(x.EntriesBelow("")) != len(x) {
			t.Error(e, ok, x.EntriesBelow("b"))
		}
		if _, ok := x.Find("b"); ok {
			t.Error("found a directory")
		}
	}
}

// TestSpliceIsGits changes trees at random and compares with git's own.
func TestSpliceIsGits(t *testing.T) {
	r := repo(t)
	o, err := r.openObjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	blob, err := o.WriteObject("blob", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "a.b", "a-b", "a0", "ab", "b"})
		r := r
		r.Index = filepath.Join(r.Dir, "splice")
		os.Remove(r.Index)
		tree, err := o.WriteObject("tree", nil)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			changes := map[string]TreeEntry{}
			var in strings.Builder
			paths := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "path"), "/")
			}), 1, 6).Draw(t, "paths")
			slices.Sort(paths)
			for i, p := range slices.Compact(paths) {
				node := TreeEntry{Mode: ModeFile, ID: blob}
				if i > 0 && strings.HasPrefix(p, paths[0]+"/") || rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
					node = TreeEntry{}
				}
				if slices.ContainsFunc(paths, func(q string) bool { return strings.HasPrefix(p, q+"/") || strings.HasPrefix(q, p+"/") }) && i > 0 {
					continue
				}
				changes[p] = node
				if node.Mode == 0 { // a whole directory, to git, is its files
					old, _ := r.Run(ctx, "ls-files", "-z", p)
					for f := range strings.SplitSeq(strings.TrimSuffix(old, "\x00"), "\x00") {
						fmt.Fprintf(&in, "0 %s\t%s\n", strings.Repeat("0", 40), f)
					}
					continue
				}
				old, _ := r.Run(ctx, "ls-files", "-z")
				for f := range strings.SplitSeq(strings.TrimSuffix(old, "\x00"), "\x00") {
					if strings.HasPrefix(f, p+"/") || strings.HasPrefix(p, f+"/") {
						fmt.Fprintf(&in, "0 %s\t%s\n", strings.Repeat("0", 40), f)
					}
				}
				fmt.Fprintf(&in, "100644 %s\t%s\n", blob, p)
			}
			if _, err := r.RunWithInput(ctx, strings.NewReader(in.String()), "update-index", "--index-info"); err != nil {
				t.Fatal(err, in.String())
			}
			want, err := r.RunLine(ctx, "write-tree")
			if err != nil {
				t.Fatal(err)
			}
			if tree, err = o.EditTreePaths(ctx, tree, changes); err != nil {
				t.Fatal(err)
			}
			if tree != want {
				a, _ := r.Run(ctx, "ls-tree", "-r", "-t", want)
				b, _ := r.Run(ctx, "ls-tree", "-r", "-t", tree)
				t.Fatalf("changes %v\nwant\n%sgot\n%s", changes, a, b)
			}
		}
	})
}

func TestObjectsAreGits(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := repo(t, "--object-format="+format)
		o, err := r.openObjects(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		big := bytes.Repeat([]byte("0123456789"), 100_000)
		for _, data := range [][]byte{nil, []byte("x"), []byte("a\x00b\n"), big} {
			id, err := o.WriteObject("blob", data)
			if err != nil {
				t.Fatal(err)
			}
			want, err := r.RunWithInput(t.Context(), bytes.NewReader(data), "hash-object", "--stdin")
			if id+"\n" != want || err != nil {
				t.Errorf("wrote %s, git says %s, %v", id, want, err)
			}
			kind, got, err := o.ReadObject(t.Context(), id)
			if kind != "blob" || !bytes.Equal(got, data) || err != nil {
				t.Errorf("read a %s of %d bytes, %v", kind, len(got), err)
			}
		}
		head := gittest.RunGit(t, r.Work, "rev-parse", "HEAD")
		tree := gittest.RunGit(t, r.Work, "rev-parse", "HEAD^{tree}")
		if n, err := o.LookupPath(t.Context(), tree, "a"); n.Mode != ModeFile || err != nil {
			t.Error(n, err)
		}
		for _, p := range []string{"b", "a/b", "b/c"} {
			if n, err := o.LookupPath(t.Context(), tree, p); n.Mode != 0 || err != nil {
				t.Error(p, n, err)
			}
		}
		commit, err := o.Commit(tree, []string{head}, CommitIdentity{"Ü", "u@x"}, 42, "two\n\nbody\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := gittest.RunGit(t, r.Work, "log", "-1", "--format=%P %T %an %ce %ct %s/%b", commit); got != head+" "+tree+" Ü u@x 42 two/body" {
			t.Error(got)
		}
		if _, data, err := o.ReadObject(t.Context(), commit); err != nil {
			t.Error(err)
		} else if got, at, err := ParseCommit(data); got != tree || at != 42 || err != nil {
			t.Error(got, at, err)
		}
		if _, _, err := o.ReadObject(t.Context(), strings.Repeat("1", len(head))); err == nil {
			t.Error("read what is not there")
		}
		if _, _, err := o.ReadObject(t.Context(), "HEAD"); err == nil {
			t.Error("read a name")
		}
		for _, id := range []CommitIdentity{{"a<", "b"}, {"a\nb", "c"}} {
			if _, err := o.Commit(tree, nil, id, 1, "m"); err == nil {
				t.Errorf("a commit by %q", id)
			}
		}
		gittest.RunGit(t, r.Work, "fsck", "--strict")
	}
}

func TestPoint(t *testing.T) {
	r := repo(t)
	o, err := r.openObjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	head := gittest.RunGit(t, r.Work, "rev-parse", "HEAD")
	tree := gittest.RunGit(t, r.Work, "rev-parse", "HEAD^{tree}")
	const ref = "refs/nexus/r/T1.1/snap"
	for i, step := range []struct {
		to, from string
		fails    bool
	}{{head, head, true}, {head, "", false}, {tree, "", true}, {tree, head, false}, {head, tree, false}} {
		if err := o.MoveRef(ref, step.to, step.from); (err != nil) != step.fails {
			t.Errorf("step %d: %v", i, err)
		}
	}
	if got := gittest.RunGit(t, r.Work, "rev-parse", ref); got != head {
		t.Error(got)
	}
	if got, err := o.ReadRef("refs/nothing"); got != "" || err != nil {
		t.Error(got, err)
	}
	os.WriteFile(filepath.Join(r.Dir, ref+".lock"), nil, 0o600)
	if err := o.MoveRef(ref, tree, head); err == nil {
		t.Error("moved a ref that is locked")
	}
	for _, bad := range []string{"", "../x", "refs/../../x", "-x"} {
		if o.MoveRef(bad, head, "") == nil {
			t.Errorf("%q was written", bad)
		}
	}
}

// TestRefOK compares with git: what is taken, git takes.
func TestRefOK(t *testing.T) {
	for _, good := range []string{"main", "nexus/run-1", "refs/heads/ünï", "F001-A-01.2", "a@b", "x/y.z"} {
		if err := CheckRef(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{
		"", "@", "-x", ".x", "x.", "a..b", "a/.b", "a//b", "/a", "a/", "a.lock", "a.lock/b", "a b", "a\u3000b", "a\u200bb",
		"a~", "a^", "a:b", "a?", "a*", "a[", `a\b`, "a\x7f", "a\n", "a@{b", "\xff", "a\u202eb", strings.Repeat("x", 251),
	} {
		if CheckRef(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzRefOK(f *testing.F) {
	for _, s := range []string{"main", "a/b", "@{u}", "x.lock", "a..b", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if CheckRef(s) != nil || strings.Contains(s, "\x00") {
			return
		}
		if err := exec.CommandContext(t.Context(), "git", "check-ref-format", "--allow-onelevel", s).Run(); err != nil {
			t.Errorf("git refuses %q", s)
		}
	})
}

// TestPathOK compares with git: what is taken, git takes.
func TestPathOK(t *testing.T) {
	r := repo(t)
	names := []string{
		"a", ".gitignore", ".gitmodules", "git", "x.git", ".gitx", "git~2", "gitmod", "a:b",
		".git", ".GIT", ".giT", "git~1", "GIT~1", ".git ", ".git.", ".git . .", ".git::$INDEX_ALLOCATION", ".g\u200cit", "\ufeff.git", ".gi\u202et", ".", "..", "",
	}
	blob := gittest.RunGit(t, r.Work, "rev-parse", "HEAD:a")
	for _, name := range names {
		for _, p := range []string{name, "d/" + name, name + "/f"} {
			for _, mode := range []uint32{ModeFile, ModeLink} {
				args := []string{"-c", "core.protectNTFS=true", "-c", "core.protectHFS=true", "update-index", "--add", "--replace", "--cacheinfo"}
				_, err := r.Run(t.Context(), append(args, fmt.Sprintf("%o,%s,%s", mode, blob, p))...)
				if ours := CheckPath(p, mode); err != nil && ours == nil || err == nil && ours != nil {
					t.Errorf("%q %o: git says %v, we say %v", p, mode, err, ours)
				}
			}
		}
	}
}

func FuzzParseIndex(f *testing.F) {
	x := Index{{Path: "a", Mode: ModeFile, Raw: strings.Repeat("x", 20)}, {Path: "b/c", Mode: ModeExec, Raw: strings.Repeat("y", 20)}}
	data, err := x.Encode(20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, size := range []int{20, 32} {
			x, err := ParseIndex(data, size)
			if err != nil {
				continue
			}
			if !slices.IsSortedFunc(x, func(a, b IndexEntry) int { return strings.Compare(a.Path, b.Path) }) {
				t.Error("not sorted")
			}
			back, err := x.Encode(size)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := ParseIndex(back, size); err != nil || len(again) != len(x) {
				t.Errorf("what was read cannot be read again: %v", err)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	id := strings.Repeat("1", 40)
	f.Add(":100644 100755 " + id + " " + id + " M\x00path\x00")
	f.Add(id + "\x00a\x00b\x00")
	f.Add("100644 a\x00" + strings.Repeat("x", 20))
	f.Add("tree " + id + "\ncommitter A <a@b> 12 +0000\n\nm")
	f.Add("git version 2.39.5")
	f.Fuzz(func(_ *testing.T, s string) {
		_, _ = parseRawDiff(s)
		_, _ = parseMergeOutput(s, true)
		_, _ = parseTree([]byte(s), 20)
		_, _, _ = ParseCommit([]byte(s))
		_, _, _ = parseVersion(s)
		_ = CheckPath(s, ModeLink)
	})
}

func TestParseRaw(t *testing.T) {
	id := strings.Repeat("1", 40)
	got, err := parseRawDiff(":100644 100755 " + id + " " + id + " M\x00a\tb\x00:100644 000000 " + id + " " + id + " D\x00c\x00")
	want := []ChangedTreeFile{{Path: "a\tb", Status: "M", Mode: "100755", ID: id}, {Path: "c", Status: "D", Mode: "000000", ID: id}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if bits, err := got[0].ModeBits(); bits != ModeExec || err != nil {
		t.Error(bits, err)
	}
	if _, err := parseRawDiff(":x\x00a\x00"); err == nil {
		t.Error("took nonsense")
	}
	if _, err := hex.DecodeString(id); err != nil {
		t.Error(err)
	}
}
