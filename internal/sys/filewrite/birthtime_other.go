//go:build !linux

package filewrite

import "time"

// BirthTime returns the zero time: creation times are unknown on this system.
func BirthTime(string) time.Time { return time.Time{} }
