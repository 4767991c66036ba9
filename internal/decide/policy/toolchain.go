package policy

import (
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/builds"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/place"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// paths and runs are the judgement as those see it who judge programs that
// build.
type (
	paths struct{ j *judgement }
	runs  struct{ j *judgement }
)

// Reads implements [builds.Paths].
func (p paths) Reads(words []shell.Word) { p.j.reads(words) }

// Writes implements [builds.Paths].
func (p paths) Writes(words []shell.Word) { p.j.writes(words) }

// Own implements [builds.Paths].
func (p paths) Own(w shell.Word) bool {
	at, name := p.j.where(w)
	return !w.Dynamic && !w.Glob && w.Text != "" && at == place.Tree && !strings.HasPrefix(w.Text, "-") && !strings.ContainsAny(w.Text, "=:@~") && Path(name, true).Allowed()
}

// Ask implements [builds.Runs].
func (r runs) Ask(rule, reason string) { r.j.add(Ask, rule, reason) }

// Run implements [builds.Runs].
func (r runs) Run(argv []shell.Word) { r.j.simple(argv) }

// Script implements [builds.Runs].
func (r runs) Script(argv []shell.Word) { r.j.program(argv) }

// Entry implements [builds.Runs].
func (r runs) Entry(argv []shell.Word) {
	r.j.own(argv)
	options, operands := shell.SplitOptions(argv[1:])
	if shell.HasOption(options, []string{"--exec", "--eval", "-e", "--command"}) {
		r.j.add(Ask, "code.inline", "an option of "+argv[0].Text+" may run something else")
	}
	if len(operands) > 0 && builds.Leaves(operands[0].Text) {
		r.j.add(Ask, "net.send", "it says that something leaves the machine")
	}
	r.j.writes(shell.Literals(operands))
}

// Special implements [builds.Runs].
func (r runs) Special(name string) bool { return r.j.special(name) != nil }

// Input implements [builds.Runs].
func (r runs) Input() (string, bool) { return r.j.input, r.j.given }

// carried returns the well-known program that a tree carries along at a path,
// such as that of a virtual environment; empty for the tree's own programs.
func (j *judgement) carried(w shell.Word) string {
	at, p := j.where(w)
	if at != place.Tree {
		return ""
	}
	switch dir, name := path.Split(p); {
	case name == "gradlew" || name == "mvnw":
		return map[string]string{"gradlew": "gradle", "mvnw": "mvn"}[name]
	case dir == "node_modules/.bin/" || strings.HasSuffix(dir, "venv/bin/") || strings.HasSuffix(dir, "env/bin/") || dir == "vendor/bin/":
		if name == "pip" || name == "pip3" || strings.HasPrefix(name, "python") || name == "npm" || name == "npx" || name == "node" || name == "tsx" || name == "ts-node" {
			return strings.TrimRight(name, ".0123456789")
		}
	}
	return ""
}
