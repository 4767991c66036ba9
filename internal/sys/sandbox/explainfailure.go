package sandbox

import (
	"regexp"
	"strings"
)

// boxErrorExplanation is an error that programs print because of the box, and what it means.
type boxErrorExplanation struct{ pattern, text string }

// boxErrors are the errors besides those about the network, in the words of programs.
func boxErrors() []boxErrorExplanation {
	return []boxErrorExplanation{
		{
			`(?i)cannot connect to the docker daemon|docker(?:\.sock|: not found|: command not found)|podman.*(?:permission denied|not permitted)`,
			"no container engine here: use programs that are installed, and servers that you start on localhost",
		},
		{
			`(?i)read-only file system|\bEROFS\b`,
			"the sandbox: only the worktree except its .git, /tmp and the home are writable; write there, and use git's commands for the repository",
		},
		{
			`(?i)sudo:|must be (?:run as )?root|are you root|superuser|\bptrace\b|(?:mount|chown|unshare|chroot|setcap|mknod|nsenter)\b.*(?:not permitted|permission denied)`,
			"no further rights here: run it with your own, and use what is installed",
		},
		{
			`/(?:home|root|etc|var|opt|srv)/\S*: (?:No such file or directory|Permission denied)`,
			"the sandbox shows the worktree, the system's programs, toolchains and caches of dependencies, and nothing else of the machine: use paths there",
		},
	}
}

// ExplainFailure returns a line that says what the box did not let a command do, and what to do
// instead, if the text is the output of a program that it stopped. It returns "" for other texts,
// and if nothing confines the command. An empty text is no output.
func (b *Box) ExplainFailure(c Command, text string) string {
	if b.Name() == string(ModeOff) {
		return ""
	}
	if c.Proxy == nil && isNetworkFailure(text) {
		return "[no network here: nothing can be downloaded, and no other host can be reached; use what is installed, or say in finish what is missing]"
	}
	if !strings.ContainsAny(text, " ") {
		return ""
	}
	for _, e := range boxErrors() {
		if regexp.MustCompile(e.pattern).MatchString(text) {
			return "[" + e.text + "]"
		}
	}
	return ""
}
