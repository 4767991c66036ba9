// Package files reads, writes and searches the files of a worktree for an agent. It stays in
// the tree whatever links the tree contains, does not touch files that [policy.JudgePath] and
// .nexusignore protect, under any name, keeps the format of changed files (encoding, byte
// order mark, line endings), and informs the agent of others' changes since it read a file.
//
// A walk sees a tree as git does: without .git, without the files that the tree's own
// .gitignore files ignore, and without following links. Files in .nexusignore, which has the
// same syntax, are hidden from agents completely, and so are files with secrets, by name or by
// content ([HiddenPathRules]). Gates are no agents, and see all of it. A search is faster with
// ripgrep; its result is the same without.
package files

import (
	"fmt"
	"os"
	"sync/atomic"
)

// MaxAnswer limits the bytes of an answer for a model.
const MaxAnswer = 30_000

// AgentTree is a worktree as one agent sees it. It may be used by many goroutines.
type AgentTree struct {
	Dir    string
	Root   *os.Root // Dir, opened
	Writes bool     // false: the tree is read-only
	// returns why a file may not be written though others may; nil: all may
	Rule   func(name string) error
	Hidden HiddenPathRules // files that are hidden from agents
	Caches []string        // directories outside that may be read; see [AgentTree.TreeForPath]
	apart  bool            // it is one of the caches, and names include its directory
	seen   *readLineHistory
	beside *openCacheDirs
	top    atomic.Pointer[os.File] // Root's directory, opened on first use
}

// NewAgentTree returns a tree of which the agent has read nothing.
func NewAgentTree(dir string, root *os.Root) *AgentTree {
	return &AgentTree{Dir: dir, Root: root, seen: newReadHistory(), beside: &openCacheDirs{}}
}

// WithoutHistory returns the same tree for a reader that has read nothing of it. It is closed
// separately.
func (t *AgentTree) WithoutHistory() *AgentTree {
	n := NewAgentTree(t.Dir, t.Root)
	n.Writes, n.Rule, n.Hidden, n.Caches = t.Writes, t.Rule, t.Hidden, t.Caches
	return n
}

// FileRefusedError means that a file may not be accessed, with the rule.
type FileRefusedError struct{ Rule, Text string }

// Error implements error.
func (e *FileRefusedError) Error() string { return e.Text }

func newRefusal(rule, format string, args ...any) error {
	return &FileRefusedError{rule, fmt.Sprintf(format, args...)}
}
