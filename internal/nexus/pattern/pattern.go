// Package pattern has regular expressions that wait until they are needed.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a regular expression that is compiled when it is used first. A command
// uses few of the hundreds that the program has, and each takes time and memory. It panics
// then if the text is none, so each needs a test that uses it.
func Lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
