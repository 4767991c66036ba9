package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Refusal is what was said against a tree. The zero Refusal is nothing.
type Refusal struct {
	By      string // a gate, verify, review or train
	Why     string
	Outcome nexus.Outcome // of an attempt that submits the tree again: no-progress, or unverified where nothing could tell
}

// RefusedBefore returns what was said last against a tree in attempts that are
// over, the oldest first. A tree that was compared with another base is another
// one.
func RefusedBefore(past []*state.Attempt, base, tree string) Refusal {
	for _, a := range slices.Backward(past) {
		if _, r, judged := lastRefusal(a.Rounds, base, tree); judged {
			return r
		}
	}
	return Refusal{}
}

// lastRefusal returns the last of some rounds in which a tree was judged, and
// what was said against it there. Judged is false where it never was.
func lastRefusal(rounds []*state.Round, base, tree string) (at int, r Refusal, judged bool) {
	for i, o := range slices.Backward(rounds) {
		if tree != "" && o.Verdict != nil && o.Verdict.Tree == tree && o.Base == base {
			return i, refusalOf(o), true
		}
	}
	return 0, Refusal{}, false
}

// refusalOf returns what was said against the tree of a round. What ran too
// long, or used too much, may do better next time.
func refusalOf(r *state.Round) Refusal {
	v := r.Verdict
	switch {
	case v.State == nexus.Fail:
		return Refusal{v.Gate, cmp.Or(v.Why, "it is red"), nexus.NoProgress}
	case doubtful(v.State):
		return Refusal{v.Gate, because(v), nexus.Unverified}
	case r.Verified != nil && r.Verified.Category != "":
		return Refusal{VerifyGate, r.Verified.Why, nexus.NoProgress}
	}
	if n := len(r.Reviews); n > 0 && r.Reviews[n-1].SendsBack {
		return Refusal{ReviewCause, r.Reviews[n-1].Summary, nexus.NoProgress}
	}
	return Refusal{}
}

// doubtful reports whether gates that judged a tree could not tell whether it is
// right.
func doubtful(s nexus.GateState) bool {
	return s == nexus.NotRun || s == nexus.Unverifiable || s == nexus.Flaky
}

// resubmitted ends an attempt whose author submits a tree that was refused, in
// this attempt or an earlier one: what judges it would find the same again. A
// judge who reads is asked again where its finding was disputed, and so is a gate
// that hears explanations.
func resubmitted(t *state.Task, a *state.Attempt, facts Facts) (Step, bool) {
	n := len(a.Rounds)
	r, tree := a.Rounds[n-1], a.Snapshot.Tree
	if r.Role != firstRole(t) || tree == "" || len(Pending(a, n-1)) > 0 {
		return Step{}, false
	}
	at, refusal, judged := lastRefusal(a.Rounds[:n-1], a.Base, tree)
	switch {
	case !judged:
		at, refusal = n-1, facts.Refused
	case refusal.By == "" && facts.Unshown != "" && r.Cause == UnshownCause:
		refusal = Refusal{UnshownCause, facts.Unshown, nexus.Unverified}
	case refusal.By == "":
		refusal = refutedTree(a, tree)
	}
	if len(r.Handed) > 0 && tree == a.Start {
		refusal = Refusal{"train", r.HandedWhy, nexus.NoProgress}
	}
	if refusal.By == "" || explainable(refusal.By) || byJudge(refusal.By) && slices.ContainsFunc(a.Rounds[at:], disputed) {
		return Step{}, false
	}
	if refusal.Outcome == nexus.Unverified {
		return Step{Move: End, Outcome: nexus.Unverified, Why: refusal.Why}, true
	}
	step := Step{
		Move: End, Outcome: nexus.NoProgress, Category: nexus.Resubmitted,
		Why: fmt.Sprintf("the tree that %s refused was submitted again: %s", refuser(refusal.By), refusal.Why),
	}
	if refusal.By == VerifyGate {
		step.Category = nexus.VerifierRejected
	}
	return step, true
}

// refutedTree is [refuted] for a tree that is not judged yet.
func refutedTree(a *state.Attempt, tree string) Refusal {
	i := slices.IndexFunc(a.Checks.Checks, func(c nexus.CriterionCheck) bool { return c.Red })
	if i < 0 || a.Checks.Tree != tree {
		return Refusal{}
	}
	c := a.Checks.Checks[i]
	return Refusal{nexus.AcceptGate + c.Command, fmt.Sprintf("criterion %d is not met: %s", c.Number, c.Why), nexus.NoProgress}
}

// explainable reports whether a gate passes a tree that it refused once the
// submission says why it is so: what judges it reads more than the tree.
func explainable(gate string) bool {
	return gate == nexus.DonePrefix+nexus.DeletionBound || gate == nexus.DonePrefix+nexus.BuiltBound
}

// disputed reports whether the author answered in a round that it is right as it
// is, or not its own to change, and why.
func disputed(r *state.Round) bool {
	return slices.ContainsFunc(r.Answers, func(s nexus.Answer) bool {
		return s.Comment == "" && (s.Status == nexus.Contested || s.Status == nexus.NotMine) && strings.TrimSpace(s.Why) != ""
	})
}

// refuser names who refused a tree.
func refuser(by string) string {
	switch by {
	case VerifyGate:
		return "the verifier"
	case ReviewCause:
		return "the review"
	case "train":
		return "the landing"
	}
	return "gate " + by
}

// Resubmitted reports whether an attempt ended as it submitted a tree that was
// refused before: another one at its tier would not differ.
func Resubmitted(a *state.Attempt) bool {
	return a.Outcome == nexus.NoProgress && (a.Category == nexus.Resubmitted || a.Category == nexus.VerifierRejected)
}
