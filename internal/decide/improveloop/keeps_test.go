package improveloop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// took lets an item be taken up, and its work be done.
func (s *story) took(item nexus.RunID, x nexus.CandidateWorkItem) {
	s.hear(nexus.LoopItemWorkStarted{Item: item, Cycle: 1, Wanted: x, Reserved: nexus.Dollar, Base: "main"}, worked(item))
}

// onto lets an item land on a branch and be looked at, with what that made worse.
func (s *story) onto(item nexus.RunID, branch string, worse ...nexus.WorsenedFinding) {
	s.hear(nexus.LoopItemLanded{Item: item, Target: branch, Commit: "c"}, nexus.CheckAfterLandingStarted{Item: item})
	s.hear(nexus.LandingCheckEnded{Item: item, Worse: worse})
}

// ways are the ways in which a piece of work ends that waits for nobody.
func ways() map[string]func(s *story, item nexus.RunID, x nexus.CandidateWorkItem) {
	return map[string]func(s *story, item nexus.RunID, x nexus.CandidateWorkItem){
		"failed": func(s *story, item nexus.RunID, x nexus.CandidateWorkItem) {
			s.hear(nexus.LoopItemWorkStarted{Item: item, Wanted: x}, nexus.LoopItemWorkEnded{Item: item, Status: nexus.StatusFailed, Why: "no"})
		},
		"kept": func(s *story, item nexus.RunID, x nexus.CandidateWorkItem) {
			s.took(item, x)
			s.hear(nexus.LoopItemLandingConfirmed{Item: item, Rule: string(improveloop.Fixed), Why: "its check passes"})
		},
		"landed": func(s *story, item nexus.RunID, x nexus.CandidateWorkItem) {
			s.took(item, x)
			s.onto(item, "main")
		},
		"reverted": func(s *story, item nexus.RunID, x nexus.CandidateWorkItem) {
			s.took(item, x)
			s.onto(item, "main", nexus.WorsenedFinding{Finding: "lint/1", After: 1})
			s.hear(nexus.LoopItemRevertStarted{Item: item, Why: "worse"}, nexus.LoopItemReverted{Item: item, Commit: "r"})
		},
	}
}

// TestForgetsTheOldest holds that of what is over the last 200 are kept, and all that waits for a person or is under way,
// however old.
func TestForgetsTheOldest(t *testing.T) {
	for name, end := range ways() {
		s := begin(direct())
		s.took("loop-waits", wanted("todo", 1000))
		s.hear(nexus.LoopItemLandingConfirmed{Item: "loop-waits", Rule: string(improveloop.TooLarge), Why: "large"})
		s.hear(nexus.LoopItemWorkStarted{Item: "loop-works", Wanted: wanted("todo", 1001)})
		for n := range 205 {
			end(s, nexus.RunID(fmt.Sprintf("loop-%d", n+1)), wanted("todo", n))
		}
		kept := s.l.ItemByID("loop-waits") != nil && s.l.ItemByID("loop-works") != nil
		if len(s.l.Items) != 202 || !kept || s.l.ItemByID("loop-5") != nil || s.l.ItemByID("loop-6") == nil {
			t.Errorf("%s: %d items, the third is %s", name, len(s.l.Items), s.l.Items[2].ID)
		}
		all := s.l.Totals
		totals := map[string]int{"failed": all.Failed, "kept": all.Kept - 1, "landed": all.Landed, "reverted": all.Reverted}
		for other, n := range totals {
			if other == name && n != 205 || other != name && n > 0 {
				t.Errorf("%s: it counts %d that were %s", name, n, other)
			}
		}
	}
}

