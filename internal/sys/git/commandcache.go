package git

import (
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
)

// CommandCache caches git's output about objects, which never changes because object names are
// hashes: a run repeats the same commands on the same trees many times, and each is a process. It
// is for one repository, and may be used by many goroutines. A nil one caches nothing.
type CommandCache struct {
	id   func(string) bool          // reports whether a name is a full object name
	said *lru.Cache[string, string] // output by arguments
}

const (
	maxRemembered     = 512      // maximum number of outputs
	maxRememberedSize = 64 << 10 // size limit of a cached output, in bytes
)

// newCommandCache returns an empty cache; id reports whether a name is a full object name.
func newCommandCache(id func(string) bool) *CommandCache {
	said, _ := lru.New[string, string](maxRemembered) // fails only for sizes below one
	return &CommandCache{id, said}
}

// cachedOutput returns the cached output of a command.
func (m *CommandCache) cachedOutput(args []string) (string, bool) {
	if m == nil || !m.isCacheable(args) {
		return "", false
	}
	return m.said.Get(strings.Join(args, "\x00"))
}

// storeOutput caches the output of a command, if the command is cacheable.
func (m *CommandCache) storeOutput(args []string, out string) {
	if m != nil && len(out) <= maxRememberedSize && m.isCacheable(args) {
		m.said.Add(strings.Join(args, "\x00"), out)
	}
}

// isCacheable reports whether a command reads only objects that are named by full object names, so
// that no ref affects its output.
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
