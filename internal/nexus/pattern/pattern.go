// Package pattern has regular expressions, and tables, that wait until they are needed.
package pattern

import (
	"regexp"
	"sync/atomic"
)

// Lazy returns a regular expression that is compiled when it is used first. A command
// uses few of the hundreds that the program has, and each takes time and memory. It panics
// then if the text is none, so each needs a test that uses it.
func Lazy(text string) func() *regexp.Regexp {
	return Once(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Once returns what f makes when it is asked first. Many goroutines may ask: nothing
// depends on which of them was first, and all get the same.
func Once[T any](f func() *T) func() *T {
	var made atomic.Pointer[T]
	return func() *T {
		if made.Load() == nil {
			made.CompareAndSwap(nil, f())
		}
		return made.Load()
	}
}
