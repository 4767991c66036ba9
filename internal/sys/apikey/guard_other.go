//go:build !linux

package apikey

// Guard does nothing on this system.
func Guard() {}
