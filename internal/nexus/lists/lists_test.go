package lists_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus/lists"
)

// TestWithout compares with the standard library: the result, and what is behind it.
func TestWithout(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 60 {
		list := make([]int, length)
		for i := range list {
			list[i] = 1 + random.IntN(5)
		}
		drop := func(n int) bool { return n == 2 || n == 4 }
		other := slices.Clone(list)
		want := slices.DeleteFunc(other, drop)
		got := lists.Without(list, drop)
		if !slices.Equal(got, want) || !slices.Equal(list, other) {
			t.Fatalf("%v and %v, want %v and %v", got, list, want, other)
		}
	}
	if got := lists.Without(nil, func(int) bool { return true }); got != nil {
		t.Errorf("nothing became %v, want nil", got)
	}
}