// TestFreedByTime holds that what time does not free is barred still once a loop has looked what time freed.
func TestFreedByTime(t *testing.T) {
	s := begin(direct())
	end := ways()
	end["reverted"](s, "loop-1", wanted("todo", 1))
	end["failed"](s, "loop-2", wanted("todo", 2))
	end["failed"](s, "loop-3", wanted("todo", 2))
	end["failed"](s, "loop-4", wanted("todo", 3))
	end["landed"](s, "loop-5", wanted("todo", 4))
	s.now = s.now.Add(improveloop.Week)
	s.hear(nexus.ImproveCycleStarted{Cycle: 50})
	end["failed"](s, "loop-6", wanted("todo", 3)) // the second time
	for n, want := range []string{
		"made worse: run loop-1 did it and was reverted: worse",
		"failed: it was tried 2 times, last in run loop-3, and its files have not changed since",
		"failed: it was tried 2 times, last in run loop-6, and its files have not changed since",
		": ",
	} {
		if rule, why := s.l.BlockingRule(wanted("todo", n+1), s.now); string(rule)+": "+why != want {
			t.Errorf("todo/%d: %s: %s, want %s", n+1, rule, why, want)
		}
	}
}

// TestTriedAnew holds that who failed at something has two tries again once its files have changed.
func TestTriedAnew(t *testing.T) {
	s := begin(direct())
	x := wanted("todo", 1)
	for n, c := range []struct {
		mark string
		free bool
	}{{"1", true}, {"2", true}, {"2", false}, {"3", true}} {
		x.Mark = c.mark
		ways()["failed"](s, nexus.RunID(fmt.Sprintf("loop-%d", n+1)), x)
		if rule, why := s.l.BlockingRule(x, s.now); (rule == "") != c.free {
			t.Errorf("after %d: %s %s", n+1, rule, why)
		}
	}
}

// TestWhatIsKept holds which results wait for a person that did not land, and until when nobody does them again.
func TestWhatIsKept(t *testing.T) {
	for _, c := range []struct {
		rule  improveloop.ItemSkipRule
		waits bool
		hours int // until it may be done again; 0: never
	}{
		{improveloop.TooLarge, true, 0},
		{improveloop.Public, true, 0},
		{improveloop.Unlanded, true, 0},
		{improveloop.Yielded, false, 1},
		{improveloop.Fixed, false, 1},
		{improveloop.StoppedEarly, false, 1},
		{improveloop.Again, false, 7 * 24},
	} {
		s := begin(direct())
		s.took("loop-1", wanted("todo", 1))
		s.hear(nexus.LoopItemLandingConfirmed{Item: "loop-1", Rule: string(c.rule), Why: "so", Spent: nexus.Dollar / 2})
		s.hear(nexus.LoopItemLandingConfirmed{Item: "loop-1", Rule: "another", Why: "once more"})
		i := s.l.ItemByID("loop-1")
		if i.Waits != c.waits || i.Rule != c.rule || s.l.Totals.Kept != 1 || i.Work.Spent != nexus.Dollar*6/10 || s.l.Spent != nexus.Dollar*6/10 {
			t.Errorf("%s: %+v, and %s spent", c.rule, i, s.l.Spent)
		}
		s.hear(nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultMerged})
		const why = "the work of run loop-1 on it did not land: so"
		for hours, barred := range map[int]bool{0: true, c.hours - 1: true, c.hours: c.hours == 0, 9999: c.hours == 0} {
			if rule, got := s.l.BlockingRule(wanted("todo", 1), s.now.Add(hour(hours))); (rule == c.rule && got == why) != barred || !barred && rule != "" {
				t.Errorf("%s, after %d hours: %s %s", c.rule, hours, rule, got)
			}
		}
	}
	s := begin(direct())
	x := worked("loop-1")
	x.Branch = ""
	s.hear(nexus.LoopItemWorkStarted{Item: "loop-1", Wanted: wanted("todo", 1)}, x, nexus.LoopItemLandingConfirmed{Item: "loop-1", Rule: string(improveloop.TooLarge)})
	if s.l.ItemByID("loop-1").Waits {
		t.Error("a person waits for what has no branch")
	}
}

