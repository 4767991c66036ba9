package history_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// task is one that was estimated at ten minutes and a dollar.
func task(id string, status nexus.TaskStatus, minutes int, money nexus.Money, causes ...string) *state.Task {
	t := &state.Task{
		Task: nexus.Task{ID: nexus.TaskID(id), Files: []string{"a.go"}}, Status: status, Worked: time.Duration(minutes) * time.Minute, Spent: money, Why: "why",
		Route: &nexus.TaskRouted{Tier: nexus.Fast, Estimate: &nexus.TaskEstimate{
			Likely: nexus.Cost{Seconds: 600, Money: nexus.Dollar}, Low: nexus.Cost{Seconds: 300, Money: nexus.Dollar / 2}, High: nexus.Cost{Seconds: 1200, Money: 2 * nexus.Dollar}, Samples: 3,
		}},
	}
	a := &state.Attempt{}
	for _, cause := range causes {
		a.Rounds = append(a.Rounds, &state.Round{RoundStarted: nexus.RoundStarted{Cause: cause}})
	}
	t.Attempts = []*state.Attempt{a}
	if status == nexus.Landed {
		t.Landed = &nexus.TrainLanded{}
	}
	return t
}

func TestFigures(t *testing.T) {
	again := task("T4", nexus.Landed, 30, nexus.Dollar, "")
	again.Attempts = append(again.Attempts, &state.Attempt{})
	again.Kind, again.Files = nexus.TestTask, []string{"a.py"}
	first, second := state.New("r1"), state.New("r2")
	first.Tasks = []*state.Task{
		task("T1", nexus.Landed, 10, nexus.Dollar, "", ""), task("T2", nexus.Landed, 4, 3*nexus.Dollar, "", "test"), task("T3", nexus.Failed, 60, 2*nexus.Dollar, ""),
		{Task: nexus.Task{ID: "T5"}, Status: nexus.Pending},
	}
	second.Tasks = []*state.Task{again, task("T6", nexus.Parked, 1, 0)}
	of := func(all ...*state.State) history.Figures {
		var runs []history.Run
		for _, s := range all {
			runs = append(runs, history.Fold(s))
		}
		return history.Of(runs)
	}
	f := of(first, second)
	want := history.Group{Tasks: 6, Landed: 3, Failed: 1, Parked: 1, Retried: 1, Attempts: 6, FirstPass: 0.2, Seconds: 600, Money: 7 * nexus.Dollar}
	if d := cmp.Diff(want, f.Of, cmpopts.IgnoreUnexported(history.Group{})); d != "" {
		t.Error(d)
	}
	if len(f.ByKind) != 2 || f.ByKind[0].Name != "code" || f.ByKind[0].PerLanded != 3*nexus.Dollar || f.ByKind[1].Name != "test" || f.ByKind[1].Landed != 1 {
		t.Errorf("%+v", f.ByKind)
	}
	if len(f.ByStack) != 3 || f.ByStack[0].Name != "go" || f.ByStack[0].Tasks != 4 || f.ByStack[1].Name != "other" || f.ByStack[2].Name != "python" {
		t.Errorf("%+v", f.ByStack)
	}
	names := func(all []history.Item) (ids []nexus.TaskID) {
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
	wantAll := history.Accuracy{Tasks: 3, Learned: 3, Inside: 1.0 / 3, Ratio: 1, Paid: 3, PaidInside: 2.0 / 3, PaidRatio: 1}
	if d := cmp.Diff(wantAll, f.Estimates); d != "" {
		t.Error(d)
	}
	if len(f.Learned) != 2 || f.Learned[1].Run != "r2" || f.Learned[1].Tasks != 1 || f.Learned[1].Ratio != 3 {
		t.Errorf("%+v", f.Learned)
	}
	free := task("T1", nexus.Landed, 10, 0)
	free.Route.Estimate.Unpriced = true
	first.Tasks = []*state.Task{free, task("T2", nexus.Landed, 10, nexus.Dollar)}
	if e := of(first).Estimates; e.Tasks != 2 || e.Paid != 1 || e.PaidInside != 1 || e.PaidRatio != 1 {
		t.Errorf("what has no price counts as an estimate of nothing: %+v", e)
	}
	if empty := history.Of(nil); empty.Runs != 0 || empty.Estimates.Ratio != 0 || empty.Failed == nil {
		t.Errorf("%+v", empty)
	}
}
