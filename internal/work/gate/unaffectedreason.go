package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// UnaffectedReason returns why a gate does not apply to a change: none of its files changed,
// and it is no criterion's check. It is "" if the gate judges any change, or this one.
func UnaffectedReason(g QualityGate, changed []string, criteria []nexus.Criterion) string {
	if len(g.Only) == 0 || slices.ContainsFunc(criteria, func(c nexus.Criterion) bool { return strings.TrimSpace(c.Check) == g.Name }) {
		return ""
	}
	for _, file := range changed {
		if slices.ContainsFunc(g.Only, func(p string) bool { return matchesPattern(p, file) }) {
			return ""
		}
	}
	return "the change touches no file of the user interface (gates.ui)"
}

// SortByDistance puts gates whose directories are fewer steps away first, among consecutive
// gates of the same step: lint, test and so on. Builds stay in order: one may need the output
// of another that is further away.
func SortByDistance(gates []QualityGate, steps func(dir string) int) []QualityGate {
	all := slices.Clone(gates)
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].stepName() == all[from].stepName() {
			to++
		}
		if !all[from].BuildsPackage() {
			slices.SortStableFunc(all[from:to], func(a, b QualityGate) int { return steps(a.Dir) - steps(b.Dir) })
		}
		from = to
	}
	return all
}

// stepName returns the step of a gate, whatever its package: build, lint, test and so on.
func (g QualityGate) stepName() string {
	name, _, _ := strings.Cut(g.Name, "-")
	return name
}

// BuildsPackage reports whether a gate builds a package that others may need.
func (g QualityGate) BuildsPackage() bool { return g.stepName() == "build" }

// matchesPattern reports whether a pattern matches a file: one without a slash its name, any other
// the path, in which ** stands for any directories, or none.
func matchesPattern(pattern, file string) bool {
	if !strings.Contains(pattern, "/") {
		file = path.Base(file)
	}
	ok, _ := doublestar.Match(pattern, file) // a bad pattern matches nothing
	return ok
}

// reasonToRunSeparately calls [GateRunner.Apart] if it is set.
func (r GateRunner) reasonToRunSeparately(g QualityGate) string {
	if r.Apart == nil {
		return ""
	}
	return r.Apart(g)
}
