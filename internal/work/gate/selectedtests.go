package gate

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// TestSelection returns which tests a gate of the root runs; the zero value if that is unknown.
func (g QualityGate) TestSelection() stack.TestSelection {
	if g.Dir != "" && g.Dir != "." || g.Of != "" || g.Again != "" {
		return stack.TestSelection{}
	}
	args := g.Args
	if len(args) == 3 && args[0] == "sh" && args[1] == "-c" {
		var ok bool
		if args, ok = shell.ParseWords(args[2]); !ok {
			return stack.TestSelection{}
		}
	}
	s, _ := stack.ParseTestSelection(args)
	return s
}

// evidenceForSelection returns the result of a criterion's command that runs only some of a gate's tests,
// from the results of these: they need not run twice. It returns false if names are not
// enough: a test that was skipped, one whose parent failed, and a gate that failed for more
// than tests, such as a panic, after which others did not run.
func evidenceForSelection(o QualityGate, said nexus.GateEvidence, g QualityGate, get func(hash string) ([]byte, error)) (nexus.GateEvidence, bool) {
	all, some := o.TestSelection(), g.TestSelection()
	if !all.HasSameTestBehaviour(some) || some.IncludesAllTests() || get == nil {
		return nexus.GateEvidence{}, false
	}
	e := nexus.GateEvidence{Gate: g.Name, Tree: said.Tree, Command: g.Command(), Toolchain: said.Toolchain, Output: said.Output}
	add := func(f nexus.Finding) {
		f.Gate = g.Name
		e.Findings = append(e.Findings, f)
	}
	// the criterion's tests do not compile either
	if slices.Equal(all.Of, some.Of) && failedToCompile(said) {
		for _, f := range said.Findings {
			add(f)
		}
		e.State, e.Why, e.Exit = said.State, said.Why, said.Exit
		return e, true
	}
	whole, ok := RawEvidence(said, get)
	if !ok {
		return nexus.GateEvidence{}, false
	}
	ended := TestOutcomes(whole, get)
	beyond := func(f nexus.Finding) bool {
		return parserbase.IsBlocking(f) && (f.Test == "" || f.Code != parserbase.CodeTest)
	}
	if !all.IncludesAllTests() || len(ended) == 0 || slices.ContainsFunc(whole.Findings, beyond) {
		return nexus.GateEvidence{}, false
	}
	names := make([]string, 0, len(ended))
	for name := range ended {
		names = append(names, name)
	}
	picked, ok := some.PickTests(names)
	if !ok {
		return nexus.GateEvidence{}, false
	}
	for _, name := range picked {
		switch ended[name] {
		case "pass":
			e.Counts.Passed++
		case "fail":
			e.Counts.Failed++
		default:
			return nexus.GateEvidence{}, false
		}
	}
	for _, f := range whole.Findings {
		if slices.Contains(picked, f.Test) {
			add(f)
		}
	}
	switch {
	case len(picked) == 0:
		e.State, e.Why = nexus.NotRun, nexus.NoTests
	case e.Counts.Failed > 0:
		e.State, e.Exit = nexus.Fail, 1
	case slices.ContainsFunc(picked, func(name string) bool { return isBelowFailedTest(name, ended) }):
		return nexus.GateEvidence{}, false
	default:
		e.State = nexus.Pass
	}
	return e, (e.Counts.Failed > 0) == (len(e.Findings) > 0)
}

// isBelowFailedTest reports whether a subtest passed below a test that failed: the test itself may have
// failed, or another subtest.
func isBelowFailedTest(name string, ended map[string]string) bool {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if state, is := ended[name[:i]]; is && state != "pass" {
			return true
		}
	}
	return false
}

// failedToCompile reports whether no test ran because the code does not compile.
func failedToCompile(e nexus.GateEvidence) bool {
	return e.State == nexus.NotRun && e.Raw == "" && len(e.Findings) > 0 && !slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code != parserbase.CodeCompile })
}

// TestOutcomes returns the results of a gate's tests, by their names; nil if the runner does
// not report them, or they are lost.
func TestOutcomes(e nexus.GateEvidence, get func(hash string) ([]byte, error)) map[string]string {
	if e.Named == "" {
		return nil
	}
	data, err := get(e.Named)
	if err != nil {
		return nil // the counts are used instead
	}
	all := map[string]string{}
	for l := range strings.Lines(string(data)) {
		if state, name, ok := strings.Cut(strings.TrimSuffix(l, "\n"), TestNameSeparator); ok {
			all[name] = state
		}
	}
	return all
}
