package outputparser_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

// TestNames tells how each test ended where the output names all of them, and
// nothing where it names some.
func TestNames(t *testing.T) {
	const unittest = `test_bad (test_a.A.test_bad) ... FAIL
test_doc (test_a.A.test_doc)
Says what it does. ... ok
test_prints (test_a.A.test_prints) ... hello
ok
test_skip (test_a.A.test_skip) ... skipped 'later'
test_sub (test_a.A.test_sub) ... 
  test_sub (test_a.A.test_sub) (i=1) ... FAIL
test_x (test_a.A) ... expected failure

======================================================================
FAIL: test_bad (test_a.A.test_bad)
----------------------------------------------------------------------
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 6 tests in 0.001s

FAILED (failures=2, skipped=1, expected failures=1)
`
	const pytest = `collected 4 items

test_a.py::A::test_bad FAILED                                            [ 25%]
test_a.py::A::test_ok[x y] PASSED                                        [ 50%]
test_a.py::A::test_skip SKIPPED (later)                                  [ 75%]
test_a.py::test_x XFAIL                                                  [100%]

=========================== short test summary info ============================
FAILED test_a.py::A::test_bad - AssertionError: 1 != 2
============== 1 failed, 1 passed, 1 skipped, 1 xfailed in 0.04s ===============
`
	const tap = `TAP version 13
# Subtest: sums
    not ok 1 - adds
    ok 2 - later # SKIP
    ok 3 - fine
    1..3
not ok 1 - sums
1..1
`
	for _, c := range []struct{ format, output, want string }{
		{"unittest", unittest, "fail test_a.A.test_bad, pass test_a.A.test_doc, pass test_a.A.test_prints, skip test_a.A.test_skip, fail test_a.A.test_sub, skip test_a.A.test_x"},
		{"unittest", strings.Replace(unittest, "Ran 6", "Ran 7", 1), ""},
		{"unittest", strings.Replace(unittest, "\nok\n", "\nnot so\n", 1), ""},
		{"pytest", pytest, "fail test_a.py::A::test_bad, pass test_a.py::A::test_ok[x y], skip test_a.py::A::test_skip, skip test_a.py::test_x"},
		{"pytest", strings.Replace(pytest, "1 passed", "2 passed", 1), ""},
		{"tap", tap, "fail sums > adds, skip sums > later, pass sums > fine"},
	} {
		var got []string
		for _, test := range stack.ReadOutput(outputparser.ToolOutput{Format: c.format, Tests: true, Stdout: []byte(c.output), Exit: 1}).Tests {
			got = append(got, test.State+" "+strings.TrimPrefix(test.String(), "."))
		}
		if d := cmp.Diff(c.want, strings.Join(got, ", ")); d != "" {
			t.Errorf("%s: %s", c.format, d)
		}
	}
}
