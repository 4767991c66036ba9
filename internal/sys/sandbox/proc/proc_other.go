//go:build !linux

package proc

import (
	"os"
	"syscall"
	"time"
)

// OwnSession changes nothing.
func OwnSession() *syscall.SysProcAttr { return nil }

// ExitOf returns the exit code.
func ExitOf(s *os.ProcessState) int { return s.ExitCode() }

// KillGroup kills the process.
func KillGroup(p *os.Process) { _ = p.Kill() }

// Init is nobody.
type Init int

// OpenInit finds nobody.
func OpenInit(int, uint64) Init { return -1 }

// Kill does nothing.
func (Init) Kill() {}

// Wait has nobody to wait for.
func (Init) Wait(time.Duration) bool { return true }

// KillTree kills nothing: processes are recognised on Linux only.
func KillTree(int, string, time.Duration) bool { return true }

// Sweep kills nothing where processes cannot be told apart by their marks.
func Sweep(string) (int, error) { return 0, nil }

// SweepAll kills nothing, as Sweep does not.
func SweepAll(map[string]bool) (int, error) { return 0, nil }

// Left counts nothing: processes are recognised on Linux only.
func Left(string) int { return 0 }

// Free is not known.
func Free(string) int64 { return 0 }

// Written is not known.
func Written(string, time.Time, int64) int64 { return 0 }

// MachineMemory is not known.
func MachineMemory() int64 { return 0 }

// Below is not known.
func Below(int, bool) Usage { return Usage{} }

// Available is not known.
func Available() int64 { return 0 }

// Owned finds nothing: processes are recognised on Linux only.
func Owned(string) map[string]Usage { return nil }

// One is not known.
func One(int) (u Usage, ok bool) { return u, false }
