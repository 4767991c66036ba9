//go:build !linux

package disk

// Room knows nothing here.
func Room(string) (full, readOnly bool) { return false, false }
