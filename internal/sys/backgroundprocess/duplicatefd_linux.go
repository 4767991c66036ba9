package backgroundprocess

import "golang.org/x/sys/unix"

// duplicateDescriptor makes the descriptor fd a duplicate of from.
func duplicateDescriptor(from, fd int) error { return unix.Dup3(from, fd, 0) }
