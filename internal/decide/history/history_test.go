package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ran returns a run of one task per try, each landed for the money given
// unless its outcome says otherwise.
func ran(t *testing.T, c nexus.Complexity, tries ...any) *state.State {
	t.Helper()
	s := state.New("r")
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	seq := int64(0)
	put := func(facts ...nexus.Fact) {
		for _, f := range facts {
			seq++
			at = at.Add(time.Second)
			if err := s.Apply(nexus.Event{Seq: seq, At: at, Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
	}
	limits := nexus.DefaultLimits()
	limits.RunMoney = 1000 * nexus.Dollar
	put(nexus.GoalAccepted{Base: "c0", Limits: limits}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: len(tries)})
	for i := range tries {
		put(nexus.TaskPlanned{Task: nexus.Task{ID: nexus.TaskID(fmt.Sprint("T", i))}})
	}
	put(nexus.PlanApproved{})
	tip := "c0"
	for i, try := range tries {
		id := nexus.TaskID(fmt.Sprint("T", i))
		attempt := nexus.AttemptID(id + ".1")
		session := nexus.SessionID(attempt + "/coder.1")
		put(nexus.TaskRouted{Task: id, Complexity: c, Tier: nexus.Fast, By: "keyword", Why: "so"},
			nexus.AttemptStarted{Attempt: attempt, Task: id, Tier: nexus.Fast, Base: tip})
		switch try := try.(type) {
		case int: // dollars of a task that lands
			money := nexus.Money(try) * nexus.Dollar
			put(nexus.SessionStarted{Session: session, Attempt: attempt, Role: nexus.Coder},
				nexus.BudgetReserved{ID: string(session), Task: id, Session: session, Money: money}, nexus.BudgetSpent{ID: string(session), Money: money})
			at = at.Add(time.Duration(try) * time.Minute)
			next := fmt.Sprint("c", i+1)
			put(nexus.AttemptEnded{Attempt: attempt, Outcome: nexus.Accepted, Commit: "x"},
				nexus.TrainBoarded{Task: id, Attempt: attempt}, nexus.TrainDeparted{Task: id, Attempt: attempt, Onto: tip},
				nexus.TrainLanded{Task: id, Attempt: attempt, Parent: tip, Commit: next})
			tip = next
		case nexus.Outcome:
			put(nexus.AttemptEnded{Attempt: attempt, Outcome: try})
		case string:
			put(nexus.AttemptBroken{Attempt: attempt, Why: try})
		}
	}
	return s
}

func TestPastCountsWhatTheTierDid(t *testing.T) {
	var h history.Stats
	if len(h.Past()) > 0 {
		t.Error("an empty past says something")
	}
	h.Add(ran(t, nexus.Simple, 2, nexus.Exhausted, nexus.GaveUp, nexus.NoProgress, nexus.Stopped, nexus.Refused, nexus.Unverified, "disk full"))
	h.Add(ran(t, nexus.Medium, 3))
	h.Add(ran(t, nexus.Simple, 1))
	want := []nexus.Past{
		{Complexity: nexus.Medium, Tier: nexus.Fast, Tries: 1, Money: 3 * nexus.Dollar},
		{Complexity: nexus.Simple, Tier: nexus.Fast, Tries: 5, Failed: 3, Money: 3 * nexus.Dollar},
	}
	if d := cmp.Diff(want, h.Past()); d != "" {
		t.Error(d)
	}
}

func TestEstimate(t *testing.T) {
	simple := []nexus.TaskRouted{{Complexity: nexus.Simple, Tier: nexus.Fast}}
	price := func(tier nexus.Tier, u nexus.Usage) (nexus.Money, bool) {
		return nexus.Money(u.Total()), tier == nexus.Fast
	}
	var h history.Stats
	thumb := h.Estimate(simple, price)
	if thumb.Known != 0 || thumb.Money.Low <= 0 || thumb.Money.High != 3*thumb.Money.Likely || thumb.Work.Likely <= 0 {
		t.Errorf("by the rule of thumb: %+v", thumb)
	}
	if e := h.Estimate([]nexus.TaskRouted{{Tier: nexus.Strong}}, price); e.Unknown != 1 || e.Money.High != 0 {
		t.Errorf("without a price: %+v", e)
	}
	h.Add(ran(t, nexus.Simple, 1, 2))
	if e := h.Estimate(simple, price); e.Known != 0 {
		t.Errorf("two tasks say nothing yet: %+v", e)
	}
	h.Add(ran(t, nexus.Medium, 10))
	if e := h.Estimate(simple, price); e.Known != 1 || e.Money.Likely != 2*nexus.Dollar {
		t.Errorf("from all tasks: %+v", e)
	}
	h.Add(ran(t, nexus.Simple, 3, 4, 5, 6, 7, 8, 9, 10, 11))
	e := h.Estimate(append(simple, simple...), price)
	if want := (history.Range[nexus.Money]{Low: 4 * nexus.Dollar, Likely: 12 * nexus.Dollar, High: 20 * nexus.Dollar}); e.Money != want || e.Known != 2 {
		t.Errorf("%+v, want %+v", e, want)
	}
	if e.Work.Low < 4*time.Minute || e.Work.High < e.Work.Likely {
		t.Errorf("%+v", e.Work)
	}
}
