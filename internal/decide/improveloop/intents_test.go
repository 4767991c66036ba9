package improveloop_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func hour(n int) time.Duration { return time.Duration(n) * time.Hour }

// TestIntents holds what is open of a loop at each stage, which item it is of, and what is recorded where it could not be
// done.
func TestIntents(t *testing.T) {
	const item = nexus.RunID("loop-1")
	x := wanted("todo", 1)
	s := begin(direct())
	taken := nexus.LoopItemWorkStarted{Item: item, Cycle: 1, Wanted: x, Reserved: nexus.Dollar, Base: "main"}
	for _, c := range []struct {
		hear   []nexus.Fact
		open   nexus.Fact // nil: nothing is
		broken nexus.Fact
		of     nexus.RunID
	}{
		{nil, nil, nil, ""},
		{[]nexus.Fact{nexus.ImproveCycleStarted{Cycle: 1}}, nexus.ImproveCycleStarted{Cycle: 1}, nexus.ImproveCycleFailed{Cycle: 1, Why: "no disk"}, ""},
		{[]nexus.Fact{nexus.ImproveCycleSearched{Cycle: 1}}, nil, nil, ""},
		{[]nexus.Fact{taken}, taken, nexus.LoopItemWorkEnded{Item: item, Status: nexus.StatusFailed, Spent: nexus.Dollar, Why: "no disk", Outside: true}, item},
		{[]nexus.Fact{worked(item)}, nil, nil, ""},
		{
			[]nexus.Fact{nexus.LoopItemLandingStarted{Item: item, Target: "main"}},
			nexus.LoopItemLandingStarted{Item: item, Target: "main"},
			nexus.LoopItemLandingConfirmed{Item: item, Rule: string(improveloop.Unlanded), Why: "it is unknown whether it landed: no disk"},
			item,
		},
		{[]nexus.Fact{nexus.LoopItemLanded{Item: item, Target: "main", Commit: "c"}}, nil, nil, ""},
		{
			[]nexus.Fact{nexus.CheckAfterLandingStarted{Item: item}},
			nexus.CheckAfterLandingStarted{Item: item},
			nexus.LandingCheckEnded{Item: item, Why: "it is unknown whether it made anything worse: no disk"},
			item,
		},
		{[]nexus.Fact{nexus.LandingCheckEnded{Item: item, Worse: []nexus.WorsenedFinding{{Finding: "a/1", After: 1}}}}, nil, nil, ""},
		{
			[]nexus.Fact{nexus.LoopItemRevertStarted{Item: item, Why: "a/1 is new"}},
			nexus.LoopItemRevertStarted{Item: item, Why: "a/1 is new"},
			nexus.LoopItemRevertFailed{Item: item, Why: "no disk"},
			item,
		},
		{[]nexus.Fact{nexus.LoopItemReverted{Item: item, Commit: "r"}}, nil, nil, ""},
		{
			[]nexus.Fact{nexus.PullRequestUpdateStarted{Branch: "b", Commit: "c"}},
			nexus.PullRequestUpdateStarted{Branch: "b", Commit: "c"},
			nexus.PullRequestUpdateFailed{Branch: "b", Commit: "c", Why: "no disk"},
			"",
		},
		{[]nexus.Fact{nexus.PullRequestUpdateFailed{Branch: "b", Commit: "c"}}, nil, nil, ""},
	} {
		s.hear(c.hear...)
		var want, failed []nexus.Fact
		if c.open != nil {
			want, failed = []nexus.Fact{c.open}, []nexus.Fact{c.broken}
		}
		if diff := cmp.Diff(want, s.l.OpenIntents()); diff != "" {
			t.Errorf("after %+v, what is open: -want +got\n%s", c.hear, diff)
		}
		if diff := cmp.Diff(failed, improveloop.FailureFacts(c.open, "no disk")); diff != "" {
			t.Errorf("%+v is broken: -want +got\n%s", c.open, diff)
		}
		if got := improveloop.ItemOfIntent(c.open); got != c.of {
			t.Errorf("%+v is of %q", c.open, got)
		}
	}
	s.hear(nexus.BudgetReserved{ID: "b", Money: 2}, nexus.BudgetReserved{ID: "a", Money: 1})
	want := []nexus.Fact{nexus.BudgetSettled{ID: "a", Money: 1, Estimated: true}, nexus.BudgetSettled{ID: "b", Money: 2, Estimated: true}}
	if diff := cmp.Diff(want, s.l.LostCallFacts()); diff != "" {
		t.Errorf("calls that nobody heard of: -want +got\n%s", diff)
	}
}

