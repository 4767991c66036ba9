package improveloop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// chosen returns which findings a loop takes up of what a cycle found, and what it sets aside for them.
func chosen(s *story, found ...nexus.CandidateWorkItem) string {
	s.hear(nexus.ImproveCycleStarted{Cycle: s.l.Cycle + 1})
	s.hear(nexus.ImproveCycleSearched{Cycle: s.l.Cycle, Wanted: found})
	var all []string
	for _, f := range s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now}) {
		if taken, ok := f.(nexus.LoopItemWorkStarted); ok {
			all = append(all, fmt.Sprintf("%s as %s for %s", taken.Wanted.Finding, taken.Item, taken.Reserved))
		} else {
			all = append(all, nexus.FactKind(f))
		}
	}
	return strings.Join(all, ", ")
}

// TestChosen holds what is taken up of what was found: never two things about one file, no more than may wait for a
// person or be worked on at once, of no more branches than may be open, and for no more money than is left.
func TestChosen(t *testing.T) {
	same := wanted("lint", 9)
	same.Files = []string{"other", "todo/1"}
	found := []nexus.CandidateWorkItem{wanted("todo", 1), same, wanted("todo", 2), wanted("lint", 1), wanted("docs", 1), wanted("todo", 3)}
	for name, c := range map[string]struct {
		edit func(r *nexus.ImproveRules)
		want string
	}{
		"one at a time":    {func(r *nexus.ImproveRules) { r.Parallel = 0 }, "todo/1 as loop-2 for $1.00"},
		"two at a time":    {func(r *nexus.ImproveRules) { r.Parallel = 2 }, "todo/1 as loop-2 for $1.00, todo/2 as loop-3 for $1.00"},
		"one waits of two": {func(r *nexus.ImproveRules) { r.Parallel, r.Waiting = 5, 2 }, "todo/1 as loop-2 for $1.00"},
		"two branches": {
			func(r *nexus.ImproveRules) { r.Parallel, r.Open = 9, 2 },
			"todo/1 as loop-2 for $1.00, todo/2 as loop-3 for $1.00, lint/1 as loop-4 for $1.00, todo/3 as loop-5 for $1.00",
		},
		"money for one and a half": {
			func(r *nexus.ImproveRules) { r.Parallel, r.Budget = 9, nexus.Dollar*16/10 },
			"todo/1 as loop-2 for $1.00, todo/2 as loop-3 for $0.50",
		},
		"money for nearly one": {func(r *nexus.ImproveRules) { r.Parallel, r.Budget = 9, nexus.Dollar }, "todo/1 as loop-2 for $0.90"},
		"money for a bit less": {func(r *nexus.ImproveRules) { r.Parallel, r.Budget = 9, nexus.Dollar*19/100 }, "run.ended"},
		"any money":            {func(r *nexus.ImproveRules) { r.Parallel, r.Budget = 2, 0 }, "todo/1 as loop-2 for $1.00, todo/2 as loop-3 for $1.00"},
	} {
		rules := direct()
		rules.Direct, rules.Waiting, rules.Open = false, 9, 9
		c.edit(&rules)
		s := begin(rules)
		s.took("loop-1", wanted("todo", 4))
		s.onto("loop-1", nexus.Theme+"todo")
		if got := chosen(s, found...); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSpentAll holds that a loop whose money is spent to the last ends, and says how much that is.
func TestSpentAll(t *testing.T) {
	rules := direct()
	rules.Budget = nexus.Dollar
	s := begin(rules)
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Spent: nexus.Dollar, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	if got := s.decide(); got != "run.ended" || s.l.Status != nexus.StatusLimit || s.l.Why != "$1.00 of the budget of $1.00 are spent" {
		t.Errorf("%s: %s, %s", got, s.l.Status, s.l.Why)
	}
	s = begin(direct())
	s.took("loop-1", wanted("todo", 1))
	s.hear(nexus.LoopItemLanded{Item: "loop-1", Target: "main", Commit: "c", Spent: nexus.Dollar / 5})
	if want := nexus.Dollar * 3 / 10; s.l.ItemByID("loop-1").Work.Spent != want || s.l.Spent != want {
		t.Errorf("with what landing cost, %s and %s are spent", s.l.ItemByID("loop-1").Work.Spent, s.l.Spent)
	}
}

// TestWhyItEnded holds the words with which a loop ends after its cycles.
func TestWhyItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(r *nexus.ImproveRules)
		cycles [][]nexus.CandidateWorkItem // what each found
		status nexus.RunStatus
		why    string
	}{
		"one without work":  {func(r *nexus.ImproveRules) { r.Cycles = 1 }, [][]nexus.CandidateWorkItem{nil}, nexus.StatusDone, "there was nothing to do"},
		"one with work":     {func(r *nexus.ImproveRules) { r.Cycles = 1 }, [][]nexus.CandidateWorkItem{{wanted("a", 1)}}, nexus.StatusDone, "1 cycle"},
		"two, with nothing": {func(r *nexus.ImproveRules) { r.Cycles = 2 }, [][]nexus.CandidateWorkItem{nil, nil}, nexus.StatusDone, "2 cycles"},
		"two landed": {
			func(r *nexus.ImproveRules) { r.Landings = 2 },
			[][]nexus.CandidateWorkItem{{wanted("a", 1)}, {wanted("a", 2)}},
			nexus.StatusDone, "2 results landed",
		},
		"nothing is left": {func(r *nexus.ImproveRules) { r.Empty = true }, [][]nexus.CandidateWorkItem{{wanted("a", 1)}, nil}, nexus.StatusDone, "there is nothing left to do"},
		"nobody may take what is left": {
			func(r *nexus.ImproveRules) { r.Empty = true },
			[][]nexus.CandidateWorkItem{{wanted("a", 1)}, {wanted("a", 1)}},
			nexus.StatusDone, "there is nothing left to do",
		},
		"its time is over": {
			func(r *nexus.ImproveRules) { r.Until = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) },
			nil, nexus.StatusDone, "its time is over",
		},
		"two wait, and no more may": {
			func(r *nexus.ImproveRules) { r.Cycles, r.Direct, r.Waiting = 2, false, 2 },
			[][]nexus.CandidateWorkItem{{wanted("a", 1)}, {wanted("a", 2)}},
			nexus.StatusWaiting, "2 results wait for a person, and no more may (improve.waiting)",
		},
	} {
		rules := direct()
		rules.Waiting = 9
		c.edit(&rules)
		s := begin(rules)
		for n, found := range c.cycles {
			s.decide()
			s.now = s.now.Add(hour(2))
			s.decide()
			s.hear(nexus.ImproveCycleSearched{Cycle: s.l.Cycle, Wanted: found})
			s.decide()
			item := nexus.RunID(fmt.Sprintf("loop-%d", n+1))
			if i := s.l.ItemByID(item); i != nil {
				s.hear(worked(item))
				s.decide()
				s.onto(item, i.Target)
			}
		}
		if s.decide(); s.l.Status != c.status || s.l.Why != c.why {
			t.Errorf("%s: %q, %s; want %s, %s", name, s.l.Status, s.l.Why, c.status, c.why)
		}
	}
}

