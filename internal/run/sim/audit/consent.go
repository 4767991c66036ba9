package audit

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// planConsentAudit records the consent to the plan.
type planConsentAudit struct {
	wanted   bool
	question string // the open one about the current plan
	agreed   bool   // the plan that is approved next has a yes
	objected bool   // the current plan has a no with a reason
	approved bool
	refused  int // plans that were refused
	drafts   int // tasks of the plan that are no tasks of the scenario
}

// recordConsent records the questions about the plan, and checks that no task starts before people
// agreed, and none ever of a plan that they refused.
func (b *FactAudit) recordConsent(f nexus.Fact) {
	c := &b.consents
	switch f := f.(type) {
	case nexus.GoalAccepted:
		c.wanted = f.Consent.Wanted
	case nexus.QuestionAsked:
		if f.Trigger == nexus.PlanTrigger {
			if !c.wanted || c.approved || c.question != "" && c.question != f.ID {
				b.wrong("%s asks about the plan; wanted %v, approved %v, %s is open", f.ID, c.wanted, c.approved, c.question)
			}
			c.question, c.agreed, c.objected = f.ID, false, false
		}
	case nexus.QuestionAnswered:
		if f.ID == c.question {
			c.question, c.agreed, c.objected = "", nexus.IsYes(f.Text), strings.HasPrefix(f.Text, "no: ")
		}
	case nexus.PlanProposed, nexus.PlanRevised, nexus.PlanRejected:
		b.recordDraft(f)
	case nexus.TaskPlanned:
		if toyworld.IsDraft(f.Task.ID) && !c.approved {
			c.drafts++
		}
	case nexus.PlanApproved:
		if c.wanted && !c.agreed {
			b.wrong("the plan is approved by %s, and nobody agreed to it", f.By)
		}
		c.approved = true
	case nexus.ComplexityRatingStarted, nexus.StartTierChosen:
		if !c.approved {
			b.wrong("%s before the plan is approved", nexus.FactKind(f))
		}
	case nexus.AttemptStarted:
		if !c.approved {
			b.wrong("%s is started before the plan is approved", f.Attempt)
		}
		if b.tasks[f.Task] == nil {
			b.wrong("%s is started, and %s is no task of the plan", f.Attempt, f.Task)
			b.tasks[f.Task] = &auditedTask{Task: nexus.Task{ID: f.Task}, tries: map[nexus.Tier]int{}}
		}
	default:
	}
}

// recordDraft records that another plan, or none, replaces the one before.
func (b *FactAudit) recordDraft(f nexus.Fact) {
	c := &b.consents
	if c.approved {
		b.wrong("%s after the plan was approved", nexus.FactKind(f))
	}
	switch f.(type) {
	case nexus.PlanProposed:
		c.agreed = false
	case nexus.PlanRejected:
		if c.refused++; !c.objected || c.refused > b.limits.Refusals {
			b.wrong("the plan is refused for the time %d of %d; somebody objected: %v", c.refused, b.limits.Refusals, c.objected)
		}
	default: // a person may edit a plan and agree to it in one step
	}
	if c.question != "" {
		b.wrong("%s while %s is open", nexus.FactKind(f), c.question)
	}
	c.objected, c.drafts, b.tasks = false, 0, map[nexus.TaskID]*auditedTask{}
}

// CountDrafts returns the number of tasks of the plan that are no tasks of the scenario.
func (b *FactAudit) CountDrafts() int { return b.consents.drafts }

// CountRefusedPlans returns the number of refused plans.
func (b *FactAudit) CountRefusedPlans() int { return b.consents.refused }
