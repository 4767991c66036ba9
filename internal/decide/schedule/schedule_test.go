package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// walk is a run whose workers do whatever chance says.
type walk struct {
	*rapid.T
	s     *state.State
	now   time.Time
	tip   int
	given map[nexus.TaskID]bool // started at least once
}

func (w *walk) fold(facts ...nexus.Fact) {
	for _, f := range facts {
		if err := w.s.Apply(nexus.Event{Seq: w.s.Seq + 1, Run: "r", At: w.now, Fact: f}); err != nil {
			w.Fatalf("%s: %v", eventtapetest.FormatFact(f), err)
		}
	}
}

// decide lets the scheduler decide, and holds each decision against the rules.
func (w *walk) decide() {
	for n := 0; ; n++ {
		facts := schedule.NextFacts(w.s, w.now)
		if len(facts) == 0 {
			return
		}
		if n > 200 {
			w.Fatalf("decisions never end: %s", eventtapetest.FormatFact(facts[0]))
		}
		for _, f := range facts {
			w.judge(f)
			w.fold(f)
		}
	}
}

func (w *walk) judge(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.AttemptStarted:
		t := w.s.TaskByID(f.Task)
		if a := t.CurrentAttempt(); a != nil && a.Stage != state.Over || t.Status != nexus.Pending || w.s.AttemptByID(f.Attempt) != nil {
			w.Fatalf("%s starts, and the task is %s", f.Attempt, t.Status)
		}
		for _, n := range t.Needs {
			if w.s.TaskByID(n).Status != nexus.Landed {
				w.Fatalf("%s starts before %s has landed", f.Attempt, n)
			}
		}
		w.room(t)
		w.given[t.ID] = true
	case nexus.AttemptResumed:
		a := w.s.AttemptByID(f.Attempt)
		if a.Stage != state.Waiting {
			w.Fatalf("%s is resumed, and it is %s", f.Attempt, a.Stage)
		}
		if t := w.s.TaskByID(a.Task); t != nil {
			w.room(t)
		}
	case nexus.TaskParked:
		if f.Why == "" {
			w.Fatalf("%s is parked and nobody says why", f.Task)
		}
	case nexus.RunEnded:
		w.over(f)
	default:
	}
}

// room checks that one more attempt may work.
func (w *walk) room(t *state.TaskState) {
	if n := len(w.s.ActiveAttempts()); n >= max(1, w.s.Limits.Parallel) {
		w.Fatalf("%d attempts work, and %s is to begin", n, t.ID)
	}
	for _, o := range w.s.Tasks {
		a := o.CurrentAttempt()
		busy := a != nil && a.Stage == state.Working || o.Status == nexus.Boarding
		if o != t && busy && slices.ContainsFunc(o.Files, func(f string) bool { return slices.Contains(t.Files, f) }) {
			w.Fatalf("%s begins next to %s on the same file", t.ID, o.ID)
		}
	}
}

func (w *walk) over(f nexus.RunEnded) {
	if w.s.Drain != nil {
		return
	}
	for _, t := range w.s.Tasks {
		switch status := w.s.StatusOf(t); status {
		case nexus.Landed:
		case nexus.Blocked:
			by, _ := w.s.BlockerOf(t)
			if !strings.Contains(f.Why, fmt.Sprintf("%s is blocked by %s", t.ID, by)) {
				w.Fatalf("%s is blocked by %s: %s", t.ID, by, f.Why)
			}
		case nexus.Parked, nexus.Failed, nexus.Skipped:
			if !strings.Contains(f.Why, string(t.ID)+" is ") {
				w.Fatalf("%s is not accounted for: %s", t.ID, f.Why)
			}
		default:
			w.Fatalf("the run ended, and %s is %s", t.ID, status)
		}
		if f.Status == nexus.StatusDone && t.Status != nexus.Landed {
			w.Fatalf("done, and %s is %s", t.ID, t.Status)
		}
	}
}

