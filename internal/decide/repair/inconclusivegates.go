package repair

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// UnprovenCause is the cause of a round in which the author of work that passed is told that a
// criterion has no evidence, and why.
const UnprovenCause = "unshown"

// decideAfterUnclearGate tells the author of work once that a gate could not decide whether it is right: its
// tests may be skipped, or print unknown output. After that it is left to a person, and so is
// a gate that had no clear result on the base either.
func decideAfterUnclearGate(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	v := a.LastRound().Verdict
	end := RepairStep{Move: End, Outcome: nexus.Unverified, Why: verdictReason(v)}
	e := nexus.EvidenceOfGate(a.LastRound().Evidence, v.Gate)
	given := strings.HasPrefix(v.Gate, nexus.AcceptGate) // the author may not change its command
	if e.Gate == "" || given || e.Hangs || e.Base != "" || facts.Before || facts.Untouched || countRounds(a, v.Gate) > 0 {
		return end
	}
	return stepOrEnd(beginRound(t, a, l, RepairStep{Role: firstWriterRole(t), Cause: v.Gate, Findings: decidingFindings(a.LastRound()), Why: v.Why}), end)
}

// decideAfterUnprovenCriterion is [decideAfterUnclearGate] for a criterion without evidence on a tree that passed, for example if
// the tests of the change pass without the rest of it.
func decideAfterUnprovenCriterion(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	end := RepairStep{Move: End, Outcome: nexus.Unverified, Why: facts.Unshown}
	if countRounds(a, UnprovenCause) > 0 || facts.Untouched {
		return end
	}
	return stepOrEnd(beginRound(t, a, l, RepairStep{Role: firstWriterRole(t), Cause: UnprovenCause, Why: facts.Unshown}), end)
}

// stepOrEnd returns a step that writes, or the end if no round is left for it.
func stepOrEnd(step, end RepairStep) RepairStep {
	if step.Move != Write {
		return end
	}
	return step
}