// TestRests holds why a loop rests and how long: the more often in a row it found nothing, the longer, up to a bound.
func TestRests(t *testing.T) {
	s := begin(direct())
	s.decide()
	rest := func(w improveloop.LoopDecisionInputs, facts ...nexus.Fact) string {
		s.hear(facts...)
		w.Now = s.now
		all := s.l.NextFacts(w)
		s.hear(all...)
		if f, ok := all[0].(nexus.LoopPauseStarted); ok && len(all) == 1 {
			s.now = s.now.Add(f.For)
			return fmt.Sprintf("%s: %s", f.Why, f.For)
		}
		return nexus.FactKind(all[0])
	}
	for _, want := range []string{"1m0s", "2m0s", "4m0s", "8m0s", "16m0s", "32m0s", "1h0m0s", "1h0m0s"} {
		if got := rest(improveloop.LoopDecisionInputs{}, nexus.ImproveCycleSearched{Cycle: 1}); got != "there is nothing to do: "+want {
			t.Errorf("%s, want %s", got, want)
		}
		s.decide()
	}
	const nobody = "the search for work failed: no disk: 1h0m0s"
	if got := rest(improveloop.LoopDecisionInputs{}, nexus.ImproveCycleFailed{Cycle: 1, Why: "no disk"}); got != nobody {
		t.Error(got)
	}
	s.decide()
	schedule := improveloop.LoopDecisionInputs{Due: func(at time.Time) time.Time { return at.Add(hour(5)) }}
	if got := rest(schedule, nexus.ImproveCycleSearched{Cycle: 1}); got != "there is nothing to do: 5h0m0s" {
		t.Error(got)
	}
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("a", 1)}})
	s.decide()
	s.hear(nexus.LoopItemWorkEnded{Item: "loop-1", Status: nexus.StatusFailed, Why: "no"})
	s.decide()
	if got := rest(improveloop.LoopDecisionInputs{}, nexus.ImproveCycleSearched{Cycle: 1}); got != "there is nothing to do: 1m0s" {
		t.Errorf("after work: %s", got)
	}

	rules := direct()
	rules.Direct, rules.Waiting, rules.Until = false, 1, s.now.Add(90*time.Second)
	full := begin(rules)
	now := s.now
	s = full
	s.now = now
	s.decide()
	s.took("loop-1", wanted("a", 1))
	s.onto("loop-1", nexus.Theme+"a")
	const waits = "1 result waits for a person, and no more may (improve.waiting): 1m0s"
	if got := rest(improveloop.LoopDecisionInputs{}, nexus.ImproveCycleStarted{Cycle: 2}, nexus.ImproveCycleSearched{Cycle: 2}); !s.l.HasNoFreeSlot() || got != waits {
		t.Error(got)
	}
	s.now = now
	s.hear(nexus.LoopPauseStarted{Idle: true}, nexus.ImproveCycleStarted{Cycle: 3})
	if got := rest(improveloop.LoopDecisionInputs{}, nexus.ImproveCycleSearched{Cycle: 3}); !strings.HasSuffix(got, ": 1m30s") {
		t.Errorf("beyond its end: %s", got)
	}
	s.hear(nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultMerged})
	if s.l.HasNoFreeSlot() {
		t.Error("it is full, and nothing waits")
	}
}

