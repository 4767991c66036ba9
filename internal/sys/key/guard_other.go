//go:build !linux

package key

// Guard does nothing here.
func Guard() {}
