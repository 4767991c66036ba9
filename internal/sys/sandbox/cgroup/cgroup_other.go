//go:build !linux

package cgroup

// FindParent returns an error: control groups exist only on Linux.
func FindParent() (*GroupParent, error) { return nil, errNone }

// sweepDead does nothing.
func (p *GroupParent) sweepDead() int { return 0 }

// killAll does nothing.
func (g *ControlGroup) killAll() bool { return true }

// Remove does nothing.
func (g *ControlGroup) Remove() error { return nil }
