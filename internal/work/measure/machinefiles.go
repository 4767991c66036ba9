package measure

import (
	"io/fs"
	"os"
	"syscall"
)

// Machine is the files of this machine from its root. Opening one never waits:
// agents may have put a pipe where a file should be.
type Machine struct{}

// Open opens a file to read it.
func (Machine) Open(name string) (fs.File, error) {
	return os.OpenFile("/"+name, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // a package's description, of which only the licence is used
}
