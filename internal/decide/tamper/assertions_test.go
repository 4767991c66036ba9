package tamper_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
)

// TestHasChecks tells tests that check something from those that only run.
func TestHasChecks(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       bool
	}{
		"an assertion":            {"test_a.py", "def test_add():\n    assert add(1, 2) == 3\n", true},
		"none":                    {"test_a.py", "def test_add():\n    add(1, 2)\n", false},
		"always true":             {"test_a.py", "def test_add():\n    add(1, 2)\n    assert True\n", false},
		"of literals":             {"test_a.py", "def test_add():\n    add(1, 2)\n    assert 3 == 3\n", false},
		"in a comment":            {"test_a.py", "def test_add():\n    add(1, 2)\n    # assert add(1, 2) == 3\n", false},
		"an expectation":          {"a.test.js", "test('a', () => { expect(add(1, 2)).toBe(3) })\n", true},
		"an expectation of true":  {"a.test.js", "test('a', () => { expect(true).toBe(true) })\n", false},
		"Go, where it fails":      {"a_test.go", "func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n", true},
		"Go, which logs":          {"a_test.go", "func TestAdd(t *testing.T) {\n\tt.Log(Add(1, 2))\n}\n", false},
		"a script":                {"a_test.sh", "test \"$(sh add.sh 1 2)\" = 3\n", true},
		"a script that runs it":   {"a_test.sh", "sh add.sh 1 2\n", true},
		"a script that is silent": {"a_test.sh", "echo add\ntrue\ntest 1 = 1\n", false},
		"one that never fails":    {"a_test.sh", "sh add.sh 1 2 || true\n", false},
		"code":                    {"a.py", "assert add(1, 2) == 3\n", false},
	} {
		if got := tamper.AddsChecks([]tamper.ChangedFileVersions{{Path: c.file, New: &c.text}}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	old := "def test_add():\n    assert add(1, 2) == 3\n"
	now := old + "\n\ndef test_more():\n    add(2, 2)\n"
	if tamper.AddsChecks([]tamper.ChangedFileVersions{{Path: "test_a.py", Old: &old, New: &now}}) {
		t.Error("what was there before is no check of the change")
	}
}
