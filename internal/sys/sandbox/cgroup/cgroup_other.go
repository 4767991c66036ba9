//go:build !linux

package cgroup

// Find finds nothing: there are control groups on Linux only.
func Find() (*Parent, error) { return nil, ErrNone }

// Sweep has nothing to do.
func (p *Parent) Sweep() int { return 0 }

// Kill has nobody to kill.
func (g *Group) Kill() bool { return true }

// Remove has nothing to remove.
func (g *Group) Remove() error { return nil }
