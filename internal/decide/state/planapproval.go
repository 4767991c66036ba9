package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PlanApprovalState is the state of people's approval of the plan.
type PlanApprovalState struct {
	Question string           // question about the present plan; empty: not asked
	Anew     bool             // another process continued the run since the question was asked
	Drafts   []UnapprovedPlan // plans that people rejected or edited, oldest first
	By       string           // person who approved the plan; empty: not approved
	Agreed   []nexus.Task     // the approved plan, if there are drafts
	Aside    int64            // sequence number of the event that rejected the last draft; 0: none
}

// UnapprovedPlan is a plan that people did not approve in its first form.
type UnapprovedPlan struct {
	Goal  string
	Tasks []nexus.Task

	Assumed  []string         // assumptions, as in [State]
	Foreseen []nexus.PlanRisk // risks, as in [State]

	By  string // person who refused or edited it
	Why string // why it was refused; empty if it was edited
	At  time.Time
}

// NeedsPlanApproval reports whether a person must approve the plan.
func (s *State) NeedsPlanApproval() bool {
	c := s.Goal.Consent
	return c.Wanted || c.Given == "" && s.Limits.Approval.NeedsApproval(nexus.ApproveAll)
}

// PlanQuestion returns the question about the present plan, or nil if there is none.
func (s *State) PlanQuestion() *RunQuestion {
	if s.Consent.Question == "" {
		return nil
	}
	return s.QuestionByID(s.Consent.Question)
}

// waitsForConsent reports whether the plan waits for an answer. The run's clock stops
// meanwhile.
func (s *State) waitsForConsent() bool {
	q := s.PlanQuestion()
	return q != nil && q.By == "" && !q.Left && !s.Planned
}

// CountPlanRefusals counts the plans that were refused with a reason.
func (s *State) CountPlanRefusals() int {
	n := 0
	for _, d := range s.Consent.Drafts {
		if d.Why != "" {
			n++
		}
	}
	return n
}

// PlanVersion returns the plan after a number of drafts: the draft with that number, from 0,
// or after all of them the approved or present plan.
func (s *State) PlanVersion(n int) []nexus.Task {
	switch c := s.Consent; {
	case n < len(c.Drafts):
		return c.Drafts[n].Tasks
	case c.By != "" && len(c.Drafts) > 0:
		return c.Agreed
	default:
		return s.plannedTasks()
	}
}

// plannedTasks returns the tasks as a plan lists them.
func (s *State) plannedTasks() []nexus.Task {
	all := make([]nexus.Task, len(s.Tasks))
	for i, t := range s.Tasks {
		all[i] = t.Task
	}
	return all
}

// applyConsent applies questions about the plan and people's answers.
func (s *State) applyConsent(e nexus.Event) {
	c := &s.Consent
	switch f := e.Fact.(type) {
	case nexus.RunRecovered:
		c.Anew = c.Question != ""
	case nexus.RunReopened:
		c.Anew = c.Question != ""
		if q := s.PlanQuestion(); q != nil && q.By != "" && !s.Planned {
			c.Question, c.Anew = "", false // a no ended the run, and a process that continues it asks again
		}
	case nexus.QuestionAsked:
		if f.Trigger == nexus.PlanTrigger {
			c.Question, c.Anew = f.ID, false
		}
	case nexus.PlanProposed:
		c.Question = ""
	case nexus.PlanRejected:
		s.storeUnapprovedPlan(e.Seq, UnapprovedPlan{By: f.By, Why: f.Why, At: e.At})
		s.Proposed = 0
	case nexus.PlanRevised:
		s.storeUnapprovedPlan(e.Seq, UnapprovedPlan{By: f.By, At: e.At})
		s.Proposed, s.Assumed, s.Foreseen = f.Tasks, f.Assumptions, f.Foreseen
		if f.Goal != "" {
			s.Goal.Goal.Text = f.Goal
		}
	case nexus.PlanApproved:
		if c.By = f.By; len(c.Drafts) > 0 {
			c.Agreed = s.plannedTasks()
		}
	default:
	}
}

// storeUnapprovedPlan stores the plan as a draft. Its tasks are removed from the run, and earlier
// guidance no longer refers to anything.
func (s *State) storeUnapprovedPlan(seq int64, d UnapprovedPlan) {
	d.Goal, d.Tasks, d.Assumed, d.Foreseen = s.Goal.Goal.Text, s.plannedTasks(), s.Assumed, s.Foreseen
	s.Consent.Drafts = append(slices.Clip(s.Consent.Drafts), d)
	s.Consent.Question, s.Consent.Aside = "", seq
	var kept []Guidance // views of the state may share the old list
	for _, g := range s.Guidance {
		if g.Seq >= seq {
			kept = append(kept, g)
		}
	}
	s.Guidance = kept
	s.waived = nil
	for _, t := range s.Tasks {
		if len(t.Attempts) > 0 { // names that were used before a rewind
			s.void[t.ID] = t.Attempts
		}
	}
	s.Tasks, s.tasks, s.Cover, s.Assumed, s.Foreseen = nil, map[nexus.TaskID]*TaskState{}, nil, nil, nil
}

// recordAssumption records a planner's assumption. Old journals contain it in no other fact.
func (s *State) recordAssumption(f nexus.AssumptionStated) {
	if s.Planning != nil && s.Planning.ID == f.Attempt && s.Goal.Goal.Mode != nexus.Interview && !slices.Contains(s.Assumed, f.Text) {
		s.Assumed = append(slices.Clip(s.Assumed), f.Text)
	}
}

// evidenceOfRefusedPlan returns the results of the commands of a refused plan: the next plan is made for
// the same tree.
func (s *State) evidenceOfRefusedPlan() []nexus.GateEvidence {
	if s.Planning == nil || len(s.Consent.Drafts) == 0 {
		return nil
	}
	return clipCapacity(s.Planning.Tried)
}
