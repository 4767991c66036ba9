package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CombineVerdict combines the gates' results for a task's tree. A failure takes precedence over a
// gate without a clear result, and that over a gate that did not run. A gate that did not run
// is not a pass: it decides if it contains the tests of a task that needs them, if one of the
// task's criteria depends on it, or if nothing else passed. A gate that was skipped because
// the change does not affect it decides nothing. If tests passed, the tests of a package that
// could not run on the base either do not count as required: its dependencies are not
// installed. A gate that hangs as it did on the base has no result. It is ignored if affected
// tests, or a criterion's, passed, and either all of its own passed too or no criterion
// depends on it.
func CombineVerdict(attempt nexus.AttemptID, t nexus.Task, tree string, evidence []nexus.GateEvidence) nexus.GatesVerdictGiven {
	v := nexus.GatesVerdictGiven{Attempt: attempt, Tree: tree, State: nexus.NotRun, Why: "no gate judged it"}
	best := decisiveRank(v.State, false)
	others := slices.ContainsFunc(evidence, func(e nexus.GateEvidence) bool {
		return e.Tree == tree && e.Passed() && (isRelatedGate(e.Gate) || strings.HasPrefix(e.Gate, nexus.AcceptGate))
	})
	tested := slices.ContainsFunc(evidence, func(e nexus.GateEvidence) bool { return e.Tree == tree && e.Passed() && isTestGate(e.Gate) })
	for _, e := range evidence {
		if e.Tree != tree || e.Optional || e.Apart {
			continue
		}
		if e.State == nexus.NotRun && strings.HasPrefix(e.Gate, nexus.StepGate) {
			// a step was requested: no other gate replaces it
			e.State, e.Why = nexus.Fail, cmp.Or(e.Why, "it did not run")
		}
		r := decisiveRank(e.State, needsGate(t, e.Gate) && (!tested || e.Gate == "test" || !isTestGate(e.Gate) || isCriterionGate(t, e.Gate)))
		if e.Hangs {
			passed := e.State == nexus.Environmental // all its tests passed before it hung
			if others && (passed || !isCriterionGate(t, e.Gate)) {
				continue
			}
			e.State = nexus.Unverifiable
			r = decisiveRank(e.State, true)
		}
		if r > best {
			best = r
			v.State, v.Gate, v.Why = e.State, e.Gate, cmp.Or(e.Why, evidenceText(e))
		}
	}
	return v
}

// decisiveRank orders results by precedence: failures before unclear results, before a pass, before a
// gate that did not run and is not needed.
func decisiveRank(s nexus.GateState, needed bool) int {
	switch s {
	case nexus.Fail:
		return 6
	case nexus.Timeout, nexus.Exceeded:
		return 5
	case nexus.Environmental, nexus.MissingAsset:
		return 4
	case nexus.Unverifiable, nexus.Flaky:
		return 3
	case nexus.NotRun:
		if needed {
			return 2
		}
		return 0
	case nexus.Pass:
		return 1
	}
	return 3
}

// needsGate reports whether a task needs a gate's result.
func needsGate(t nexus.Task, gate string) bool {
	if isCriterionGate(t, gate) {
		return true
	}
	if strings.HasPrefix(gate, nexus.AcceptGate) {
		return true
	}
	return isTestGate(gate) && t.Kind != nexus.DocsTask && t.Strategy != nexus.NoTest
}

// isCriterionGate reports whether one of a task's criteria depends on a gate.
func isCriterionGate(t nexus.Task, gate string) bool {
	return slices.ContainsFunc(t.Criteria, func(c nexus.Criterion) bool { return c.Check == gate })
}

// isRelatedGate reports whether a gate runs the tests that a change affects, in any package.
func isRelatedGate(gate string) bool { return gate == "related" || strings.HasPrefix(gate, "related-") }

// isTestGate reports whether a gate runs all tests, of the project or of a package.
func isTestGate(gate string) bool { return gate == "test" || strings.HasPrefix(gate, "test-") }

func evidenceText(e nexus.GateEvidence) string {
	if e.State == nexus.Pass {
		return ""
	}
	if len(e.Findings) == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", len(e.Findings))
}
