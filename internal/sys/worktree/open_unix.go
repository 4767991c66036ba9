//go:build unix

package worktree

import "syscall"

// noFollow opens no link, and waits for nobody at a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
