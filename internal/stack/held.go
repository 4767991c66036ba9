package stack

import _ "embed"

// The probes: what runs beside the tests and says what is still open.
var (
	//go:embed probe/open.cjs
	nodeProbe string
	//go:embed probe/nexus_open.py
	pythonProbe string
)

// beside is a command that writes a probe to a directory of its own, which it
// calls $d, and runs the rest as the line says.
func beside(line, probe string, rest ...string) []string {
	return append([]string{"sh", "-c", `d=$(mktemp -d) && printf '%s\n' "$1" >"$d/nexus_open.py" && cp "$d/nexus_open.py" "$d/nexus_open.cjs" && shift && ` + line, "sh", probe}, rest...)
}

// inNode runs a command with the probe in each of its processes.
func inNode(rest ...string) []string {
	return beside(`NODE_OPTIONS="${NODE_OPTIONS:+$NODE_OPTIONS }--require=$d/nexus_open.cjs" exec "$@"`, nodeProbe, rest...)
}

// tested is a line with which node's own runner tells how a test ended.
const tested = `^\s*(?:not )?ok \d+ - |^\s*[\x{2714}\x{2716}] `

func jestHeld(cond string) Held {
	return Held{If: cond, Args: []string{"{run}", "jest", "--detectOpenHandles", "--forceExit"}, Format: "jest", Flag: "--forceExit"}
}

func mochaHeld(cond string) Held {
	return Held{If: cond, Args: inNode("{run}", "mocha", "--exit"), Format: "mocha", Flag: "--exit"}
}

func vitestHeld(cond string) Held {
	return Held{If: cond, Args: []string{"{run}", "vitest", "run", "--reporter=default", "--reporter=hanging-process", "--teardownTimeout=2000"}, Format: "vitest", Flag: "--teardownTimeout=1000"}
}

func nodeHeld(cond string) Held {
	return Held{If: cond, Args: inNode("node", "--test", "--test-force-exit", "--test-reporter=tap"), Format: "tap", Flag: "--test-force-exit", Told: tested}
}

// scriptHeld is how the script "test" of package.json is held, where it is one
// runner and nothing else.
func scriptHeld() []Held {
	return []Held{jestHeld("runs:test:jest$"), vitestHeld("runs:test:vitest$|runs:test:vitest_run$|runs:test:vitest_--run$"), mochaHeld("runs:test:mocha$"), nodeHeld("runs:test:node_--test$")}
}

func pytestHeld() []Held {
	return []Held{{Args: beside(`PYTHONPATH="$d${PYTHONPATH:+:$PYTHONPATH}" exec "$@" -p nexus_open`, pythonProbe, "{run}", "pytest", "-p", "no:cacheprovider")}}
}

func unittestHeld() []Held {
	return []Held{{Args: beside(`exec "$@" "$d/nexus_open.py" discover -v`, pythonProbe, "{run}", "python3")}}
}
