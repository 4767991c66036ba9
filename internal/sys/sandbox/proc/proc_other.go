//go:build !linux

package proc

import (
	"os"
	"syscall"
	"time"
)

// SetSession returns nil: it is supported only on Linux.
func SetSession() *syscall.SysProcAttr { return nil }

// ShellExitCode returns the exit code.
func ShellExitCode(s *os.ProcessState) int { return s.ExitCode() }

// KillGroup kills the process.
func KillGroup(p *os.Process) { _ = p.Kill() }

// InitProcess is unused on this system.
type InitProcess int

// OpenInit returns an invalid Init.
func OpenInit(int, uint64) InitProcess { return -1 }

// Kill does nothing.
func (InitProcess) Kill() {}

// Wait returns true.
func (InitProcess) Wait(time.Duration) bool { return true }

// KillTree does nothing: processes are identified only on Linux.
func KillTree(int, string, time.Duration) bool { return true }

// KillOwned does nothing: processes are identified only on Linux.
func KillOwned(string) (int, error) { return 0, nil }

// KillOwnedByAll does nothing, like Sweep.
func KillOwnedByAll(map[string]bool) (int, error) { return 0, nil }

// CountOwned returns 0: processes are identified only on Linux.
func CountOwned(string) int { return 0 }

// FreeDiskBytes returns 0, unknown.
func FreeDiskBytes(string) int64 { return 0 }

// WrittenBytes returns 0, unknown.
func WrittenBytes(string, time.Time, int64) int64 { return 0 }

// MachineMemory returns 0, unknown.
func MachineMemory() int64 { return 0 }

// DescendantUsage returns no usage, unknown.
func DescendantUsage(int, bool) ResourceUsage { return ResourceUsage{} }

// AvailableMemory returns 0, unknown.
func AvailableMemory() int64 { return 0 }

// UsageByOwner returns nil: processes are identified only on Linux.
func UsageByOwner(string) map[string]ResourceUsage { return nil }

// ProcessUsage returns false, unknown.
func ProcessUsage(int) (u ResourceUsage, ok bool) { return u, false }