// happen lets one of the things happen that are due. False means that nothing
// is.
func (w *walk) happen() bool {
	var due []func()
	for _, a := range w.s.ActiveAttempts() {
		due = append(due, func() { w.end(a) })
	}
	if b := w.s.CurrentLanding; b != nil && b.Merge.Stage == state.Working {
		due = append(due, func() { w.arrive(b) })
	}
	switch {
	case w.s.Status == nexus.StatusReviewing && w.s.Result == nil:
		due = append(due, func() {
			w.fold(nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Passed: rapid.Bool().Draw(w.T, "passed")}})
		})
	case w.s.Status == nexus.StatusLanding && w.s.Published == nil:
		due = append(due, func() { w.fold(nexus.ResultPublished{Branch: "b"}) })
	case w.s.Status == nexus.StatusPaused && len(due) == 0:
		due = append(due, func() { w.fold(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbResume}}) })
	}
	if held := slices.IndexFunc(w.s.Tasks, (*state.TaskState).IsPaused); len(due) == 0 && held >= 0 {
		due = append(due, func() {
			w.fold(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbResume, Task: w.s.Tasks[held].ID}})
		})
	}
	if len(due) == 0 {
		return false
	}
	due[rapid.IntRange(0, len(due)-1).Draw(w.T, "due")]()
	return true
}

func (w *walk) end(a *state.AttemptState) {
	switch n := rapid.IntRange(0, 20).Draw(w.T, "outcome"); {
	case n < 8:
		w.fold(nexus.AttemptEnded{Attempt: a.ID, Outcome: nexus.Accepted, Commit: "x"})
	case n == 8:
		w.fold(nexus.AttemptLost{Attempt: a.ID, Why: "told to", Counted: rapid.Bool().Draw(w.T, "counted")})
	case n == 9:
		w.fold(nexus.AttemptInfrastructureFailed{Attempt: a.ID, Why: "machinery"})
	case n == 10:
		w.fold(nexus.BudgetRefused{Task: a.Task, Cap: "task"}, nexus.AttemptLost{Attempt: a.ID, Why: "money"})
	case n == 11 && rapid.IntRange(0, 5).Draw(w.T, "money") == 0:
		w.fold(nexus.BudgetRefused{Task: a.Task, Cap: "run"}, nexus.AttemptLost{Attempt: a.ID, Why: "money"})
	case n == 12:
		w.fold(nexus.RoundStarted{Attempt: a.ID, Round: len(a.Rounds) + 1})
	default:
		bad := []nexus.Outcome{nexus.NoProgress, nexus.Exhausted, nexus.Unverified, nexus.GaveUp, nexus.Inapplicable, nexus.Conflicted}
		w.fold(nexus.AttemptEnded{Attempt: a.ID, Outcome: rapid.SampledFrom(bad).Draw(w.T, "bad"), Why: "so it is"})
	}
}

func (w *walk) arrive(b *state.QueuedLanding) {
	refused := nexus.LandingRejected{Task: b.Task, Attempt: b.Attempt, Onto: b.Onto, Why: "no"}
	switch rapid.IntRange(0, 9).Draw(w.T, "landing") {
	case 0:
		w.fold(refused)
	case 1:
		refused.Conflict = true
		w.fold(refused)
	case 2:
		refused.Broken = true
		w.fold(refused)
	case 3:
		w.fold(nexus.AttemptLost{Attempt: b.Merge.ID, Why: "lost", Counted: rapid.Bool().Draw(w.T, "counted")})
	default:
		w.tip++
		w.fold(nexus.LandingCompleted{Task: b.Task, Attempt: b.Attempt, Commit: fmt.Sprintf("c%d", w.tip), Parent: b.Onto})
	}
}

func drawTasks(t *rapid.T) []nexus.Task {
	tasks := make([]nexus.Task, rapid.IntRange(1, 8).Draw(t, "tasks"))
	for i := range tasks {
		tasks[i] = nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i+1))}
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "needs") == 0 {
				tasks[i].Needs = append(tasks[i].Needs, tasks[j].ID)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "files") {
			tasks[i].Files = append(tasks[i].Files, rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "file"))
		}
	}
	return tasks
}

