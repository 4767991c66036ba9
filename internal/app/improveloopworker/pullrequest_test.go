package improveloopworker

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge/forgetest"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
)

// hear lets a loop hear facts.
func hear(l *improveloop.ImproveLoop, facts ...nexus.Fact) {
	for _, f := range facts {
		l.Apply(nexus.Event{Run: l.Run, At: time.Unix(1, 0), Fact: f})
	}
}

// TestNothingIsPushedToWhatPeopleEnded: where people closed or merged a pull request since the last look, that is
// what comes of pushing its branch, and only what they saw is settled.
func TestNothingIsPushedToWhatPeopleEnded(t *testing.T) {
	const branch = nexus.Theme + "todo"
	for state, how := range map[string]string{"merged": nexus.ResultMerged, "closed": nexus.ResultRejected} {
		s := forgetest.StartServer()
		defer s.Close()
		s.OpenPull(forgetest.ServedPullRequest{Branch: branch, Base: "main", Title: "todo"})
		s.EndPull(1, state)
		ref, err := forge.ParseProjectOfRemote(s.URL()+"/o/r", s.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		h, dir := handsOn(t, Options{Forge: &ref, Client: forge.Client{Wait: time.Millisecond}})
		tip := gittest.RunGit(t, dir, "rev-parse", "HEAD")
		l := aLoop()
		hear(l, nexus.LoopRulesSet{Rules: nexus.ImproveRules{Pulls: true}})
		for _, id := range []nexus.RunID{"loop-1", "loop-2"} {
			hear(l, nexus.LoopItemWorkStarted{Item: id, Wanted: nexus.CandidateWorkItem{Finding: string(id), Strategy: "todo"}}, nexus.LoopItemWorkEnded{Item: id, Commit: tip},
				nexus.LoopItemLandingStarted{Item: id, Target: branch}, nexus.LoopItemLanded{Item: id, Target: branch, Commit: tip},
				nexus.CheckAfterLandingStarted{Item: id}, nexus.LandingCheckEnded{Item: id})
			if id == "loop-1" {
				hear(l, nexus.PullRequestUpdateStarted{Branch: branch, Commit: tip, Items: []nexus.RunID{id}}, nexus.PullRequestUpdated{Branch: branch, Commit: tip, Number: 1})
			}
		}
		facts, err := h.updatePullRequest(t.Context(), nexus.PullRequestUpdateStarted{Branch: branch, Commit: tip}, l.Clone())
		want := []nexus.Fact{nexus.WaitingResultDecided{Item: "loop-1", How: how}, nexus.PullRequestClosed{Branch: branch, Number: 1, How: how}}
		if err != nil || !slices.Equal(facts, want) || len(s.PullRequests()) != 1 {
			t.Errorf("%s: %+v, %v", state, facts, err)
		}
	}
}

// TestNobodyIsPaidBeyondTheBudget: a cycle that began before the budget was lowered asks no model any more.
func TestNobodyIsPaidBeyondTheBudget(t *testing.T) {
	var asked [][]string
	h, _ := handsOn(t, Options{Find: func(_ context.Context, q FindingSearchRequest) (discover.Result, error) {
		asked = append(asked, q.Strategies)
		return discover.Result{}, nil
	}})
	for _, strategies := range [][]string{{"todo", "ideas"}, {"ideas"}} {
		l := aLoop()
		hear(l, nexus.LoopRulesSet{Rules: nexus.ImproveRules{Strategies: strategies, Budget: nexus.Dollar}}, nexus.LoopItemWorkStarted{Item: "loop-1"},
			nexus.LoopItemWorkEnded{Item: "loop-1", Spent: nexus.Dollar}, nexus.ImproveCycleStarted{Cycle: 1})
		if facts, err := h.findWork(t.Context(), nexus.ImproveCycleStarted{Cycle: 1}, l.Clone(), nil); err != nil || len(facts) != 1 {
			t.Error(facts, err)
		}
	}
	if len(asked) != 1 || !slices.Equal(asked[0], []string{"todo"}) {
		t.Errorf("%q looked", asked)
	}
}
