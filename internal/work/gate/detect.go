package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/stack"
)

// Detect returns the gates of a tree in the order in which they judge: those
// of its Go code and of the stacks in [stack.Table], each replaced or switched
// off by the configuration, then the configuration's own by name. It only looks
// at marker files.
func Detect(dir string, c config.Gates) ([]Gate, error) {
	gates := goGates(dir)
	var used []string
	for _, g := range gates {
		used = append(used, g.Name)
	}
	for _, f := range stack.Find(dir, used...) {
		gates = append(gates, Gate{Name: f.Name, Args: f.Args, Dir: f.Dir, Format: f.Format, Tests: f.Tests, Reports: f.Reports})
	}
	for _, name := range steps() {
		command, set := c.Commands[name]
		if !set {
			continue
		}
		// The project's own command stands for all packages, and for all linting.
		gates = slices.DeleteFunc(gates, func(g Gate) bool { return Step(g.Name) == name })
		if command != "" {
			gates = append(gates, fromLine(name, command))
		}
	}
	var own []string
	for name := range c.Commands {
		own = append(own, name)
	}
	slices.Sort(own)
	for _, name := range own {
		if slices.Contains(steps(), name) {
			continue
		}
		gates = slices.DeleteFunc(gates, func(g Gate) bool { return g.Name == name })
		if command := c.Commands[name]; command != "" {
			gates = append(gates, fromLine(name, command))
		}
	}
	rank := append(slices.Clone(c.Order), "build", "type", "lint", "golangci", "format", "test")
	place := func(g Gate) int {
		if i := slices.Index(rank, g.Name); i >= 0 {
			return i
		}
		if i := slices.Index(rank, Step(g.Name)); i >= 0 && g.Dir != "" {
			return i
		}
		return len(rank)
	}
	slices.SortStableFunc(gates, func(a, b Gate) int { return place(a) - place(b) })
	for i := range gates {
		gates[i].Timeout = c.Timeout
	}
	return gates, unknownOrder(c.Order, gates, c.Commands)
}

// steps are the gates that a stack may have, in the order in which they judge.
func steps() []string { return []string{"build", "type", "lint", "format", "test"} }

// Step returns what a gate does, of whatever package it is.
func Step(gate string) string {
	name, _, _ := strings.Cut(gate, "-")
	if name == "golangci" {
		return "lint"
	}
	return name
}

// unknownOrder refuses an order of gates that are not there, which is most
// likely a slip of the pen.
func unknownOrder(order []string, gates []Gate, set map[string]string) error {
	for _, name := range order {
		_, configured := set[name]
		if !configured && !slices.ContainsFunc(gates, func(g Gate) bool { return g.Name == name }) {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "gates.order names " + name + ", which is no gate",
				Hint: "Give the gate a command in nexus.toml, or take it out of the order.",
			}
		}
	}
	return nil
}

func goGates(dir string) []Gate {
	at := goPackages(dir)
	if at == nil {
		return nil
	}
	gates := []Gate{
		{Name: "build", Args: append([]string{"go", "build"}, at...), Format: parse.GoBuild},
		{Name: "lint", Args: append([]string{"go", "vet"}, at...), Format: parse.GoVet},
		{Name: "test", Args: append([]string{"go", "test", "-json", "-count=1"}, at...), Format: parse.GoTestJSON, Tests: true},
	}
	for _, name := range []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"} {
		if text := gosrc.ReadSmall(filepath.Join(dir, name)); text != "" {
			gates = append(gates, Gate{Name: "golangci", Args: append(golangci(text), at...), Format: parse.GolangCI})
			break
		}
	}
	return gates
}

