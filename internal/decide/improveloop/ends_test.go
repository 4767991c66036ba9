package improveloop_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func direct() nexus.ImproveRules {
	return nexus.ImproveRules{Direct: true, Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 1, Rest: time.Minute, MostRest: time.Hour}
}

// TestStopEnds holds that who stops a loop that does nothing ends it, and is named.
func TestStopEnds(t *testing.T) {
	s := begin(direct())
	s.hear(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbStop, By: "ada"}})
	if got := s.decide(); got != "request.settled run.drained run.ended" || s.l.Status != nexus.StatusStopped || s.l.Why != "stopped by ada" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
}

// TestNobodyCanLook holds that one look that fails is tried again after a rest, that five in a row end the loop, and
// that a look which works begins to count anew.
func TestNobodyCanLook(t *testing.T) {
	s := begin(direct())
	s.decide()
	look := func(facts ...nexus.Fact) string {
		s.hear(facts...)
		got := s.decide()
		s.now = s.now.Add(2 * time.Hour)
		s.decide()
		return got
	}
	for n := range 4 {
		if got := look(nexus.ImproveCycleFailed{Cycle: n + 1, Why: "no disk"}); got != "loop.rested" {
			t.Fatalf("after %d: %s", n+1, got)
		}
	}
	if got := look(nexus.ImproveCycleSearched{Cycle: 5}); got != "loop.rested" {
		t.Fatal(got)
	}
	for n := range 4 {
		if got := look(nexus.ImproveCycleFailed{Cycle: n + 6, Why: "no disk"}); got != "loop.rested" {
			t.Fatalf("after %d more: %s", n+1, got)
		}
	}
	if got := look(nexus.ImproveCycleFailed{Cycle: 10, Why: "no disk"}); got != "run.ended" || s.l.Status != nexus.StatusFailed ||
		s.l.Why != "the search for work failed: no disk" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
}

// TestLinesRest holds that lines which changed for a reason are left alone for that reason for a week: nothing that is
// about them is taken up, and a result that touches them does not land.
func TestLinesRest(t *testing.T) {
	s := begin(direct())
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	s.decide()
	done := worked("loop-1")
	done.Change.Touched = []string{"line"}
	s.hear(done)
	s.decide()
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: "main", Commit: "c"})
	s.decide()
	s.hear(nexus.LandingCheckEnded{Item: "loop-1"})
	s.decide()
	other := wanted("todo", 2)
	other.Lines = []string{"new", "line"}
	if rule, _ := s.l.BlockingRule(other, s.now); rule != improveloop.Again {
		t.Errorf("lines that were just changed: %q", rule)
	}
	if rule, _ := s.l.BlockingRule(other, s.now.Add(improveloop.Week)); rule != "" {
		t.Errorf("a week later: %q", rule)
	}
	s.hear(nexus.ImproveCycleSearched{Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 3), wanted("todo", 4)}})
	s.decide()
	done = worked("loop-2")
	done.Change.Touched = []string{"line"}
	s.hear(done)
	if got := s.decide(); got != "item.kept cycle.started" || s.l.ItemByID("loop-2").Rule != improveloop.Again {
		t.Errorf("%s: %q", got, s.l.ItemByID("loop-2").Rule)
	}
	s.hear(nexus.ImproveCycleSearched{Cycle: 3, Wanted: []nexus.CandidateWorkItem{wanted("todo", 4)}})
	s.decide()
	done = worked("loop-3")
	done.Change.Touched = []string{"another"}
	s.hear(done)
	if got := s.decide(); got != "item.offered" {
		t.Errorf("lines that nobody changed: %s", got)
	}
}

// TestSchedule holds that a loop with a schedule waits for it before its first cycle, and how long that is; one that
// watches something waits without an end.
func TestSchedule(t *testing.T) {
	s := begin(direct())
	due := s.now.Add(5 * time.Hour)
	facts := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now, Due: func(time.Time) time.Time { return due }})
	if f, ok := facts[0].(nexus.LoopPauseStarted); !ok || !f.Until.Equal(due) || f.For != 5*time.Hour || f.Why != "it waits for its time" {
		t.Errorf("%+v", facts)
	}
	rules := direct()
	rules.Watch = "commits"
	s = begin(rules)
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1})
	facts = s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})
	if f, ok := facts[0].(nexus.LoopPauseStarted); !ok || !f.Until.IsZero() || f.For != 0 {
		t.Errorf("%+v", facts)
	}
}

// TestFullSays holds that a loop which may have no more results wait says so when it ends.
func TestFullSays(t *testing.T) {
	rules := direct()
	rules.Direct, rules.Waiting, rules.Cycles, rules.Open = false, 1, 2, 3
	s := begin(rules)
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	s.decide()
	s.hear(worked("loop-1"))
	s.decide()
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: nexus.Theme + "todo", Commit: "c"})
	s.decide()
	s.hear(nexus.LandingCheckEnded{Item: "loop-1"})
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 2})
	if got := s.decide(); got != "run.ended" || s.l.Status != nexus.StatusWaiting ||
		s.l.Why != "1 result waits for a person, and no more may (improve.waiting)" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
}

