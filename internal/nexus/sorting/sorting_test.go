package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sorting"
)

// item is what is sorted by its key; at says where it was.
type item struct {
	key, at int
	text    string
}

// TestBy compares with the sort of the standard library: the same order, with what is equal as it was.
func TestBy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 200 {
		list := make([]item, length)
		for i := range list {
			list[i] = item{key: random.IntN(1 + length/3), at: i, text: "x"}
		}
		byKey := func(a, b item) int { return cmp.Compare(a.key, b.key) }
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		if got := sorting.Collect(slices.Values(list), byKey); !slices.Equal(got, want) {
			t.Fatalf("collected of %d: %v, want %v", length, got, want)
		}
		sorting.By(list, byKey)
		if !slices.Equal(list, want) {
			t.Fatalf("sorted of %d: %v, want %v", length, list, want)
		}
	}
	if got := sorting.Collect(slices.Values([]item(nil)), func(a, b item) int { return 0 }); got != nil {
		t.Errorf("nothing is sorted to %v, want nil", got)
	}
}
