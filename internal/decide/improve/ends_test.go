package improve_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improve"
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
		if got := look(nexus.CycleFailed{Cycle: n + 1, Why: "no disk"}); got != "loop.rested" {
			t.Fatalf("after %d: %s", n+1, got)
		}
	}
	if got := look(nexus.CycleLooked{Cycle: 5}); got != "loop.rested" {
		t.Fatal(got)
	}
	for n := range 4 {
		if got := look(nexus.CycleFailed{Cycle: n + 6, Why: "no disk"}); got != "loop.rested" {
			t.Fatalf("after %d more: %s", n+1, got)
		}
	}
	if got := look(nexus.CycleFailed{Cycle: 10, Why: "no disk"}); got != "run.ended" || s.l.Status != nexus.StatusFailed ||
		s.l.Why != "nobody could look what there is to do: no disk" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
}

// TestLinesRest holds that lines which changed for a reason are left alone for that reason for a week: nothing that is
// about them is taken up, and a result that touches them does not land.
func TestLinesRest(t *testing.T) {
	s := begin(direct())
	s.decide()
	s.hear(nexus.CycleLooked{Cycle: 1, Wanted: []nexus.Wanted{wanted("todo", 1)}})
	s.decide()
	done := worked("loop-1")
	done.Change.Touched = []string{"line"}
	s.hear(done)
	s.decide()
	s.hear(nexus.ItemLanded{Item: "loop-1", Target: "main", Commit: "c"})
	s.decide()
	s.hear(nexus.LandingWeighed{Item: "loop-1"})
	s.decide()
	other := wanted("todo", 2)
	other.Lines = []string{"new", "line"}
	if rule, _ := s.l.Bar(other, s.now); rule != improve.Again {
		t.Errorf("lines that were just changed: %q", rule)
	}
	if rule, _ := s.l.Bar(other, s.now.Add(improve.Week)); rule != "" {
		t.Errorf("a week later: %q", rule)
	}
	s.hear(nexus.CycleLooked{Cycle: 2, Wanted: []nexus.Wanted{wanted("todo", 3), wanted("todo", 4)}})
	s.decide()
	done = worked("loop-2")
	done.Change.Touched = []string{"line"}
	s.hear(done)
	if got := s.decide(); got != "item.kept cycle.started" || s.l.Item("loop-2").Rule != improve.Again {
		t.Errorf("%s: %q", got, s.l.Item("loop-2").Rule)
	}
	s.hear(nexus.CycleLooked{Cycle: 3, Wanted: []nexus.Wanted{wanted("todo", 4)}})
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
	facts := s.l.Next(improve.Moment{Now: s.now, Due: func(time.Time) time.Time { return due }})
	if f, ok := facts[0].(nexus.LoopRested); !ok || !f.Until.Equal(due) || f.For != 5*time.Hour || f.Why != "it waits for its time" {
		t.Errorf("%+v", facts)
	}
	rules := direct()
	rules.Watch = "commits"
	s = begin(rules)
	s.decide()
	s.hear(nexus.CycleLooked{Cycle: 1})
	facts = s.l.Next(improve.Moment{Now: s.now})
	if f, ok := facts[0].(nexus.LoopRested); !ok || !f.Until.IsZero() || f.For != 0 {
		t.Errorf("%+v", facts)
	}
}

// TestFullSays holds that a loop which may have no more results wait says so when it ends.
func TestFullSays(t *testing.T) {
	rules := direct()
	rules.Direct, rules.Waiting, rules.Cycles, rules.Open = false, 1, 2, 3
	s := begin(rules)
	s.decide()
	s.hear(nexus.CycleLooked{Cycle: 1, Wanted: []nexus.Wanted{wanted("todo", 1)}})
	s.decide()
	s.hear(worked("loop-1"))
	s.decide()
	s.hear(nexus.ItemLanded{Item: "loop-1", Target: nexus.Theme + "todo", Commit: "c"})
	s.decide()
	s.hear(nexus.LandingWeighed{Item: "loop-1"})
	s.decide()
	s.hear(nexus.CycleLooked{Cycle: 2})
	if got := s.decide(); got != "run.ended" || s.l.Status != nexus.StatusWaiting ||
		s.l.Why != "1 result waits for a person, and no more may (improve.waiting)" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
}
