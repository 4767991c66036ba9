package projection

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

// going is the run of the tape, and a way to let more happen in it.
func going(t *testing.T) (*RunProjection, func(facts ...nexus.Fact)) {
	t.Helper()
	events := projectiontest.SampleRun()
	p := NewProjection("r", Options{Past: past(events)})
	fold(t, p, events)
	last := events[len(events)-1]
	return p, func(facts ...nexus.Fact) {
		t.Helper()
		for _, f := range facts {
			last.Seq, last.At, last.Fact = last.Seq+1, last.At.Add(time.Second), f
			fold(t, p, []nexus.Event{last})
		}
	}
}

// kinds are the items of an inbox by kind and name.
func kinds(p *RunProjection) map[string]InboxItem {
	all := map[string]InboxItem{}
	for _, i := range p.InboxItems(projectiontest.Start().Add(time.Hour)) {
		all[string(i.Kind)+" "+i.ID] = i
	}
	return all
}

// TestWorkThatDoesNotMergeIsAConflict holds that a task that was left is called what it
// was left for.
func TestWorkThatDoesNotMergeIsAConflict(t *testing.T) {
	p, then := going(t)
	then(nexus.AttemptEnded{Attempt: "T6.1", Outcome: nexus.Conflicted, Why: "size.go"}, nexus.TaskParked{Task: "T6", Why: "size.go"})
	then(nexus.BudgetRefused{Cap: "task", Task: "T7", Limit: nexus.Dollar, Spent: nexus.Dollar, Asked: 1})
	then(nexus.AttemptEnded{Attempt: "T7.1", Outcome: nexus.Refused, Why: "money"}, nexus.TaskParked{Task: "T7", Why: "money"})
	all := kinds(p)
	for _, want := range []string{"failure T3", "conflict T6", "budget T7", "approval q1"} {
		if i, ok := all[want]; !ok || i.Notice {
			t.Errorf("%q does not wait; these do: %v", want, names(all))
		}
	}
}

// TestMoneyIsNoticedInTime holds that people are told at three quarters of the budget,
// and not before.
func TestMoneyIsNoticedInTime(t *testing.T) {
	for percent, want := range map[int]bool{50: false, 75: true, 90: true, 100: true} {
		p, then := going(t)
		then(nexus.BudgetPercentReached{Percent: percent})
		i, ok := kinds(p)["budget budget"]
		if ok != want || ok && (!i.Notice || !strings.Contains(i.Text, "of the budget is spent")) {
			t.Errorf("at %d %%: %+v", percent, i)
		}
	}
	p, then := going(t)
	then(nexus.BudgetRefused{Cap: "run", Limit: nexus.Dollar, Spent: nexus.Dollar, Asked: 1})
	if i := kinds(p)["budget budget"]; !strings.Contains(i.Text, "the cap of the run is reached") {
		t.Errorf("a cap that is reached: %+v", i)
	}
}

// TestWhatOnlyAPersonCanJudgeIsOffered holds that a criterion of what landed that nothing
// shows is there to sign, until somebody has.
func TestWhatOnlyAPersonCanJudgeIsOffered(t *testing.T) {
	p, then := going(t)
	if _, ok := kinds(p)["sign-off T1/AC-2"]; ok {
		t.Error("it is offered before what landed was judged")
	}
	then(nexus.FinalGatesJudged{})
	i, ok := kinds(p)["sign-off T1/AC-2"]
	if !ok || !i.Notice || i.Task != "T1" || i.Text != "It looks right" || len(i.Actions) != 1 || i.Actions[0].Name != "waive" {
		t.Fatalf("%+v of %v", i, names(kinds(p)))
	}
	for name := range kinds(p) {
		if strings.HasPrefix(name, "sign-off ") && name != "sign-off T1/AC-2" {
			t.Errorf("%s is offered", name)
		}
	}
	then(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbApprove, ID: "T1/AC-2", Text: "read by me", By: "ann"}})
	if _, ok := kinds(p)["sign-off T1/AC-2"]; ok {
		t.Error("it is offered though somebody signed it")
	}
}

func names(all map[string]InboxItem) []string {
	var some []string
	for name := range all {
		some = append(some, name)
	}
	return some
}
