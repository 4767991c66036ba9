package improveloop_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// landed lets the item of a cycle that looked land on a branch.
func (s *story) landed(t *testing.T, item nexus.RunID, branch, commit string) {
	t.Helper()
	s.hear(worked(item))
	s.decide()
	if got := s.l.ItemByID(item).Target; got != branch {
		t.Fatalf("%s lands on %s", item, got)
	}
	s.hear(nexus.LoopItemLanded{Item: item, Target: branch, Commit: commit})
	s.decide()
	s.hear(nexus.LandingCheckEnded{Item: item})
}

// TestPulls holds that a branch is pushed once what is on it was weighed, and again when it has more; that what could not
// be pushed is tried again in the next cycle; and that what people closed is theirs.
func TestPulls(t *testing.T) {
	const todo = nexus.Theme + "todo"
	rules := nexus.ImproveRules{
		Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 1, Open: 2, Waiting: 5, Rest: time.Minute, MostRest: time.Hour, Pulls: true,
	}
	s := begin(rules)
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	s.decide()
	s.landed(t, "loop-1", todo, "c1")
	if got := s.decide(); got != "pull.sought" {
		t.Fatal(got)
	}
	open := s.l.OpenIntents()
	if f, ok := open[0].(nexus.PullRequestUpdateStarted); !ok || f.Branch != todo || f.Commit != "c1" || len(f.Items) != 1 {
		t.Fatalf("%+v", open)
	}
	s.hear(improveloop.FailureFacts(open[0], "no network")...)
	if got := s.decide(); got != "cycle.started" || s.l.OpenPullRequest(todo).Why != "no network" {
		t.Fatal(got)
	}
	s.hear(nexus.ImproveCycleSearched{Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 2)}})
	if got := s.decide(); got != "pull.sought" { // again, before anything else is taken up
		t.Fatal(got)
	}
	s.hear(nexus.PullRequestUpdated{Branch: todo, Commit: "c1", Number: 4, Web: "w", New: true})
	s.decide()
	s.landed(t, "loop-2", todo, "c2")
	if got := s.decide(); got != "pull.sought" {
		t.Fatal(got)
	}
	s.hear(nexus.PullRequestUpdated{Branch: todo, Commit: "c2", Number: 4, Web: "w"})
	s.decide()
	s.hear(nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultRejected}, nexus.WaitingResultDecided{Item: "loop-2", How: nexus.ResultRejected},
		nexus.PullRequestClosed{Branch: todo, Number: 4, How: nexus.ResultRejected},
		nexus.ImproveCycleSearched{Cycle: 3, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("todo", 3)}})
	s.decide()
	if i := s.l.Items[len(s.l.Items)-1]; i.Wanted.Finding != "todo/3" || i.Base != "main" {
		t.Errorf("%+v", i)
	}
	s.landed(t, "loop-3", todo+"-2", "c3")
	if got := s.decide(); got != "pull.sought" {
		t.Fatal(got)
	}
	// A later loop knows what is open, and which branches are people's.
	s.hear(nexus.PullRequestUpdated{Branch: todo + "-2", Commit: "c3", Number: 5, Web: "w"}, nexus.RunEnded{Status: nexus.StatusDone},
		nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Improve}, Target: "main"}, nexus.LoopRulesSet{Rules: rules})
	if p := s.l.OpenPullRequest(todo + "-2"); p == nil || p.Number != 5 || s.l.OpenPullRequest(todo) != nil {
		t.Errorf("%+v", s.l.Pulls)
	}
	s.decide()
	s.hear(nexus.PullRequestClosed{Branch: todo + "-2", Number: 5, How: nexus.ResultMerged}, nexus.WaitingResultDecided{Item: "loop-3", How: nexus.ResultMerged},
		nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 4)}})
	s.decide()
	s.landed(t, "loop-1", todo+"-3", "c4")

	// Without consent nothing is pushed.
	rules.Pulls = false
	s = begin(rules)
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	s.decide()
	s.landed(t, "loop-1", todo, "c1")
	if got := s.decide(); got != "cycle.started" {
		t.Error(got)
	}
}

