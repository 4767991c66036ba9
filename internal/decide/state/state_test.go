package state_test

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", path, diff)
	}
}

func TestDiagram(t *testing.T) { golden(t, "diagram.mermaid", mermaid()) }

// fold folds facts a second apart into a new run.
func fold(t *testing.T, facts ...nexus.Fact) *state.State {
	t.Helper()
	s := state.NewState("r")
	for _, f := range facts {
		next(t, s, f)
	}
	return s
}

func next(t *testing.T, s *state.State, f nexus.Fact) {
	t.Helper()
	e := nexus.Event{Seq: s.Seq + 1, Run: "r", At: eventtapetest.TapeStartTime().Add(time.Duration(s.Seq) * time.Second), Fact: f}
	if err := s.Apply(e); err != nil {
		t.Fatal(err)
	}
}

// in returns a run in each of its states.
func in(t *testing.T) map[nexus.RunStatus]func() *state.State {
	t.Helper()
	start := []nexus.Fact{nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}}
	working := slices.Concat(start, []nexus.Fact{nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.PlanApproved{}})
	after := func(facts []nexus.Fact, more ...nexus.Fact) func() *state.State {
		return func() *state.State { return fold(t, slices.Concat(facts, more)...) }
	}
	all := map[nexus.RunStatus]func() *state.State{
		"":                     after(nil),
		nexus.StatusIdle:       after(start[:1]),
		nexus.StatusPlanning:   after(start),
		nexus.StatusExecuting:  after(working),
		nexus.StatusReviewing:  after(working, nexus.FinalGatesStarted{}),
		nexus.StatusLanding:    after(working, nexus.ResultPublishingStarted{}),
		nexus.StatusPaused:     after(working, nexus.RunPaused{}),
		nexus.StatusRecovering: after(working, nexus.RunRecovered{}),
	}
	for _, end := range []nexus.RunStatus{nexus.StatusDone, nexus.StatusPartial, nexus.StatusFailed, nexus.StatusStopped, nexus.StatusLimit, nexus.StatusWaiting} {
		all[end] = after(working, nexus.RunEnded{Status: end})
	}
	return all
}

// TestTransitions tries every fact that moves a run in every state: a row of
// the table is legal, and everything else is refused with a message that
// names from, to and event, and changes nothing.
func TestTransitions(t *testing.T) {
	moves := []nexus.Fact{
		nexus.GoalAccepted{},
		nexus.RunStarted{},
		nexus.RunRecovered{},
		nexus.RunPaused{},
		nexus.RunResumed{},
		nexus.RunReopened{},
		nexus.PlanApproved{},
		nexus.FinalGatesStarted{},
		nexus.FixTasksPlanned{},
		nexus.ResultPublishingStarted{},
		nexus.RunEnded{Status: nexus.StatusDone},
	}
	table := map[string]nexus.RunStatus{}
	for _, row := range state.RunTransitions() {
		table[string(row.From)+" "+row.Kind] = row.To
	}
	seen := 0
	for from, run := range in(t) {
		for _, f := range moves {
			s := run()
			if s.Status != from {
				t.Fatalf("the run is %q, want %q", s.Status, from)
			}
			to, legal := table[string(from)+" "+nexus.FactKind(f)]
			err := s.Apply(nexus.Event{Seq: s.Seq + 1, At: eventtapetest.TapeStartTime(), Fact: f})
			switch {
			case legal && err != nil:
				t.Errorf("%s by %s: %v", from, nexus.FactKind(f), err)
			case legal && to != "" && to != "(back)" && s.Status != to:
				t.Errorf("%s by %s leads to %s, want %s", from, nexus.FactKind(f), s.Status, to)
			case !legal && (err == nil || s.Status != from):
				t.Errorf("%s by %s is allowed, and leads to %s", from, nexus.FactKind(f), s.Status)
			case !legal && (!strings.Contains(err.Error(), fmt.Sprintf("%q", from)) || !strings.Contains(err.Error(), nexus.FactKind(f))):
				t.Errorf("%s by %s: %q does not name both", from, nexus.FactKind(f), err)
			}
			if legal {
				seen++
			}
		}
	}
	if seen != len(table) {
		t.Errorf("%d rows of %d were tried", seen, len(table))
	}
}

