//go:build unix && !linux

package background

import "golang.org/x/sys/unix"

// duplicateFD makes the descriptor fd a duplicate of from.
func duplicateFD(from, fd int) error { return unix.Dup2(from, fd) }
