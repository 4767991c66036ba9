//go:build !unix

package progress

import (
	"io"
)

// keyboard reports whether somebody types here for this process.
func keyboard(io.Reader) bool { return true }
