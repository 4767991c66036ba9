package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
)

// walked returns the files that Walk shows below a directory.
func walked(tb testing.TB, dir, below string) []string {
	tb.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer root.Close()
	files := []string{}
	err = HiddenPathRules{}.WalkUnignored(root, below, func(name string, d fs.DirEntry) bool {
		if !d.IsDir() {
			files = append(files, name)
		}
		return true
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// listed returns the files that git shows.
func listed(tb testing.TB, gitDir, dir, below string) []string {
	tb.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore", "--", below)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_WORK_TREE="+dir, "GIT_DIR="+gitDir)
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(err)
	}
	files := []string{}
	for f := range strings.SplitSeq(string(out), "\x00") {
		if f != "" {
			files = append(files, f)
		}
	}
	slices.Sort(files)
	return files
}

func plant(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// repository returns a git directory of its own.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "git")
	if out, err := exec.Command("git", "init", "-q", "--bare", dir).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	return dir
}

func TestWalkIsGits(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		".gitignore": "# comment\n\n/top\n*.log\n!keep.log\nbuild/\ndoc/*.txt\n**/deep/x\na/**/z\n\\#odd\n\\!bang\ntrail \nfoo{1,2}\nq?r\n[ab]1\n[!a]2\nlogs/**\n",
		"top":        "", "sub/top": "", "a.log": "", "keep.log": "", "sub/keep.log": "", "build/x": "", "sub/build/x": "", "sub2/build": "",
		"doc/a.txt": "", "doc/sub/a.txt": "", "m/deep/x": "", "deep/x": "", "a/z": "", "a/b/z": "", "a/b/c/z": "", "#odd": "", "!bang": "", "trail": "",
		"foo1": "", "foo{1,2}": "", "qxr": "", "qr": "", "a1": "", "c1": "", "a2": "", "b2": "", "logs/x": "", "logs/y/z": "",
		"sub/.gitignore": "!a.log\n/only\nother/\n", "sub/a.log": "", "sub/only": "", "sub/n/only": "", "sub/other/x": "", "sub/n/other/x": "",
	})
	git := repository(t)
	for _, below := range []string{".", "sub", "sub/n", "a"} {
		if d := cmp.Diff(listed(t, git, dir, below), walked(t, dir, below)); d != "" {
			t.Errorf("%s (-git +walk):\n%s", below, d)
		}
	}
}

func TestWalkIsGitsAtRandom(t *testing.T) {
	git := repository(t)
	trees, n := t.TempDir(), 0
	word := rapid.SampledFrom([]string{"a", "b", "ab", "a.b", ".a"})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(trees, fmt.Sprint(n))
		files := map[string]string{}
		for range rapid.IntRange(1, 8).Draw(rt, "files") {
			parts := rapid.SliceOfN(word, 1, 3).Draw(rt, "path")
			files["d"+strings.Join(parts, "/d")+"/f"] = ""
		}
		var rules strings.Builder
		for range rapid.IntRange(1, 4).Draw(rt, "rules") {
			fmt.Fprintf(&rules, "%s%s%s%s\n",
				rapid.SampledFrom([]string{"", "", "!", "/", "**/", "!/"}).Draw(rt, "before"),
				rapid.SampledFrom([]string{"d*", "da", "d?", "dab", "f", "d[ab]", "da/db", "da/**", "**/f", "da/**/f", "*"}).Draw(rt, "pattern"),
				rapid.SampledFrom([]string{"", "", "/f", "/*"}).Draw(rt, "after"),
				rapid.SampledFrom([]string{"", "/"}).Draw(rt, "end"))
		}
		files[rapid.SampledFrom([]string{".gitignore", "da/.gitignore"}).Draw(rt, "where")] = rules.String()
		plant(t, dir, files)
		if d := cmp.Diff(listed(t, git, dir, "."), walked(t, dir, ".")); d != "" {
			rt.Fatalf("%q (-git +walk):\n%s", rules.String(), d)
		}
	})
}

func TestWalkStops(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a/b/c": "", "d": ""})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	n := 0
	if err := (HiddenPathRules{}).WalkUnignored(root, ".", func(string, fs.DirEntry) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Errorf("visited %d, %v", n, err)
	}
	if err := (HiddenPathRules{}).WalkUnignored(root, "none", nil); err == nil {
		t.Error("walked nothing")
	}
}