func TestEndMustBeAnEnd(t *testing.T) {
	s := in(t)[nexus.StatusExecuting]()
	if err := s.CheckFacts(nexus.RunEnded{Status: nexus.StatusExecuting}); err == nil || !strings.Contains(err.Error(), `"executing" to "executing"`) {
		t.Error(err)
	}
}

// TestBackWhereItWas pauses, loses and resumes a run in each of its phases.
func TestBackWhereItWas(t *testing.T) {
	for _, phase := range []nexus.RunStatus{nexus.StatusPlanning, nexus.StatusExecuting, nexus.StatusReviewing, nexus.StatusLanding} {
		s := in(t)[phase]()
		for _, f := range []nexus.Fact{nexus.RunPaused{}, nexus.RunRecovered{}, nexus.RunRecovered{}, nexus.RunResumed{}} {
			next(t, s, f)
		}
		if s.Status != phase {
			t.Errorf("the run is %s, want %s", s.Status, phase)
		}
	}
}

func TestReopenedWithoutAPlanPlans(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{}, nexus.RunStarted{}, nexus.RunEnded{Status: nexus.StatusFailed}, nexus.RunReopened{})
	if s.Status != nexus.StatusPlanning {
		t.Errorf("the run is %s", s.Status)
	}
}

// TestRefuses folds what cannot be true.
func TestRefuses(t *testing.T) {
	landing := []nexus.Fact{
		nexus.GoalAccepted{Base: "c0"},
		nexus.RunStarted{},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T2"}},
		nexus.PlanApproved{},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
		nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"},
	}
	landed := nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Parent: "c0"}
	for want, f := range map[string][]nexus.Fact{
		`task "T1" was planned before`:                            {nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}},
		`task "T3" is planned twice`:                              {nexus.TaskPlanned{Task: nexus.Task{ID: "T3"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T3"}}},
		`there is no task "T9"`:                                   {nexus.TaskParked{Task: "T9", Why: "x"}},
		`there is no attempt "T9.1"`:                              {nexus.RoundStarted{Attempt: "T9.1"}},
		`attempt "T1.1" was started before`:                       {nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"}},
		`T1 is still landing`:                                     {nexus.LandingStarted{Task: "T1", Attempt: "T1.1"}},
		`task "T2" is not landing`:                                {nexus.LandingCompleted{Task: "T2", Attempt: "T1.1", Parent: "c0"}},
		`task "T1" landed on c9, not on the tip c0`:               {nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Parent: "c9"}},
		`a run cannot go from "paused" to "paused" by run.paused`: {nexus.RunPaused{}, nexus.RunPaused{}},
	} {
		s := fold(t, landing...)
		before, _ := s.DumpJSON()
		err := s.CheckFacts(f...)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if after, _ := s.DumpJSON(); after != before {
			t.Errorf("%s: asking changed the state", want)
		}
	}
	s := fold(t, append(landing, landed)...)
	if err := s.CheckFacts(landed); err == nil || err.Error() != `task "T1" landed before` {
		t.Error(err)
	}
	if err := fold(t, landing...).CheckFacts(nexus.RunRecovered{}, nexus.RunResumed{}); err != nil {
		t.Errorf("a batch is not folded one by one: %v", err)
	}
}

// lives returns the runs that are folded for ever: what a release wrote, the
// next ones read.
func lives(t *testing.T) map[string][]nexus.Event {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tape")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	all := map[string][]nexus.Event{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if all[filepath.Base(file)], err = eventtapetest.ReadTape("r", string(text)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return all
}

func each(events []nexus.Event) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// summary says what people would ask of a state.
func summary(s *state.State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %s: %s\n", s.Status, s.WorkedTime(s.Updated).Round(time.Second), s.Why)
	fmt.Fprintf(&b, "tip %s, %d landings, %d starts, spent %s of %s, %d tokens\n", s.Tip, len(s.Landings), s.Starts, s.Ledger.SpentMoney(), s.Ledger.RunLimit(), s.Spending.Total().Usage.TotalTokens())
	for _, t := range s.Tasks {
		fmt.Fprintf(&b, "%s %s %s: %d attempts, %d rounds, %s in %s; %s\n", t.ID, s.StatusOf(t), t.Tier, len(t.Attempts), t.Rounds, t.Spent, t.Worked.Round(time.Second), t.Why)
	}
	return b.String()
}

func TestFoldsForEver(t *testing.T) {
	for name, events := range lives(t) {
		s, err := state.ReplayRun("r", each(events))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden(t, strings.TrimSuffix(name, ".tape")+".golden", summary(s))
	}
}

// TestCloneIsApart clones every attempt after every event, and folds on. No
// clone changes with the state, nor the state with a clone.
func TestCloneIsApart(t *testing.T) {
	type pair struct {
		clone *state.AttemptState
		was   string
	}
	for name, events := range lives(t) {
		var clones []pair
		s := state.NewState("r")
		for _, e := range events {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
			before, err := s.DumpJSON()
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range s.Tasks {
				v := s.WorkerView(task.ID)
				if v.Attempt == nil {
					continue
				}
				clones = append(clones, pair{v.Attempt, fmt.Sprintf("%+v", flat(v.Attempt))})
				scratch := v.Attempt.Clone()
				for _, f := range []nexus.Fact{
					nexus.RoundStarted{Attempt: scratch.ID},
					nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "x"}},
					nexus.GatesVerdictGiven{},
					nexus.ReviewerVerdictGiven{},
					nexus.SessionStarted{Session: "x"},
					nexus.AttemptLost{Counted: true},
				} {
					scratch.Apply(f, e.At)
				}
				for _, c := range scratch.Sessions {
					scratch.Apply(nexus.ModelTurnRecorded{Session: c.Session, Message: "x", Turn: 99}, e.At)
				}
			}
			if after, _ := s.DumpJSON(); after != before {
				t.Fatalf("%s, event %d: a clone changed the state", name, e.Seq)
			}
		}
		for _, p := range clones {
			if now := fmt.Sprintf("%+v", flat(p.clone)); now != p.was {
				t.Fatalf("%s: a clone changed\nfrom %s\nto   %s", name, p.was, now)
			}
		}
	}
}

