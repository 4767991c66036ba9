package changeeffects_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

// TestRelate says what a change is in, and what it does to tests, in several languages.
func TestRelate(t *testing.T) {
	dir := t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{
		"calc.py":      "def add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n",
		"test_calc.py": "def test_add():\n    assert add(1, 2) == 3\n\n\ndef test_mul():\n    assert mul(1, 2) == 2\n",
		"calc.go":      "package m\n\nfunc Sub(a, b int) int {\n\treturn a + b\n}\n\nfunc Div(a, b int) int {\n\treturn a / b\n}\n",
		"gone.sh":      "echo gone\n",
		"note.js":      "const one = (a) => a\n",
	})
	gittest.RunGit(t, dir, "init", "-q")
	gittest.RunGit(t, dir, "add", "-A")
	gittest.RunGit(t, dir, "commit", "-qm", "base")
	gittest.WriteFiles(t, dir, map[string]string{
		"calc.py":      "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n",
		"test_calc.py": "def test_add():\n    assert add(1, 2) == 3\n\n\ndef test_mul():\n    assert mul(1, 2) == 2\n    assert mul(2, 2) == 4\n",
		"calc.go":      "package m\n\nfunc Sub(a, b int) int {\n\treturn a - b\n}\n\nfunc Div(a, b int) int {\n\treturn a / b\n}\n",
	})
	gittest.RunGit(t, dir, "rm", "-q", "gone.sh")
	gittest.RunGit(t, dir, "add", "-A")
	gittest.RunGit(t, dir, "commit", "-qm", "change")
	gittest.WriteFiles(t, dir, map[string]string{"note.js": "// one is the identity\nconst one = (a) => a\n"})
	gittest.RunGit(t, dir, "commit", "-qam", "comment")
	repo, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := changeeffects.ReadChangeRelation(t.Context(), repo, "HEAD~2", "HEAD~1")
	want := changeeffects.ChangeRelation{Edited: []string{"test_calc.py"}, Gone: []string{"gone.sh"}, Touched: []string{"Sub", "add"}, Checks: true, Added: "assert mul(2, 2) == 4\n"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	if got, err = changeeffects.ReadChangeRelation(t.Context(), repo, "HEAD~1", "HEAD"); err != nil || !got.Texts || got.Checks {
		t.Errorf("%v: a comment: %+v", err, got)
	}
	known, err := changeeffects.DeclaredNames(t.Context(), repo, "HEAD~2", []string{"mul", "text", "Div", "gone", "one", "calc", "test_add", "a"})
	if diff := cmp.Diff([]string{"Div", "calc", "gone", "mul", "one"}, known, cmp.Transformer("sorted", sorted)); err != nil || diff != "" {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	if known, err = changeeffects.DeclaredNames(t.Context(), repo, "HEAD~2", []string{"nothing"}); err != nil || known != nil {
		t.Errorf("%v, %v", known, err)
	}
	text := changeeffects.FailingTestTextReader(t.Context(), repo, "HEAD~2")
	if got := text(nexus.Finding{Test: "test_calc.py::test_mul", File: "calc.py"}); !strings.Contains(got, "mul(1, 2)") || strings.Contains(got, "add") {
		t.Errorf("%q", got)
	}
	if got := text(nexus.Finding{Test: "test_x", File: "calc.py"}); got != "" {
		t.Errorf("%q", got)
	}
}

// sorted counts what is there, whatever its order.
func sorted(all []string) map[string]int {
	n := map[string]int{}
	for _, s := range all {
		n[s]++
	}
	return n
}
