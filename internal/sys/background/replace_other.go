//go:build unix && !linux

package background

import "golang.org/x/sys/unix"

// replace makes the descriptor fd a duplicate of from.
func replace(from, fd int) error { return unix.Dup2(from, fd) }
