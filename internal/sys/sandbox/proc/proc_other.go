//go:build !linux

package proc

import (
	"os"
	"syscall"
	"time"
)

// NewSessionAttributes returns nil: it is supported only on Linux.
func NewSessionAttributes() *syscall.SysProcAttr { return nil }

// ShellExitCode returns the exit code.
func ShellExitCode(s *os.ProcessState) int { return s.ExitCode() }

// KillGroup kills the process.
func KillGroup(p *os.Process) { _ = p.Kill() }

// BoxInitProcess is unused on this system.
type BoxInitProcess int

// OpenInitProcess returns an invalid Init.
func OpenInitProcess(int, uint64) BoxInitProcess { return -1 }

// Kill does nothing.
func (BoxInitProcess) Kill() {}

// Wait returns true.
func (BoxInitProcess) Wait(time.Duration) bool { return true }

// KillCommandProcesses does nothing: processes are identified only on Linux.
func KillCommandProcesses(int, string, time.Duration) bool { return true }

// KillProcessesOf does nothing: processes are identified only on Linux.
func KillProcessesOf(string) (int, error) { return 0, nil }

// KillProcessesOfAll does nothing, like Sweep.
func KillProcessesOfAll(map[string]bool) (int, error) { return 0, nil }

// CountProcessesOf returns 0: processes are identified only on Linux.
func CountProcessesOf(string) int { return 0 }

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
