package state

import (
	"cmp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// GateProgress is how far a tree got with the gates. A higher one is better.
type GateProgress int

// How far a tree can get.
const (
	ReachedNothing  GateProgress = iota // it is worse than the base, or nobody may rely on it
	ReachedNoGate                       // the attempt was cut off before the gates said anything
	ReachedOwnTests                     // red are only tests that came with it and checks that failed before it
	ReachedUnclear                      // nothing is red, and a gate could not tell
	ReachedGreen                        // the gates pass
)

// String says what is known of a tree, in words.
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

// Tree is the result of a round. The zero Tree is none.
type Tree struct {
	Attempt nexus.AttemptID
	Round   int
	At      string // its commit
	Base    string // commit that it is compared with
	Reach   GateProgress
	Red     int // failures of its gates, and findings of its judges that must be fixed
	Read    int // how far it got with those: 1 the verifier approved, 2 it was reviewed, 3 and approved
}

// BestTree returns the tree that the next attempt at a task starts from; false
// where none is better than the base. Better is, in this order: what got
// further with the gates; with fewer red; what got further with its judges; the
// later one.
//
// No tree counts that breaks what held on its base, or that touches what judges
// it unless a verifier said that this is right.
func BestTree(attempts []*Attempt) (Tree, bool) {
	var best Tree
	for _, a := range attempts {
		for _, r := range a.Rounds {
			if t := TreeOf(a, r); t.Reach > ReachedNothing && compare(t, best) >= 0 {
				best = t
			}
		}
	}
	return best, best.Reach > ReachedNothing
}

func compare(a, b Tree) int {
	return cmp.Or(cmp.Compare(a.Reach, b.Reach), cmp.Compare(b.Red, a.Red), cmp.Compare(a.Read, b.Read))
}

// TreeOf weighs what a round of an attempt came to.
func TreeOf(a *Attempt, r *Round) Tree {
	t := Tree{Attempt: a.ID, Round: r.Round, At: r.Commit, Base: r.Base, Reach: gateProgressOf(a, r)}
	if r.Verdict == nil {
		return t
	}
	for i, e := range r.Evidence {
		later := slices.ContainsFunc(r.Evidence[i+1:], func(o nexus.Evidence) bool { return o.Gate == e.Gate && o.Tree == e.Tree })
		if e.Tree == r.Verdict.Tree && red(e.State) && !later {
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

func gateProgressOf(a *Attempt, r *Round) GateProgress {
	switch v := r.Verdict; {
	case r.Commit == "", IsTampered(r):
		return ReachedNothing
	case v == nil && wasCutOff(a) && r == a.LastRound():
		return ReachedNoGate
	case v == nil:
		return ReachedNothing
	case v.State == nexus.Pass:
		return ReachedGreen
	case !red(v.State):
		return ReachedUnclear
	case v.Own:
		return ReachedOwnTests
	}
	return ReachedNothing
}

// wasCutOff reports whether an attempt ended before it was at its end.
func wasCutOff(a *Attempt) bool {
	return a.Broken || a.Outcome == "" || a.Outcome == nexus.Exhausted
}

// IsTampered reports whether a round's work touches what judges it, and no verifier
// said that this is right.
func IsTampered(r *Round) bool {
	return r.Suspect != nil && (r.Verified == nil || !r.Verified.Read || r.Verified.Category != "")
}

func red(s nexus.GateState) bool { return s.Red() }

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

// MustFix reports whether a finding of a judge must be fixed: those that stand
// and are critical or major.
func MustFix(f nexus.Finding) bool {
	s := cmp.Or(f.Severity, nexus.Major)
	return f.Unverified == "" && (s == nexus.Critical || s == nexus.Major)
}

// openFindings returns what was said about a round's work and is to be fixed yet: by the
// reviewer, or else the verifier, or else the gate that decided.
func openFindings(r *Round) []nexus.Finding {
	if n := len(r.Reviews); n > 0 && r.Reviews[n-1].SendsBack {
		return r.Reviews[n-1].Findings
	}
	if v := r.Verified; v != nil && v.Category != "" {
		return v.Findings
	}
	if v := r.Verdict; v != nil && red(v.State) {
		return nexus.EvidenceOf(r.Evidence, v.Gate).Findings
	}
	return nil
}