// flat follows the pointers of an attempt.
func flat(a *state.AttemptState) any {
	var rounds []state.AttemptRound
	for _, r := range a.Rounds {
		rounds = append(rounds, *r)
	}
	var sessions []state.AgentSessionState
	for _, s := range a.Sessions {
		sessions = append(sessions, *s)
	}
	return []any{a.ID, a.Stage, a.Losses, a.Refusals, a.Outcome, a.Why, a.Commit, a.Snapshot, a.Handed, rounds, sessions}
}

// TestClockStandsStill counts neither pauses nor the time between processes.
func TestClockStandsStill(t *testing.T) {
	text := `
@0s goal.accepted base=c0 limits.run_money=1
@0s run.started
@0s task.planned task.id=T1
@0s plan.approved
@0s attempt.started attempt=T1.1 task=T1
@10m run.paused
@5h run.resumed
@5h5m round.started attempt=T1.1
@9h request.made request.verb=tell request.task=T1
@20h run.recovered
@20h attempt.lost attempt=T1.1 counted=true
@20h run.resumed
@20h attempt.resumed attempt=T1.1 base=c0
@20h7m attempt.ended attempt=T1.1 outcome=gave-up`
	events, err := eventtapetest.ReadTape("r", text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := state.ReplayRun("r", each(events))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.TaskByID("T1").Worked; got != 22*time.Minute {
		t.Errorf("the task worked for %s, want 10m + 5m + 7m", got)
	}
	if got := s.WorkedTime(s.Updated); got != 22*time.Minute {
		t.Errorf("the run was conducted for %s, want 22m", got)
	}
	if got, want := s.WorkedTimeReachedAt(time.Hour), s.Updated.Add(38*time.Minute); !got.Equal(want) {
		t.Errorf("an hour is over at %s, want %s", got, want)
	}
}

// TestTaskWithoutAttempts asks a view, which has none, for what counts.
func TestTaskWithoutAttempts(t *testing.T) {
	task := state.TaskState{Mercy: 2}
	if got := task.AttemptsAt(nexus.Fast); len(got) != 0 {
		t.Error(got)
	}
}

// BenchmarkFold folds a million facts of a large run.
func BenchmarkFold(b *testing.B) {
	const n = 1_000_000
	events := long(n)
	for b.Loop() {
		s := state.NewState("r")
		for _, e := range events {
			if err := s.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
		if len(s.Landings) == 0 {
			b.Fatal("nothing landed")
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}

// long makes a run of about n facts: tasks with three rounds of twenty turns.
func long(n int) []nexus.Event {
	var events []nexus.Event
	at := eventtapetest.TapeStartTime()
	add := func(facts ...nexus.Fact) {
		for _, f := range facts {
			at = at.Add(time.Second)
			events = append(events, nexus.Event{Seq: int64(len(events) + 1), Run: "r", At: at, Fact: f})
		}
	}
	tasks := n / 500
	add(nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: tasks})
	for i := range tasks {
		add(nexus.TaskPlanned{Task: nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i)), Files: []string{fmt.Sprintf("f%d", i)}}})
	}
	add(nexus.PlanApproved{})
	tip := "c0"
	for i := range tasks {
		task := nexus.TaskID(fmt.Sprintf("T%d", i))
		attempt := nexus.AttemptID(string(task) + ".1")
		coder := nexus.SessionID(string(attempt) + "/coder.1")
		add(nexus.AttemptStarted{Attempt: attempt, Task: task, Tier: nexus.Fast, Base: tip},
			nexus.SessionStarted{Session: coder, Attempt: attempt, Role: nexus.Coder})
		turn := 0
		for round := range 3 {
			add(nexus.RoundStarted{Attempt: attempt, Round: round + 1, Role: nexus.Coder, Session: coder}, nexus.PromptSent{Session: coder, Message: "m"})
			for range 20 {
				turn++
				id := fmt.Sprintf("R%d.%d", i, turn)
				add(nexus.BudgetReserved{ID: id, Task: task, Session: coder, Role: nexus.Coder, Model: "m", Money: 9}, nexus.BudgetSettled{ID: id, Money: 5},
					nexus.ModelTurnRecorded{Session: coder, Turn: turn, Stop: "tools", Message: "m"}, nexus.ToolCallStarted{Session: coder, Tool: "shell", About: "go test"},
					nexus.ToolCallEnded{Session: coder}, nexus.ToolResultsSent{Session: coder, Message: "m"},
					nexus.TreeSnapshotted{Attempt: attempt, Commit: id, Tree: id}, nexus.GateJudged{Attempt: attempt, Evidence: nexus.GateEvidence{Gate: "build", Tree: id, State: nexus.Pass}})
			}
			add(nexus.SessionEnded{Session: coder, Outcome: nexus.Accepted}, nexus.GatesVerdictGiven{Attempt: attempt, State: nexus.Pass})
		}
		commit := fmt.Sprintf("c%d", i+1)
		add(nexus.AttemptEnded{Attempt: attempt, Outcome: nexus.Accepted, Commit: "x"}, nexus.LandingQueued{Task: task, Attempt: attempt},
			nexus.LandingStarted{Task: task, Attempt: attempt, Onto: tip}, nexus.LandingCompleted{Task: task, Attempt: attempt, Commit: commit, Parent: tip})
		tip = commit
	}
	return events
}

