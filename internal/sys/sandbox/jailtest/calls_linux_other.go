//go:build linux && !amd64

package jailtest

func foreign() map[string]Call { return nil }

// Foreign returns the names of the calls of other numberings.
func Foreign() []string { return nil }
