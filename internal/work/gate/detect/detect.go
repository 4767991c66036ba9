// Package detect determines the gates of a tree from its files and the configuration.
package detect

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// DetectGates returns the gates of a tree in the order in which they judge: those of the stacks that
// [stack.FindGateCommands] detects, each replaced or turned off by the configuration, then the
// configuration's own by name. It only checks for marker files.
func DetectGates(dir string, c config.GateSettings) ([]gate.QualityGate, error) {
	var gates []gate.QualityGate
	early := map[string]bool{}
	for _, f := range stack.FindGateCommands(os.DirFS(dir)) {
		gates = append(gates, gate.QualityGate{Name: f.Name, Args: f.Args, Dir: f.Dir, Format: f.Format, Tests: f.Tests, Reports: f.Reports, Related: f.Part, Lone: f.Lone, Hold: f.Hold, Goes: f.Goes, Fix: f.Fix, Else: f.Else})
		early[f.Name] = f.First
	}
	for _, name := range gateSteps() {
		command, set := c.Commands[name]
		if !set {
			continue
		}
		// The project's own command covers all packages, and all linting.
		gates = slices.DeleteFunc(gates, func(g gate.QualityGate) bool { return StepOfGate(g.Name) == name })
		early[name] = false
		if command != "" {
			gates = append(gates, parseGateLine(name, command))
		}
	}
	gates = applyPackageSettings(dir, gates, c.Packages)
	var own []string
	for name := range c.Commands {
		own = append(own, name)
	}
	slices.Sort(own)
	for _, name := range own {
		if slices.Contains(gateSteps(), name) {
			continue
		}
		tests := false // a command that replaces tests runs tests
		gates = slices.DeleteFunc(gates, func(g gate.QualityGate) bool {
			tests = tests || g.Name == name && g.Tests
			return g.Name == name
		})
		if command := c.Commands[name]; command != "" {
			g := parseGateLine(name, command)
			g.Tests = g.Tests || tests
			gates = append(gates, g)
		}
	}
	rank := append(slices.Clone(c.Order), "build", "type", "lint", "golangci", "format", "test", EndToEnd)
	place := func(g gate.QualityGate) int {
		i := slices.Index(rank, g.Name)
		if early[g.Name] && (i < 0 || i >= len(c.Order)) {
			return 2*slices.Index(rank, "build") - 1
		}
		if i < 0 && g.Dir != "" {
			i = slices.Index(rank, StepOfGate(g.Name))
		}
		if i < 0 {
			return 2 * len(rank)
		}
		return 2 * i
	}
	slices.SortStableFunc(gates, func(a, b gate.QualityGate) int { return place(a) - place(b) })
	applyGateSettings(gates, c)
	return gates, cmp.Or(checkReservedNames(c.Commands), checkPatterns(c.UI), checkOrder(c.Order, gates, c.Commands))
}

// DisabledGates returns the names of the detected gates that the configuration turns off, so that their
// absence is not mistaken for a pass.
func DisabledGates(dir string, c config.GateSettings) ([]string, error) {
	all, err := DetectGates(dir, config.GateSettings{})
	var off []string
	for _, g := range all {
		own, named := c.Commands[g.Name]
		step, set := c.Commands[StepOfGate(g.Name)]
		set = set && slices.Contains(gateSteps(), StepOfGate(g.Name))
		if named && own == "" || !named && set && step == "" {
			off = append(off, g.Name)
		}
	}
	for name, p := range presentPackages(dir, c.Packages) {
		for _, g := range all {
			line, set := p.Commands[StepOfGate(g.Name)]
			if set && line == "" && isGateOfDirectory(g, name) && !slices.Contains(off, g.Name) && c.Commands[g.Name] == "" {
				off = append(off, g.Name)
			}
		}
	}
	return off, err
}

// applyGateSettings applies the configuration to gates.
func applyGateSettings(gates []gate.QualityGate, c config.GateSettings) {
	for i := range gates {
		gates[i].Linger = c.Linger
		gates[i].Reads = slices.Contains([]string{"lint", "format"}, StepOfGate(gates[i].Name))
		if StepOfGate(gates[i].Name) != EndToEnd {
			continue
		}
		if gates[i].Only = c.UI; len(c.UI) == 0 {
			gates[i].Only = stack.UIFilePatterns()
		}
	}
}

