package accept_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
)

// TestOnlyText tells comments and prose from code in files of several languages.
func TestOnlyText(t *testing.T) {
	for name, c := range map[string]struct {
		file, old, now string
		only           bool
	}{
		"a comment":              {"a.go", "package a\n\nfunc F() {}\n", "package a\n\n// F does nothing.\nfunc F() {}\n", true},
		"a comment at a line":    {"a.js", "const a = 1\n", "const a = 1 // one\n", true},
		"code beside it":         {"a.js", "const a = 1\n", "const a = 2 // two\n", false},
		"a block":                {"a.ts", "f()\n", "/* f\n * does\n */\nf()\n", true},
		"code that is commented": {"a.py", "f()\n", "# f()\n", false},
		"a docstring":            {"a.py", "def f():\n    return 1\n", "def f():\n    \"\"\"Return one.\"\"\"\n    return 1\n", true},
		"a literal":              {"a.py", "x = \"\"\"a\"\"\"\n", "x = \"\"\"b\"\"\"\n", false},
		"a doctest":              {"a.py", "def f():\n    return 1\n", "def f():\n    \"\"\"\n    >>> f()\n    1\n    \"\"\"\n    return 1\n", false},
		"a mark in a literal":    {"a.go", "var u = \"http://a\"\n", "var u = \"http://b\"\n", false},
		"a mark in a pattern":    {"a.js", "x(/\\/\\//, 1)\n", "x(/\\/\\//, 2)\n", false},
		"a directive":            {"a.go", "package a\n", "//go:build linux\n\npackage a\n", false},
		"a checker is quiet":     {"a.py", "import os\n", "import os  # noqa\n", false},
		"the indent":             {"a.py", "if a:\n    b()\n", "if a:\n  b()\n", false},
		"prose":                  {"docs/a.md", "a\n", "b\n", true},
		"data":                   {"a.txt", "a\n", "b\n", false},
		"the packages":           {"requirements.txt", "a\n", "b\n", false},
		"a test":                 {"a_test.go", "package a\n", "package a\n\n// So.\n", false},
		"an unknown language":    {"a.xyz", "a\n", "a\n# b\n", false},
		"settings":               {"a.yaml", "a: 1\n", "# one\na: 1\n", true},
	} {
		if got := accept.ChangesOnlyText(c.file, &c.old, &c.now); got != c.only {
			t.Errorf("%s: %v", name, got)
		}
	}
	text := "# a\n"
	if accept.ChangesOnlyText("a.py", nil, &text) || accept.ChangesOnlyText("a.py", &text, nil) || !accept.ChangesOnlyText("README", nil, &text) {
		t.Error("a file that is new or gone")
	}
}

// FuzzOnlyText never takes a text for another one that has a different first statement.
func FuzzOnlyText(f *testing.F) {
	f.Add("a.py", "def f():\n    \"\"\"a\"\"\"\n")
	f.Add("a.js", "const a = `x` // \"\n/* */")
	f.Add("a.go", "package a\n\nvar x = '\\'' // y\n")
	f.Fuzz(func(t *testing.T, file, text string) {
		now := "zzz()\n" + text
		if accept.ChangesOnlyText(file, &text, &now) && strings.HasSuffix(file, ".py") {
			t.Errorf("%q: a statement is no comment: %q", file, text)
		}
		if same := text; !accept.ChangesOnlyText("a.go", &text, &same) {
			t.Errorf("nothing changed in %q", text)
		}
	})
}

// TestTestText cuts a test out of its file by its name.
func TestTestText(t *testing.T) {
	const py = "import m\n\nclass TestKeys:\n    def test_a(self):\n        assert m.a() == 1\n\n    def test_b(self):\n        assert m.b() == 2\n"
	const js = "describe('calc', () => {\n  it('adds numbers', () => {\n    expect(add(1)).toBe(1)\n  })\n  it('subs', () => {\n    expect(sub(1)).toBe(1)\n  })\n})\n"
	for label, c := range map[string]struct{ file, text, has, not string }{
		"test_k.py::TestKeys::test_a":    {"test_k.py", py, "m.a()", "m.b()"},
		"test_k.py::TestKeys::test_b[1]": {"test_k.py", py, "m.b()", "m.a()"},
		"calc > adds numbers":            {"c.test.js", js, "add(1)", "sub(1)"},
		"m.TestA/sub":                    {"a_test.go", "func TestA(t *testing.T) {\n\tone()\n}\n\nfunc TestB(t *testing.T) {\n\ttwo()\n}\n", "one()", "two()"},
		"a_test.sh":                      {"a_test.sh", "sh a.sh\n", "sh a.sh", "x"},
	} {
		if got := accept.TestText(c.file, c.text, label); !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
			t.Errorf("%s: %q", label, got)
		}
	}
	if got := accept.TestText("a_test.py", py, "test_z"); got != "" {
		t.Errorf("it is not there: %q", got)
	}
}
