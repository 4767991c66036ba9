package runhistory_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// task is one that was estimated at ten minutes and a dollar.
func task(id string, status nexus.TaskStatus, minutes int, money nexus.Money, causes ...string) *state.TaskState {
	t := &state.TaskState{
		Task: nexus.Task{ID: nexus.TaskID(id), Files: []string{"a.go"}}, Status: status,
		Worked: time.Duration(minutes) * time.Minute, Spent: money, Why: "why",
		Route: &nexus.StartTierChosen{Tier: nexus.Fast, Estimate: &nexus.TaskEstimate{
			Likely: nexus.TimeAndMoney{Seconds: 600, Money: nexus.Dollar}, Low: nexus.TimeAndMoney{
				Seconds: 300,
				Money:   nexus.Dollar / 2,
			}, High: nexus.TimeAndMoney{Seconds: 1200, Money: 2 * nexus.Dollar}, Samples: 3,
		}},
	}
	a := &state.AttemptState{}
	for _, cause := range causes {
		a.Rounds = append(a.Rounds, &state.AttemptRound{RoundStarted: nexus.RoundStarted{Cause: cause}})
	}
	t.Attempts = []*state.AttemptState{a}
	if status == nexus.Landed {
		t.Landed = &nexus.LandingCompleted{}
	}
	return t
}

func TestFigures(t *testing.T) {
	again := task("T4", nexus.Landed, 30, nexus.Dollar, "")
	again.Attempts = append(again.Attempts, &state.AttemptState{})
	again.Kind, again.Files = nexus.TestTask, []string{"a.py"}
	first, second := state.NewState("r1"), state.NewState("r2")
	first.Tasks = []*state.TaskState{
		task("T1", nexus.Landed, 10, nexus.Dollar, "", ""), task("T2", nexus.Landed, 4, 3*nexus.Dollar, "", "test"),
		task("T3", nexus.Failed, 60, 2*nexus.Dollar, ""),
		{Task: nexus.Task{ID: "T5"}, Status: nexus.Pending},
	}
	second.Tasks = []*state.TaskState{again, task("T6", nexus.Parked, 1, 0)}
	of := func(all ...*state.State) runhistory.RunHistoryStatistics {
		var runs []runhistory.RunRecord
		for _, s := range all {
			runs = append(runs, runhistory.SummarizeRun(s))
		}
		return runhistory.SummarizeRuns(runs)
	}
	f := of(first, second)
	want := runhistory.TaskGroupStatistics{
		Tasks: 6, Landed: 3, Failed: 1, Parked: 1, Retried: 1, Attempts: 6, FirstPass: 0.2,
		Seconds: 600, Money: 7 * nexus.Dollar,
	}
	if d := cmp.Diff(want, f.Of, cmpopts.IgnoreUnexported(runhistory.TaskGroupStatistics{})); d != "" {
		t.Error(d)
	}
	if len(f.ByKind) != 2 || f.ByKind[0].Name != "code" || f.ByKind[0].PerLanded != 3*nexus.Dollar ||
		f.ByKind[1].Name != "test" || f.ByKind[1].Landed != 1 {
		t.Errorf("%+v", f.ByKind)
	}
	if len(f.ByStack) != 3 || f.ByStack[0].Name != "go" || f.ByStack[0].Tasks != 4 || f.ByStack[1].Name != "other" ||
		f.ByStack[2].Name != "python" {
		t.Errorf("%+v", f.ByStack)
	}
	names := func(all []runhistory.TaskListItem) (ids []nexus.TaskID) {
		for _, i := range all {
			ids = append(ids, i.Task)
		}
		return ids
	}
	if d := cmp.Diff([]nexus.TaskID{"T3", "T4", "T1", "T2", "T6"}, names(f.Slowest)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]nexus.TaskID{"T6", "T3"}, names(f.Failed)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]nexus.TaskID{"T4"}, names(f.Retried)); d != "" {
		t.Error(d)
	}
	wantAll := runhistory.EstimateAccuracy{Tasks: 3, Learned: 3, Inside: 1.0 / 3, Ratio: 1, Paid: 3, PaidInside: 2.0 / 3, PaidRatio: 1}
	if d := cmp.Diff(wantAll, f.Estimates); d != "" {
		t.Error(d)
	}
	if len(f.Learned) != 2 || f.Learned[1].Run != "r2" || f.Learned[1].Tasks != 1 || f.Learned[1].Ratio != 3 {
		t.Errorf("%+v", f.Learned)
	}
	free := task("T1", nexus.Landed, 10, 0)
	free.Route.Estimate.Unpriced = true
	first.Tasks = []*state.TaskState{free, task("T2", nexus.Landed, 10, nexus.Dollar)}
	if e := of(first).Estimates; e.Tasks != 2 || e.Paid != 1 || e.PaidInside != 1 || e.PaidRatio != 1 {
		t.Errorf("what has no price counts as an estimate of nothing: %+v", e)
	}
	if empty := runhistory.SummarizeRuns(nil); empty.Runs != 0 || empty.Estimates.Ratio != 0 || empty.Failed == nil {
		t.Errorf("%+v", empty)
	}
}

func TestCompare(t *testing.T) {
	a, b := state.NewState("a"), state.NewState("b")
	a.Goal.Goal.Text, b.Goal.Goal.Text = "Greet", "Greet twice"
	a.Goal.Limits.Parallel, b.Goal.Limits.Parallel = 2, 4
	one, other := task("T1", nexus.Landed, 10, nexus.Dollar, ""), task("T1", nexus.Failed, 12, 2*nexus.Dollar, "")
	one.Attempts[0].Sessions = []*state.AgentSessionState{{SessionStarted: nexus.SessionStarted{Role: nexus.Coder, Model: "p/m"}}}
	other.Attempts[0].Sessions = []*state.AgentSessionState{{SessionStarted: nexus.SessionStarted{Role: nexus.Coder, Model: "p/n"}}}
	one.Landed.Commit = "c1"
	for i, s := range []*state.State{a, b} {
		for _, x := range [][]*state.TaskState{{one}, {other, task("T2", nexus.Landed, 1, 0)}}[i] {
			if err := s.Apply(nexus.Event{Seq: int64(len(s.Tasks) + 1), Run: s.Run, Fact: nexus.TaskPlanned{Task: x.Task}}); err != nil {
				t.Fatal(err)
			}
			*s.TaskByID(x.ID) = *x
		}
	}
	got := map[string][2]string{}
	for _, d := range runhistory.CompareRuns(a, b) {
		got[d.About+" "+string(d.Task)+" "+d.What] = [2]string{d.A, d.B}
	}
	for what, want := range map[string][2]string{
		"goal  text": {"Greet", "Greet twice"}, "settings  limits.parallel": {"2", "4"}, "models  coder": {
			"p/m",
			"p/n",
		}, "plan T2 task": {"", "T2"},
		"task T1 status": {"landed", "failed"}, "task T1 money": {"$1.00", "$2.00"}, "task T1 commit": {"c1", ""},
		"result  landed": {"0 of 1", "0 of 2"},
	} {
		if got[what] != want {
			t.Errorf("%s: %q, want %q", what, got[what], want)
		}
	}
	if same := runhistory.CompareRuns(a, a); len(same) > 0 {
		t.Errorf("%+v", same)
	}
}