// TestCompare holds that a landing made worse what is new and what stands for more, and nothing else.
func TestCompare(t *testing.T) {
	seen := func(id string, count int) improveloop.FailingFinding {
		return improveloop.FailingFinding{Finding: id, Strategy: "lint", Title: "T " + id, Count: count}
	}
	got := improveloop.FindWorsenedFindings(
		[]improveloop.FailingFinding{seen("gone", 1), seen("same", 2), seen("less", 3), seen("more", 1)},
		[]improveloop.FailingFinding{seen("same", 2), seen("less", 2), seen("more", 4), seen("new", 1)},
	)
	want := []nexus.WorsenedFinding{
		{Finding: "more", Strategy: "lint", Title: "T more", Before: 1, After: 4},
		{Finding: "new", Strategy: "lint", Title: "T new", After: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestLeftOut holds what is told of what the last cycle found and nobody takes up, and that what became an item is told
// with that.
func TestLeftOut(t *testing.T) {
	rules := direct()
	rules.Direct, rules.Open, rules.Waiting = false, 2, 9
	s := begin(rules)
	for n, theme := range []string{"todo", "lint"} {
		item := []nexus.RunID{"loop-1", "loop-2"}[n]
		s.took(item, wanted(theme, 1))
		s.onto(item, nexus.Theme+theme)
		if _, why := s.l.BlockingRule(wanted("docs", 1), s.now); n == 1 && why != "2 branches wait for a person, and no more may" {
			t.Error(why)
		}
	}
	rules.Open = 1
	s.hear(nexus.LoopRulesSet{Rules: rules}, nexus.WaitingResultDecided{Item: "loop-2", How: nexus.ResultMerged})
	s.hear(nexus.ImproveCycleStarted{Cycle: 2}, nexus.ImproveCycleSearched{
		Cycle: 2, Wanted: []nexus.CandidateWorkItem{wanted("todo", 1), wanted("todo", 2), wanted("docs", 1), wanted("todo", 3)},
		Left: []nexus.OmittedWorkFinding{{Finding: "x", Rule: "first"}},
	})
	s.hear(nexus.LoopItemWorkStarted{Item: "loop-3", Cycle: 2, Wanted: wanted("todo", 2)}, worked("loop-3"))
	s.hear(nexus.LoopItemLandingConfirmed{Item: "loop-3", Rule: string(improveloop.Fixed), Why: "so"})
	want := []nexus.OmittedWorkFinding{
		{Finding: "x", Rule: "first"},
		{Finding: "todo/1", Title: "todo/1", Rule: "waits", Why: "the work of run loop-1 on it waits for a person"},
		{Finding: "docs/1", Title: "docs/1", Rule: "branches", Why: "1 branch waits for a person, and no more may"},
	}
	if diff := cmp.Diff(want, s.l.OmittedFindings(s.now)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	s.hear(nexus.ImproveCycleStarted{Cycle: 3})
	s.hear(nexus.ImproveCycleSearched{Cycle: 3, Wanted: []nexus.CandidateWorkItem{wanted("todo", 2)}})
	if got := s.l.OmittedFindings(s.now); len(got) != 1 || got[0].Rule != "fixed" {
		t.Errorf("in the next cycle: %+v", got)
	}
}

// TestLinesInWords holds what is said of lines that changed for the same reason, and that any number of lines may change
// where none is set.
func TestLinesInWords(t *testing.T) {
	s := begin(direct())
	done := worked("loop-1")
	done.Change.Touched, done.Change.Lines = []string{"line"}, 5000
	s.hear(nexus.LoopItemWorkStarted{Item: "loop-1", Wanted: wanted("todo", 1)}, done)
	if got, ok := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})[0].(nexus.LoopItemLandingStarted); !ok || got.Target != "main" {
		t.Errorf("%+v", got)
	}
	s.onto("loop-1", "main")
	x := wanted("todo", 2)
	x.Lines = []string{"line"}
	if _, why := s.l.BlockingRule(x, s.now); why != "its lines were changed for the same reason on 2026-11-26" {
		t.Error(why)
	}
	done.Item = "loop-2"
	done.Change.Dependencies = []string{"a", "b", "c"}
	s.hear(nexus.LoopItemWorkStarted{Item: "loop-2", Wanted: wanted("todo", 2)}, done)
	const deps = "it changes the dependencies, which is left to a person: a, b, c"
	if got, ok := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})[0].(nexus.LoopItemLandingConfirmed); !ok || got.Why != deps {
		t.Errorf("%+v", got)
	}
	done.Item, done.Change.Dependencies = "loop-3", nil
	s.hear(nexus.LoopItemLandingConfirmed{Item: "loop-2", Rule: string(improveloop.Dependencies)})
	s.hear(nexus.LoopItemWorkStarted{Item: "loop-3", Wanted: wanted("todo", 3)}, done)
	const lines = "it changes lines again that were changed for the same reason on 2026-11-26"
	if got, ok := s.l.NextFacts(improveloop.LoopDecisionInputs{Now: s.now})[0].(nexus.LoopItemLandingConfirmed); !ok || got.Why != lines {
		t.Errorf("%+v", got)
	}
}
