//go:build !linux

package disk

import "time"

// Born returns the zero time: creation times are unknown on this system.
func Born(string) time.Time { return time.Time{} }
