package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTests(t *testing.T) {
	const (
		old = "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) { one() }\n"
		now = "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) { two() }\n\nfunc TestC(t *testing.T) {}\n"
	)
	was := tree(t, map[string]string{"m_test.go": old})
	is := tree(t, map[string]string{"go.mod": "module x.org/m\n", "m_test.go": now})
	empty := tree(t, nil)
	red := func(tests ...string) nexus.GateEvidence {
		e := nexus.GateEvidence{State: nexus.Fail}
		for _, name := range tests {
			e.Findings = append(e.Findings, nexus.Finding{Test: name, Code: "test"})
		}
		return e
	}
	file := func(name string) nexus.GateEvidence {
		return nexus.GateEvidence{State: nexus.Fail, Findings: []nexus.Finding{{File: name, Code: "compile"}}}
	}
	pass := nexus.GateEvidence{State: nexus.Pass}
	for name, c := range map[string]struct {
		before, now nexus.GateEvidence
		was, is     string
		want        string
	}{
		"green before":             {before: pass, now: pass, was: was, is: is},
		"one":                      {before: red("x.org/m.TestA"), now: pass, was: was, is: is, want: "x.org/m.TestA"},
		"one of two":               {before: red("x.org/m.TestA", "x.org/m.TestB"), now: red("x.org/m.TestB"), was: was, is: is, want: "x.org/m.TestA"},
		"a subtest says it closer": {before: red("x.org/m.TestA", "x.org/m.TestA/one"), now: pass, was: was, is: is, want: "x.org/m.TestA/one"},
		"nothing ran":              {before: red("x.org/m.TestA"), now: nexus.GateEvidence{State: nexus.Environmental}, was: was, is: is},
		"did not compile":          {before: file("m_test.go"), now: pass, was: was, is: is, want: "x.org/m.TestB x.org/m.TestC"},
		"the package is red":       {before: red("x.org/m"), now: pass, was: was, is: is, want: "x.org/m.TestB x.org/m.TestC"},
		"does not compile now":     {before: red("x.org/m"), now: red("x.org/m"), was: was, is: is},
		"compiles, and one is red": {before: file("m_test.go"), now: red("x.org/m.TestC"), was: was, is: is, want: "x.org/m.TestB"},
		"a file does not load":     {before: file("a.test.js"), now: pass, was: empty, is: empty, want: "a.test.js"},
		"and does not now":         {before: file("a.test.js"), now: file("a.test.js"), was: empty, is: empty},
		"another file":             {before: file("b.js"), now: pass, was: empty, is: empty},
	} {
		if got := strings.Join(gate.FixedTests(c.before, c.now, c.was, c.is, []string{"a.test.js", "m_test.go"}), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
