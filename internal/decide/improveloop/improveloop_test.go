package improveloop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestHours holds what is quiet, across midnight, the week and clocks that are set.
func TestHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ hours, now, end string }{
		{"09:00-18:00 Mon-Fri", "2026-11-26 12:30", "2026-11-26 18:00"},
		{"09:00-18:00 Mon-Fri", "2026-11-26 18:00", ""},
		{"09:00-18:00 Mon-Fri", "2026-11-26 08:59", ""},
		{"09:00-18:00 Mon-Fri", "2026-11-28 12:00", ""}, // a Saturday
		{"22:00-06:00 Fri", "2026-11-27 23:00", "2026-11-28 06:00"},
		{"22:00-06:00 Fri", "2026-11-28 05:59", "2026-11-28 06:00"},
		{"22:00-06:00 Fri", "2026-11-27 05:00", ""},
		{"22:00-06:00", "2026-11-27 23:00", "2026-11-28 06:00"},
		{"09:00-12:00; 12:00-15:00 Thu", "2026-11-26 10:00", "2026-11-26 15:00"},
		{"01:00-05:00", "2026-03-29 01:30", "2026-03-29 05:00"}, // forward: three hours
		{"01:00-05:00", "2026-10-25 01:30", "2026-10-25 05:00"}, // back: five hours
		{"00:00-24:00 Sat-Sun", "2026-11-28 10:00", "2026-11-30 00:00"},
		{"09:00-10:00 Fri-Mon", "2026-11-29 09:30", "2026-11-29 10:00"},
		{"", "2026-11-26 12:30", ""},
	} {
		h, err := improveloop.ParseWeeklyHours(c.hours)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.ParseInLocation("2006-01-02 15:04", c.now, berlin)
		if err != nil {
			t.Fatal(err)
		}
		end, quiet := h.EndOfCurrentHours(now)
		got := ""
		if quiet {
			got = end.Format("2006-01-02 15:04")
		}
		if got != c.end {
			t.Errorf("%s at %s: until %q, not %q", c.hours, c.now, got, c.end)
		}
	}
	if end, quiet := must(t, "00:00-24:00").EndOfCurrentHours(time.Date(2026, 11, 26, 0, 0, 0, 0, berlin)); !quiet || end.Sub(time.Date(2026, 11, 26, 0, 0, 0, 0, berlin)) < 7*24*time.Hour {
		t.Error("hours that are always have an end", end)
	}
	for _, bad := range []string{"9:00-18:00", "09:00", "09:00-18:00 Mo", "09:00-09:00", "24:00-06:00", "09:60-10:00", "0x:00-10:00", "09:0x-10:00", "-1:00-10:00", "09:-1-10:00", "25:00-26:00", "0900-1000", "a-b", "09:00-18:00 Mon Tue", "09:00-18:00 Mon-Tuesday", "09:00-18:00 Monday-Tue", ";"} {
		if _, err := improveloop.ParseWeeklyHours(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func must(t *testing.T, text string) improveloop.WeeklyHours {
	t.Helper()
	h, err := improveloop.ParseWeeklyHours(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func FuzzParseHours(f *testing.F) {
	f.Add("09:00-18:00 Mon-Fri; 22:00-06:00 Sat,Sun")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := improveloop.ParseWeeklyHours(text)
		if err != nil {
			return
		}
		now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
		if end, quiet := h.EndOfCurrentHours(now); quiet != end.After(now) || end.Sub(now) > 16*24*time.Hour {
			t.Error(end, quiet)
		}
	})
}

// TestEnds holds when a loop ends.
func TestEnds(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"90m": "11-26 13:30", "7d": "12-03 12:00", "18:00": "11-26 18:00", "09:00": "11-27 09:00", "2026-12-24": "12-24 00:00",
		"2026-12-24 18:30": "12-24 18:30", "2026-12-24T18:30:00+01:00": "12-24 17:30",
	} {
		end, err := improveloop.ParseEndCondition(text, now)
		if got := end.At.UTC().Format("01-02 15:04"); err != nil || got != want {
			t.Errorf("%s: %s, %v, not %s", text, got, err, want)
		}
	}
	if end, err := improveloop.ParseEndCondition("landed:5", now); err != nil || end.Landings != 5 {
		t.Error(end, err)
	}
	if end, err := improveloop.ParseEndCondition("empty", now); err != nil || !end.Empty {
		t.Error(end, err)
	}
	for _, bad := range []string{"", "soon", "0m", "-5m", "-5d", "4000d", "xd", "2020-01-01", "landed:0", "landed:x", "landed:", "25:00"} {
		if end, err := improveloop.ParseEndCondition(bad, now); err == nil {
			t.Errorf("%q: %+v", bad, end)
		}
	}
}

func FuzzParseEnd(f *testing.F) {
	f.Add("2026-12-24 18:30")
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		end, err := improveloop.ParseEndCondition(text, now)
		if err == nil && !end.Empty && end.Landings == 0 && !end.At.After(now) {
			t.Error(text, end)
		}
	})
}

