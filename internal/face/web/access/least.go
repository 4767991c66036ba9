package access

import "slices"

// Least returns the least role that may run a command line. What is not listed
// is for admins.
func Least(args []string) Role {
	if len(args) == 0 {
		return Admin
	}
	if role := leastOf(args[0], args[1:]); role != "" {
		return role
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
	Answer: {"answer", "reject", "sign-off"},
	Steer:  {"tell", "interrupt", "pause", "unpause", "skip", "retry", "revise", "review", "stop", "resume", "approve"},
}

// form is a command line with no other flags than these before "--", each followed by a
// value or not.
type form struct {
	command string
	flags   map[string]bool // whether a value follows; with --run, it must name a run
	role    Role
}

// forms are what some commands may be run as by more persons than the command itself.
func forms() []form {
	return []form{
		{"approve", map[string]bool{"--run": true, "--json": false, "--why": true}, Answer}, // another plan is for who steers
		{"review", map[string]bool{"--run": true, "--json": false}, Read},
		{"review", map[string]bool{"--run": true, "--json": false, "--viewed": true, "--unviewed": true}, Answer}, // their own note
		{"plan", map[string]bool{"--run": true, "--json": false, "--markdown": false, "--diff": false}, Read},
		{"plan", map[string]bool{"--run": true, "--json": false, "--diff": false, "--edited": true}, Steer},
		{"memory", map[string]bool{"list": false, "--json": false}, Read},
		{"rules", map[string]bool{"--json": false}, Read},
		{"models", map[string]bool{"--json": false}, Read},
		{"history", map[string]bool{"--json": false, "--since": true}, Read},
		{"check", map[string]bool{"--run": true, "--json": false, "--task": true, "--gates": true}, Steer},
	}
}

// leastOf returns the role that a form of a command takes; empty where it is none.
func leastOf(command string, args []string) Role {
	for _, f := range forms() {
		if f.command == command && f.is(args) {
			return f.role
		}
	}
	return ""
}

func (f form) is(args []string) bool {
	_, ofRun := f.flags["--run"]
	if !ofRun && slices.Contains(args, "--") { // it takes none, or asks somebody else, as nexus models does
		return false
	}
	named := !ofRun
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		value, known := f.flags[args[i]]
		if !known {
			return false
		}
		named = named || args[i] == "--run"
		if value {
			i++
		}
	}
	return named
}