// TestPullsEnd holds that people settle what a pull request showed them, and nothing that landed on its branch later; that
// a branch they said no to is not pushed again; and that who looks knows which branch the next result goes to.
func TestPullsEnd(t *testing.T) {
	const todo = nexus.Theme + "todo"
	rules := nexus.ImproveRules{
		Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 1, Open: 1, Waiting: 9, Rest: time.Minute, MostRest: time.Hour, Pulls: true,
	}
	for how, next := range map[string]string{nexus.ResultMerged: "pull.sought", nexus.ResultRejected: "cycle.started"} {
		s := begin(rules)
		s.decide()
		s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
		s.decide()
		s.landed(t, "loop-1", todo, "c1")
		s.decide()
		s.hear(nexus.PullRequestUpdated{Branch: todo, Commit: "c1", Number: 4, Web: "w", New: true})
		s.decide()
		s.hear(nexus.ImproveCycleSearched{Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 2)}})
		s.decide()
		s.landed(t, "loop-2", todo, "c2")
		if got := s.decide(); got != "pull.sought" {
			t.Fatal(got)
		}
		s.hear(s.l.PullRequestEndedFacts(s.l.OpenPullRequest(todo), how)...)
		if s.l.ItemByID("loop-1").Waits || !s.l.ItemByID("loop-2").Waits {
			t.Errorf("%s: nobody saw what loop-2 made, and it is settled", how)
		}
		if got := s.decide(); got != next {
			t.Errorf("%s: %s", how, got)
		}
		if how == nexus.ResultMerged {
			continue
		}
		s.hear(nexus.WaitingResultDecided{Item: "loop-2", How: nexus.ResultRejected}, nexus.ImproveCycleSearched{Cycle: 3, Wanted: []nexus.CandidateWorkItem{wanted("todo", 3)}})
		s.decide()
		s.landed(t, "loop-3", todo+"-2", "c3")
		s.decide()
		s.hear(nexus.PullRequestUpdated{Branch: todo + "-2", Commit: "c3", Number: 5, Web: "w", New: true})
		s.decide()
		if rule, why := s.l.Clone().BlockingRule(wanted("todo", 5), s.now); rule != "" {
			t.Errorf("%s: %s", rule, why)
		}
		// Who looks folds what people did into a copy, which knows of what they did before.
		copied := s.l.Clone()
		copied.Apply(nexus.Event{Run: s.l.Run, At: s.now, Fact: nexus.PullRequestClosed{Branch: todo + "-2", Number: 5, How: nexus.ResultRejected}})
		if copied.OpenPullRequest(todo+"-2") != nil || s.l.OpenPullRequest(todo+"-2") == nil {
			t.Error("the end of a pull request is not where it belongs")
		}
	}
}

// TestPullsUnheard holds that a pull request which a process opened and did not tell of is the loop's own, with what it
// showed, and that one is not which people ended before.
func TestPullsUnheard(t *testing.T) {
	const todo = nexus.Theme + "todo"
	s := begin(nexus.ImproveRules{
		Budget: nexus.Dollar * 9, Item: nexus.Dollar, Parallel: 1, Open: 2, Waiting: 9, Rest: time.Minute, MostRest: time.Hour, Pulls: true,
	})
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1)}})
	s.decide()
	s.landed(t, "loop-1", todo, "c1")
	if got := s.decide(); got != "pull.sought" {
		t.Fatal(got)
	}
	s.hear(nexus.PullRequestUpdateFailed{Branch: todo, Commit: "c1", Why: "the answer was lost"})
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 2)}})
	s.decide()
	s.hear(nexus.PullRequestUpdateFailed{Branch: todo, Commit: "c1", Why: "no network"})
	s.decide()
	s.landed(t, "loop-2", todo, "c2")
	if got := s.decide(); got != "pull.sought" {
		t.Fatal(got)
	}
	l := s.l.Clone()
	if !l.IsOwnPullRequest(todo, "c1", 4) || !l.IsOwnPullRequest(todo, "c2", 4) || l.IsOwnPullRequest(todo, "c3", 4) || l.IsOwnPullRequest(todo+"-2", "c1", 4) {
		t.Error("whose pull request that is")
	}
	l.Apply(nexus.Event{Run: l.Run, At: s.now, Fact: nexus.PullRequestUpdated{Branch: todo, Commit: "c1", Number: 4, Web: "w", New: true}})
	ended := l.PullRequestEndedFacts(l.OpenPullRequest(todo), nexus.ResultMerged)
	if len(ended) != 2 || ended[0] != (nexus.WaitingResultDecided{Item: "loop-1", How: nexus.ResultMerged}) {
		t.Errorf("%+v", ended)
	}
	if s.l.OpenPullRequest(todo).Number != 0 || !s.l.IsOwnPullRequest(todo, "c1", 4) {
		t.Error("a copy changes what it is a copy of")
	}
	s.hear(append([]nexus.Fact{nexus.PullRequestUpdated{Branch: todo, Commit: "c1", Number: 4, Web: "w", New: true}}, ended...)...)
	if got := s.decide(); got != "pull.sought" { // nobody saw what landed since
		t.Fatal(got)
	}
	if s.l.IsOwnPullRequest(todo, "c2", 4) || !s.l.IsOwnPullRequest(todo, "c2", 5) {
		t.Error("a pull request that people ended is opened, or ended, again")
	}
}

