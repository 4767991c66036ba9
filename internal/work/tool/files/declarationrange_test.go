package files

import (
	"strings"
	"testing"
)

func TestBody(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		at   int
		last int
		want string
	}{
		"go":        {"package a\n\n// F does.\n// And more.\nfunc F(\n\ta int,\n) error {\n\tif a {\n\n\t}\n}\n\nfunc G() {}\n", 4, -1, "// F does.\n// And more.\nfunc F(\n\ta int,\n) error {\n\tif a {\n\n\t}\n}"},
		"one line":  {"var a = 1\nvar b = 2\n", 0, -1, "var a = 1"},
		"python":    {"import x\n\n@wraps\ndef f(a):\n    \"\"\"Does.\"\"\"\n    return a\n\n\ndef g():\n    pass\n", 3, -1, "@wraps\ndef f(a):\n    \"\"\"Does.\"\"\"\n    return a"},
		"method":    {"class A {\n  /**\n   * Does.\n   */\n  f() {\n    return 1\n  }\n\n  g() {}\n}\n", 4, -1, "  /**\n   * Does.\n   */\n  f() {\n    return 1\n  }"},
		"ruby":      {"def f\n  1\nend\ndef g\nend\n", 0, -1, "def f\n  1\nend"},
		"raw text":  {"const a = `\nx\ny\n`\nvar b int\n", 0, 3, "const a = `\nx\ny\n`"},
		"last line": {"a\nb", 1, -1, "b"},
	} {
		lines := strings.Split(c.text, "\n")
		from, to := DeclarationRange(lines, c.at, c.last)
		if got := strings.Join(lines[from:to], "\n"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
