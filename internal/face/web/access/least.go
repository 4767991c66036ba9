package access

import "slices"

// Least returns the least role that may run a command line. What is not listed
// is for admins.
func Least(args []string) Role {
	if len(args) == 0 {
		return Admin
	}
	for _, role := range []Role{Read, Answer, Steer} {
		if slices.Contains(commands[role], args[0]) {
			return role
		}
	}
	return Admin
}

// commands are the commands of the command line that a role may run, besides
// those of the roles before it. None starts a run or changes settings. One that
// continues a run stays within the budget and the target that were agreed to, and
// an answer agrees to what the run asked for, such as to land.
var commands = map[Role][]string{ //nolint:gochecknoglobals // never written
	Read:   {"status", "logs", "show", "diff", "evidence", "cost", "ps", "explain", "report"},
	Answer: {"answer", "approve", "reject", "sign-off"},
	Steer:  {"tell", "pause", "skip", "retry", "revise", "review", "stop", "resume"},
}