// TestRestEnds holds what ends a rest: its time, and a reason, which is recorded.
func TestRestEnds(t *testing.T) {
	s := begin(direct())
	woken := improveloop.LoopDecisionInputs{Now: s.now, Woken: "somebody pushed"}
	why := func(w improveloop.LoopDecisionInputs) string {
		f, _ := s.l.NextFacts(w)[0].(nexus.ImproveCycleStarted)
		return fmt.Sprintf("%d: %s", f.Cycle, f.Why)
	}
	if got := why(woken); got != "1: " {
		t.Errorf("it did not rest, and ends that: %s", got)
	}
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1})
	s.decide()
	if got := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now.Add(59 * time.Second)}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := why(improveloop.LoopDecisionInputs{Now: s.now.Add(time.Minute)}); got != "2: " {
		t.Error(got)
	}
	if got := why(woken); got != "2: somebody pushed" {
		t.Error(got)
	}
	s.hear(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbPause, By: "ada"}})
	got, ok := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})[0].(nexus.RequestSettled)
	if !ok || got.Granted || got.Seq != s.seq || got.Why != "a loop can only be stopped; its items are runs that can be steered" {
		t.Errorf("%+v", got)
	}
}

// TestRestsAnew holds that a loop which rests in quiet hours rests once, and again where these end at another time.
func TestRestsAnew(t *testing.T) {
	s := begin(direct())
	w := improveloop.LoopDecisionInputs{Now: s.now, Quiet: must(t, "11:00-13:00")}
	s.hear(nexus.LoopPauseStarted{Why: "there is nothing to do", Until: s.now.Add(hour(1)), Idle: true})
	facts := s.l.NextFacts(w)
	if f, ok := facts[0].(nexus.LoopPauseStarted); !ok || f.Why != "quiet hours" || f.For != hour(1) || f.Idle {
		t.Fatalf("%+v", facts)
	}
	s.hear(facts...)
	if again := s.l.NextFacts(w); len(again) > 0 {
		t.Errorf("it rests twice: %+v", again)
	}
	w.Quiet = must(t, "11:00-14:00")
	if f, ok := s.l.NextFacts(w)[0].(nexus.LoopPauseStarted); !ok || f.For != hour(2) {
		t.Errorf("other hours: %+v", f)
	}
}

