//go:build !linux

package cgroup

// FindParent returns an error: control groups exist only on Linux.
func FindParent() (*ControlGroupParent, error) { return nil, errNone }

// removeDeadGroups does nothing.
func (p *ControlGroupParent) removeDeadGroups() int { return 0 }

// killAll does nothing.
func (g *ControlGroup) killAll() bool { return true }

// Remove does nothing.
func (g *ControlGroup) Remove() error { return nil }
