// Package pattern has regular expressions that wait until they are needed.
package pattern

import (
	"regexp"
	"sync/atomic"
)

// Lazy returns a regular expression that is compiled when it is used first. A command
// uses few of the hundreds that the program has, and each takes time and memory. It panics
// then if the text is none, so each needs a test that uses it. Many goroutines may use it:
// nothing depends on which of them was first.
func Lazy(text string) func() *regexp.Regexp {
	var made atomic.Pointer[regexp.Regexp]
	return func() *regexp.Regexp {
		if made.Load() == nil {
			made.CompareAndSwap(nil, regexp.MustCompile(text))
		}
		return made.Load()
	}
}
