// Package jailtest makes system calls that no command in a sandbox may make,
// with arguments that do nothing where they are allowed. Tests run their own
// binary again to make one: what decides is whether the kernel looked at it.
package jailtest

// Arg is the first argument of a test binary that is to make the call that
// its second names.
const Arg = "__call"

// Exit codes of a call.
const (
	Made    = 0  // the kernel did it, or looked at its arguments
	Refused = 77 // it was refused, or is unknown
	NoCall  = 78 // there is no call of that name here
)