// TestWalkFromAnywhere shows below a directory what is shown below the root,
// unless the directory itself is left out, and hides nothing that it shows.
func TestWalkFromAnywhere(t *testing.T) {
	names := []string{"a", "b.log", "dir/a", "dir/b.log", "dir/sub/a", "dir/sub/c.log", ".github/a", "build/x", "dir/build/y", ".git/x", "dir/.git/z", "dir.x/a"}
	lines := []string{"", "*.log\n", "build/\n", "/dir\n", "dir/\n", "sub\n", "*\n!a\n!dir\n", "dir/*\n!dir/a\n", "a\n"}
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		for _, n := range names {
			plant(t, dir, map[string]string{n: ""})
		}
		for _, n := range []string{".gitignore", "dir/.gitignore", "dir/.nexusignore", ".nexusignore"} {
			plant(t, dir, map[string]string{n: rapid.SampledFrom(lines).Draw(rt, n)})
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer root.Close()
		all := walked(t, dir, ".")
		for _, n := range all {
			if (HiddenPathRules{}).IsIgnored(root, n) {
				rt.Fatalf("%s is listed and hidden", n)
			}
		}
		for _, from := range []string{"dir", "dir/sub", ".github", "build"} {
			want := []string{}
			for _, n := range all {
				if strings.HasPrefix(n, from+"/") {
					want = append(want, n)
				}
			}
			if got := walked(t, dir, from); len(want) > 0 && !slices.Equal(got, want) {
				rt.Fatalf("%s: %q, and from the root %q", from, got, want)
			}
		}
	})
}

// TestKeptOfACommit checks that what the tree says by now hides nothing, and shows
// nothing, where it is known what the ignore files said before.
func TestKeptOfACommit(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{".nexusignore": "new.txt\n", "sub/.nexusignore": "!own.txt\n", "new.txt": "new text, which is long", "sub/own.txt": "own text, which is long"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	kept, err := ignore.NewIgnoreSet(map[string]string{"sub/.nexusignore": "own.txt\n"})
	if err != nil {
		t.Fatal(err)
	}
	r := HiddenPathRules{Kept: &kept}
	if r.IsIgnored(root, "new.txt") || !r.IsIgnored(root, "sub/own.txt") {
		t.Error("the tree's own files were asked")
	}
	if d := cmp.Diff([]HiddenFile{{"sub/own.txt", WhyIgnored}}, r.FindHidden(root).Files); d != "" {
		t.Error(d)
	}
	const text = "new.txt:1: new text, which is long\nsub/own.txt:1: "
	if got := r.RedactHidden(root, text+"own text, which is long"); got != text+"[a line of sub/own.txt, which .nexusignore hides from agents]" {
		t.Error(got)
	}
	var seen []string
	if err := r.WalkUnignored(root, ".", func(name string, _ fs.DirEntry) bool { seen = append(seen, name); return true }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{".nexusignore", "new.txt", "sub", "sub/.nexusignore"}, seen); d != "" {
		t.Error(d)
	}
}

// TestIgnoreFileThatCannotBeRead hides all in the directory of one.
func TestIgnoreFileThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{"a line": "[x\n", "its size": strings.Repeat("#\n", 1<<20)} {
		dir := t.TempDir()
		plant(t, dir, map[string]string{"sub/.nexusignore": text, "sub/a": "", "b": ""})
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		if r := (HiddenPathRules{}); !r.IsIgnored(root, "sub/a") || r.IsIgnored(root, "b") {
			t.Errorf("%s: the wrong files are hidden", name)
		}
		_ = root.Close()
	}
}

// TestCover names whole directories where all in them is hidden, and no other.
func TestCover(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		".nexusignore": "*.x\n", "all/a.x": "", "all/deep/b.x": "", "all/deep/c.x": "", "some/a.x": "", "some/b": "", "some/deep/a.x": "", "top.x": "", "link/a.x": "",
	})
	if err := os.Symlink("a.x", filepath.Join(dir, "link", "b")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	var got []string
	for _, f := range (HiddenPathRules{}).FindHidden(root).HiddenPaths() {
		got = append(got, f.Name)
	}
	if d := cmp.Diff([]string{"all", "link/a.x", "some/a.x", "some/deep", "top.x"}, got); d != "" {
		t.Error(d)
	}
}
