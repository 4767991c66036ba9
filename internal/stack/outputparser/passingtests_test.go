package outputparser

import (
	"strings"
	"testing"
)

func TestFailing(t *testing.T) {
	const point = "  ---\n  duration_ms: 1\n  ...\n"
	tap := "TAP version 13\n# Subtest: a\nok 1 - a\n" + point + "# Subtest: b\nnot ok 2 - b\n  ---\n  error: 'boom'\n  ...\n" +
		"# Subtest: group\n    # Subtest: in\n    ok 1 - in\n      ---\n      duration_ms: 1\n      ...\n    # Subtest: out\n    not ok 2 - out\n      ---\n      error: 'bang'\n      ...\n    1..2\nnot ok 3 - group\n" + point +
		"# Subtest: whole\n    # said by whole\n    # Subtest: x\n    ok 1 - x\n    1..1\nok 4 - whole\n" + point + "ok 5 - bare\n1..5\n# fail 3\n"
	got := WithoutPassingTests(tap)
	for _, want := range []string{"# Subtest: b\nnot ok 2 - b\n  ---\n  error: 'boom'\n", "    # Subtest: out\n    not ok 2 - out\n      ---\n      error: 'bang'", "not ok 3 - group", "# fail 3\n[left out: 20 lines about tests that passed]\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"ok 1 - a", "Subtest: in\n", "whole", "bare", " ok 1"} {
		if strings.Contains(got, no) {
			t.Errorf("%q in\n%s", no, got)
		}
	}
	for name, c := range map[string][2]string{
		"go":     {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:3: no\n--- FAIL: TestB (0.00s)\nFAIL\tx\t0.1s\nok  \ty\t0.002s\n", "    b_test.go:3: no\n--- FAIL: TestB (0.00s)\nFAIL\tx\t0.1s\n[left out: 4 lines about tests that passed]\n"},
		"spec":   {"\u2714 adds (0.4ms)\n\u2716 takes (1ms)\n  Error: no\n", "\u2716 takes (1ms)\n  Error: no\n[left out: 1 lines about tests that passed]\n"},
		"cargo":  {"test a::b ... ok\ntest a::c ... FAILED\n", "test a::c ... FAILED\n[left out: 1 lines about tests that passed]\n"},
		"pytest": {"t.py::test_a PASSED   [ 50%]\nt.py::test_b FAILED [100%]\n", "t.py::test_b FAILED [100%]\n[left out: 1 lines about tests that passed]\n"},
		"perl":   {"ok 1 - a\n    # Subtest: b\n    ok 1 - c\n    not ok 2 - d\n    #   Failed test 'd'\n    1..2\nnot ok 2 - b\n", "    not ok 2 - d\n    #   Failed test 'd'\n    1..2\nnot ok 2 - b\n[left out: 3 lines about tests that passed]\n"},
		"other":  {"it is ok 1 time\nerror: PASSED nothing\n", "it is ok 1 time\nerror: PASSED nothing\n"},
	} {
		if got := WithoutPassingTests(c[0]); got != c[1] {
			t.Errorf("%s: %q", name, got)
		}
	}
}
