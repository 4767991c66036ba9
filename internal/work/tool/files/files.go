// Package files reads, writes and searches the files of a worktree for an
// agent. It stays in the tree whatever links the tree holds, does not touch
// what [policy.JudgePath] and .nexusignore protect, by whatever name it is called,
// keeps the form of what it changes (encoding, byte order mark, ends of lines),
// and tells the agent what others changed since it looked.
//
// A walk sees a tree as git does: without .git, without what the tree's own
// .gitignore files leave out, and without following links. What .nexusignore
// files leave out, in the same language, is not for agents at all, and neither
// is what holds secrets, by name or by content ([HiddenRules]). Gates are no
// agents, and see all of it. A search is faster with ripgrep; its answer is the
// same without.
package files

import (
	"fmt"
	"os"
	"sync/atomic"
)

// MaxAnswer is how many bytes of an answer a model sees.
const MaxAnswer = 30_000

// Tree is a worktree as one agent sees it. It may be used by many goroutines.
type Tree struct {
	Dir    string
	Root   *os.Root                // Dir, opened
	Writes bool                    // false: the tree is read-only
	Rule   func(name string) error // says why a file may not be written though others may; nil: all may
	Hidden HiddenRules             // what agents are not shown
	Caches []string                // directories outside that may be read; see [Tree.At]
	apart  bool                    // it is one of those, and names are shown with where it lies
	seen   *readHistory
	beside *caches
	top    atomic.Pointer[os.File] // Root's directory, once it was needed
}

// New returns a tree that the agent has not looked at.
func New(dir string, root *os.Root) *Tree {
	return &Tree{Dir: dir, Root: root, seen: newSeen(), beside: &caches{}}
}

// WithoutHistory returns the same tree for somebody who has not looked at it. It is closed by
// itself.
func (t *Tree) WithoutHistory() *Tree {
	n := New(t.Dir, t.Root)
	n.Writes, n.Rule, n.Hidden, n.Caches = t.Writes, t.Rule, t.Hidden, t.Caches
	return n
}

// RefusedError says that a file may not be touched, and by which rule.
type RefusedError struct{ Rule, Text string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Text }

func refuse(rule, format string, args ...any) error {
	return &RefusedError{rule, fmt.Sprintf(format, args...)}
}
