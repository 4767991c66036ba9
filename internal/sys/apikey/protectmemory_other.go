//go:build !linux

package apikey

// ProtectMemory does nothing on this system.
func ProtectMemory() {}
