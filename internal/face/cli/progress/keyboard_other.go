//go:build !unix

package progress

import (
	"io"
)

// hasKeyboard reports whether a person types input for this process.
func hasKeyboard(io.Reader) bool { return true }
