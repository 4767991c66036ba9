//go:build !linux

package cgroup

// Find returns an error: control groups exist only on Linux.
func Find() (*Parent, error) { return nil, errNone }

// sweep does nothing.
func (p *Parent) sweep() int { return 0 }

// kill does nothing.
func (g *Group) kill() bool { return true }

// Remove does nothing.
func (g *Group) Remove() error { return nil }
