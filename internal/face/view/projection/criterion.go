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
	CriterionOpen    = "open"    // nothing has judged it yet
	CriterionUnclear = "unclear" // what judged it does not tell
	CriterionWaived  = "waived"  // a person does without it, or signed it
)

// marks are what was decided of the criteria on the tree that landed, by name.
type marks map[string]accept.Row

// marks returns what is known at the end of the run; nothing before.
func (p *Projection) marks() marks {
	if p.state.Result == nil {
		return nil
	}
	all := marks{}
	for _, r := range accept.Of(p.state, p.trail.waivers).Rows {
		all[r.ID] = r
	}
	return all
}

// criterion returns what shows the n-th criterion of a task: at the end of the
// run by the tree that landed, before that by the last round of its work.
func (p *Projection) criterion(t *state.Task, n int, known marks) Criterion {
	c := t.Criteria[n-1]
	out := Criterion{N: n, Text: c.Text, Check: c.Check, State: CriterionOpen}
	id := accept.ID(t.ID, n)
	if w, ok := p.trail.waivers[id]; ok {
		out.State, out.Evidence = CriterionWaived, w.By+": "+w.Reason
		if w.Rejected {
			out.State = CriterionNotMet
		}
		return out
	}
	if r, ok := known[id]; ok && t.Status == nexus.Landed {
		return ended(out, r)
	}
	return p.shown(out, t, n)
}

// ended takes over what is known at the end of the run.
func ended(out Criterion, r accept.Row) Criterion {
	out.State = map[accept.State]string{accept.Met: CriterionMet, accept.Unmet: CriterionNotMet}[r.State]
	if out.State == "" {
		out.State = CriterionUnclear
	}
	out.Evidence = r.Why
	if r.Evidence != nil {
		out.Evidence = fmt.Sprintf("%s: %s", r.Evidence.Gate, r.Evidence.State)
	}
	return out
}

// shown reads the last round of the work on a task.
func (p *Projection) shown(out Criterion, t *state.Task, n int) Criterion {
	a := worked(t)
	if a == nil || a.Last() == nil {
		return out
	}
	gate, _ := accept.Gate(t.Shown().Criteria[n-1])
	e := nexus.Evidence{}
	for _, x := range a.Last().Evidence {
		if x.Gate == gate && gate != "" {
			e = x
		}
	}
	weighed, fresh := t.Shows(n)
	switch {
	case e.Gate == "":
		return out
	case e.State.Red():
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

// worked returns the attempt that landed, and else the last one.
func worked(t *state.Task) *state.Attempt {
	for _, a := range t.Attempts {
		if t.Landed != nil && a.ID == t.Landed.Attempt {
			return a
		}
	}
	return t.Current()
}
