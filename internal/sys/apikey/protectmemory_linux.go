package apikey

import "golang.org/x/sys/unix"

// ProtectMemory prevents other processes of the same user from reading this one's memory and environment,
// and keeps its memory out of core files. Programs that it starts are not affected.
func ProtectMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) } // errors are ignored: the sandbox is the actual protection
