// Package pattern provides regular expressions and tables that are built at first use.
package pattern

import (
	"regexp"
	"sync/atomic"
)

// LazyRegexp returns a regular expression that is compiled at its first use. A command uses few of
// the hundreds in the program, and each costs time and memory. An invalid expression panics
// at its first use, so each needs a test that uses it.
func LazyRegexp(text string) func() *regexp.Regexp {
	return OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// OnceValue returns a function that returns the result of f, which is called once, at the first
// use. It is safe for concurrent use, and all callers get the same result.
func OnceValue[T any](f func() *T) func() *T {
	var made atomic.Pointer[T]
	return func() *T {
		if made.Load() == nil {
			made.CompareAndSwap(nil, f())
		}
		return made.Load()
	}
}
