package route_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ran returns a run of one task per try, each landed for the money given
// unless its outcome says otherwise.
func ran(t *testing.T, c nexus.Complexity, tries ...any) *state.State {
	t.Helper()
	s := state.NewState("r")
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
		put(nexus.StartTierChosen{Task: id, Complexity: c, Tier: nexus.Fast, By: "keyword", Why: "so"},
			nexus.AttemptStarted{Attempt: attempt, Task: id, Tier: nexus.Fast, Base: tip})
		switch try := try.(type) {
		case int: // dollars of a task that lands
			money := nexus.Money(try) * nexus.Dollar
			put(nexus.SessionStarted{Session: session, Attempt: attempt, Role: nexus.Coder},
				nexus.BudgetReserved{ID: string(session), Task: id, Session: session, Money: money}, nexus.BudgetSettled{ID: string(session), Money: money})
			at = at.Add(time.Duration(try) * time.Minute)
			next := fmt.Sprint("c", i+1)
			put(nexus.AttemptEnded{Attempt: attempt, Outcome: nexus.Accepted, Commit: "x"},
				nexus.LandingQueued{Task: id, Attempt: attempt}, nexus.LandingStarted{Task: id, Attempt: attempt, Onto: tip},
				nexus.LandingCompleted{Task: id, Attempt: attempt, Parent: tip, Commit: next})
			tip = next
		case nexus.Outcome:
			put(nexus.AttemptEnded{Attempt: attempt, Outcome: try})
		case string:
			put(nexus.AttemptInfrastructureFailed{Attempt: attempt, Why: try})
		}
	}
	return s
}

// ask asks for tasks that are all simple and begin at the fast tier, unless
// they say otherwise. A token costs a billionth of a dollar.
func ask(tasks ...nexus.Task) route.EstimateInput {
	for i := range tasks {
		tasks[i].ID = nexus.TaskID(fmt.Sprint("N", i+1))
	}
	return route.EstimateInput{
		Tasks: tasks, Parallel: 1, Most: 5 * nexus.Dollar,
		Route: func(t nexus.Task) nexus.StartTierChosen {
			return nexus.StartTierChosen{Complexity: cmp.Or(t.Complexity, nexus.Simple), Tier: cmp.Or(t.Tier, nexus.Fast)}
		},
		Price: func(_ nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool) {
			return nexus.Money(u.TotalTokens()), t.Tier == nexus.Fast
		},
	}
}

