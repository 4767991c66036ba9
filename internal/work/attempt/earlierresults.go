package attempt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// earlierTreeRefusal returns the objections to the tree as it is from earlier attempts that count:
// not before a person gave the task another chance, or changed its criteria.
func (w *attemptWork) earlierTreeRefusal() repair.TreeObjection {
	past := w.view.Past
	from := max(w.task.Mercy, w.task.Revised)
	return repair.FindEarlierRefusal(past[min(from, len(past)):], w.a.Base, w.a.Snapshot.Tree)
}

// lastJudgedRound returns the last round whose tree the gates judged, nil for none.
func (w *attemptWork) lastJudgedRound() *state.AttemptRound {
	for _, r := range slices.Backward(w.a.Rounds) {
		if r.Verdict != nil {
			return r
		}
	}
	return nil
}

// wasUnclearOnBase reports whether the gate that was inconclusive on the last tree was
// inconclusive on the base, too.
func (w *attemptWork) wasUnclearOnBase(ctx context.Context) bool {
	r := w.a.LastRound()
	if r == nil || r.Verdict == nil || r.Verdict.State.IsRed() || r.Verdict.State == nexus.Pass || w.Worker.Judge.Bases == nil {
		return false
	}
	base := nexus.EvidenceOfGate(w.Worker.Judge.Bases.Known(ctx, w.a.Base), r.Verdict.Gate)
	return base.State == r.Verdict.State
}

// unprovedCriteriaFindings returns a finding for each criterion without evidence, with the reason. It
// depends only on recorded facts.
func (w *attemptWork) unprovedCriteriaFindings() []nexus.Finding {
	var all []nexus.Finding
	add := func(n int, why string) {
		if i := slices.IndexFunc(w.a.Checks.Checks, func(c nexus.CriterionTest) bool { return c.Number == n && c.Command != "" && !c.Proved }); i >= 0 {
			c := w.a.Checks.Checks[i]
			why += fmt.Sprintf("; the check %s does not count: %s", c.Command, c.Why)
		}
		text := fmt.Sprintf("criterion %d (%s) is not shown: %s", n, oneLine(w.task.Criteria[n-1].Text), strings.TrimPrefix(why, "; "))
		all = append(all, nexus.Finding{Gate: repair.UnprovenCause, Message: text})
	}
	weighed := w.a.Weighed.Criteria
	for _, n := range w.unprovedCriteria() {
		i := slices.IndexFunc(weighed, func(s nexus.CriterionGateEvidence) bool { return s.Number == n })
		switch {
		case slices.Contains(w.view.Waived, n):
		case i >= 0:
			add(n, weighed[i].Why)
		default:
			add(n, "no gate or command checks it")
		}
	}
	return all
}
