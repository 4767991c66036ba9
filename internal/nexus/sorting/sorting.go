// Package sorting sorts with a comparison, by one body for all types: each type that
// [slices.SortStableFunc] sorts has a copy of its own in the program, of some 9 KB.
package sorting

import (
	"iter"
	"reflect"
	"slices"
	"sort"
)

// By sorts a list. What compares equal keeps its order.
func By[E any](list []E, compare func(a, b E) int) {
	stable(list, len(list), func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// stable is [By] without what has to be copied for each type.
func stable(list any, length int, less func(i, j int) bool) {
	sort.Stable(positions{length: length, less: less, swap: reflect.Swapper(list)})
}

// Collect returns what a sequence yields, as [By] sorts it; nil if it yields nothing.
func Collect[E any](seq iter.Seq[E], compare func(a, b E) int) []E {
	list := slices.Collect(seq)
	By(list, compare)
	return list
}

// positions is what is sorted, as its places.
type positions struct {
	length int
	less   func(i, j int) bool
	swap   func(i, j int)
}

func (p positions) Len() int           { return p.length }
func (p positions) Less(i, j int) bool { return p.less(i, j) }
func (p positions) Swap(i, j int)      { p.swap(i, j) }