// TestModest holds what is left to a person because it is more than modest, with the words that say so.
func TestModest(t *testing.T) {
	for name, c := range map[string]struct {
		change nexus.LoopItemChange
		rule   improveloop.ItemSkipRule
		why    string
	}{
		"few lines":  {nexus.LoopItemChange{Lines: 200}, "", ""},
		"many lines": {nexus.LoopItemChange{Lines: 201}, improveloop.TooLarge, "it changes 201 lines, and more than 200 are left to a person (improve.lines)"},
		"names": {
			nexus.LoopItemChange{Public: []string{"A in a.go", "B in b.go", "C in c.go", "D in d.go", "E in e.go"}},
			improveloop.Public,
			"it changes a public interface, which is left to a person: A in a.go, B in b.go, C in c.go and 2 more",
		},
		"needs": {nexus.LoopItemChange{Dependencies: []string{"go.mod"}}, improveloop.Dependencies, "it changes the dependencies, which is left to a person: go.mod"},
	} {
		rules := direct()
		rules.Lines = 200
		s := begin(rules)
		s.decide()
		s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
		s.decide()
		done := worked("loop-1")
		done.Change = c.change
		s.hear(done)
		first := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})[0]
		kept, is := first.(nexus.LoopItemLandingConfirmed)
		if is != (c.rule != "") || kept.Rule != string(c.rule) || kept.Why != c.why {
			t.Errorf("%s: %+v", name, first)
		}
	}
}

// TestWorseInWords holds that what a landing made worse is told, the first three of it.
func TestWorseInWords(t *testing.T) {
	s := begin(direct())
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	s.decide()
	s.hear(worked("loop-1"))
	s.decide()
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: "main", Commit: "c"})
	s.decide()
	s.hear(nexus.LandingCheckEnded{Item: "loop-1", Worse: []nexus.WorsenedFinding{
		{Finding: "a/1", Title: "A", After: 1},
		{Finding: "b/1", Title: "B", Before: 1, After: 3},
		{Finding: "c/1", Title: "C", After: 1},
		{Finding: "d/1", Title: "D", After: 1},
		{Finding: "e/1", Title: "E", After: 1},
	}})
	const want = "a/1 (A) is new, b/1 (B) went from 1 to 3, c/1 (C) is new, and 2 more"
	if f, ok := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})[0].(nexus.LoopItemRevertStarted); !ok || f.Why != want {
		t.Errorf("%+v", f)
	}
}

// TestMoneyOfALoop holds what may still be spent: what work under way may cost, and calls that nobody heard the end of, are
// set aside; and a loop with too little for a piece of work ends.
func TestMoneyOfALoop(t *testing.T) {
	s := begin(direct())
	left := func(want nexus.Money) {
		t.Helper()
		if got := s.l.RemainingMoney(); got != want {
			t.Errorf("%s may be spent, want %s", got, want)
		}
	}
	left(9 * nexus.Dollar)
	s.decide()
	s.hear(nexus.BudgetReserved{ID: "c1", Money: 2 * nexus.Dollar})
	left(7 * nexus.Dollar)
	s.hear(nexus.BudgetSettled{ID: "c1", Money: nexus.Dollar})
	left(8 * nexus.Dollar)
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Spent: nexus.Dollar, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	left(8 * nexus.Dollar)
	s.decide()
	left(7 * nexus.Dollar)
	s.hear(worked("loop-1")) // a tenth is spent; a conflict may cost the rest
	left(7 * nexus.Dollar)
	s.decide()
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: "main", Commit: "c"})
	left(8*nexus.Dollar - nexus.Dollar/10)
	rules := direct()
	rules.Budget, rules.Rest = nexus.Dollar/20, time.Minute
	s = begin(rules)
	if got := s.decide(); got != "run.ended" || s.l.Status != nexus.StatusLimit {
		t.Errorf("with a twentieth of a dollar: %s, %s", got, s.l.Why)
	}
}

// TestWakes holds that a loop decides again when its rest is over, or its time is, whichever comes first.
func TestWakes(t *testing.T) {
	rules := direct()
	rules.Until = time.Date(2026, 11, 26, 13, 0, 0, 0, time.UTC)
	s := begin(rules)
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1})
	s.decide()
	if got := s.l.NextWakeTime(improveloop.LoopDecisionInputs{Now: s.now}); !got.Equal(s.now.Add(time.Minute)) {
		t.Errorf("it wakes at %s, and rests a minute", got)
	}
	if got := s.l.NextWakeTime(improveloop.LoopDecisionInputs{Now: s.now.Add(2 * time.Minute)}); !got.Equal(rules.Until) {
		t.Errorf("it wakes at %s, and its time is over at %s", got, rules.Until)
	}
}