// gateSteps returns the gates that a stack may have, in the order in which they judge.
func gateSteps() []string { return []string{"build", "type", "lint", "format", "test", EndToEnd} }

// EndToEnd is the gate that drives a user interface.
const EndToEnd = "e2e"

// StepOfGate returns the step of a gate, whatever its package.
func StepOfGate(gate string) string {
	name, _, _ := strings.Cut(gate, "-")
	if name == "golangci" {
		return "lint"
	}
	return name
}

// checkReservedNames refuses gates with reserved names: their results would be mistaken for those of
// something else.
func checkReservedNames(commands map[string]string) error {
	for _, name := range []string{"audit", "coverage", "criteria", "done", "files", "memory", "mutation", "proof", "quarantine", "review", "tamper", "verify"} {
		if commands[name] != "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "gates." + name + " has a reserved name",
				Hint: "Give the gate another name, such as own-" + name + ".",
			}
		}
	}
	return nil
}

// checkPatterns refuses patterns that match no file at all, as the gate would never judge.
func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		if !doublestar.ValidatePattern(p) {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "gates.ui: " + strconv.Quote(p) + " is not a valid pattern",
				Hint: "Close what it opens: [...] and {...}.",
			}
		}
	}
	return nil
}

// checkOrder refuses an order with unknown gates, which is most likely a typo.
func checkOrder(order []string, gates []gate.QualityGate, set map[string]string) error {
	for _, name := range order {
		_, configured := set[name]
		if !configured && !slices.ContainsFunc(gates, func(g gate.QualityGate) bool { return g.Name == name }) {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "gates.order names " + name + ", which is not a gate",
				Hint: "Give the gate a command in nexus.toml, or remove it from the order.",
			}
		}
	}
	return nil
}

// CriterionGate returns the gate that proves a criterion, and false if its check is no command:
// empty, or the name of a gate.
func CriterionGate(c nexus.Criterion) (gate.QualityGate, bool) {
	name, command := accept.GateOfCriterion(c)
	if !command {
		return gate.QualityGate{}, false
	}
	return parseGateLine(name, strings.TrimSpace(c.Check)), true
}

// GateFromCommand makes a gate from a command line.
func GateFromCommand(name, line string) gate.QualityGate { return parseGateLine(name, line) }

// parseGateLine makes a gate from a command line. The output of Go's own tools is parsed; any other
// command, and one that needs a shell, is judged by its exit code.
func parseGateLine(name, line string) gate.QualityGate {
	shell := gate.QualityGate{Name: name, Args: []string{"sh", "-c", line}, Format: outputparser.Exit, Tests: name == "test" || RunsTests(line)}
	words, simple := splitCommandLine(line)
	if known := stack.OutputFormats().FormatsByCommand(line); simple && len(known) == 1 && known[0].Tests {
		shell.Hold.Format = known[0].Name // one runner, and nothing after it
	}
	if !simple || len(words) < 2 {
		return shell
	}
	g := gate.QualityGate{Name: name, Args: words}
	switch words[0] + " " + words[1] {
	case "go build", "go vet":
		g.Format = map[string]string{"build": outputparser.GoBuild, "vet": outputparser.GoVet}[words[1]]
	case "go test":
		if slices.ContainsFunc(words, func(w string) bool { return w == "-c" || w == "-n" || strings.HasPrefix(w, "-list") }) {
			return shell
		}
		g.Format, g.Tests = outputparser.GoTestJSON, true
		for _, flag := range []string{"-count=1", "-json"} {
			if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, strings.TrimSuffix(flag, "=1")) }) {
				g.Args = slices.Insert(g.Args, 2, flag)
			}
		}
	case "gofmt -l":
		g.Format = outputparser.GoFmt
	default:
		return shell
	}
	return g
}

// RunsTests reports whether a command line runs tests with a tool that reports their number,
// so that a run without tests is detected.
func RunsTests(line string) bool {
	return slices.ContainsFunc(stack.AllStacks(), func(s stack.Stack) bool {
		return slices.ContainsFunc(s.Counts, func(command string) bool { return strings.Contains(line, command) })
	})
}

// splitCommandLine splits a command line into words; simple is false if it needs a shell.
func splitCommandLine(line string) (words []string, simple bool) {
	if strings.ContainsAny(line, "|&;<>()$`\\\"'*?[]#~{}!\n") {
		return nil, false
	}
	words = strings.Fields(line)
	return words, len(words) > 0 && !strings.Contains(words[0], "=")
}
