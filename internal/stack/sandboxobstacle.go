package stack

import (
	"regexp"
	"strings"
)

// SandboxObstacle is a property of the machine or sandbox that keeps a command from checking a tree,
// whatever the tree contains.
type SandboxObstacle struct {
	Name string   // the missing thing, in words
	Cure string   // the remedy for a person
	Says []string // patterns of the lines that tools print about it
}

// SandboxObstacles returns the known obstacles in a sandbox: no repository, no network, a read-only
// file system, a hidden home. It is the only table of these patterns.
func SandboxObstacles() []SandboxObstacle {
	return []SandboxObstacle{
		{"no git repository", "Give the gate a command that works without git's history.", []string{
			`(?i)\bnot a git repository\b`, `^error obtaining VCS status: exit status 128`, `(?i)\bthis operation must be run in a work tree\b`,
		}},
		{"modules that are not on this machine", "Run go mod download in DIR, in your own checkout.", []string{
			`\bmodule lookup disabled by GOPROXY=off\b`, `\bimport lookup disabled by -mod=`,
		}},
		{"packages that are not on this machine", "Install the packages in your own checkout, from which they are taken: the command of the lock file in DIR.", []string{
			`\bENOTCACHED\b`, `\brequired package information is missing from the local cache\b`, `\bno matching package named .* found\b`, "(?i)you're using offline mode",
		}},
		{"no network", "Fetch what the gate needs before the run, or allow its hosts: network.gates and network.mode = \"list\".", NoNetworkPatterns()},
		{"a file system that is read only", "Let the command write below its own directory, or in $TMPDIR.", []string{
			`(?i)\bread-only file system\b`, `\bEROFS\b`,
		}},
		{"a path that the sandbox hides", "Let the command use paths of the repository, or show the path: sandbox.read.", []string{
			`(?i)\b(?:permission denied|operation not permitted|EACCES|EPERM)\b.*['" :](?:/root|/home/[^/\s'"]+)(?:/|['"\s:]|$)`,
			`(?:^|['" :])(?:/root|/home/[^/\s'":]+)/[^\s'":]*['"]?: (?:[Pp]ermission denied|[Oo]peration not permitted)`,
		}},
		{"no identity for commits", "Let the test set user.name and user.email in the repository that it makes.", []string{
			`^\*\*\* Please tell me who you are\.`, `\b[Aa]uthor identity unknown\b`, `\bunable to auto-detect email address\b`, `\bempty ident name\b`,
		}},
		{"no display", "Run the command under xvfb-run, or without a window.", []string{
			`(?i)\b(?:cannot|can't|could not|unable to) (?:open|connect to) (?:the )?(?:X )?display\b`, `\bno display name and no \$DISPLAY\b`, `\bMissing X server or \$DISPLAY\b`,
		}},
	}
}

// ObstacleIn returns the first obstacle that a text of any number of lines mentions, and the
// line.
func ObstacleIn(text string) (o SandboxObstacle, line string, ok bool) {
	for _, o := range SandboxObstacles() {
		re := regexp.MustCompile(strings.Join(o.Says, "|"))
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); len(line) < longestLine && re.MatchString(line) {
				return o, line, true
			}
		}
	}
	return SandboxObstacle{}, "", false
}

// longestLine limits the length of the lines that are checked: tools print such messages in
// short lines.
const longestLine = 2000

// NoNetworkPatterns returns patterns of the messages of name servers, the kernel and registry
// clients without a network.
func NoNetworkPatterns() []string {
	return append([]string{
		`Could not resolve host`, `[Tt]emporary failure in name resolution`, `EAI_AGAIN`, `getaddrinfo ENOTFOUND`, `Name or service not known`, `nodename nor servname`,
		`Network is unreachable`, `network is unreachable`, `UnknownHostException`, `unable to resolve host address`, `dial tcp: lookup \S+`,
	}, MergedEnvironment().Unreached...)
}
