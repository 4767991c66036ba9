package projection

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The states of a criterion.
const (
	CriterionMet     = "met"
	CriterionNotMet  = "not-met"
	CriterionOpen    = "open"    // not judged yet
	CriterionUnclear = "unclear" // the result is inconclusive
	CriterionWaived  = "waived"  // a person waived it or signed it off
)

// runLookups holds lookups that are computed once for all tasks of a view.
type runLookups struct {
	criteria map[string]accept.CriterionRow // by name, on the landed tree; nil before it was judged
	blockers *state.BlockerCache
}

func (p *RunProjection) buildIndex() runLookups {
	s := runLookups{blockers: p.state.BlockerIndex()}
	if p.state.Result == nil {
		return s
	}
	s.criteria = map[string]accept.CriterionRow{}
	for _, r := range accept.BuildCriteriaTable(p.state, p.trail.waivers).Rows {
		s.criteria[r.ID] = r
	}
	return s
}

// criterionOf returns the evidence for the n-th criterion of a task: at the end of the run from the
// landed tree, before that from the last round of its work.
func (p *RunProjection) criterionOf(t *state.TaskState, n int, known runLookups) CriterionView {
	c := t.Criteria[n-1]
	out := CriterionView{N: n, Text: c.Text, Check: c.Check, State: CriterionOpen}
	id := accept.CriterionID(t.ID, n)
	if w, ok := p.trail.waivers[id]; ok {
		out.State, out.Evidence = CriterionWaived, w.By+": "+w.Reason
		if w.Rejected {
			out.State = CriterionNotMet
		}
		return out
	}
	if r, ok := known.criteria[id]; ok && t.Status == nexus.Landed {
		return withFinalResult(out, r)
	}
	return p.roundCriterion(out, t, n)
}

// withFinalResult copies the result from the end of the run.
func withFinalResult(out CriterionView, r accept.CriterionRow) CriterionView {
	out.State = map[accept.CriterionState]string{accept.Met: CriterionMet, accept.Unmet: CriterionNotMet}[r.State]
	if out.State == "" {
		out.State = CriterionUnclear
	}
	out.Evidence = r.Why
	if r.Evidence != nil {
		out.Evidence = fmt.Sprintf("%s: %s", r.Evidence.Gate, r.Evidence.State)
	}
	return out
}

// roundCriterion derives the result from the last round of the work on a task.
func (p *RunProjection) roundCriterion(out CriterionView, t *state.TaskState, n int) CriterionView {
	a := workAttempt(t)
	if a == nil {
		return out
	}
	gate, _ := accept.GateOfCriterion(t.WithProvedChecks().Criteria[n-1])
	e := nexus.GateEvidence{}
	for x := range a.GateEvidence(true) {
		if x.Gate == gate && gate != "" {
			e = x
		}
	}
	weighed, fresh := t.CriterionEvidence(n)
	switch {
	case e.Gate == "":
		return out
	case e.State.IsRed():
		out.State = CriterionNotMet
	case !e.Passed(), fresh && weighed.Number > 0 && weighed.By == "":
		out.State = CriterionUnclear
	default:
		out.State = CriterionMet
	}
	out.Evidence = fmt.Sprintf("%s: %s", e.Gate, e.State)
	if out.State == CriterionUnclear && weighed.Why != "" {
		out.Evidence += ", " + weighed.Why
	}
	return out
}

// workAttempt returns the landed attempt, or else the last one.
func workAttempt(t *state.TaskState) *state.AttemptState {
	for _, a := range t.Attempts {
		if t.Landed != nil && a.ID == t.Landed.Attempt {
			return a
		}
	}
	return t.CurrentAttempt()
}
