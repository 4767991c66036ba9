//go:build !linux

package filewrite

// CheckSpace returns false: the state of the disk is unknown on this system.
func CheckSpace(string) (full, readOnly bool) { return false, false }
