package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TreeObjection is an objection to a tree. The zero value is none.
type TreeObjection struct {
	By  string // a gate, verify, review or train
	Why string
	// of an attempt that submits the tree again: no-progress, or unverified if no gate could
	// decide
	Outcome nexus.Outcome
}

// FindEarlierRefusal returns the last objection to a tree in ended attempts, given oldest first. A
// tree that was compared with another base counts as a different one.
func FindEarlierRefusal(past []*state.AttemptState, base, tree string) TreeObjection {
	for _, a := range slices.Backward(past) {
		if _, r, judged := lastRefusalOfTree(a.Rounds, base, tree); judged {
			return r
		}
	}
	return TreeObjection{}
}

// lastRefusalOfTree returns the last of some rounds in which a tree was judged, and the objection.
// Judged is false if it was never judged.
func lastRefusalOfTree(rounds []*state.AttemptRound, base, tree string) (at int, r TreeObjection, judged bool) {
	for i, o := range slices.Backward(rounds) {
		if tree != "" && o.Verdict != nil && o.Verdict.Tree == tree && o.Base == base {
			return i, refusalOfRound(o), true
		}
	}
	return 0, TreeObjection{}, false
}

// refusalOfRound returns the objection to the tree of a round. A gate that ran too long, or
// exceeded a resource limit, may succeed next time, so it is no objection.
func refusalOfRound(r *state.AttemptRound) TreeObjection {
	v := r.Verdict
	switch {
	case v.State == nexus.Fail:
		return TreeObjection{v.Gate, cmp.Or(v.Why, "it is red"), nexus.NoProgress}
	case isInconclusive(v.State):
		return TreeObjection{v.Gate, verdictReason(v), nexus.Unverified}
	case r.Verified != nil && r.Verified.Category != "":
		return TreeObjection{VerifyGate, r.Verified.Why, nexus.NoProgress}
	}
	if n := len(r.Reviews); n > 0 && r.Reviews[n-1].SendsBack {
		return TreeObjection{ReviewCause, r.Reviews[n-1].Summary, nexus.NoProgress}
	}
	return TreeObjection{}
}

// isInconclusive reports whether gates that judged a tree could not decide whether it is right.
func isInconclusive(s nexus.GateState) bool {
	return s == nexus.NotRun || s == nexus.Unverifiable || s == nexus.Flaky
}

// endResubmission ends an attempt whose author submits a tree that was already refused, in this
// or an earlier attempt: its judge would find the same again. A reviewing judge is asked
// again if its finding was disputed, and so is a gate that accepts explanations.
func endResubmission(t *state.TaskState, a *state.AttemptState, facts AttemptTreeFacts) (RepairStep, bool) {
	n := len(a.Rounds)
	r, tree := a.Rounds[n-1], a.Snapshot.Tree
	if r.Role != firstWriterRole(t) || tree == "" || len(PendingFindings(a, n-1)) > 0 {
		return RepairStep{}, false
	}
	at, refusal, judged := lastRefusalOfTree(a.Rounds[:n-1], a.Base, tree)
	switch {
	case !judged:
		at, refusal = n-1, facts.Refused
	case refusal.By == "" && facts.Unshown != "" && r.Cause == UnprovenCause:
		refusal = TreeObjection{UnprovenCause, facts.Unshown, nexus.Unverified}
	case refusal.By == "":
		refusal = treeRefutedByCheck(a, tree)
	}
	if len(r.Handed) > 0 && tree == a.Start {
		refusal = TreeObjection{"train", r.HandedWhy, nexus.NoProgress}
	}
	if refusal.By == "" || acceptsExplanation(refusal.By) || isJudgeCause(refusal.By) && slices.ContainsFunc(a.Rounds[at:], hasDispute) {
		return RepairStep{}, false
	}
	if refusal.Outcome == nexus.Unverified {
		return RepairStep{Move: End, Outcome: nexus.Unverified, Why: refusal.Why}, true
	}
	step := RepairStep{
		Move: End, Outcome: nexus.NoProgress, Category: nexus.Resubmitted,
		Why: fmt.Sprintf("the tree that %s refused was submitted again: %s", refuserName(refusal.By), refusal.Why),
	}
	if refusal.By == VerifyGate {
		step.Category = nexus.VerifierRejected
	}
	return step, true
}

// treeRefutedByCheck is [refutedCheck] for a tree that is not judged yet.
func treeRefutedByCheck(a *state.AttemptState, tree string) TreeObjection {
	i := slices.IndexFunc(a.Checks.Checks, func(c nexus.CriterionTest) bool { return c.Red })
	if i < 0 || a.Checks.Tree != tree {
		return TreeObjection{}
	}
	c := a.Checks.Checks[i]
	return TreeObjection{nexus.AcceptGate + c.Command, fmt.Sprintf("criterion %d is not met: %s", c.Number, c.Why), nexus.NoProgress}
}

// acceptsExplanation reports whether a gate may pass a tree that it refused once the submission
// explains it: its result depends on more than the tree.
func acceptsExplanation(gate string) bool {
	return gate == nexus.DonePrefix+nexus.DeletionBound || gate == nexus.DonePrefix+nexus.BuiltBound
}

// hasDispute reports whether the author answered in a round that the tree is right, or that the
// fault is not its own, with a reason.
func hasDispute(r *state.AttemptRound) bool {
	return slices.ContainsFunc(r.Answers, func(s nexus.FindingAnswer) bool {
		return s.Comment == "" && (s.Status == nexus.Contested || s.Status == nexus.NotMine) && strings.TrimSpace(s.Why) != ""
	})
}

// refuserName returns the name of the judge that refused a tree.
func refuserName(by string) string {
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

// IsResubmission reports whether an attempt ended because it submitted a tree that was already
// refused: another attempt at its tier would not differ.
func IsResubmission(a *state.AttemptState) bool {
	return a.Outcome == nexus.NoProgress && (a.Category == nexus.Resubmitted || a.Category == nexus.VerifierRejected)
}
