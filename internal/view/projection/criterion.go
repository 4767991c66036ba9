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

// runIndex holds lookups that are computed once for all tasks of a view.
type runIndex struct {
	criteria map[string]accept.CriterionRow // by name, on the landed tree; nil before it was judged
	blockers *state.BlockerIndex
}

func (p *Projection) buildIndex() runIndex {
	s := runIndex{blockers: p.state.BlockerIndex()}
	if p.state.Result == nil {
		return s
	}
	s.criteria = map[string]accept.CriterionRow{}
	for _, r := range accept.TableOf(p.state, p.trail.waivers).Rows {
		s.criteria[r.ID] = r
	}
	return s
}

// criterionOf returns the evidence for the n-th criterion of a task: at the end of the run from the
// landed tree, before that from the last round of its work.
func (p *Projection) criterionOf(t *state.Task, n int, known runIndex) Criterion {
	c := t.Criteria[n-1]
	out := Criterion{N: n, Text: c.Text, Check: c.Check, State: CriterionOpen}
	id := accept.CriterionID(t.ID, n)
	if w, ok := p.trail.waivers[id]; ok {
		out.State, out.Evidence = CriterionWaived, w.By+": "+w.Reason
		if w.Rejected {
			out.State = CriterionNotMet
		}
		return out
	}
	if r, ok := known.criteria[id]; ok && t.Status == nexus.Landed {
		return finalCriterion(out, r)
	}
	return p.roundCriterion(out, t, n)
}

// finalCriterion copies the result from the end of the run.
func finalCriterion(out Criterion, r accept.CriterionRow) Criterion {
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
func (p *Projection) roundCriterion(out Criterion, t *state.Task, n int) Criterion {
	a := workAttempt(t)
	if a == nil {
		return out
	}
	gate, _ := accept.GateFor(t.WithProvedChecks().Criteria[n-1])
	e := nexus.Evidence{}
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
func workAttempt(t *state.Task) *state.Attempt {
	for _, a := range t.Attempts {
		if t.Landed != nil && a.ID == t.Landed.Attempt {
			return a
		}
	}
	return t.CurrentAttempt()
}
