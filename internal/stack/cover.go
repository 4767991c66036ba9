package stack

// Cover is a command that runs the tests of a step and prints what they go
// through, and nothing else, on standard output. What it lacks, it says, and
// exits with 127: then nobody knows.
type Cover struct {
	If     string   // see [Step.If]
	Name   string   // what measures, as people call it
	Args   []string // {run} stands for the runner's words
	Format string   // of stack/read: lcov, cobertura, jacoco or go-cover
}

// measured is a shell that runs a line, in which "$@" are the rest of the words,
// $d is a directory of its own, lack says which tool is missing and how it is
// had, and show prints a report.
func measured(line string, rest ...string) []string {
	const begin = `lack() { echo "sh: $1: not there: $2" >&2; exit 127; }
show() { [ $# -gt 0 ] && [ -s "$1" ] || { echo "no report of coverage was written" >&2; exit 1; }; cat "$@"; }
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
`
	return append([]string{"sh", "-c", begin + line, "sh"}, rest...)
}

// lacking is a row for which a tool is missing.
func lacking(cond, tool, from string) Cover {
	return Cover{If: cond, Name: tool, Format: "lcov", Args: measured(`lack "$1" "$2"`, tool, from)}
}

// beside is a command that writes a probe to a directory of its own, which it
// calls $d, and runs the rest as the line says.
func beside(line, probe string, rest ...string) []string {
	return append([]string{"sh", "-c", `d=$(mktemp -d) && printf '%s\n' "$1" >"$d/nexus_open.py" && cp "$d/nexus_open.py" "$d/nexus_open.cjs" && shift && ` + line, "sh", probe}, rest...)
}
