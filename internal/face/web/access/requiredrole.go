package access

import "slices"

// MinimumRole returns the minimum role for a command line. Unlisted commands are for admins.
func MinimumRole(args []string) Role {
	if len(args) == 0 {
		return Admin
	}
	if role := minimumRoleOfForm(args[0], args[1:]); role != "" {
		return role
	}
	for _, role := range []Role{Read, Answer, Steer} {
		if slices.Contains(commands[role], args[0]) {
			return role
		}
	}
	return Admin
}

// commands are the commands that a role may run, besides those of the roles before it. None
// starts a run or changes settings. A command that continues a run stays within the agreed budget
// and target, and an answer agrees to the run's request, such as to land.
var commands = map[Role][]string{ //nolint:gochecknoglobals // never written
	Read:   {"status", "logs", "diff", "cost", "explain"},
	Answer: {"answer", "reject", "sign-off"},
	Steer:  {"tell", "retry", "revise", "review", "stop", "resume", "approve"},
}

// allowedCommandLine is a command line with only these flags before "--", each with a value or not.
type allowedCommandLine struct {
	command string
	flags   map[string]bool // whether a value follows; with --run, it must name a run
	role    Role
}

// commandForms returns the restricted forms of commands that a lower role may run.
func commandForms() []allowedCommandLine {
	return []allowedCommandLine{
		{"approve", map[string]bool{"--run": true, "--json": false, "--why": true}, Answer}, // another plan needs the role Steer
		{"review", map[string]bool{"--run": true, "--json": false}, Read},
		{"review", map[string]bool{"--run": true, "--json": false, "--viewed": true, "--unviewed": true}, Answer}, // a person's own marks
		{"plan", map[string]bool{"--run": true, "--json": false, "--markdown": false, "--diff": false}, Read},
		{"plan", map[string]bool{"--run": true, "--json": false, "--diff": false, "--edited": true}, Steer},
		{"memory", map[string]bool{"list": false, "--json": false}, Read},
		{"rules", map[string]bool{"--json": false}, Read},
		{"models", map[string]bool{"--json": false}, Read},
		{"runs", map[string]bool{"--stats": false, "--json": false, "--since": true}, Read},
		{"check", map[string]bool{"--run": true, "--json": false, "--task": true, "--gates": true}, Steer},
	}
}

// minimumRoleOfForm returns the minimum role for a form of a command; empty if no form matches.
func minimumRoleOfForm(command string, args []string) Role {
	for _, f := range commandForms() {
		if f.command == command && f.matchesArgs(args) {
			return f.role
		}
	}
	return ""
}

func (f allowedCommandLine) matchesArgs(args []string) bool {
	_, ofRun := f.flags["--run"]
	if !ofRun && slices.Contains(args, "--") { // it accepts none, or is not about a run, as nexus models
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