// story folds facts one after the other and tells what a loop decides after each.
type story struct {
	l   *improveloop.ImproveLoop
	now time.Time
	seq int64
}

func begin(rules nexus.ImproveRules) *story {
	s := &story{l: &improveloop.ImproveLoop{}, now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}
	s.hear(nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Improve}, Target: "main"}, nexus.LoopRulesSet{Rules: rules})
	return s
}

func (s *story) hear(facts ...nexus.Fact) {
	for _, f := range facts {
		s.seq++
		s.l.Apply(nexus.Event{Seq: s.seq, Run: "loop", At: s.now, Fact: f})
	}
}

// decide lets the loop decide, until it waits, and tells the kinds of what it decided.
func (s *story) decide() string {
	var kinds []string
	for {
		facts := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})
		if len(facts) == 0 || len(kinds) > 20 {
			return strings.Join(kinds, " ")
		}
		for _, f := range facts {
			kinds = append(kinds, nexus.FactKind(f))
		}
		s.hear(facts...)
	}
}

func wanted(strategy string, n int) nexus.CandidateWorkItem {
	id := fmt.Sprintf("%s/%d", strategy, n)
	return nexus.CandidateWorkItem{Finding: id, Strategy: strategy, Title: id, Files: []string{id}, Mark: "1"}
}

func worked(item nexus.RunID) nexus.LoopItemWorkEnded {
	return nexus.LoopItemWorkEnded{Item: item, Status: nexus.StatusDone, Spent: nexus.Dollar / 10, Branch: "nexus/" + string(item), Commit: "c"}
}

// TestThemes holds that results wait on a branch for each strategy, that no more branches
// are begun than may be open, and that one that is merged makes room.
func TestThemes(t *testing.T) {
	s := begin(nexus.ImproveRules{Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 2, Open: 1, Waiting: 5, Rest: time.Minute, MostRest: time.Hour})
	if got := s.decide(); got != "cycle.started" {
		t.Fatal(got)
	}
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("lint", 1), wanted("todo", 2)}})
	if got := s.decide(); got != "item.taken item.taken" { // both of one theme
		t.Fatal(got)
	}
	s.hear(worked("loop-1"), worked("loop-2"))
	if got := s.decide(); got != "item.offered" { // one lands at a time
		t.Fatal(got)
	}
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: nexus.Theme + "todo", Commit: "c"})
	if got := s.decide(); got != "landing.watched" { // and is looked at before the next
		t.Fatal(got)
	}
	s.hear(nexus.LandingCheckEnded{Item: "loop-1"})
	if got := s.decide(); got != "item.offered" {
		t.Fatal(got)
	}
	s.hear(nexus.LoopItemLanded{Item: "loop-2", Target: nexus.Theme + "todo", Commit: "c"})
	s.decide()
	s.hear(nexus.LandingCheckEnded{Item: "loop-2"})
	if got := s.decide(); got != "cycle.started" || len(s.l.ItemsWaitingForPerson()) != 2 {
		t.Fatal(got, s.l.ItemsWaitingForPerson())
	}
	s.hear(nexus.ImproveCycleSearched{Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("lint", 1)}})
	if got := s.decide(); got != "loop.rested" {
		t.Fatal(got)
	}
	if left := s.l.OmittedFindings(s.now); len(left) != 2 || left[0].Rule != string(improveloop.WaitsFor) || left[1].Rule != string(improveloop.ThemesOpen) {
		t.Errorf("%+v", left)
	}
	s.now = s.now.Add(time.Hour)
	s.decide()
	s.hear(nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultMerged}, nexus.WaitingResultDecided{Item: "loop-2", How: nexus.ResultRejected})
	s.hear(nexus.ImproveCycleSearched{Cycle: 3, Wanted: []nexus.CandidateWorkItem{wanted("todo", 2), wanted("lint", 1)}})
	if got := s.decide(); got != "item.taken" || s.l.Items[len(s.l.Items)-1].Wanted.Finding != "lint/1" {
		t.Error(got)
	}
}

