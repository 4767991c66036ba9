//go:build !linux

package proc

import (
	"os"
	"syscall"
	"time"
)

// OwnSession returns nil: it is supported only on Linux.
func OwnSession() *syscall.SysProcAttr { return nil }

// ExitOf returns the exit code.
func ExitOf(s *os.ProcessState) int { return s.ExitCode() }

// KillGroup kills the process.
func KillGroup(p *os.Process) { _ = p.Kill() }

// Init is unused on this system.
type Init int

// OpenInit returns an invalid Init.
func OpenInit(int, uint64) Init { return -1 }

// Kill does nothing.
func (Init) Kill() {}

// Wait returns true.
func (Init) Wait(time.Duration) bool { return true }

// KillTree does nothing: processes are identified only on Linux.
func KillTree(int, string, time.Duration) bool { return true }

// Sweep does nothing: processes are identified only on Linux.
func Sweep(string) (int, error) { return 0, nil }

// SweepAll does nothing, like Sweep.
func SweepAll(map[string]bool) (int, error) { return 0, nil }

// Left returns 0: processes are identified only on Linux.
func Left(string) int { return 0 }

// Free returns 0, unknown.
func Free(string) int64 { return 0 }

// Written returns 0, unknown.
func Written(string, time.Time, int64) int64 { return 0 }

// MachineMemory returns 0, unknown.
func MachineMemory() int64 { return 0 }

// Below returns no usage, unknown.
func Below(int, bool) Usage { return Usage{} }

// Available returns 0, unknown.
func Available() int64 { return 0 }

// Owned returns nil: processes are identified only on Linux.
func Owned(string) map[string]Usage { return nil }

// One returns false, unknown.
func One(int) (u Usage, ok bool) { return u, false }
