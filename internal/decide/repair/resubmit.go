package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Refusal is an objection to a tree. The zero Refusal is none.
type Refusal struct {
	By  string // a gate, verify, review or train
	Why string
	// of an attempt that submits the tree again: no-progress, or unverified if no gate could
	// decide
	Outcome nexus.Outcome
}

// RefusedBefore returns the last objection to a tree in ended attempts, given oldest first. A
// tree that was compared with another base counts as a different one.
func RefusedBefore(past []*state.Attempt, base, tree string) Refusal {
	for _, a := range slices.Backward(past) {
		if _, r, judged := lastRefusal(a.Rounds, base, tree); judged {
			return r
		}
	}
	return Refusal{}
}

// lastRefusal returns the last of some rounds in which a tree was judged, and the objection.
// Judged is false if it was never judged.
func lastRefusal(rounds []*state.Round, base, tree string) (at int, r Refusal, judged bool) {
	for i, o := range slices.Backward(rounds) {
		if tree != "" && o.Verdict != nil && o.Verdict.Tree == tree && o.Base == base {
			return i, refusalOf(o), true
		}
	}
	return 0, Refusal{}, false
}

// refusalOf returns the objection to the tree of a round. A gate that ran too long, or
// exceeded a resource limit, may succeed next time, so it is no objection.
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

// doubtful reports whether gates that judged a tree could not decide whether it is right.
func doubtful(s nexus.GateState) bool {
	return s == nexus.NotRun || s == nexus.Unverifiable || s == nexus.Flaky
}

// resubmitted ends an attempt whose author submits a tree that was already refused, in this
// or an earlier attempt: its judge would find the same again. A reviewing judge is asked
// again if its finding was disputed, and so is a gate that accepts explanations.
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

// explainable reports whether a gate may pass a tree that it refused once the submission
// explains it: its result depends on more than the tree.
func explainable(gate string) bool {
	return gate == nexus.DonePrefix+nexus.DeletionBound || gate == nexus.DonePrefix+nexus.BuiltBound
}

// disputed reports whether the author answered in a round that the tree is right, or that the
// fault is not its own, with a reason.
func disputed(r *state.Round) bool {
	return slices.ContainsFunc(r.Answers, func(s nexus.Answer) bool {
		return s.Comment == "" && (s.Status == nexus.Contested || s.Status == nexus.NotMine) && strings.TrimSpace(s.Why) != ""
	})
}

// refuser returns the name of the judge that refused a tree.
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

// Resubmitted reports whether an attempt ended because it submitted a tree that was already
// refused: another attempt at its tier would not differ.
func Resubmitted(a *state.Attempt) bool {
	return a.Outcome == nexus.NoProgress && (a.Category == nexus.Resubmitted || a.Category == nexus.VerifierRejected)
}
