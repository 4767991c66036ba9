package stack

// CoverageCommand is a command that runs the tests of a step and prints their coverage, and nothing else,
// to standard output. If a tool is missing it prints which one and exits with 127: the coverage
// is then unknown.
type CoverageCommand struct {
	If     string   // see [PackageCheckCommand.If]
	Name   string   // name of the measuring tool for people
	Args   []string // {run} is replaced by the runner's words
	Format string   // format of package stack/outputparser: lcov, cobertura, jacoco or go-cover
}

// coverageShellCommand returns a shell command that runs a line. In it "$@" are the remaining words, $d is
// a private directory, lack prints which tool is missing and how to install it, and show prints
// a report.
func coverageShellCommand(line string, rest ...string) []string {
	const begin = `lack() { echo "sh: $1: not there: $2" >&2; exit 127; }
show() { [ $# -gt 0 ] && [ -s "$1" ] || { echo "no report of coverage was written" >&2; exit 1; }; cat "$@"; }
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
`
	return append([]string{"sh", "-c", begin + line, "sh"}, rest...)
}

// coverageIfToolMissing returns the Cover for a missing tool.
func coverageIfToolMissing(cond, tool, from string) CoverageCommand {
	return CoverageCommand{If: cond, Name: tool, Format: "lcov", Args: coverageShellCommand(`lack "$1" "$2"`, tool, from)}
}

// commandWithProbe returns a command that writes a probe to a private directory, $d, and runs the
// remaining words by the given line.
func commandWithProbe(line, probe string, rest ...string) []string {
	return append([]string{"sh", "-c", `d=$(mktemp -d) && printf '%s\n' "$1" >"$d/nexus_open.py" && cp "$d/nexus_open.py" "$d/nexus_open.cjs" && shift && ` + line, "sh", probe}, rest...)
}
