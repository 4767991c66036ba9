// Package lists has what the standard library does with slices, with bodies that stay
// small where the program has a copy for each type.
package lists

// Without removes what drop reports from a list, in place, as [slices.DeleteFunc] does,
// whose copy for each type is four times as large. What is behind the result is zero.
func Without[E any](list []E, drop func(E) bool) []E {
	n := 0
	for _, e := range list {
		if !drop(e) {
			list[n] = e
			n++
		}
	}
	clear(list[n:])
	return list[:n]
}
