package changeeffects_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

// TestWorking looks at a checkout whose changes are committed to nothing, and
// finds them without writing to it.
func TestWorking(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) { t.Helper(); gittest.WriteFiles(t, dir, map[string]string{name: text}) }
	do := func(args ...string) { t.Helper(); gittest.RunGit(t, dir, args...) }
	write("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tt.Error(1)\n}\n")
	write("b_test.go", "package a\n\nfunc TestB(t *testing.T) {\n}\n")
	write("a.go", "package a\n")
	write(".gitignore", "ignored\n")
	do("init", "-q")
	do("add", ".")
	do("commit", "-q", "-m", "base")
	write("a.go", "package a\n\nvar A = 1\n")
	write("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tt.Skip()\n\tt.Error(1)\n}\n")
	write("c/c_test.go", "package c\n\nfunc TestC(t *testing.T) {\n}\n")
	write("ignored", "x")
	if err := os.Remove(filepath.Join(dir, "b_test.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "d_test.go")); err != nil {
		t.Fatal(err)
	}
	repo, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	touched, err := changeeffects.ChangedInWorktree(t.Context(), repo, "HEAD")
	if want := []string{"a.go", "a_test.go", "b_test.go", "c/c_test.go", "d_test.go"}; err != nil || !slices.Equal(touched, want) {
		t.Errorf("touched %v, %v, want %v", touched, err, want)
	}
	found, err := changeeffects.SuspectsInTree(t.Context(), repo, "HEAD")
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if f := found[0]; f.File != "a_test.go" || f.Line != 4 || f.Code != "tamper.skipped" {
		t.Errorf("%+v", f)
	}
	if f := found[1]; f.File != "b_test.go" || f.Code != "tamper.deleted" {
		t.Errorf("%+v", f)
	}
}

// TestRenamed holds which changes are nothing but a rename, of the path and of
// the text.
func TestRenamed(t *testing.T) {
	long := "// What makes two files of it look alike.\n// And one line more.\n"
	old := map[string]string{"foo.go": "package a\n\n" + long + "func foo() {}\n", "use.go": "package a\n\nvar x = foo\n", "name": "foo"}
	for name, c := range map[string]struct {
		files map[string]string // that are written; empty: taken away; behind ->: a link
		want  bool
	}{
		"the text":               {map[string]string{"use.go": "package a\n\nvar x = bar\n"}, true},
		"the text and the path":  {map[string]string{"foo.go": "", "bar.go": "package a\n\n" + long + "func bar() {}\n"}, true},
		"the path alone":         {map[string]string{"foo.go": "", "bar.go": old["foo.go"]}, true},
		"all":                    {map[string]string{"foo.go": "", "bar.go": "package a\n\n" + long + "func bar() {}\n", "use.go": "package a\n\nvar x = bar\n"}, true},
		"another text":           {map[string]string{"use.go": "package a\n\nvar x = 1\n"}, false},
		"another path":           {map[string]string{"foo.go": "", "baz.go": old["foo.go"]}, false},
		"another path, and text": {map[string]string{"foo.go": "", "baz.go": "package a\n\n" + long + "func bar() {}\n"}, false},
		"text where it moved":    {map[string]string{"foo.go": "", "bar.go": "package a\n\n" + long + "func bar() { _ = 1 }\n"}, false},
		"one of two":             {map[string]string{"foo.go": "", "bar.go": old["foo.go"], "use.go": "package a\n\nvar x = 1\n"}, false},
		"a new file":             {map[string]string{"bar.go": "package b\n\n// all new\nconst B = 12\n"}, false},
		"a copy":                 {map[string]string{"bar.go": old["foo.go"]}, false},
		"a link now":             {map[string]string{"name": "->bar"}, false},
		"a file gone":            {map[string]string{"foo.go": ""}, false},
		"nothing":                {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			gittest.WriteFiles(t, dir, old)
			gittest.RunGit(t, dir, "init", "-q")
			gittest.RunGit(t, dir, "add", ".")
			gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
			for file, text := range c.files {
				to, link := strings.CutPrefix(text, "->")
				if text == "" || link {
					gittest.RunGit(t, dir, "rm", "-q", file)
				}
				switch {
				case link:
					if err := os.Symlink(to, filepath.Join(dir, file)); err != nil {
						t.Fatal(err)
					}
				case text != "":
					gittest.WriteFiles(t, dir, map[string]string{file: text})
				}
			}
			gittest.RunGit(t, dir, "add", ".")
			gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "work")
			repo, err := git.FindRepo(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			only := func(old, now string) bool { return old == now || strings.ReplaceAll(old, "foo", "bar") == now }
			if got, err := changeeffects.HasOnlyAllowedChanges(t.Context(), repo, "HEAD~1", "HEAD", only); err != nil || got != c.want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
