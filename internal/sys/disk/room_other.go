//go:build !linux

package disk

// Room returns false: the state of the disk is unknown on this system.
func Room(string) (full, readOnly bool) { return false, false }
