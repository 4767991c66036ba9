package schedule_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// replay folds a tape.
func replay(t *testing.T, tape string) *state.State {
	t.Helper()
	events, err := eventtapetest.ReadTape("r", tape)
	if err != nil {
		t.Fatal(err)
	}
	s := state.NewState("r")
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestAhead shows what the worker of a task would know before it begins, and what it
// knows once it has: the first is that of the attempt that would begin now.
func TestAhead(t *testing.T) {
	const begun = `goal.accepted base=c0 limits.parallel=4 limits.run_money=1
run.started
plan.proposed tasks=2
task.planned task.id=T1 task.title=a
task.planned task.id=T2 task.title=b
plan.approved
attempt.started attempt=T1.1 task=T1 base=c0 tier=fast strategy=test-after
round.started attempt=T1.1 round=1 role=coder session=T1.1/coder.1
tree.snapshotted attempt=T1.1 round=1 commit=w1 tree=t1
`
	s := replay(t, begun)
	if v, fresh := schedule.UpcomingView(s, s.TaskByID("T1")); fresh || v.Attempt.ID != "T1.1" {
		t.Errorf("it works as %s, fresh %v", v.Attempt.ID, fresh)
	}
	s = replay(t, begun+`verdict.given attempt=T1.1 tree=t1 state=pass
attempt.ended attempt=T1.1 outcome=no-progress why="it repeats itself"
attempt.started attempt=T2.1 task=T2 base=c0 tier=fast strategy=test-after
attempt.ended attempt=T2.1 outcome=accepted commit=x2
train.boarded task=T2 attempt=T2.1
train.departed task=T2 attempt=T2.1 onto=c0
train.landed task=T2 attempt=T2.1 commit=c1 parent=c0 tree=t2
`)
	v, fresh := schedule.UpcomingView(s, s.TaskByID("T1"))
	want := state.AttemptState{
		ID: "T1.2", Task: "T1", Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: "c1",
		Start: "w1", Since: "c0", From: "T1.1", FromRound: 1,
	}
	got := state.AttemptState{
		ID: v.Attempt.ID, Task: v.Attempt.Task, Tier: v.Attempt.Tier, Strategy: v.Attempt.Strategy, Base: v.Attempt.Base,
		Start: v.Attempt.Start, Since: v.Attempt.Since, From: v.Attempt.From, FromRound: v.Attempt.FromRound, Asked: v.Attempt.Asked,
	}
	if got.ID != want.ID || got.Base != want.Base || got.Start != want.Start || got.Since != want.Since || got.From != want.From ||
		got.FromRound != want.FromRound || got.Tier != want.Tier || got.Strategy != want.Strategy || got.Asked || !fresh {
		t.Errorf("it would begin as %+v, fresh %v", got, fresh)
	}
	if v.Kept.At != "w1" || v.Meanwhile != nil || len(v.Past) != 1 {
		t.Errorf("it starts from %q after %d attempts, and %d tasks landed meanwhile", v.Kept.At, len(v.Past), len(v.Meanwhile))
	}
}

// TestShared says before a run which tasks one session would do, as a run forms its lanes.
func TestShared(t *testing.T) {
	simple := func(id nexus.TaskID, needs ...nexus.TaskID) nexus.Task {
		return nexus.Task{ID: id, Needs: needs, Complexity: nexus.Simple}
	}
	hard := nexus.Task{ID: "T9", Complexity: nexus.Complex}
	lanes := func(tasks []nexus.Task, batch int, r nexus.StartTierRules) (all [][]nexus.TaskID) {
		for _, l := range schedule.ForecastSharedSessions(tasks, nexus.Limits{Batch: batch, Parallel: 2}, r) {
			all = append(all, l.Tasks)
		}
		return all
	}
	for name, c := range map[string]struct {
		tasks []nexus.Task
		batch int
		order []string
		want  [][]nexus.TaskID
	}{
		"two at a time":                {[]nexus.Task{simple("T1"), simple("T2"), simple("T3"), simple("T4"), hard}, 2, nil, [][]nexus.TaskID{{"T1", "T2"}, {"T3", "T4"}}},
		"after what must land first":   {[]nexus.Task{hard, simple("T1", "T9"), simple("T2", "T9")}, 3, nil, [][]nexus.TaskID{{"T1", "T2"}}},
		"each for itself":              {[]nexus.Task{simple("T1"), simple("T2")}, 1, nil, nil},
		"as they would be routed":      {[]nexus.Task{{ID: "T1", Title: "Rename it"}, {ID: "T2", Title: "Rename that"}}, 2, []string{"keyword"}, [][]nexus.TaskID{{"T1", "T2"}}},
		"routed to be hard":            {[]nexus.Task{{ID: "T1", Title: "Redesign it"}, {ID: "T2", Title: "Redesign that"}}, 2, []string{"keyword"}, nil},
		"no plan that can be followed": {[]nexus.Task{simple("T1", "T2"), simple("T2", "T1")}, 2, nil, nil},
		"one name twice":               {[]nexus.Task{simple("T1"), simple("T1")}, 2, nil, nil},
	} {
		if d := cmp.Diff(c.want, lanes(c.tasks, c.batch, nexus.StartTierRules{Order: c.order})); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}

// TestOverCap says for people which cap is reached.
func TestOverCap(t *testing.T) {
	capped := func(name, of string) nexus.BudgetRefused {
		return nexus.BudgetRefused{Cap: name, Of: of, Limit: nexus.Dollar, Spent: nexus.Dollar * 9 / 10, Asked: nexus.Dollar / 5}
	}
	const rest = " of $1.00 is used up: $0.90 spent or reserved, the next call may cost $0.20"
	for want, r := range map[string]nexus.BudgetRefused{
		"the run budget" + rest:               capped("run", ""),
		"the budget of the role coder" + rest: capped("role", "coder"),
		"the budget of 900 tokens for models without a known price is used up: " +
			"800 used or reserved, the next call may take 200": {Cap: "tokens", Tokens: &nexus.TokenLimit{Limit: 900, Spent: 800, Asked: 200}},
	} {
		if got := schedule.ReachedCapText(r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	err := error(&schedule.SwitchModelError{Model: "b/m", Why: "a is out of quota"})
	if e, ok := errors.AsType[*schedule.SwitchModelError](err); !ok || e.Model != "b/m" || err.Error() != "ask b/m instead: a is out of quota" {
		t.Error(err)
	}
}
