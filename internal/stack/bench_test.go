package stack

import "testing"

func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		AllStacks()
	}
}

// BenchmarkServesTests is asked for each file of a tree.
func BenchmarkServesTests(b *testing.B) {
	for b.Loop() {
		ServesTests("internal/work/gate/gate.go")
	}
}

// TestServesTestsIsCheap holds that the lists of all stacks are made once, and not
// for each file of a tree.
func TestServesTestsIsCheap(t *testing.T) {
	if n := testing.AllocsPerRun(20, func() { ServesTests("internal/work/gate/gate.go") }); n > 5 {
		t.Errorf("%v allocations for one file", n)
	}
	for file, is := range map[string]bool{
		"src/CalcTest.java": true, "Calc.java": false, "pkg/conftest.py": true, "a/conftest.pyi": false, "calc_spec.rb": true, "lib/calc_spec.exs": true, "Test.java": true,
	} {
		if ServesTests(file) != is {
			t.Errorf("%s serves tests: %v", file, !is)
		}
	}
}
