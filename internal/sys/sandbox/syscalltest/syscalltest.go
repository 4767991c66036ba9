// Package syscalltest makes system calls that are forbidden in a sandbox, with arguments without
// effect if they are allowed. Tests run their own binary again to make one, and check whether the
// kernel handled it.
package syscalltest

// CallArg is the first argument of a test binary that makes the call named by the second one.
const CallArg = "__call"

// Exit codes of a call.
const (
	CallMade    = 0  // the kernel executed it, or checked its arguments
	CallRefused = 77 // it was refused, or is unknown
	CallUnknown = 78 // there is no call of that name on this system
)
