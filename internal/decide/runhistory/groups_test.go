package runhistory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// session is one that a role had with a model.
func session(role nexus.Role, model string, seconds int, tokens int64, money nexus.Money) *state.AgentSessionState {
	return &state.AgentSessionState{
		SessionStarted: nexus.SessionStarted{Role: role, Model: model}, Elapsed: time.Duration(seconds) * time.Second,
		Usage: nexus.Usage{Input: tokens - 1, Output: 1}, Spent: money,
	}
}

// red is an attempt at a tier whose last round failed a gate, with one finding.
func red(tier nexus.Tier, gate, test string, sessions ...*state.AgentSessionState) *state.AttemptState {
	found := nexus.GateEvidence{
		Gate: gate, State: nexus.Fail, Duration: 3 * time.Second, Findings: []nexus.Finding{{Test: test, Message: "it is wrong"}},
	}
	passed := nexus.GateEvidence{Gate: "build", State: nexus.Pass, Duration: time.Second}
	apart := nexus.GateEvidence{Gate: "lint", State: nexus.Fail, Apart: true}
	return &state.AttemptState{
		Tier: tier, Stage: state.Over, Outcome: nexus.GaveUp, Sessions: sessions,
		Rounds: []*state.AttemptRound{{
			RoundStarted: nexus.RoundStarted{Cause: gate}, Evidence: []nexus.GateEvidence{passed, found, apart},
			Verdict: &nexus.GatesVerdictGiven{Gate: gate, State: nexus.Fail},
		}},
	}
}

func signature(gate, test string) string {
	return repair.FailureSignature(gate, []nexus.Finding{{Test: test, Message: "it is wrong"}})
}

// TestGroups holds the figures by role, model and repository, the rounds and escalations, what attempts ended with, and
// how often each gate was red.
func TestGroups(t *testing.T) {
	hard, easy := task("T1", nexus.Failed, 5, 5*nexus.Dollar), task("T2", nexus.Landed, 2, nexus.Dollar)
	hard.Rounds, easy.Rounds = 7, 2
	hard.Attempts = []*state.AttemptState{
		red(nexus.Fast, "test", "TestA", session(nexus.Coder, "p/small", 10, 100, nexus.Dollar)),
		red(nexus.Strong, "test", "TestA", session(nexus.Coder, "p/large", 20, 300, 2*nexus.Dollar), session(nexus.Reviewer, "p/small", 5, 50, nexus.Dollar)),
		red(nexus.Strong, "lint", "a.go", session(nexus.Coder, "p/large", 20, 300, nexus.Dollar)),
	}
	easy.Attempts = []*state.AttemptState{{
		Tier: nexus.Fast, Stage: state.Over, Outcome: nexus.Accepted, Sessions: []*state.AgentSessionState{session(nexus.Coder, "p/small", 30, 10, nexus.Dollar)},
		Rounds: []*state.AttemptRound{{Evidence: []nexus.GateEvidence{{Gate: "test", State: nexus.Pass, Duration: time.Second}}}},
	}}
	one, other := state.NewState("r1"), state.NewState("r2")
	one.Tasks, other.Tasks = []*state.TaskState{hard}, []*state.TaskState{easy}
	runs := []runhistory.RunRecord{runhistory.SummarizeRun(one), runhistory.SummarizeRun(other)}
	runs[0].Repo, runs[1].Repo = "here", "there"
	f := runhistory.SummarizeRuns(runs)
	hidden := cmpopts.IgnoreUnexported(runhistory.TaskGroupStatistics{})
	group := func(name string, failed, landed, attempts, rounds, raised int, tokens int64, money nexus.Money) runhistory.TaskGroupStatistics {
		g := runhistory.TaskGroupStatistics{Name: name, Tasks: failed + landed, Failed: failed, Landed: landed, Attempts: attempts, Rounds: rounds, Raised: raised, Tokens: tokens, Money: money}
		if landed > 0 {
			g.PerLanded = money
		}
		g.Retried = failed
		return g
	}
	large, small := group("p/large", 1, 0, 3, 7, 1, 600, 3*nexus.Dollar), group("p/small", 1, 1, 4, 9, 1, 160, 3*nexus.Dollar)
	small.FirstPass, small.Seconds = 0.5, 30
	if d := cmp.Diff([]runhistory.TaskGroupStatistics{small, large}, f.ByModel, hidden); d != "" {
		t.Errorf("by model: %s", d)
	}
	coder, reviewer := group("coder", 1, 1, 4, 9, 1, 710, 5*nexus.Dollar), group("reviewer", 1, 0, 3, 7, 1, 50, nexus.Dollar)
	coder.FirstPass, coder.Seconds = 0.5, 30
	if d := cmp.Diff([]runhistory.TaskGroupStatistics{coder, reviewer}, f.ByRole, hidden); d != "" {
		t.Errorf("by role: %s", d)
	}
	here, there := group("here", 1, 0, 3, 7, 1, 750, 5*nexus.Dollar), group("there", 0, 1, 1, 2, 0, 10, nexus.Dollar)
	there.FirstPass, there.Seconds = 1, 120
	if d := cmp.Diff([]runhistory.TaskGroupStatistics{here, there}, f.ByRepo, hidden); d != "" {
		t.Errorf("by repository: %s", d)
	}
	want := []runhistory.FailureGroup{
		{Signature: signature("test", "TestA"), About: "TestA: it is wrong", Attempts: 2, Tasks: 1, Money: 4 * nexus.Dollar, Run: "r1"},
		{Signature: signature("lint", "a.go"), About: "a.go: it is wrong", Attempts: 1, Tasks: 1, Money: nexus.Dollar, Run: "r1"},
	}
	if d := cmp.Diff(want, f.Failures); d != "" {
		t.Errorf("failures: %s", d)
	}
	gates := []runhistory.GateStatistics{
		{Name: "test", Judged: 3, Failed: 2, Seconds: 7.0 / 3}, {Name: "lint", Judged: 1, Failed: 1, Seconds: 3}, {Name: "build", Judged: 3, Seconds: 1},
	}
	if d := cmp.Diff(gates, f.Gates, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("gates: %s", d)
	}
}

// TestFoundBy tells the strategy of discovery that found the work from the strategy of its tests.
func TestFoundBy(t *testing.T) {
	found, asked := task("T1", nexus.Landed, 2, nexus.Dollar), task("T2", nexus.Parked, 2, nexus.Dollar)
	found.Brief = discoveredwork.WorkFinding{ID: "todo/0a", Title: "Do it", Why: "it says so"}.TaskBrief()
	found.Route = &nexus.StartTierChosen{Strategy: nexus.TestAfter}
	s := state.NewState("r")
	s.Tasks = []*state.TaskState{found, asked}
	f := runhistory.SummarizeRuns([]runhistory.RunRecord{runhistory.SummarizeRun(s)})
	if len(f.ByFound) != 1 || f.ByFound[0].Name != "todo" || f.ByFound[0].Landed != 1 || f.ByFound[0].Tasks != 1 {
		t.Errorf("%+v", f.ByFound)
	}
	for _, g := range f.ByStrat {
		if g.Name == "todo" {
			t.Error("it is among the strategies of tests")
		}
	}
	if !slices.ContainsFunc(f.TaskDimensions(), func(d runhistory.TaskGroupingProperty) bool { return d.Name == "found-by" && len(d.Groups) == 1 }) {
		t.Error("it is not shown")
	}
}
