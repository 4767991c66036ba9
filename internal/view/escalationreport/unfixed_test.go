package escalationreport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/escalationreport"
)

// unmet is a run that is over, with a criterion of a task that landed which a task was to fix;
// %s is what its check found.
const unmet = `goal.accepted base=c0 limits.parallel=2 limits.run_money=5 limits.per_tier.fast=2 limits.fixes=2
plan.proposed tasks=1
task.planned task.id=T1 task.title="Do T1" task.files=[a.txt] task.criteria=[{"text":"a says one","check":"grep -q one a.txt"}]
run.started
plan.approved by=policy
attempt.started attempt=T1.1 base=c0 strategy=test-after task=T1 tier=fast
budget.reserved id=a task=T1 session=T1.1/coder.1 model=p/m money=1
budget.spent id=a money=0.5
attempt.ended attempt=T1.1 outcome=accepted commit=x1
train.boarded attempt=T1.1 task=T1
train.departed attempt=T1.1 onto=c0 task=T1
train.landed task=T1 attempt=T1.1 commit=c1 tree=t1 parent=c0
result.reviewed
faults.sought attempt=fix.1 faults=[{"criterion":"T1/AC-1","signature":"s","task":"FIX-1"}]
faults.found attempt=fix.1 faults=[{"criterion":"T1/AC-1","task":"FIX-1","signature":"s","kind":"source","why":"it says two"}]
task.planned task.id=FIX-1 task.title=Fix
fixes.planned round=1 tasks=[FIX-1]
attempt.started attempt=FIX-1.1 base=c1 strategy=no-test task=FIX-1 tier=fast
budget.reserved id=b task=FIX-1 session=FIX-1.1/coder.1 model=p/m money=1
budget.spent id=b money=0.25
attempt.ended attempt=FIX-1.1 outcome=accepted commit=y1
train.boarded attempt=FIX-1.1 task=FIX-1
train.departed attempt=FIX-1.1 onto=c1 task=FIX-1
train.landed task=FIX-1 attempt=FIX-1.1 commit=c2 tree=t2 parent=c1
result.reviewed
result.gated verdict.tree=t2 verdict.why=red verdict.evidence=[{"gate":"accept: grep -q one a.txt","state":"fail","tree":"t2","exit":1,"why":"it exits 1"%s}]
run.ended status=partial why=red
`

// TestWhatFixesDidNotFix is said in full: what the check found, at most ten of that, and what
// the fixes cost beside the task.
func TestWhatFixesDidNotFix(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf(`{"message":"line %d"}`, i))
	}
	for name, c := range map[string]struct {
		found string
		want  []string
	}{
		"no more than that it failed": {"", []string{"it exits 1"}},
		"a finding":                   {`,"findings":[{"message":"it says two","file":"a.txt"}]`, []string{"it says two"}},
		"many":                        {`,"findings":[` + strings.Join(many, ",") + "]", []string{"line 0", "line 1", "line 2", "line 3", "line 4", "line 5", "line 6", "line 7", "line 8", "line 9"}},
	} {
		events, err := eventtapetest.ReadTape("r", fmt.Sprintf(unmet, c.found))
		if err != nil {
			t.Fatal(err)
		}
		s := state.NewState("r")
		for _, e := range events {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		r := escalationreport.EscalationReportFor(s, s.TaskByID("T1"))
		if r == nil {
			t.Fatalf("%s: no report", name)
		}
		var got []string
		for _, f := range r.Errors {
			got = append(got, f.Message)
			if f.Attempt != "T1.1" || f.Round != 1 || f.From != "accept: grep -q one a.txt" || f.Seen != 1 {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if strings.Join(got, ";") != strings.Join(c.want, ";") || r.Spent != 3*nexus.Dollar/4 {
			t.Errorf("%s: %q, for %s", name, got, r.Spent)
		}
	}
}

// TestSuggestionsByCause: what a test runner that does not exit, and a dispute, ask of people, and
// where a stronger tier is one.
func TestSuggestionsByCause(t *testing.T) {
	hang := []nexus.Finding{{Code: "hang", Message: "it does not exit"}}
	for name, c := range map[string]struct {
		outcome  nexus.Outcome
		category nexus.AttemptFailureCategory
		evidence nexus.GateEvidence
		want     string
	}{
		"it does not exit":        {nexus.Unverified, "", nexus.GateEvidence{Gate: "test", State: nexus.Environmental, Findings: hang}, "close what keeps the test runner from exiting"},
		"it is inapplicable then": {nexus.Inapplicable, "", nexus.GateEvidence{Gate: "test", State: nexus.Environmental, Findings: hang}, "close what keeps the test runner from exiting"},
		"tests failed, too":       {nexus.Inapplicable, "", nexus.GateEvidence{Gate: "test", State: nexus.Fail, Findings: hang}, "fix the environment first"},
		"a tool is missing":       {nexus.Inapplicable, "", nexus.GateEvidence{Gate: "test", State: nexus.Environmental}, "fix the environment first"},
		"no progress all the same": {
			nexus.NoProgress, "", nexus.GateEvidence{Gate: "test", State: nexus.Environmental, Findings: hang}, "the same failure came back several times",
		},
		"a dispute": {nexus.GaveUp, nexus.Disputed, nexus.GateEvidence{}, "read both sides in nexus status T1, then decide with nexus tell T1 TEXT"},
	} {
		s, task := left(nexus.Parked, c.outcome)
		a := task.Attempts[1]
		a.Category, a.Rounds = c.category, []*state.AttemptRound{{Evidence: []nexus.GateEvidence{c.evidence}}}
		if got := escalationreport.EscalationReportFor(s, task).Suggestions; !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s: %q", name, got[0])
		}
	}
	for name, c := range map[string]struct {
		status  nexus.TaskStatus
		outcome nexus.Outcome
		tier    nexus.Tier
		want    bool
	}{
		"failed":          {nexus.Failed, nexus.NoProgress, nexus.Fast, true},
		"parked":          {nexus.Parked, nexus.NoProgress, nexus.Fast, false},
		"cut off":         {nexus.Failed, "", nexus.Fast, false},
		"at the last one": {nexus.Failed, nexus.NoProgress, nexus.Strong, false},
	} {
		s, task := left(c.status, c.outcome)
		task.Tier = c.tier
		if got := strings.Contains(escalationreport.EscalationReportFor(s, task).FormatText(), "start at a stronger tier"); got != c.want {
			t.Errorf("%s: a stronger tier is suggested: %v", name, got)
		}
	}
}
