package improveloop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// outside is work of which nothing comes for a reason outside it.
func outside(again time.Time) nexus.LoopItemWorkEnded {
	return nexus.LoopItemWorkEnded{Status: nexus.StatusFailed, Why: "the key is wrong", Outside: true, Again: again}
}

// cycle looks, finds some things, and works on the first one that may be taken up.
func (s *story) cycle(work nexus.LoopItemWorkEnded, found ...nexus.CandidateWorkItem) string {
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: s.l.Cycle, Wanted: found})
	if got := s.decide(); got != "item.taken" {
		return got
	}
	work.Item = s.l.Items[len(s.l.Items)-1].ID
	s.hear(work)
	return s.decide()
}

// rest lets a rest end.
func (s *story) rest() { s.now = s.l.Rest.Until }

// TestKeyIsWrong holds that a loop which can do no work tries other findings, rests longer
// and longer, bars none of them, and ends as failed when nothing goes five times in a row.
func TestKeyIsWrong(t *testing.T) {
	s := begin(direct())
	found := []nexus.CandidateWorkItem{wanted("todo", 1), wanted("todo", 2), wanted("todo", 3), wanted("todo", 4), wanted("todo", 5)}
	var rests []time.Duration
	for range 4 {
		if got := s.cycle(outside(time.Time{}), found...); got != "loop.rested" || s.l.Rest.Why != "no work can be done now: the key is wrong" {
			t.Fatalf("%s: %q", got, s.l.Rest.Why)
		}
		rests = append(rests, s.l.Rest.For)
		s.rest()
	}
	if rests[0] != time.Minute || rests[1] <= rests[0] || rests[3] <= rests[2] {
		t.Errorf("it rests for %v", rests)
	}
	tried := map[string]bool{}
	for _, i := range s.l.Items {
		tried[i.Wanted.Finding] = true
		if i.Rule != improveloop.Unworked {
			t.Errorf("%s: %s", i.ID, i.Rule)
		}
	}
	if len(tried) != 4 {
		t.Errorf("it tries the same again and again: %v", tried)
	}
	if got := s.cycle(outside(time.Time{}), found...); got != "run.ended" || s.l.Status != nexus.StatusFailed || s.l.Why != "no work can be done now: the key is wrong" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
	s.hear(nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Improve}, Target: "main"}, nexus.LoopRulesSet{Rules: direct()}) // the next loop
	s.now = s.now.Add(time.Second)
	for _, x := range found {
		if rule, why := s.l.BlockingRule(x, s.now); rule != "" {
			t.Errorf("%s is barred: %s, %s", x.Finding, rule, why)
		}
	}
}

// TestOneCycleThatCannotWork holds that a loop of one cycle does not say that it is done
// when it could not work.
func TestOneCycleThatCannotWork(t *testing.T) {
	for _, empty := range []bool{false, true} {
		rules := direct()
		if rules.Cycles = 1; empty {
			rules.Cycles, rules.Empty = 2, true
		}
		s := begin(rules)
		got := s.cycle(outside(time.Time{}), wanted("todo", 1))
		if empty { // the only finding is put off, and there is something left to do
			s.rest()
			got = s.cycle(outside(time.Time{}), wanted("todo", 1))
		}
		if got != "run.ended" || s.l.Status != nexus.StatusFailed || !strings.HasPrefix(s.l.Why, "no work can be done now") {
			t.Errorf("empty %t: %s: %s, %s", empty, got, s.l.Status, s.l.Why)
		}
	}
}

// TestUnableIsNotIdle holds that a loop which could not work has not done all that there is,
// and does not wait for something that need not happen.
func TestUnableIsNotIdle(t *testing.T) {
	rules := direct()
	rules.Empty, rules.Watch = true, "commits"
	s := begin(rules)
	if got := s.cycle(outside(time.Time{}), wanted("todo", 1)); got != "loop.rested" || s.l.Rest.For != time.Minute {
		t.Fatalf("%s for %s", got, s.l.Rest.For)
	}
	s.rest()
	if got := s.cycle(nexus.LoopItemWorkEnded{}, wanted("todo", 1)); got != "loop.rested" || !strings.HasPrefix(s.l.Rest.Why, "no work can be done now") {
		t.Errorf("the only finding is put off: %s, %s", got, s.l.Why)
	}
}

// TestMoneyOfTheDay holds that a loop whose day has no money left rests until the next
// one, however often, also with a watch, and then takes up what it left.
func TestMoneyOfTheDay(t *testing.T) {
	for _, watch := range []string{"", "commits"} {
		rules := direct()
		rules.Watch = watch
		s := begin(rules)
		for day := range 7 {
			morning := s.now.Add(9 * time.Hour)
			if got := s.cycle(outside(morning), wanted("todo", 1)); got != "loop.rested" || !s.l.Rest.Until.Equal(morning) {
				t.Fatalf("day %d: %s until %s, want %s", day, got, s.l.Rest.Until, morning)
			}
			if rule, why := s.l.BlockingRule(wanted("todo", 1), s.now); rule != "" {
				t.Fatalf("day %d: it is put off, though the money is what lacks: %s, %s", day, rule, why)
			}
			s.rest()
		}
		if got := s.cycle(worked(""), wanted("todo", 1)); got != "item.offered" {
			t.Errorf("with money again: %s", got)
		}
	}
	rules := direct()
	rules.Cycles = 1
	s := begin(rules)
	if got := s.cycle(outside(s.now.Add(time.Hour)), wanted("todo", 1)); got != "run.ended" || s.l.Status != nexus.StatusLimit {
		t.Errorf("one cycle: %s: %s", got, s.l.Status)
	}
}

// TestPoison holds that a finding on which the machinery fails, while other work goes on,
// counts as one that failed: it does not stop the loop.
func TestPoison(t *testing.T) {
	s := begin(direct())
	poison := wanted("todo", 1)
	failed := nexus.LoopItemWorkEnded{Status: nexus.StatusFailed, Why: "red"}
	for n := range 2 {
		s.cycle(outside(time.Time{}), poison)
		s.rest()
		s.cycle(failed, wanted("todo", 10+n)) // nothing comes of it either, but the machinery works
		if s.l.Unable != 0 {
			t.Fatal("it still takes itself for unable")
		}
		s.now = s.now.Add(2 * time.Hour)
	}
	if rule, why := s.l.BlockingRule(poison, s.now); rule != improveloop.Failed || !strings.Contains(why, "it was tried 2 times") {
		t.Errorf("%q, %s", rule, why)
	}

	// What works in the end was not poison: one failure of its own is one.
	s = begin(direct())
	s.cycle(outside(time.Time{}), poison)
	s.now = s.now.Add(2 * time.Hour)
	s.cycle(failed, poison)
	if rule, why := s.l.BlockingRule(poison, s.now.Add(time.Second)); rule != "" {
		t.Errorf("%q, %s", rule, why)
	}
}