// TestEveryRunEnds lets workers and people do anything in any order. No rule
// is broken on the way, nothing is decided while nothing happens, and in the
// end the run ends and accounts for every task.
func TestEveryRunEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &walk{T: t, s: state.NewState("r"), now: eventtapetest.TapeStartTime(), given: map[nexus.TaskID]bool{}}
		limits := nexus.Limits{
			Parallel: rapid.IntRange(0, 4).Draw(t, "parallel"), Rounds: rapid.IntRange(0, 9).Draw(t, "rounds"),
			Losses: rapid.IntRange(1, 3).Draw(t, "losses"), LandTries: rapid.IntRange(0, 3).Draw(t, "tries"),
			Dispatches: rapid.SampledFrom([]int{3, 500}).Draw(t, "dispatches"),
			PerTier:    map[nexus.Tier]int{nexus.Fast: 2, nexus.Balanced: 1, nexus.Strong: 1},
		}
		tasks := drawTasks(t)
		w.fold(nexus.GoalAccepted{Base: "c0", Limits: limits}, nexus.PlanProposed{Tasks: len(tasks)})
		for _, task := range tasks {
			w.fold(nexus.TaskPlanned{Task: task})
		}
		w.fold(nexus.RunStarted{})
		for step := 0; !w.s.Status.HasEnded(); step++ {
			w.now = w.now.Add(time.Minute)
			if step > 2000 {
				t.Fatal("the run does not end")
			}
			if step < 100 && rapid.IntRange(0, 9).Draw(t, "request") == 0 {
				verbs := []nexus.RequestKind{nexus.VerbPause, nexus.VerbResume, nexus.VerbSkip, nexus.VerbRetry, nexus.VerbTell, nexus.VerbInterrupt}
				w.fold(nexus.RequestMade{Request: nexus.Request{
					Verb: rapid.SampledFrom(verbs).Draw(t, "verb"), Task: tasks[rapid.IntRange(0, len(tasks)-1).Draw(t, "task")].ID,
				}})
			}
			w.decide()
			if w.s.Status.HasEnded() {
				break
			}
			if again := schedule.NextFacts(w.s, w.now); len(again) > 0 {
				t.Fatalf("it decides though nothing happened: %s", eventtapetest.FormatFact(again[0]))
			}
			if !w.happen() {
				t.Fatalf("nothing is due and the run is %s", w.s.Status)
			}
		}
	})
}

