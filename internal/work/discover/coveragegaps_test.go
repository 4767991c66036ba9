package discover

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// goSource is a file of which Two is not tested.
const goSource = `package a

func One(n int) int { return n }

func Two(n int) int {
	if n > 2 {
		n -= 20
		n += 10
		return n
	}
	if n < 0 {
		return n
	}
	return n + 1
}
`

// gapOf returns what of a source no test goes through but the lines of some numbers.
func gapOf(name, source string, tested ...int) uncoveredFile {
	p := uncoveredFile{file: name, lines: strings.Split(source, "\n"), hits: map[int]int{}, changes: 3}
	for n := range p.lines {
		p.hits[n+1] = 0
	}
	for _, n := range tested {
		p.hits[n] = 1
	}
	p.missed = changemetrics.UncoveredLines(p.lines, p.hits)
	return p
}

// TestUncoveredGo names the lines, and its check is red until tests go through them, wherever they are by then.
func TestUncoveredGo(t *testing.T) {
	g := gate.QualityGate{Name: "test", Format: outputparser.GoTestJSON, Args: []string{"go", "test", "-json", "./..."}, Goes: stack.CoverageCommand{Name: "go test -coverprofile"}}
	p := gapOf("b-c/a.go", goSource, 1, 3, 5)
	f, ok := p.coverageFinding(g)
	if !ok || f.Count != 7 {
		t.Fatalf("%+v", f)
	}
	if diff := cmp.Diff([]discoveredwork.FindingPlace{{File: p.file, Line: 6}, {File: p.file, Line: 11}, {File: p.file, Line: 14}}, f.Places); diff != "" {
		t.Error(diff)
	}
	if want := "no test runs lines 6-9, 11-12, 14; the file changed 3 times in the last 100 commits"; f.Why != want {
		t.Errorf("%s", f.Why)
	}
	test := func(calls string) string {
		return "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tOne(1)\n" + calls + "}\n"
	}
	moved := strings.Replace(goSource, "package a\n", "package a\n\n// More is above.\nfunc Zero() int { return 0 }\n", 1)
	for name, c := range map[string]struct {
		source, calls string
		red           bool
	}{
		"now":               {goSource, "", true},
		"only entered":      {goSource, "\tTwo(1)\n\tTwo(-1)\n", true},
		"one of them":       {goSource, "\tTwo(3)\n", true},
		"tested":            {goSource, "\tTwo(3)\n\tTwo(-1)\n\tTwo(1)\n", false},
		"moved":             {moved, "", true},
		"moved, tested":     {moved, "\tTwo(3)\n\tTwo(-1)\n\tTwo(1)\n", false},
		"a test that fails": {goSource, "\tTwo(3)\n\tTwo(-1)\n\tTwo(1)\n\tt.Error(1)\n", true},
		"removed":           {goSource[:strings.Index(goSource, "func Two")], "", false},
	} {
		files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", p.file: c.source, "b-c/a_test.go": test(c.calls)}
		if got := red(t, f.Check, files); got != c.red {
			t.Errorf("%s: red is %v: %s", name, got, f.Check)
		}
	}
}

// TestUncoveredAlike asks for a share of the file where no line is like no other.
func TestUncoveredAlike(t *testing.T) {
	g := gate.QualityGate{Name: "test", Format: outputparser.GoTestJSON, Args: []string{"go", "test", "-json", "./..."}, Goes: stack.CoverageCommand{Name: "go test -coverprofile"}}
	p := gapOf("a.go", strings.Repeat("return err\n", 10), 1, 2, 3)
	f, ok := p.coverageFinding(g)
	if !ok || !strings.Contains(f.Check, "-v p=90 ") {
		t.Errorf("%+v", f)
	}
}

// TestUncoveredOthers holds that there is a check of lines for each tool that measures, which fits into an item of the backlog.
func TestUncoveredOthers(t *testing.T) {
	source := strings.Repeat("// nothing\n", 3)
	for i := range 9 {
		source += fmt.Sprintf("total = total_of_number_%d(first, second, third)\n\n", i)
	}
	for _, name := range []string{"node --experimental-test-coverage", "Jest", "Vitest", "coverage.py"} {
		g := gate.QualityGate{Name: "test", Format: "pytest", Args: []string{"uv", "run", "pytest"}, Goes: stack.CoverageCommand{Name: name}}
		f, ok := gapOf("packages/first/library.js", source).coverageFinding(g)
		if !ok || !strings.Contains(f.Check, "total_of_number_0") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestNewLines holds that lines which the last commits did not write are not among those that changed.
func TestNewLines(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main", ".")
	for _, text := range []string{"one\ntwo\nthree\nfour\n", "one\nzwei\nthree\nvier\n"} {
		gittest.WriteFiles(t, dir, map[string]string{"a.go": text})
		gittest.RunGit(t, dir, "add", ".")
		gittest.RunGit(t, dir, "commit", "-qm", "change")
	}
	last := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	s := &SourceTree{o: Options{Repo: git.Repo{Dir: filepath.Join(dir, ".git")}, Commit: last}, late: map[string]bool{last: true}}
	for changes, want := range map[int][]int{1: nil, 2: {2, 4}} {
		got, err := s.recentUncoveredLines(t.Context(), uncoveredFile{file: "a.go", missed: []int{1, 2, 4}, changes: changes})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(changes, err, diff)
		}
	}
}