// TestLooksArePaid holds that what a model costs which is asked what there is to do counts while it is asked, once, and
// at its worst where nobody heard what it cost.
func TestLooksArePaid(t *testing.T) {
	cents := func(n int) nexus.Money { return nexus.Dollar / 100 * nexus.Money(n) }
	s := begin(nexus.ImproveRules{Budget: nexus.Dollar, Item: nexus.Dollar / 10, Parallel: 1, Rest: time.Minute, MostRest: time.Hour, Direct: true})
	s.decide()
	holds := func(spent, left nexus.Money) {
		t.Helper()
		if s.l.Spent != spent || s.l.RemainingMoney() != left {
			t.Errorf("%s spent and %s left in place of %s and %s", s.l.Spent, s.l.RemainingMoney(), spent, left)
		}
	}
	s.hear(nexus.BudgetReserved{ID: "a", Money: cents(20)})
	holds(0, cents(80))
	s.hear(nexus.BudgetSettled{ID: "a", Money: cents(5)}, nexus.BudgetSettled{ID: "a", Money: cents(5)}, nexus.BudgetReserved{ID: "b", Money: cents(30)})
	holds(cents(5), cents(65))
	s.hear(s.l.LostCallFacts()...)
	holds(cents(35), cents(65))
	s.hear(nexus.ImproveCycleSearched{Cycle: 1, Spent: cents(35)}) // says it once more
	holds(cents(35), cents(65))
	if got := s.l.LostCallFacts(); len(got) != 0 {
		t.Error(got)
	}
	s.decide()
	s.now = s.now.Add(time.Hour)
	s.decide()
	s.hear(nexus.ImproveCycleSearched{Cycle: 2, Spent: cents(10)}) // as older versions told it
	holds(cents(45), cents(55))
	s.hear(nexus.ImproveCycleStarted{Cycle: 3}, nexus.BudgetReserved{ID: "c", Money: cents(20)}, nexus.BudgetSettled{ID: "c", Money: cents(15)},
		nexus.ImproveCycleFailed{Cycle: 3, Why: "no network"})
	holds(cents(60), cents(40))
}

// TestPushesTakeTurns folds what was to be pushed, again and again, with as much work for the last as for the first.
func TestPushesTakeTurns(t *testing.T) {
	grows := func(n int) uint64 {
		var before, after runtime.MemStats
		l := &improveloop.ImproveLoop{}
		runtime.ReadMemStats(&before)
		for i := range n {
			l.Apply(nexus.Event{Fact: nexus.PullRequestUpdateStarted{Branch: nexus.Theme + "todo", Commit: strconv.Itoa(i)}})
			l.Apply(nexus.Event{Fact: nexus.PullRequestUpdateFailed{Branch: nexus.Theme + "todo"}})
		}
		runtime.ReadMemStats(&after)
		if !l.IsOwnPullRequest(nexus.Theme+"todo", "0", 1) || !l.IsOwnPullRequest(nexus.Theme+"todo", strconv.Itoa(n-1), 1) || l.IsOwnPullRequest(nexus.Theme+"todo", "none", 1) {
			t.Errorf("of %d pushes it does not know the first, the last and no other", n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := grows(500), grows(4000)
	if many > 16*few {
		t.Errorf("8 times as many pushes take %d times the memory", many/few)
	}
}