// TestMaySpend asks for permission in each situation.
func TestMaySpend(t *testing.T) {
	fold := func(facts ...nexus.Fact) *state.State {
		s := state.NewState("r")
		start := []nexus.Fact{
			nexus.GoalAccepted{Base: "c0", Limits: nexus.Limits{RunMoney: 10, TaskMoney: 6, PerRole: map[nexus.Role]int{nexus.Coder: 1}}},
			nexus.RunStarted{},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
			nexus.PlanApproved{},
			nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"},
		}
		for _, f := range append(start, facts...) {
			if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	other := nexus.BudgetReserved{ID: "R0", Task: "T1", Role: nexus.Coder, Money: 4}
	for name, c := range map[string]struct {
		s    *state.State
		r    nexus.BudgetReserved
		want string
	}{
		"yes":                          {fold(), nexus.BudgetReserved{Task: "T1", Money: 6}, "granted"},
		"paused":                       {fold(nexus.RunPaused{}), nexus.BudgetReserved{Task: "T1"}, "wait"},
		"between processes":            {fold(nexus.RunRecovered{}), nexus.BudgetReserved{Task: "T1"}, "wait"},
		"draining":                     {fold(nexus.RunDrainStarted{Why: "enough"}), nexus.BudgetReserved{Task: "T1"}, "enough"},
		"draining while paused":        {fold(nexus.RunPaused{}, nexus.RunDrainStarted{Why: "enough"}), nexus.BudgetReserved{Task: "T1"}, "enough"},
		"skipped":                      {fold(nexus.TaskSkipped{Task: "T1", By: "ann"}), nexus.BudgetReserved{Task: "T1"}, "skipped by ann"},
		"its task is paused":           {fold(nexus.TaskPaused{Task: "T1", By: "ann"}), nexus.BudgetReserved{Task: "T1"}, "T1 was paused by ann"},
		"interrupted":                  {fold(nexus.AgentTurnInterrupted{Attempt: "T1.1"}), nexus.BudgetReserved{Task: "T1", Session: "T1.1/coder.1"}, "a person interrupted it"},
		"interrupted, and taken up":    {fold(nexus.AgentTurnInterrupted{Attempt: "T1.1"}, nexus.AttemptLost{Attempt: "T1.1"}, nexus.AttemptResumed{Attempt: "T1.1"}), nexus.BudgetReserved{Task: "T1", Session: "T1.1/coder.1"}, "granted"},
		"ended":                        {fold(nexus.RunEnded{Status: nexus.StatusFailed}), nexus.BudgetReserved{}, "the run has ended"},
		"role has no slot":             {fold(other), nexus.BudgetReserved{Role: nexus.Coder, Money: 1}, "wait"},
		"another role has":             {fold(other), nexus.BudgetReserved{Role: nexus.Tester, Money: 1}, "granted"},
		"too dear now":                 {fold(other), nexus.BudgetReserved{Role: nexus.Tester, Money: 7}, "wait"},
		"too dear for ever":            {fold(other), nexus.BudgetReserved{Role: nexus.Tester, Money: 11}, "run"},
		"too dear for the task":        {fold(), nexus.BudgetReserved{Task: "T1", Money: 7}, "task"},
		"may not be, the task waits":   {fold(other), nexus.BudgetReserved{Task: "T1", Role: nexus.Tester, Money: 3}, "wait"},
		"below zero is not affordable": {fold(), nexus.BudgetReserved{Money: -1}, "run"},
	} {
		got := "wait"
		switch leave := schedule.MaySpend(c.s, c.r); {
		case leave.Granted:
			got = "granted"
		case leave.Stop != "":
			got = leave.Stop
		case leave.Refused != nil:
			got = leave.Refused.Cap
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestQuotaHoldsCalls parks a provider: its calls wait or go to another one,
// and continue once the time has come.
func TestQuotaHoldsCalls(t *testing.T) {
	s := state.NewState("r")
	limits := nexus.DefaultLimits()
	at := eventtapetest.TapeStartTime()
	fold := func(facts ...nexus.Fact) {
		for _, f := range facts {
			if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", At: at, Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fold(nexus.GoalAccepted{Base: "c0", Limits: limits}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.PlanApproved{}, nexus.QuotaExhausted{Account: "a", Until: at.Add(time.Hour)})
	call := nexus.BudgetReserved{ID: "1", Task: "T1", Model: "a/m", Money: 1}
	if l := schedule.MaySpend(s, call); l != (schedule.CallPermission{}) {
		t.Errorf("%+v", l)
	}
	call.Else = []string{"a/n", "b/m"}
	if l := schedule.MaySpend(s, call); l != (schedule.CallPermission{Instead: "b/m"}) {
		t.Errorf("%+v", l)
	}
	if l := schedule.MaySpend(s, nexus.BudgetReserved{ID: "2", Task: "T1", Model: "b/m", Money: 1}); !l.Granted {
		t.Errorf("%+v", l)
	}
	if w := schedule.NextWakeTime(s); !w.Equal(at.Add(time.Hour)) {
		t.Errorf("wakes at %s", w)
	}
	at = at.Add(time.Hour)
	if d := schedule.NextFacts(s, at); len(d) != 1 || d[0] != nexus.Fact(nexus.QuotaReset{Account: "a"}) {
		t.Errorf("%v", d)
	}
	fold(nexus.QuotaReset{Account: "a"})
	if l := schedule.MaySpend(s, call); !l.Granted {
		t.Errorf("%+v", l)
	}
}