// TestLeftBranch holds that work begins on the branch of its theme while results wait there, and that one which a person
// took over in another form, and left, is theirs once nothing waits on it: what comes next has a branch of its own.
func TestLeftBranch(t *testing.T) {
	s := begin(nexus.ImproveRules{Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 2, Open: 3, Waiting: 5, Rest: time.Minute, MostRest: time.Hour})
	first, second := nexus.Theme+"todo", nexus.Theme+"todo-2"
	base := func(want string) {
		t.Helper()
		if got := s.l.BaseBranch("todo"); got != want {
			t.Errorf("work begins on %s, want %s", got, want)
		}
	}
	s.decide()
	base("main")
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("todo", 2)}})
	s.decide()
	s.hear(worked("loop-1"), worked("loop-2"))
	for _, item := range []nexus.RunID{"loop-1", "loop-2"} {
		s.decide()
		s.hear(nexus.LoopItemLanded{Item: item, Target: first, Commit: "c"})
		s.decide()
		s.hear(nexus.LandingCheckEnded{Item: item})
	}
	base(first)
	s.decide()
	s.hear(nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultMerged, Left: true})
	base(first)
	s.hear(nexus.WaitingResultDecided{Item: "loop-2", How: nexus.ResultMerged, Left: true})
	base("main")
	s.hear(nexus.ImproveCycleSearched{Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 3)}})
	s.decide()
	s.hear(worked("loop-3"))
	if got := s.decide(); got != "item.offered" || s.l.ItemByID("loop-3").Target != second {
		t.Errorf("%s, on %s", got, s.l.ItemByID("loop-3").Target)
	}
}

// TestRevertBeforeTheNext holds that what a landing made worse is taken back before
// anything else lands, and what failed twice waits for new facts.
func TestRevertBeforeTheNext(t *testing.T) {
	s := begin(nexus.ImproveRules{Direct: true, Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 2, Rest: time.Minute, MostRest: time.Hour})
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("lint", 1)}})
	s.decide()
	s.hear(worked("loop-1"), nexus.LoopItemWorkEnded{Item: "loop-2", Status: nexus.StatusFailed, Why: "no"})
	s.decide()
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: "main", Commit: "c"})
	s.decide()
	s.hear(nexus.LandingCheckEnded{Item: "loop-1", Worse: []nexus.WorsenedFinding{{Finding: "lint/9", Title: "new", After: 1}}})
	if got := s.decide(); got != "revert.sought" {
		t.Fatal(got)
	}
	s.hear(nexus.LoopItemReverted{Item: "loop-1", Commit: "r"})
	if got := s.decide(); got != "cycle.started" || s.l.Totals.Reverted != 1 {
		t.Fatal(got)
	}
	s.hear(nexus.ImproveCycleSearched{Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("lint", 1)}})
	if got := s.decide(); got != "item.taken" { // lint/1 once more, todo/1 no more
		t.Fatal(got)
	}
	s.hear(nexus.LoopItemWorkEnded{Item: "loop-3", Status: nexus.StatusFailed, Why: "no"})
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 3, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("lint", 1)}})
	if got := s.decide(); got != "loop.rested" {
		t.Fatal(got)
	}
	changed := wanted("lint", 1)
	changed.Mark = "2"
	if rule, _ := s.l.BlockingRule(changed, s.now); rule != "" {
		t.Error("new facts change nothing:", rule)
	}
}

// TestUntilLanded holds that a loop which is to end once so many results landed ends with the last of them, and not
// before it is known that this made nothing worse.
func TestUntilLanded(t *testing.T) {
	s := begin(nexus.ImproveRules{Direct: true, Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 2, Landings: 1, Rest: time.Minute, MostRest: time.Hour})
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	s.decide()
	s.hear(worked("loop-1"))
	s.decide()
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: "main", Commit: "c"})
	if got := s.decide(); got != "landing.watched" {
		t.Fatal(got)
	}
	s.hear(nexus.LandingCheckEnded{Item: "loop-1"})
	if got := s.decide(); got != "run.ended" || s.l.Status != nexus.StatusDone || s.l.Why != "1 result landed" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
}

// TestQuietHours holds that in quiet hours nothing is begun and nothing lands: what was under way waits for their end.
func TestQuietHours(t *testing.T) {
	s := begin(nexus.ImproveRules{Direct: true, Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 1, Rest: time.Minute, MostRest: time.Hour})
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("todo", 2)}})
	s.decide()
	s.hear(worked("loop-1"))
	quiet := must(t, "11:00-13:00")
	if facts := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now, Quiet: quiet}); len(facts) > 0 {
		t.Errorf("in quiet hours: %s", nexus.FactKind(facts[0]))
	}
	if wake := s.l.NextWakeTime(improveloop.LoopDecisionInputs{Now: s.now, Quiet: quiet}); !wake.Equal(s.now.Add(time.Hour)) {
		t.Errorf("it wakes at %s", wake)
	}
	s.now = s.now.Add(time.Hour)
	if got := s.decide(); got != "item.offered" {
		t.Error(got)
	}
	begun := begin(nexus.ImproveRules{Direct: true, Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 1, Rest: time.Minute, MostRest: time.Hour})
	begun.decide()
	begun.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	facts := begun.l.NextFacts(improveloop.LoopDecisionInputs{Now: begun.now, Quiet: quiet})
	if len(facts) != 1 || nexus.FactKind(facts[0]) != "loop.rested" {
		t.Errorf("%v", facts)
	}
}
