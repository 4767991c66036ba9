package background

import "golang.org/x/sys/unix"

// duplicateFD makes the descriptor fd a duplicate of from.
func duplicateFD(from, fd int) error { return unix.Dup3(from, fd, 0) }