// TestThrownAway holds that what a person threw away is never done again, and what they merged is once a week is over.
func TestThrownAway(t *testing.T) {
	rules := direct()
	rules.Direct = false
	s := begin(rules)
	for n, how := range []string{nexus.ResultMerged, nexus.ResultRejected} {
		item := nexus.RunID(fmt.Sprintf("loop-%d", n+1))
		s.took(item, wanted("todo", n+1))
		s.onto(item, nexus.Theme+"todo")
		s.hear(nexus.WaitingResultDecided{Item: item, How: how})
	}
	later := s.now.Add(improveloop.Week)
	if rule, why := s.l.BlockingRule(wanted("todo", 1), s.now); rule != improveloop.Again || why != "run loop-1 did it on 2026-11-26" {
		t.Error(rule, why)
	}
	if rule, why := s.l.BlockingRule(wanted("todo", 1), later); rule != "" || s.l.ItemByID("loop-1").Rule != "" {
		t.Error(rule, why, s.l.ItemByID("loop-1").Rule)
	}
	if rule, why := s.l.BlockingRule(wanted("todo", 2), later); rule != improveloop.RejectedBy || why != "a person rejected the work of run loop-2 on it" {
		t.Error(rule, why)
	}
	if s.l.ItemByID("loop-2").Rule != improveloop.RejectedBy || len(s.l.ItemsWaitingForPerson()) != 0 {
		t.Errorf("%+v", s.l.ItemByID("loop-2"))
	}
}

// TestNotTakenBack holds that a landing which could not be taken back stays, and waits for a person.
func TestNotTakenBack(t *testing.T) {
	s := begin(direct())
	s.took("loop-1", wanted("todo", 1))
	s.hear(nexus.LoopItemRevertFailed{Item: "loop-1", Why: "nobody asked"}, nexus.LoopItemReverted{Item: "loop-1", Commit: "r"})
	if i := s.l.ItemByID("loop-1"); i.Stage != improveloop.Worked || s.l.Totals.Reverted != 0 {
		t.Errorf("nobody wanted to take it back: %+v", i)
	}
	s.onto("loop-1", "main", nexus.WorsenedFinding{Finding: "lint/1", After: 1})
	s.hear(nexus.LoopItemRevertStarted{Item: "loop-1", Why: "lint/1 is new"}, nexus.LoopItemRevertFailed{Item: "loop-1", Why: "a conflict"})
	i := s.l.ItemByID("loop-1")
	const why = "lint/1 is new; it could not be reverted: a conflict"
	if i.Stage != improveloop.Over || i.Result != improveloop.DoneLanded || !i.Waits || i.Why != why || s.l.Totals.Landed != 1 {
		t.Errorf("%+v", i)
	}
	s.hear(nexus.LoopItemRevertFailed{Item: "loop-1", Why: "once more"}, nexus.LoopItemRevertFailed{Item: "loop-9"}, nexus.LoopItemReverted{Item: "loop-9"})
	if s.l.Totals.Landed != 1 || strings.Contains(i.Why, "once more") {
		t.Errorf("it ends twice: %+v", i)
	}
}

// TestNextLoop holds that a later loop knows what waits of earlier ones, and which runs are theirs.
func TestNextLoop(t *testing.T) {
	s := begin(direct())
	ways()["failed"](s, "loop-1", wanted("todo", 1))
	s.took("loop-2", wanted("todo", 2))
	s.hear(nexus.LoopItemLandingConfirmed{Item: "loop-2", Rule: string(improveloop.TooLarge), Why: "large"}, nexus.RunEnded{Status: nexus.StatusDone})
	s.l.Apply(nexus.Event{Run: "later", At: s.now, Fact: nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Improve}, Target: "main"}})
	if len(s.l.Items) != 1 || s.l.Items[0].ID != "loop-2" || s.l.Totals != (improveloop.LoopWorkTotals{}) {
		t.Errorf("%+v", s.l.Items)
	}
	if rule, why := s.l.BlockingRule(wanted("todo", 2), s.now); rule != improveloop.WaitsFor || why != "the work of run loop-2 on it waits for a person" {
		t.Error(rule, why)
	}
	if got := fmt.Sprint(s.l.RepositoryLoopIDs()); got != "[loop later]" {
		t.Error(got)
	}
	for run, want := range map[nexus.RunID]bool{
		"later-1": true, "loop-1": true, "later-12": true, "later": false, "lat-1": false, "other-1": false, "-1": false, "later-x-1": false,
	} {
		if s.l.IsLoopItem(run) != want {
			t.Errorf("%s: %v", run, !want)
		}
	}
}
