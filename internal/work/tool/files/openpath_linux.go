package files

import (
	"fmt"
	"os"
	"strings"
)

// openFilePath returns the path of an open file, according to the kernel.
func openFilePath(f *os.File) (string, bool) {
	at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return at, err == nil && strings.HasPrefix(at, "/") && !strings.HasSuffix(at, " (deleted)")
}
