//go:build !linux

package files

import "os"

// openFilePath returns the path of an open file, if the system knows it.
func openFilePath(*os.File) (string, bool) { return "", false }
