package attempthistory

import (
	"cmp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// BestTree is the tree that is closest to the goal of a task, whether it passes or not. The
// zero BestTree is none.
type BestTree struct {
	state.RoundResultTree
	Passed int // gates that passed
	Met    int // criteria whose checks passed

	Diff string // its diff; filled in by the caller
}

// bestTreeOf returns the closest tree of attempts. Closer means, in this order: more criteria
// met; more gates passed; fewer failures; further with its judges; later. The gates stop at
// the first failure, so the number of failures can only be compared between trees that got
// equally far.
//
// A tree that changes its own tests and gates does not count, see [state.BestTree], and
// neither does one that may contain a secret: its diff is shown to other models.
func bestTreeOf(attempts []*state.AttemptState, criteria []nexus.Criterion) BestTree {
	var best BestTree
	closer := func(a, b BestTree) int {
		return cmp.Or(cmp.Compare(a.Met, b.Met), cmp.Compare(a.Passed, b.Passed), cmp.Compare(b.Red, a.Red), cmp.Compare(a.Read, b.Read))
	}
	for _, a := range attempts {
		for _, r := range a.Rounds {
			if r.Commit == "" || state.IsTampered(r) || mayHoldSecret(r) {
				continue
			}
			c := BestTree{RoundResultTree: state.RatedRoundTree(a, r)}
			c.Passed, c.Met = countPassed(r, criteria)
			if best.At == "" || closer(c, best) >= 0 {
				best = c
			}
		}
	}
	return best
}

// mayHoldSecret reports whether a round's work may contain a secret.
func mayHoldSecret(r *state.AttemptRound) bool {
	return slices.ContainsFunc(r.Evidence, func(e nexus.GateEvidence) bool { return e.Gate == nexus.SecretsGate && !e.Passed() })
}

// countPassed returns the number of gates that passed the result of a round, and of criteria whose
// checks they are.
func countPassed(r *state.AttemptRound, criteria []nexus.Criterion) (gates, met int) {
	if r.Verdict == nil {
		return 0, 0
	}
	ok := map[string]bool{}
	for _, e := range r.Evidence {
		if e.Tree == r.Verdict.Tree {
			ok[e.Gate] = e.Passed()
		}
	}
	for _, yes := range ok {
		if yes {
			gates++
		}
	}
	for _, c := range criteria {
		if ok[c.Check] || ok[nexus.AcceptGate+c.Check] {
			met++
		}
	}
	return gates, met
}
