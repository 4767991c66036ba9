package stack

import (
	"slices"
	"strings"
	"testing"
)

// TestSelectionOf knows what a command runs, and knows nothing where an option may mean anything.
func TestSelectionOf(t *testing.T) {
	whole := func(line string) TestSelection {
		s, ok := ParseTestSelection(strings.Fields(line))
		if !ok || !s.IncludesAllTests() {
			t.Fatalf("%s: %+v, %v", line, s, ok)
		}
		return s
	}
	names := []string{"m.TestAdd", "m.TestAdd/small", "m.TestAdd/big", "m.TestAddMore", "m/v1.2.TestMul", "m.ExampleAdd"}
	python := []string{"tests/test_a.py::T::test_x", "tests/test_a.py::test_y[1]", "tests/test_a.py::test_y[2]", "tests/test_ab.py::test_z"}
	dotted := []string{"tests.test_a.T.test_x", "tests.test_a.T.test_y", "tests.test_ab.T.test_z"}
	for _, c := range []struct {
		gate, some string
		names      []string
		want       string // what runs, or - where that cannot be told
	}{
		{"go test -json -count=1 ./...", "go test -run ^TestAdd$ ./...", names, "m.TestAdd m.TestAdd/small m.TestAdd/big"},
		{"go test -json -count=1 ./...", "go test -v -count 1 -run=^TestAdd$/^big$ ./...", names, "m.TestAdd/big"},
		{"go test -json -count=1 ./...", "go test -run TestAdd ./...", names, "m.TestAdd m.TestAdd/small m.TestAdd/big m.TestAddMore"},
		{"go test -json -count=1 ./...", "go test -run ^(TestMul|ExampleAdd)$ ./...", names, "m/v1.2.TestMul m.ExampleAdd"},
		{"go test -json -count=1 ./...", "go test -run ^TestNone$ ./...", names, ""},
		{"go test -json -count=1 ./...", "go test -run ^TestAdd$", names, "-"},
		{"go test -json -count=1 ./...", "go test -run ^TestAdd$ ./v1.2", names, "-"},
		{"go test -json -count=1 ./...", "go test -run ^Test[A/]dd$ ./...", names, "-"},
		{"go test -json -count=1 ./...", "go test -run ( ./...", names, "-"},
		{"go test -json -count=1 ./...", "go test -race -run ^TestAdd$ ./...", names, "-"},
		{"go test -race -json ./...", "go test -race -run ^TestMul$ ./...", names, "m/v1.2.TestMul"},
		{"go test -json -count=1 ./...", "go test -count=2 -run ^TestAdd$ ./...", names, "-"},
		{"go test -json -count=1 ./...", "go test -tags x -run ^TestAdd$ ./...", names, "-"},
		{"go test -json -count=1 ./...", "go test -run", names, "-"},
		{"go test -json -count=1 ./...", "go vet ./...", names, "-"},
		{"go test -json -failfast ./...", "go test -run ^TestAdd$ ./...", names, "-"},
		{"pytest -v", "pytest -x tests/test_a.py", python, "-"},
		{"python3 -m unittest discover -v", "python3 -m unittest -f tests.test_a", dotted, "-"},
		{"pytest -p no:cacheprovider", "pytest -q tests/test_a.py", python, "tests/test_a.py::T::test_x tests/test_a.py::test_y[1] tests/test_a.py::test_y[2]"},
		{"pytest -v", "python3 -m pytest ./tests/test_a.py::test_y", python, "tests/test_a.py::test_y[1] tests/test_a.py::test_y[2]"},
		{"pytest -v", "pytest tests", python, strings.Join(python, " ")},
		{"pytest -v", "pytest tests/test_a.py tests/test_none.py", python, "-"},
		{"pytest -v", "pytest -k x tests/test_a.py", python, "-"},
		{"uv run --no-sync pytest -v", "pytest tests/test_a.py", python, "-"},
		{"uv run --no-sync pytest -v", "uv run --no-sync pytest tests/test_ab.py", python, "tests/test_ab.py::test_z"},
		{"python3 -m unittest discover -v", "python3 -m unittest tests.test_a", dotted, "tests.test_a.T.test_x tests.test_a.T.test_y"},
		{"python3 -m unittest discover -v", "python -m unittest -v tests/test_ab.py", dotted, "tests.test_ab.T.test_z"},
		{"python3 -m unittest discover -v", "python3 -m unittest discover tests", dotted, "-"},
		{"python3 -m unittest discover -v", "python3 -m unittest -k x tests.test_a", dotted, "-"},
	} {
		got := "-"
		if some, ok := ParseTestSelection(strings.Fields(c.some)); ok && whole(c.gate).HasSameTestBehaviour(some) {
			if picked, ok := some.PickTests(c.names); ok {
				got = strings.Join(picked, " ")
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.some, got, c.want)
		}
	}
}

// FuzzSelectionOf: what a selection picks are names that it was given, each once.
func FuzzSelectionOf(f *testing.F) {
	for _, line := range []string{"go test -run ^TestA$ ./...", "go test -run (", "pytest -p", "pytest a.py::b", "python3 -m unittest", "python3 -m unittest discover", "go test -run TestA/b ./..."} {
		f.Add(line, "m.TestA\nm.TestA/b\na.py::b\na.b.c")
	}
	f.Fuzz(func(t *testing.T, line, names string) {
		all := slices.Compact(slices.Sorted(slices.Values(strings.Split(names, "\n"))))
		s, ok := ParseTestSelection(strings.Fields(line))
		if !ok {
			return
		}
		picked, ok := s.PickTests(all)
		if !ok {
			return
		}
		for _, name := range picked {
			if !slices.Contains(all, name) {
				t.Errorf("%q picks %q", line, name)
			}
		}
	})
}
