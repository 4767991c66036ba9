package projection

import (
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TaskDetailView returns all details of a task, and false if there is no such task.
func (p *RunProjection) TaskDetailView(id nexus.TaskID, now time.Time) (TaskDetailView, bool) {
	t := p.state.TaskByID(id)
	if t == nil {
		return TaskDetailView{}, false
	}
	now = p.currentOrInterruptedTime(now)
	items, seen := itemsAbout(p.InboxItems(now), id), p.buildIndex()
	out := TaskDetailView{
		TaskCard: p.taskCard(p.taskRow(t, now), items, seen, now), Text: t.Brief, Files: t.Files, Checks: []CriterionView{}, Tries: []AttemptView{},
		Actions: p.TaskActions(id), Inbox: items, Dependents: p.dependentTasks(id),
	}
	if t.Why != "" {
		out.Why = append(out.Why, t.Why)
	}
	for _, r := range t.Refused {
		out.Why = append(out.Why, "the verifier rejected "+string(r.Attempt)+": "+r.Why)
	}
	for n := range t.Criteria {
		out.Checks = append(out.Checks, p.criterionOf(t, n+1, seen))
	}
	for _, a := range t.Attempts {
		out.Tries = append(out.Tries, p.attemptOf(a, now))
	}
	for _, said := range t.Said {
		out.Guidance = append(out.Guidance, said.Text)
	}
	for _, g := range p.state.Guidance {
		if g.Task == id && !g.Landed && !slices.ContainsFunc(t.Said, func(s state.DeliveredGuidance) bool { return s.Seq == g.Seq }) {
			out.Guidance = append(out.Guidance, g.Text)
		}
	}
	if t.Landed != nil {
		out.Evidence = []view.CommitEvidence{p.landingProof(t)}
	}
	return out, true
}

// taskRow returns a task with its estimates.
func (p *RunProjection) taskRow(t *state.TaskState, now time.Time) view.TaskView {
	row, _ := p.Run(now).TaskByID(t.ID)
	return row
}

// dependentTasks returns the tasks that depend on one, in the plan's order.
func (p *RunProjection) dependentTasks(id nexus.TaskID) []nexus.TaskID {
	var all []nexus.TaskID
	for _, t := range p.state.Tasks {
		if slices.Contains(t.Prerequisites(), id) {
			all = append(all, t.ID)
		}
	}
	return all
}

// landingProof returns the evidence at the commit that a task landed.
func (p *RunProjection) landingProof(t *state.TaskState) view.CommitEvidence {
	proof := state.LandingEvidence{LandingCompleted: *t.Landed}
	at := map[string]int{}
	if a := p.state.AttemptByID(t.Landed.Attempt).UnpackedCopy(); a != nil {
		for _, r := range a.Rounds {
			for _, e := range r.Evidence {
				if e.Tree != t.Landed.Tree {
					continue
				}
				if i, again := at[e.Gate]; again {
					proof.Evidence[i] = e
					continue
				}
				at[e.Gate] = len(proof.Evidence)
				proof.Evidence = append(proof.Evidence, e)
			}
			for _, given := range r.Reviews {
				proof.Review = &given
			}
		}
	}
	return view.CommitEvidence{Commit: t.Landed.Commit, Tree: t.Landed.Tree, Notes: []accept.CommitEvidenceNote{accept.EvidenceNoteOf(p.state.Run, proof)}}
}

// attemptOf returns an attempt with its rounds and sessions.
func (p *RunProjection) attemptOf(a *state.AttemptState, now time.Time) AttemptView {
	out := AttemptView{
		ID: a.ID, Tier: a.Tier, Strategy: a.Strategy, Base: a.Base, Outcome: a.Outcome, Why: a.Why, Began: a.Began, Ended: a.Finished,
		Seconds: p.state.AttemptWorkTime(a, now).Round(time.Millisecond).Seconds(),
		Rounds:  []RoundView{}, Sessions: []SessionView{},
	}
	judged, a := p.gateSpans(a.ID), a.UnpackedCopy()
	for _, r := range a.Rounds {
		out.Rounds = append(out.Rounds, newRoundView(r, judged))
	}
	for _, c := range a.Sessions {
		out.Sessions = append(out.Sessions, p.sessionOf(a, c, now))
	}
	return out
}

// gateSpans returns the spans of the gates of an attempt, by gate, in order.
func (p *RunProjection) gateSpans(id nexus.AttemptID) map[string][]activitySpan {
	by := map[string][]activitySpan{}
	if r := p.trail.rows[id]; r != nil {
		for _, s := range r.spans {
			if s.stage == inGate && s.to != 0 && s.state != 0 {
				by[s.label] = append(by[s.label], s)
			}
		}
	}
	return by
}

func newRoundView(r *state.AttemptRound, judged map[string][]activitySpan) RoundView {
	out := RoundView{N: r.Round, Role: r.Role, Cause: r.Cause, Gates: []GateView{}}
	for _, e := range r.Evidence {
		g := newGateView(e)
		if all := judged[e.Gate]; len(all) > 0 {
			g.At, g.Cached = unixTime(all[0].to), all[0].cached
			judged[e.Gate] = all[1:]
		}
		out.Gates = append(out.Gates, g)
	}
	if r.Verdict != nil {
		out.State = r.Verdict.State
	}
	var said []string
	for _, v := range r.Reviews {
		said = append(said, v.Summary)
		out.Findings = append(out.Findings, v.Findings...)
	}
	if v := r.Verified; v != nil {
		said = append(said, v.Why)
		out.Findings = append(out.Findings, v.Findings...)
	}
	out.Review = strings.TrimSpace(strings.Join(said, "\n"))
	return out
}

func newGateView(e nexus.GateEvidence) GateView {
	took := e.Duration.Round(time.Millisecond).Seconds()
	return GateView{Name: e.Gate, State: e.State, Seconds: took, Findings: e.Findings, Why: e.Why, Raw: e.Output}
}

func (p *RunProjection) sessionOf(a *state.AttemptState, c *state.AgentSessionState, now time.Time) SessionView {
	out := SessionView{
		ID: c.Session, Task: a.Task, Attempt: a.ID, Role: c.Role, Model: c.Model, Turns: c.Turns, Doing: c.Doing,
		Spent: c.Spent, Usage: c.Usage, Outcome: string(c.Outcome),
	}
	if p.IsInterrupted() {
		out.Doing = "" // its process is gone
	}
	if t := p.trail.talks[c.Session]; t != nil {
		out.Began, out.Ended = unixTime(t.began), unixTime(t.ended)
		if p.IsInterrupted() && t.ended == 0 {
			out.Ended = unixTime(t.heard)
			return out
		}
		if t.ended == 0 && a.Stage == state.Working && now.Sub(unixTime(t.heard)) >= silenceThreshold {
			out.Silent = view.SecondsBetween(unixTime(t.heard), time.Time{}, now)
		}
	}
	return out
}

// Sessions returns the conversations of the run: those in progress first, then the others, the
// latest first.
func (p *RunProjection) Sessions(now time.Time) []SessionView {
	now = p.currentOrInterruptedTime(now)
	all := []SessionView{}
	add := func(a *state.AttemptState) {
		if a == nil {
			return
		}
		for _, c := range a.UnpackedCopy().Sessions {
			all = append(all, p.sessionOf(a, c, now))
		}
	}
	s := p.state
	for _, id := range p.trail.order {
		if id != "" && s.AttemptByID(id) == nil {
			continue
		}
		add(s.AttemptByID(id))
	}
	slices.SortStableFunc(all, func(x, y SessionView) int {
		if x.Ended.IsZero() != y.Ended.IsZero() {
			if x.Ended.IsZero() {
				return -1
			}
			return 1
		}
		return y.Began.Compare(x.Began)
	})
	return all
}