// TestElapsedIsActiveTime counts a session's calls and tools, and neither what
// people and providers took nor the time without a process.
func TestElapsedIsActiveTime(t *testing.T) {
	const id = "T1.1/coder.1"
	s := state.NewState("r")
	at := func(second int, facts ...nexus.Fact) {
		t.Helper()
		for _, f := range facts {
			e := nexus.Event{Seq: s.Seq + 1, Run: "r", At: eventtapetest.TapeStartTime().Add(time.Duration(second) * time.Second), Fact: f}
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	elapsed := func(want int) {
		t.Helper()
		if got := s.Session(id).Elapsed; got != time.Duration(want)*time.Second {
			t.Errorf("elapsed %s, want %d s", got, want)
		}
	}
	reserved := func(name string) nexus.Fact { return nexus.BudgetReserved{ID: name, Session: id, Task: "T1"} }
	at(0, nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.PlanApproved{},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"}, nexus.SessionStarted{Session: id, Attempt: "T1.1"}, nexus.PromptSent{Session: id})
	at(10, reserved("a"))
	at(15, nexus.BudgetSettled{ID: "a"}, nexus.ModelTurnRecorded{Session: id, Turn: 1, Stop: "tools"},
		nexus.ToolCallStarted{Session: id, Call: "1", Tool: "ask"}, nexus.ToolCallStarted{Session: id, Call: "2", Tool: "shell"})
	elapsed(5)
	at(125, nexus.ToolCallEnded{Session: id, Call: "1", Duration: 100 * time.Second}, nexus.ToolCallEnded{Session: id, Call: "2", Duration: 10 * time.Second},
		nexus.ToolResultsSent{Session: id})
	elapsed(15)
	at(200, reserved("b"))
	at(201, nexus.BudgetSettled{ID: "b"}, nexus.ModelCallDelayed{Session: id, Wait: time.Hour})
	at(3801, reserved("c"))
	elapsed(16)
	at(9000, nexus.RunRecovered{}, nexus.AttemptLost{Attempt: "T1.1", Counted: true}, nexus.BudgetSettled{ID: "c"}, nexus.RunResumed{})
	elapsed(16)
	at(9001, nexus.AttemptResumed{Attempt: "T1.1", Base: "c0"}, reserved("d"))
	at(9005, nexus.BudgetSettled{ID: "d"}, nexus.ModelTurnRecorded{Session: id, Turn: 2}, nexus.SessionEnded{Session: id, Outcome: nexus.Accepted})
	at(9500, nexus.RoundStarted{Attempt: "T1.1", Round: 2, Session: id}, nexus.PromptSent{Session: id})
	elapsed(20)
	if w := s.TaskByID("T1").Worked; w != 201*time.Second {
		t.Errorf("the task worked for %s, want 201 s: an hour of waiting does not count", w)
	}
}

// TestGating follows which gates judge now. One that was cut off is gone with
// what it judged for, and what it took is not said about the gate.
func TestGating(t *testing.T) {
	const a = nexus.AttemptID("T1.1")
	base := []nexus.Fact{
		nexus.GoalAccepted{Base: "b0"},
		nexus.RunStarted{},
		nexus.PlanProposed{Plan: "p", Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.PlanApproved{},
		nexus.AttemptStarted{Attempt: a, Task: "T1", Base: "b0"},
		nexus.GateStarted{Attempt: a, Base: true, Gate: "warm-up"},
		nexus.GateStarted{Attempt: a, Gate: "build"},
		nexus.GateStarted{Base: true, Gate: "test"},
	}
	judged := func(base bool, gate string, s nexus.GateState) nexus.GateJudged {
		f := nexus.GateJudged{Base: base, Evidence: nexus.GateEvidence{Gate: gate, State: s, Tree: "t", Duration: time.Minute}}
		if !base {
			f.Attempt = a
		}
		return f
	}
	for name, c := range map[string]struct {
		then []nexus.Fact
		want string
	}{
		"both run":          {nil, "base:test build"},
		"one is judged":     {[]nexus.Fact{judged(false, "build", nexus.Pass)}, "base:test"},
		"the base is":       {[]nexus.Fact{judged(true, "test", nexus.Pass)}, "build"},
		"another gate is":   {[]nexus.Fact{judged(false, "secrets", nexus.Pass)}, "base:test build"},
		"lost":              {[]nexus.Fact{nexus.AttemptLost{Attempt: a}}, "base:test"},
		"broken":            {[]nexus.Fact{nexus.AttemptInfrastructureFailed{Attempt: a}}, "base:test"},
		"a verdict":         {[]nexus.Fact{nexus.GatesVerdictGiven{Attempt: a}}, "base:test"},
		"the next gate":     {[]nexus.Fact{nexus.GateStarted{Attempt: a, Gate: "lint"}}, "base:test lint"},
		"its base again":    {[]nexus.Fact{nexus.GateStarted{Attempt: a, Base: true, Gate: "lint"}}, "base:lint base:test"},
		"taken over":        {[]nexus.Fact{nexus.RunRecovered{}}, ""},
		"ended":             {[]nexus.Fact{nexus.RunEnded{Status: nexus.StatusFailed}}, ""},
		"the result judged": {[]nexus.Fact{nexus.GateStarted{Gate: "lint"}, nexus.FinalGatesStarted{}, nexus.FinalGatesJudged{}}, "build"},
	} {
		s := fold(t, append(slices.Clone(base), c.then...)...)
		var got []string
		for _, g := range s.Gating {
			gate := g.Gate
			if g.Base {
				gate = "base:" + gate
			}
			got = append(got, gate)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	s := fold(t, append(base, judged(false, "build", nexus.Pass), judged(true, "test", nexus.Environmental), judged(false, "lint", nexus.Fail))...)
	if got := fmt.Sprint(s.GateDurations("build"), s.GateDurations("test"), s.GateDurations("lint")); got != "[2s] [] [1m0s]" {
		t.Errorf("gates took %s", got) // of lint no start was recorded, as in older journals
	}
}

// TestPaceOfWarmUp tells what compiling took of the warm-up, and not of the gate
// beside which it is told.
func TestPaceOfWarmUp(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{Base: "b0"}, nexus.RunStarted{}, nexus.GateJudged{Base: true, Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: "t", Duration: time.Second}, WarmUp: time.Minute})
	if warm, build := s.GateDurations(nexus.WarmUpGate), s.GateDurations("build"); !slices.Equal(warm, []time.Duration{time.Minute}) || !slices.Equal(build, []time.Duration{time.Second}) {
		t.Errorf("warm-up %v, build %v", warm, build)
	}
}

// TestATaskThatAsksDoesNotAge asks a person twice, and the second time nobody
// answers: while a question is open, the task's clock stands still.
func TestATaskThatAsksDoesNotAge(t *testing.T) {
	s := fold(t,
		nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.PlanApproved{},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"}, // second 4
	)
	at := func(seconds int) time.Time {
		return eventtapetest.TapeStartTime().Add(time.Duration(seconds) * time.Second)
	}
	next(t, s, nexus.QuestionAsked{ID: "q1", Attempt: "T1.1"}) // second 5
	if got := s.TaskWorkTime(s.TaskByID("T1"), at(3600)); got != time.Second {
		t.Errorf("%s while it is asked", got)
	}
	next(t, s, nexus.QuestionAnswered{ID: "q1", Text: "yes", By: "ada"}) // second 6
	next(t, s, nexus.QuestionAsked{ID: "q2", Attempt: "T1.1"})           // second 7
	next(t, s, nexus.QuestionExpired{ID: "q2"})                          // second 8
	if got := s.TaskWorkTime(s.TaskByID("T1"), at(20)); got != 14*time.Second {
		t.Errorf("%s after the questions", got)
	}
}

// TestPressureAfterRecovery: a mark of a cap that was said is said again where
// the cap was raised meanwhile, and not where it stayed.
func TestPressureAfterRecovery(t *testing.T) {
	limits := nexus.Limits{RunMoney: 100, DayMoney: 100}
	raised := nexus.Limits{RunMoney: 300, DayMoney: 300}
	for name, c := range map[string]struct {
		limits *nexus.Limits
		want   int
	}{"as before": {nil, 90}, "raised": {&raised, 0}, "the same": {&limits, 90}} {
		s := fold(t, nexus.GoalAccepted{Goal: nexus.Goal{Text: "x"}, Base: "b", Limits: limits}, nexus.RunStarted{Fence: 1},
			nexus.BudgetReserved{ID: "B1", Money: 90}, nexus.BudgetSettled{ID: "B1", Money: 90}, nexus.BudgetPercentReached{Percent: 90},
			nexus.RunRecovered{Fence: 2, Limits: c.limits})
		if s.Pressed != c.want {
			t.Errorf("%s: %d %% were said, want %d", name, s.Pressed, c.want)
		}
	}
}
