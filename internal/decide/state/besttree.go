package state

import (
	"cmp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// GateProgress is how far a tree got with the gates. A higher value is better.
type GateProgress int

// Degrees of progress.
const (
	ReachedNothing  GateProgress = iota // it is worse than the base, or must not be used
	ReachedNoGate                       // the attempt ended before the gates had results
	ReachedOwnTests                     // only its own new tests, and checks that failed before it, fail
	ReachedUnclear                      // nothing failed, and a gate had no clear result
	ReachedGreen                        // the gates pass
)

// String describes the progress in words.
func (r GateProgress) String() string {
	switch r {
	case ReachedGreen:
		return "the gates passed"
	case ReachedUnclear:
		return "nothing failed, but a gate gave no result"
	case ReachedOwnTests:
		return "nothing failed except its own tests and checks"
	case ReachedNoGate, ReachedNothing:
	}
	return "no gate judged it"
}

// RoundResultTree is the result of a round. The zero value is no tree.
type RoundResultTree struct {
	Attempt nexus.AttemptID
	Round   int
	At      string // its commit
	Base    string // commit that it is compared with
	Reach   GateProgress
	Red     int // failures of its gates, and findings of its judges that must be fixed
	Read    int // progress with the judges: 1 the verifier approved, 2 it was reviewed, 3 and approved
}

// BestTree returns the tree from which the next attempt at a task starts, or false if none is
// better than the base. Better means, in this order: further with the gates; fewer failures;
// further with its judges; later.
//
// A tree does not count if it breaks something that worked on its base, or changes its own
// tests and gates without a verifier's approval.
func BestTree(attempts []*AttemptState) (RoundResultTree, bool) {
	var best RoundResultTree
	for _, a := range attempts {
		for _, r := range a.Rounds {
			if t := RatedRoundTree(a, r); t.Reach > ReachedNothing && compareTrees(t, best) >= 0 {
				best = t
			}
		}
	}
	return best, best.Reach > ReachedNothing
}

func compareTrees(a, b RoundResultTree) int {
	return cmp.Or(cmp.Compare(a.Reach, b.Reach), cmp.Compare(b.Red, a.Red), cmp.Compare(a.Read, b.Read))
}

// RatedRoundTree rates the result of an attempt's round.
func RatedRoundTree(a *AttemptState, r *AttemptRound) RoundResultTree {
	t := RoundResultTree{Attempt: a.ID, Round: r.Round, At: r.Commit, Base: r.Base, Reach: gateProgressOf(a, r)}
	if r.Verdict == nil {
		return t
	}
	for i, e := range r.Evidence {
		later := slices.ContainsFunc(r.Evidence[i+1:], func(o nexus.GateEvidence) bool { return o.Gate == e.Gate && o.Tree == e.Tree })
		if e.Tree == r.Verdict.Tree && isRedState(e.State) && !later {
			t.Red += max(1, len(e.Findings), e.Counts.Failed)
		}
	}
	if v := r.Verified; v != nil && v.Read {
		if v.Category == "" {
			t.Read = 1
		}
		t.Red += len(v.Findings)
	}
	if n := len(r.Reviews); n > 0 && r.Reviews[n-1].Reviewed {
		v := r.Reviews[n-1]
		if t.Read = 3; v.SendsBack {
			t.Read = 2
			t.Red += countMustFix(v.Findings)
		}
	}
	return t
}

func gateProgressOf(a *AttemptState, r *AttemptRound) GateProgress {
	switch v := r.Verdict; {
	case r.Commit == "", IsTampered(r):
		return ReachedNothing
	case v == nil && wasCutOff(a) && r == a.LastRound():
		return ReachedNoGate
	case v == nil:
		return ReachedNothing
	case v.State == nexus.Pass:
		return ReachedGreen
	case !isRedState(v.State):
		return ReachedUnclear
	case v.Own:
		return ReachedOwnTests
	}
	return ReachedNothing
}

// wasCutOff reports whether an attempt was stopped before it finished.
func wasCutOff(a *AttemptState) bool {
	return a.Broken || a.Outcome == "" || a.Outcome == nexus.Exhausted
}

// IsTampered reports whether a round's work changes its own tests and gates without a
// verifier's approval.
func IsTampered(r *AttemptRound) bool {
	return r.Suspect != nil && (r.Verified == nil || !r.Verified.Read || r.Verified.Category != "")
}

func isRedState(s nexus.GateState) bool { return s.IsRed() }

// countMustFix counts the findings that must be fixed.
func countMustFix(all []nexus.Finding) int {
	n := 0
	for _, f := range all {
		if MustFix(f) {
			n++
		}
	}
	return n
}

// MustFix reports whether a judge's finding must be fixed: it is critical or major, and was
// not found unverified.
func MustFix(f nexus.Finding) bool {
	s := cmp.Or(f.Severity, nexus.Major)
	return f.Unverified == "" && (s == nexus.Critical || s == nexus.Major)
}

// openFindings returns the findings about a round's work that are still to be fixed: from the
// reviewer, or else the verifier, or else the gate that decided.
func openFindings(r *AttemptRound) []nexus.Finding {
	if n := len(r.Reviews); n > 0 && r.Reviews[n-1].SendsBack {
		return r.Reviews[n-1].Findings
	}
	if v := r.Verified; v != nil && v.Category != "" {
		return v.Findings
	}
	if v := r.Verdict; v != nil && isRedState(v.State) {
		return nexus.EvidenceOfGate(r.Evidence, v.Gate).Findings
	}
	return nil
}
