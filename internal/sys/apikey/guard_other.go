//go:build !linux

package apikey

// Guard does nothing here.
func Guard() {}