// TestThumb holds the rule of thumb, which stands where too few tasks landed.
func TestThumb(t *testing.T) {
	const turn = 1500 + 12_000 + 500
	var h route.PastRunStatistics
	for name, c := range map[string]struct {
		ask  route.EstimateInput
		want nexus.PlanEstimate
	}{
		"by complexity": {ask(nexus.Task{}), nexus.PlanEstimate{
			Work: 15, Minutes: 15, Money: 25 * turn, Low: nexus.PlanEstimateBound{Minutes: 5, Money: 25 * turn / 3}, High: nexus.PlanEstimateBound{Minutes: 45, Money: 75 * turn}, Thumb: 1,
		}},
		"by the plan's minutes": {ask(nexus.Task{Minutes: 30, Complexity: nexus.Expert}), nexus.PlanEstimate{
			Work: 30, Minutes: 30, Money: 40 * turn, Low: nexus.PlanEstimateBound{Minutes: 10, Money: 40 * turn / 3}, High: nexus.PlanEstimateBound{Minutes: 90, Money: 120 * turn}, Thumb: 1,
		}},
		"without a price": {ask(nexus.Task{}, nexus.Task{Tier: nexus.Strong}), nexus.PlanEstimate{
			Work: 30, Minutes: 30, Low: nexus.PlanEstimateBound{Minutes: 10}, High: nexus.PlanEstimateBound{Minutes: 90}, Thumb: 2, Unpriced: 1,
		}},
		"harder": {ask(nexus.Task{Complexity: nexus.Medium}, nexus.Task{Complexity: nexus.Complex}, nexus.Task{Complexity: nexus.Expert}), nexus.PlanEstimate{
			Work: 125, Minutes: 125, Money: (35 + 50 + 70) * turn, Low: nexus.PlanEstimateBound{Minutes: 42, Money: 35*turn/3 + 50*turn/3 + 70*turn/3},
			High: nexus.PlanEstimateBound{Minutes: 375, Money: 155 * 3 * turn}, Thumb: 3,
		}},
		"nothing": {ask(), nexus.PlanEstimate{}},
	} {
		c.want.Most = 5 * nexus.Dollar
		if got := h.Estimate(c.ask); len(got.Tasks) > 0 {
			c.want.Confidence = nexus.LowConfidence
		}
		if d := gocmp.Diff(c.want, h.Estimate(c.ask), cmpopts.IgnoreFields(nexus.PlanEstimate{}, "Tasks")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestEstimateSideBySide holds that a plan takes as long as its longest path,
// or as its work by as many as do it at once.
func TestEstimateSideBySide(t *testing.T) {
	for parallel, minutes := range map[int]int{0: 45, 1: 45, 2: 30, 8: 30} { // 20 after 10, and 15 apart
		a := ask(nexus.Task{Minutes: 10}, nexus.Task{Minutes: 20, Needs: []nexus.TaskID{"N1"}}, nexus.Task{})
		a.Parallel = parallel
		var h route.PastRunStatistics
		if e := h.Estimate(a); e.Work != 45 || e.Minutes != minutes || e.High.Minutes != 3*minutes {
			t.Errorf("%d at once: %+v", parallel, e)
		}
	}
}

func TestEstimateFromThePast(t *testing.T) {
	var h route.PastRunStatistics
	h.AddRun(ran(t, nexus.Simple, 1, 2))
	if e := h.Estimate(ask(nexus.Task{})); e.Thumb != 1 || e.Samples != 0 || e.Minutes != 15 {
		t.Errorf("two tasks say nothing yet: %+v", e)
	}
	h.AddRun(ran(t, nexus.Medium, 10))
	three := h.Estimate(ask(nexus.Task{}))
	if three.Thumb != 0 || three.Samples != 3 || three.Confidence != nexus.MediumConfidence || three.Minutes >= 15 {
		t.Errorf("from three tasks: %+v", three)
	}
	if e := h.Estimate(ask(nexus.Task{Complexity: nexus.Medium})); e.Samples != 3 || e.Minutes <= three.Minutes {
		t.Errorf("a harder task takes longer: %+v", e)
	}
	for range 4 {
		h.AddRun(ran(t, nexus.Simple, 3, 3, 3, 4, 3))
	}
	e := h.Estimate(ask(nexus.Task{}, nexus.Task{Tier: nexus.Strong})) // whose price nobody needs to know
	if e.Samples != 23 || e.Thumb+e.Unpriced > 0 || e.Minutes > 8 || e.Minutes < 5 {
		t.Errorf("%+v", e)
	}
	if e.Low.Minutes > e.Minutes || e.High.Minutes < e.Minutes || e.Low.Money >= e.Money || e.High.Money <= e.Money {
		t.Errorf("%+v", e)
	}
	first := e.Tasks[0]
	if of := three.Tasks[0]; float64(first.High.Seconds)/float64(first.Low.Seconds) >= float64(of.High.Seconds)/float64(of.Low.Seconds) {
		t.Errorf("more tasks that took the same make the range no narrower: %+v after %+v", first, of)
	}
}

// TestEstimateByStackAndTier holds that a task is compared with those like it, and
// with others where too few are.
func TestEstimateByStackAndTier(t *testing.T) {
	x := &nexus.EstimateBasis{Paces: []nexus.EstimateCalibration{
		{Tasks: 9, Time: nexus.EstimateRange{Low: 900, Likely: 1000, High: 1100}},
		{Tier: nexus.Fast, Tasks: 6, Time: nexus.EstimateRange{Low: 1800, Likely: 2000, High: 2200}},
		{Stack: "go", Tasks: 5, Time: nexus.EstimateRange{Low: 2700, Likely: 3000, High: 3300}},
		{Stack: "go", Tier: nexus.Fast, Tasks: 3, Time: nexus.EstimateRange{Low: 3600, Likely: 4000, High: 4400}},
	}}
	for _, c := range []struct {
		file string
		tier nexus.Tier
		from string
		n    int
	}{
		{"a.go", nexus.Fast, "go tasks that began at fast", 3},
		{"a.go", nexus.Strong, "go tasks", 5},
		{"a.py", nexus.Fast, "tasks that began at fast", 6},
		{"a.py", nexus.Strong, "tasks", 9},
		{"a", nexus.Strong, "tasks", 9},
	} {
		if e := route.EstimateTask(x, nexus.Task{Files: []string{c.file}}, nexus.Simple, c.tier); e.From != c.from || e.Samples != c.n {
			t.Errorf("%s at %s: %+v", c.file, c.tier, e)
		}
	}
	if e := route.EstimateTask(nil, nexus.Task{}, nexus.Simple, nexus.Fast); e.Samples != 0 || !e.Unpriced || e.Likely.Seconds != 900 {
		t.Errorf("%+v", e)
	}
}

// TestPartsAddUp holds that what an estimate is made of adds up to it.
func TestPartsAddUp(t *testing.T) {
	x := &nexus.EstimateBasis{
		Rates: map[nexus.Tier]nexus.TierTurnCost{nexus.Fast: {Writer: 1000, Reviewer: 3000}},
		Paces: []nexus.EstimateCalibration{{Tasks: 4, Paid: 4, Time: nexus.EstimateRange{Low: 100, Likely: 300, High: 900}, Money: nexus.EstimateRange{Low: 100, Likely: 2000, High: 9000}}},
	}
	for name, c := range map[string]struct {
		task nexus.Task
		hard nexus.Complexity
		x    *nexus.EstimateBasis
		want []string
	}{
		"of a plan": {nexus.Task{Minutes: 20}, nexus.Simple, &nexus.EstimateBasis{Rates: x.Rates}, []string{"work, as the plan says", "review"}},
		"without":   {nexus.Task{Minutes: 20}, nexus.Simple, nil, []string{"work, as the plan says"}},
		"of its looks": {
			nexus.Task{Files: []string{"a", "b"}, Criteria: []nexus.Criterion{{Text: "x"}, {Text: "y", Check: "test"}}},
			nexus.Complex, x,
			[]string{"reading, and getting started", "2 files to change", "it looks complex", "tests for 1 criterion without a check", "review", "as 4 landed tasks took"},
		},
	} {
		e := route.EstimateTask(c.x, c.task, c.hard, nexus.Fast)
		var what []string
		var sum nexus.TimeAndMoney
		for _, p := range e.Parts {
			what = append(what, p.What)
			sum.Seconds, sum.Money = sum.Seconds+p.Seconds, sum.Money+p.Money
		}
		if d := gocmp.Diff(c.want, what); d != "" || sum != e.Likely {
			t.Errorf("%s: %+v is not %+v: %s", name, sum, e.Likely, d)
		}
		if e.Low.Seconds >= e.Likely.Seconds || e.High.Seconds <= e.Likely.Seconds {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestEstimateFromUnpaidWork holds that work without a known price tells how
// long it took, and not that it costs nothing.
func TestEstimateFromUnpaidWork(t *testing.T) {
	var h route.PastRunStatistics
	h.AddRun(ran(t, nexus.Simple, 0, 0, 0, 0))
	var thumb route.PastRunStatistics
	want := thumb.Estimate(ask(nexus.Task{})).Money
	if e := h.Estimate(ask(nexus.Task{})); e.Money != want || e.Samples != 4 || e.Thumb != 1 || e.Minutes >= 15 {
		t.Errorf("%+v, want money %s", e, want)
	}
}
