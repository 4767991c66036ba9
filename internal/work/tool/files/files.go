// Package files reads and writes the files of a worktree for an agent. It
// stays in the tree whatever links the tree holds, does not touch what
// [policy.Path] and .nexusignore protect, by whatever name it is called, keeps
// the form of what it changes, and tells the agent what others changed since
// it looked.
package files

import (
	"errors"
	"os"
)

// Most is how many bytes of an answer a model sees.
const Most = 30_000

// Tree is a worktree as one agent sees it. It may be used by many goroutines.
type Tree struct {
	Dir    string
	Root   *os.Root                // Dir, opened
	Writes bool                    // false: the tree is read-only
	Rule   func(name string) error // says why a file may not be written though others may; nil: all may
	seen   *seen
}

// New returns a tree that the agent has not looked at.
func New(dir string, root *os.Root) *Tree {
	return &Tree{Dir: dir, Root: root, seen: newSeen()}
}

// ErrReadOnly tells a role that it may not write.
var ErrReadOnly = errors.New("this role may only read; nothing was changed")
