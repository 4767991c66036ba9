package changemetrics

import (
	"io/fs"
	"os"
	"syscall"
)

// MachineFS gives access to the files of this machine from its root. Opening a file never
// blocks: agents may have put a pipe in its place.
type MachineFS struct{}

// Open opens a file for reading.
func (MachineFS) Open(name string) (fs.File, error) {
	return os.OpenFile("/"+name, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // a package's description, of which only the licence is used
}
