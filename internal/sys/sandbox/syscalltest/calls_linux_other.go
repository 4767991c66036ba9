//go:build linux && !amd64

package syscalltest

func foreignCalls() map[string]Syscall { return nil }

// ForeignCallNames returns the names of the calls of other numberings.
func ForeignCallNames() []string { return nil }
