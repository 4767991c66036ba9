package stack

import "testing"

func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		All()
	}
}

// BenchmarkServesTests is asked for each file of a tree.
func BenchmarkServesTests(b *testing.B) {
	for b.Loop() {
		ServesTests("internal/work/gate/gate.go")
	}
}
