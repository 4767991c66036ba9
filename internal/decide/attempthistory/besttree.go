package attempthistory

import (
	"cmp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// BestTree is the tree that came closest to what a task asks for, red or not. The
// zero Closest is none.
type BestTree struct {
	state.Tree
	Passed int // gates that passed
	Met    int // criteria whose checks passed

	Diff string // what it changes; to be read
}

// bestTreeOf returns the closest tree of attempts. Closer is, in this order: what met
// more of the criteria; what passed more gates; with fewer red; what got further
// with its judges; the later one. The gates stop at the first that is red, so that
// how much is red says something only of trees that got equally far.
//
// A tree that touches what judges it does not count, see [state.BestTree], and
// neither does one that may hold a secret: its diff is shown to other models.
func bestTreeOf(attempts []*state.Attempt, criteria []nexus.Criterion) BestTree {
	var best BestTree
	closer := func(a, b BestTree) int {
		return cmp.Or(cmp.Compare(a.Met, b.Met), cmp.Compare(a.Passed, b.Passed), cmp.Compare(b.Red, a.Red), cmp.Compare(a.Read, b.Read))
	}
	for _, a := range attempts {
		for _, r := range a.Rounds {
			if r.Commit == "" || state.IsTampered(r) || leaks(r) {
				continue
			}
			c := BestTree{Tree: state.TreeOf(a, r)}
			c.Passed, c.Met = passed(r, criteria)
			if best.At == "" || closer(c, best) >= 0 {
				best = c
			}
		}
	}
	return best
}

// leaks reports whether a round's work may hold a secret.
func leaks(r *state.Round) bool {
	return slices.ContainsFunc(r.Evidence, func(e nexus.Evidence) bool { return e.Gate == nexus.SecretsGate && !e.Passed() })
}

// passed counts the gates that passed what a round came to, and the criteria whose
// checks they are.
func passed(r *state.Round, criteria []nexus.Criterion) (gates, met int) {
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
