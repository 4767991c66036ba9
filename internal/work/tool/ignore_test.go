package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNexusignore(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, ".nexusignore", "fixtures/\n*.pem\n!public.pem\n/docs/*.md\n")
	b.write(t, "sub/.nexusignore", "/own\n")
	for _, name := range []string{"fixtures/a", "x/fixtures/b/c", "key.pem", "public.pem", "docs/a.md", "docs/a.txt", "x/docs/a.md", "sub/own", "own", "fixture"} {
		b.write(t, name, "needle\n")
	}
	want := ".nexusignore\ndocs/a.txt\nfixture\nown\npublic.pem\nsub/.nexusignore\nx/docs/a.md\n"
	if d := cmp.Diff(want, b.good(t, "list_files", m{})); d != "" {
		t.Error(d)
	}
	for name := range strings.Lines(want) {
		b.good(t, "read_file", m{"path": strings.TrimSpace(name)})
	}
	if err := os.Symlink("fixtures", filepath.Join(b.dir, "way")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fixtures/a", "x/fixtures/b/c", "key.pem", "docs/a.md", "sub/own", "way/a", "x/../key.pem"} {
		b.bad(t, "read_file", m{"path": name}, ".nexusignore hides it")
		b.bad(t, "write_file", m{"path": name, "content": "x"}, ".nexusignore hides it")
		b.bad(t, "edit_file", m{"path": name, "edits": []m{{"old": "needle", "new": "x"}}}, ".nexusignore hides it")
		b.bad(t, "search_code", m{"path": name, "pattern": "needle"}, ".nexusignore hides it")
	}
	b.bad(t, "write_file", m{"path": "fixtures/new/file", "content": "x"}, ".nexusignore hides it")
	b.bad(t, "list_files", m{"path": "fixtures"}, ".nexusignore hides it")
	if got := b.good(t, "search_code", m{"pattern": "needle"}); strings.Count(got, "needle") != 5 {
		t.Errorf("got %q", got)
	}
}

// TestWriteSaysWhatGitIgnores of a file that it wrote, and of no other.
func TestWriteSaysWhatGitIgnores(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Ignored = func(_ context.Context, name string) (string, error) {
			switch {
			case strings.HasPrefix(name, "build/"):
				return ".gitignore:2 (build/)", nil
			case name == "broken":
				return "", errors.New("git is gone")
			}
			return "", nil
		}
	})
	const says = ".gitignore:2 (build/) ignores build/x, so it is no part of your change"
	if got := b.good(t, "write_file", m{"path": "build/x", "content": "x"}); !strings.Contains(got, says) {
		t.Errorf("got %q", got)
	}
	if got := b.good(t, "edit_file", m{"path": "build/x", "edits": []m{{"old": "x", "new": "y"}}}); !strings.Contains(got, says) {
		t.Errorf("got %q", got)
	}
	for _, name := range []string{"src/x", "broken"} {
		if got := b.good(t, "write_file", m{"path": name, "content": "x"}); strings.Contains(got, "ignores") {
			t.Errorf("got %q", got)
		}
	}
	b.bad(t, "edit_file", m{"path": "build/x", "edits": []m{{"old": "x", "new": "y"}}}, "old")
}
