package accept

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// checkRegressions decides whether the tests that passed on the base pass now, from the gates' results on
// both. A test that no longer runs is not a counterexample: the change removed it, and a
// verifier must approve that (decision 17).
func (w GatePassedTree) checkRegressions(s *nexus.CriterionGateEvidence) {
	before := 0
	var gone []string
	for _, b := range w.Base {
		if !runsTests(b, b.Gate) || strings.HasPrefix(b.Gate, nexus.AcceptGate) || b.Counts.Passed == 0 {
			continue
		}
		now := nexus.EvidenceOfGate(w.Now, b.Gate)
		switch {
		case now.Apart: // the change does not affect it
			continue
		case now.Gate == "" && w.ranOnlyRelatedTests():
			// it runs at the landing; those of its tests that the change affects pass
		case now.Gate == "":
			s.Why = fmt.Sprintf("gate %s did not run", b.Gate)
			return
		case !now.Passed():
			s.Why = fmt.Sprintf("gate %s did not pass: %s", b.Gate, now.State)
			return
		default:
			gone = append(gone, w.missingTests(b, now)...)
		}
		before += b.Counts.Passed
	}
	switch {
	case before == 0:
		s.Left, s.Why = true, "no test that passed before the work relates to it: a person must decide"
	case before <= len(gone):
		s.Left, s.Why = true, "passed before the work, and does not pass with it: "+joinFirstNames(gone)+"; a person must decide"
	case len(gone) > 0:
		s.By = nexus.KeptBearing
		s.Why = fmt.Sprintf("tests that passed before the work and pass with it: %d; no longer there: %s, which is judged as a change of tests",
			before-len(gone), joinFirstNames(gone))
	default:
		s.By, s.Why = nexus.KeptBearing, fmt.Sprintf("tests that passed before the work and pass with it: %d", before)
	}
}

// ranOnlyRelatedTests reports whether only the tests that a change affects ran.
func (w GatePassedTree) ranOnlyRelatedTests() bool {
	return slices.ContainsFunc(w.Now, func(e nexus.GateEvidence) bool { return strings.HasPrefix(e.Gate, "related") && e.Passed() })
}

// missingTests returns the tests that passed when a gate judged the base and do not pass now
// although the gate does: their names, or their number if the runner names none. A test that
// people know to be flaky is not missing.
func (w GatePassedTree) missingTests(base, now nexus.GateEvidence) (gone []string) {
	was, is := w.testEndStates(base), w.testEndStates(now)
	if len(was) == 0 || len(is) == 0 {
		if n := base.Counts.Passed - now.Counts.Passed - len(now.Flaky); n > 0 {
			gone = append(gone, fmt.Sprintf("%d tests of gate %s", n, base.Gate))
		}
		return gone
	}
	for _, test := range slices.Sorted(maps.Keys(was)) {
		shaky := slices.ContainsFunc(now.Flaky, func(f nexus.FlakyTestCount) bool { return f.Test == test })
		if was[test] == "pass" && is[test] != "pass" && !shaky {
			gone = append(gone, test)
		}
	}
	return gone
}
