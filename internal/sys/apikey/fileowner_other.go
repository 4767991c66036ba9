//go:build !unix

package apikey

import (
	"io/fs"
	"os"
)

// isOwnedByUser is always true: the owner is unknown on this system, and the system's own rules apply.
func isOwnedByUser(fs.FileInfo) bool { return true }

func openFile(path string) (*os.File, error) { return os.Open(path) }
