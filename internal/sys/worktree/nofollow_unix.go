//go:build unix

package worktree

import "syscall"

// noFollow are flags that open no link, and do not wait for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