// TestPushedNoMore holds what is not pushed: anything in quiet hours, and once the loop is to end; and a branch on which
// nothing waits and that nobody ever saw. What was taken back is, where there is a pull request.
func TestPushedNoMore(t *testing.T) {
	const todo = nexus.Theme + "todo"
	rules := direct()
	rules.Direct, rules.Pulls, rules.Waiting, rules.Open = false, true, 9, 9
	landed := func() *story {
		s := begin(rules)
		s.took("loop-1", wanted("todo", 1))
		s.onto("loop-1", todo)
		return s
	}
	next := func(s *story, w improveloop.LoopDecisionInputs) string {
		w.Now = s.now
		return nexus.FactKind(s.l.NextFacts(w)[0])
	}
	s := landed()
	if got := next(s, improveloop.LoopDecisionInputs{Quiet: must(t, "11:00-13:00")}); got != "loop.rested" {
		t.Errorf("in quiet hours: %s", got)
	}
	if got := next(s, improveloop.LoopDecisionInputs{}); got != "pull.sought" {
		t.Error(got)
	}
	s.hear(nexus.RunDrainStarted{To: nexus.StatusStopped, Why: "stopped"})
	if got := next(s, improveloop.LoopDecisionInputs{}); got != "run.ended" {
		t.Errorf("it is stopped: %s", got)
	}

	s = landed()
	s.hear(nexus.PullRequestUpdateStarted{Branch: todo, Commit: "c"}, nexus.PullRequestUpdateFailed{Branch: todo, Commit: "c", Why: "no network"})
	s.hear(nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultRejected})
	s.hear(nexus.ImproveCycleStarted{Cycle: 2}, nexus.ImproveCycleSearched{Cycle: 2})
	if got := next(s, improveloop.LoopDecisionInputs{}); got != "loop.rested" {
		t.Errorf("nobody saw it, and nothing waits on it: %s", got)
	}

	s = landed()
	s.hear(nexus.PullRequestUpdateStarted{Branch: todo, Commit: "c"}, nexus.PullRequestUpdated{Branch: todo, Commit: "c", Number: 4})
	if s.l.IsOwnPullRequest(todo, "c", 5) {
		t.Error("another pull request is the loop's, though it knows its own")
	}
	s.took("loop-2", wanted("todo", 2))
	s.onto("loop-2", todo, nexus.WorsenedFinding{Finding: "lint/1", After: 1})
	s.hear(nexus.LoopItemRevertStarted{Item: "loop-2"}, nexus.LoopItemReverted{Item: "loop-2", Commit: "r"})
	s.hear(nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultMerged})
	if f, ok := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})[0].(nexus.PullRequestUpdateStarted); !ok || f.Commit != "r" || len(f.Items) > 0 {
		t.Errorf("what was reverted: %+v", f)
	}
}

// TestReadsHours holds what is said of hours and ends that cannot be read, and what the others leave open.
func TestReadsHours(t *testing.T) {
	for _, bad := range []string{"09:00-18:60", "09:00-24:01", "09:00-6:00"} {
		if _, err := improveloop.ParseWeeklyHours(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	sunday := time.Date(2026, 11, 29, 9, 30, 0, 0, time.UTC)
	for hours, want := range map[string]bool{
		"09:00-10:00 Sun": true, "09:00-10:00 Sat-Sun": true, "09:00-10:00 Sun-Mon": true,
		"09:00-10:00 Sat": false, "09:30-10:00": true, "09:00-09:30": false,
	} {
		if _, quiet := must(t, hours).EndOfCurrentHours(sunday); quiet != want {
			t.Errorf("%s: %v", hours, quiet)
		}
	}
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	if end, err := improveloop.ParseEndCondition(" 90m ", now); err != nil || !end.At.Equal(now.Add(90*time.Minute)) {
		t.Error(end, err)
	}
	for text, want := range map[string]string{
		"soon": `"soon" is not a time, duration or condition`, "2020-01-01": "2020-01-01 is over", "-5m": "-5m would end at once",
		"landed:0": `"0" is not a number of results: write landed:5`, "landed:1000001": `"1000001" is not a number of results: write landed:5`,
	} {
		if _, err := improveloop.ParseEndCondition(text, now); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	if end, err := improveloop.ParseEndCondition("landed:1000000", now); err != nil || end.Landings != 1_000_000 {
		t.Error(end, err)
	}
	if end, err := improveloop.ParseEndCondition("3650d", now); err != nil || end.At.Sub(now) != 3650*24*time.Hour {
		t.Error(end, err)
	}
	if end, err := improveloop.ParseEndCondition("12:00", now); err != nil || !end.At.Equal(now.Add(24*time.Hour)) {
		t.Errorf("now is the next: %v %v", end, err)
	}
}
