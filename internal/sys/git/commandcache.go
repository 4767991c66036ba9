package git

import (
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
)

// CommandCache keeps what git said about objects, whose names say all of what they
// are: a run asks the same of the same trees many times, and each time is a
// process. It is for one repository, and may be used from many
// goroutines. A nil one keeps nothing.
type CommandCache struct {
	id   func(string) bool          // reports whether a name is the full one of an object
	said *lru.Cache[string, string] // by arguments
}

const (
	remembered = 512      // answers at most
	longest    = 64 << 10 // bytes of the longest that is kept
)

// newCommandCache returns an empty memory. Id reports whether a name is the full one of an
// object.
func newCommandCache(id func(string) bool) *CommandCache {
	said, _ := lru.New[string, string](remembered) // fails for sizes below one
	return &CommandCache{id, said}
}

// cachedOutput returns what git said when it was asked the same before.
func (m *CommandCache) cachedOutput(args []string) (string, bool) {
	if m == nil || !m.isCacheable(args) {
		return "", false
	}
	return m.said.Get(strings.Join(args, "\x00"))
}

// storeOutput remembers what git said, if it will say it again.
func (m *CommandCache) storeOutput(args []string, out string) {
	if m != nil && len(out) <= longest && m.isCacheable(args) {
		m.said.Add(strings.Join(args, "\x00"), out)
	}
}

// isCacheable reports whether a command reads objects alone, all of them by names
// of objects: no ref has a say in what it finds.
func (m *CommandCache) isCacheable(args []string) bool {
	if len(args) == 0 || !slices.Contains([]string{"cat-file", "diff-tree", "ls-tree", "rev-parse"}, args[0]) {
		return false
	}
	named, kind := false, args[0] == "cat-file"
	for _, a := range args[1:] {
		if a == "--" {
			break // paths follow
		}
		if strings.HasPrefix(a, "-") || kind && slices.Contains([]string{"blob", "commit", "tree"}, a) {
			continue
		}
		if end := strings.IndexAny(a, ":^"); end >= 0 {
			a = a[:end]
		}
		if !m.id(a) {
			return false
		}
		named = true
	}
	return named
}