// golangci returns the command for golangci-lint, whose flags depend on the
// version that the configuration is for.
func golangci(text string) []string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' || r == '{' })
	second := slices.ContainsFunc(lines, func(l string) bool {
		l = strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(strings.TrimSpace(l))
		return l == "version:2" || l == "version=2"
	})
	if second {
		return []string{"golangci-lint", "run", "--output.json.path=stdout", "--show-stats=false", "--max-issues-per-linter=0", "--max-same-issues=0", "--allow-parallel-runners"}
	}
	return []string{"golangci-lint", "run", "--out-format=json", "--max-issues-per-linter=0", "--max-same-issues=0", "--allow-parallel-runners"}
}

// goPackages returns the patterns for all Go packages of a tree, nil where
// there is no module.
func goPackages(dir string) []string {
	if isFile(filepath.Join(dir, "go.work")) {
		var all []string
		for _, at := range gosrc.Workspace(dir) {
			all = append(all, "./"+filepath.ToSlash(filepath.Join(at, "...")))
		}
		if len(all) > 0 {
			return all
		}
	}
	if isFile(filepath.Join(dir, "go.mod")) {
		return []string{"./..."}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Accept returns the gate that shows a criterion, and false where its check
// is no command: empty, or the name of a gate.
func Accept(c nexus.Criterion) (Gate, bool) {
	check := strings.TrimSpace(c.Check)
	if check == "" || !strings.ContainsAny(check, " \t\n/.") {
		return Gate{}, false
	}
	return fromLine(nexus.AcceptGate+brief(check), check), true
}

// brief cuts a command to what fits into a name.
func brief(check string) string {
	check = strings.Join(strings.Fields(check), " ")
	if r := []rune(check); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return check
}

// Acceptance returns the gates that show the criteria beyond gates, each once,
// and the criteria that no gate can show and a person must.
func Acceptance(criteria []nexus.Criterion, gates []Gate) (more []Gate, open []nexus.Criterion) {
	for _, c := range criteria {
		name := strings.TrimSpace(c.Check)
		if slices.ContainsFunc(gates, func(g Gate) bool { return g.Name == name }) {
			continue
		}
		g, ok := Accept(c)
		switch {
		case !ok:
			open = append(open, c)
		case !slices.ContainsFunc(more, func(m Gate) bool { return m.Command() == g.Command() }):
			more = append(more, g)
		}
	}
	return more, open
}

// fromLine makes a gate from a command line. What Go's own tools say is
// understood; anything else, and anything that needs a shell, is judged by
// its exit code.
func fromLine(name, line string) Gate {
	shell := Gate{Name: name, Args: []string{"sh", "-c", line}, Format: parse.Exit, Tests: name == "test" || runsTests(line)}
	words, simple := split(line)
	if !simple || len(words) < 2 {
		return shell
	}
	g := Gate{Name: name, Args: words}
	switch words[0] + " " + words[1] {
	case "go build", "go vet":
		g.Format = map[string]string{"build": parse.GoBuild, "vet": parse.GoVet}[words[1]]
	case "go test":
		if slices.ContainsFunc(words, func(w string) bool { return w == "-c" || w == "-n" || strings.HasPrefix(w, "-list") }) {
			return shell
		}
		g.Format, g.Tests = parse.GoTestJSON, true
		for _, flag := range []string{"-count=1", "-json"} {
			if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, strings.TrimSuffix(flag, "=1")) }) {
				g.Args = slices.Insert(g.Args, 2, flag)
			}
		}
	case "gofmt -l":
		g.Format = parse.GoFmt
	default:
		return shell
	}
	return g
}

// runsTests reports whether a command line runs tests with a tool that says
// how many there were, so that none can be told from all.
func runsTests(line string) bool {
	return slices.ContainsFunc([]string{"go test", "cargo test", "pytest", "npm test", "vitest", "jest"}, func(s string) bool {
		return strings.Contains(line, s)
	})
}

// split separates a command line into words; simple is false where only a
// shell could.
func split(line string) (words []string, simple bool) {
	if strings.ContainsAny(line, "|&;<>()$`\\\"'*?[]#~{}!\n") {
		return nil, false
	}
	words = strings.Fields(line)
	return words, len(words) > 0 && !strings.Contains(words[0], "=")
}
