package projection

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestPlan holds that who agrees to a plan is told what it is thought to take, what it
// takes for granted, and what may go wrong.
func TestPlan(t *testing.T) {
	limits := nexus.DefaultLimits()
	limits.RunMoney = 5 * nexus.Dollar
	rate := nexus.TierTurnCost{Writer: nexus.Dollar / 100, Reviewer: nexus.Dollar / 100}
	routing := nexus.StartTierRules{
		Order:      []string{"manual", "keyword"},
		Experience: &nexus.EstimateBasis{Rates: map[nexus.Tier]nexus.TierTurnCost{nexus.Fast: rate, nexus.Balanced: rate, nexus.Strong: rate}},
	}
	second := nexus.Task{ID: "T2", Title: "Rename it", Minutes: 150, Needs: []nexus.TaskID{"T1"}}
	p := NewProjection("r", Options{Past: nothing})
	seq := int64(0)
	put := func(facts ...nexus.Fact) {
		t.Helper()
		for _, f := range facts {
			seq++
			if err := p.Apply(nexus.Event{Seq: seq, Run: "r", At: time.Unix(seq, 0), Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(nexus.GoalAccepted{Goal: nexus.Goal{Text: "g"}, Base: "b0", Limits: limits, Routing: routing},
		nexus.RunStarted{Process: nexus.RunProcess{PID: 7}}, nexus.PlanningStarted{Attempt: "plan.1"},
		nexus.PlanProposed{
			Plan: "blob", Tasks: 2, Assumptions: []string{"Sizes are in bytes."},
			Foreseen: []nexus.PlanRisk{{Task: "T1", Text: "it may be slow", Mitigation: "measure it"}},
		},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Add it", Minutes: 10}}, nexus.TaskPlanned{Task: second})
	of := p.PlanApprovalFacts()
	e := of.Estimate
	if e == nil || e.Minutes < 160 || e.Low.Money >= e.Money || e.Money >= e.High.Money || e.Confidence != nexus.LowConfidence || len(e.Tasks) != 2 || e.Most != 5*nexus.Dollar {
		t.Errorf("estimate %+v", e)
	}
	if len(of.Critical) != 2 || len(of.Assumed) != 1 {
		t.Errorf("critical path %v, assumptions %v", of.Critical, of.Assumed)
	}
	said := strings.Join(of.RiskLines(), "\n")
	for _, want := range []string{"T1: it may be slow", "measure it", "T2: it is estimated at 150 minutes (probability high, impact medium): split it"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not among the risks:\n%s", want, said)
		}
	}
	put(nexus.QuestionAsked{ID: "q1", Text: "Start?", Trigger: nexus.PlanTrigger}, nexus.QuestionAsked{ID: "q2", Text: "Which?"})
	items := p.InboxItems(time.Unix(seq, 0))
	if len(items) != 2 || items[1].Estimate != nil || !reflect.DeepEqual(items[0].Estimate, e) {
		t.Errorf("what waits is estimated otherwise than the plan that it is about: %+v", items)
	}
	put(nexus.PlanApproved{By: "policy"})
	put(begin("T1.1", "T1")...)
	if p.PlanApprovalFacts().Estimate != nil {
		t.Error("what has begun is estimated as a whole")
	}
}

func begin(id nexus.AttemptID, task nexus.TaskID) []nexus.Fact {
	return []nexus.Fact{nexus.AttemptStarted{Attempt: id, Task: task, Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: "b0"}}
}
