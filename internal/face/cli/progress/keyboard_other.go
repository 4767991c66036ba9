//go:build !unix

package progress

import (
	"io"
)

// keyboard reports whether a person types input for this process.
func keyboard(io.Reader) bool { return true }
