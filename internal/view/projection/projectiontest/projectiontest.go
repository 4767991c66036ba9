// Package projectiontest provides runs for tests of displays.
package projectiontest

import (
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Hostile is a text that no interface may interpret.
const Hostile = "all is lost\r\n\x1b]0;owned\x07<script>alert(1)</script> \u202eback"

// SampleRun returns the events of a run in progress that contains every visible situation once:
// landed, judged, read, asked, delayed, parked and blocked tasks.
func SampleRun() []nexus.Event {
	finding := nexus.Finding{Gate: "test", File: "b.go", Line: 3, Message: Hostile}
	odd := nexus.TaskPlanned{Task: nexus.Task{
		ID: "T8", Title: Hostile, Brief: Hostile, Needs: []nexus.TaskID{"T5"}, Files: []string{"dir/T3.go", Hostile},
		Criteria: []nexus.Criterion{{Text: Hostile, Check: Hostile}},
	}}
	facts := slices.Concat(
		[]nexus.Fact{
			nexus.GoalAccepted{
				Goal: nexus.Goal{Text: Hostile}, Base: "b0", Target: "main", Limits: nexus.DefaultLimits(), Gates: []string{"build", "test"},
			},
			nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}},
			nexus.PlanningStarted{Attempt: "plan.1"},
			nexus.PlanProposed{Plan: "blob", Tasks: 8},
			planTask("T1"), planTask("T2", "T1"), planTask("T3"), planTask("T4", "T3"), planTask("T5", "T4"), planTask("T6"), planTask("T7"), odd,
			nexus.PlanApproved{By: "policy"},
		},
		beginAttempt("T1.1", "T1"), judgeGate("T1.1", "build", nexus.Pass), judgeGate("T1.1", "test", nexus.Fail, finding),
		[]nexus.Fact{
			nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: "tT1.1", State: nexus.Fail, Gate: "test"},
			nexus.RoundStarted{Attempt: "T1.1", Round: 2, Role: nexus.Coder, Session: "T1.1/coder.1", Cause: "gates"},
			nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted},
		},
		judgeGate("T1.1", "test", nexus.Pass),
		[]nexus.Fact{
			nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: "tT1.1", State: nexus.Pass},
			nexus.SessionStarted{Session: "T1.1/reviewer.1", Attempt: "T1.1", Role: nexus.Reviewer, Model: "p/large"},
			nexus.ReviewerVerdictGiven{
				Attempt: "T1.1", Tree: "tT1.1", Reviewed: true, Approved: true, Summary: Hostile, Findings: []nexus.Finding{finding},
			},
			nexus.SessionEnded{Session: "T1.1/reviewer.1", Outcome: nexus.Accepted},
			nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1", Tree: "tT1.1"},
			nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
			nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"},
			nexus.LandingCompleted{
				Task: "T1", Attempt: "T1.1", Commit: "c1", Tree: "tT1.1", Parent: "b0", Changes: nexus.LandingChanges{Added: 12, Deleted: 3},
			},
		},
		beginAttempt("T2.1", "T2"),
		[]nexus.Fact{nexus.QuestionAsked{ID: "q1", Attempt: "T2.1", Text: Hostile, Fallback: Hostile, Trigger: humaninput.SecurityTrigger}},
		beginAttempt("T3.1", "T3"),
		[]nexus.Fact{
			nexus.AttemptEnded{Attempt: "T3.1", Outcome: nexus.Refused, Why: Hostile},
			nexus.TaskParked{Task: "T3", Why: Hostile},
		},
		beginAttempt("T6.1", "T6"),
		[]nexus.Fact{nexus.GateStarted{Attempt: "T6.1", Gate: "build"}},
		beginAttempt("T7.1", "T7"),
		[]nexus.Fact{
			nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T7", Text: Hostile, By: Hostile}},
			nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbApprove, ID: "T7/AC-2", Text: "read by me", By: "ann"}},
			nexus.QuotaExhausted{Account: "p", Until: Start().Add(2 * time.Hour), Why: Hostile, Session: "T7.1/coder.1"},
			nexus.AlertRaised{Kind: nexus.AlertStuck, Of: "T7.1", Why: Hostile},
		},
	)
	return numberEvents(facts)
}

// planTask returns the planning of a task.
func planTask(id nexus.TaskID, needs ...nexus.TaskID) nexus.Fact {
	return nexus.TaskPlanned{Task: nexus.Task{
		ID: id, Title: "Task " + string(id), Brief: "Do " + string(id) + ".", Needs: needs, Minutes: 10,
		Files:    []string{"dir/" + string(id) + ".go"},
		Criteria: []nexus.Criterion{{Text: "It passes", Check: "test"}, {Text: "It looks right"}},
	}}
}

// beginAttempt returns the facts of an attempt up to its first turn.
func beginAttempt(id nexus.AttemptID, task nexus.TaskID) []nexus.Fact {
	s := nexus.SessionID(id) + "/coder.1"
	return []nexus.Fact{
		nexus.AttemptStarted{Attempt: id, Task: task, Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: "b0"},
		nexus.SessionStarted{Session: s, Attempt: id, Role: nexus.Coder, Model: "p/small"},
		nexus.RoundStarted{Attempt: id, Round: 1, Role: nexus.Coder, Session: s},
		nexus.PromptSent{Session: s, Message: "m", Why: "brief"},
		nexus.BudgetReserved{ID: "r" + string(id), Task: task, Session: s, Role: nexus.Coder, Model: "p/small", Money: nexus.Dollar},
		nexus.BudgetSettled{ID: "r" + string(id), Money: nexus.Dollar / 4, Usage: nexus.Usage{Input: 1000, Output: 100, CacheRead: 3000}},
		nexus.ModelTurnRecorded{Session: s, Turn: 1, Message: "m", Stop: "tools", Says: Hostile},
	}
}

// judgeGate returns the facts of a gate's result for an attempt.
func judgeGate(id nexus.AttemptID, gate string, s nexus.GateState, found ...nexus.Finding) []nexus.Fact {
	e := nexus.GateEvidence{Gate: gate, State: s, Tree: "t" + string(id), Duration: time.Second, Findings: found}
	return []nexus.Fact{nexus.GateStarted{Attempt: id, Gate: gate}, nexus.GateJudged{Attempt: id, Evidence: e}}
}

func numberEvents(facts []nexus.Fact) []nexus.Event {
	events := make([]nexus.Event, 0, len(facts))
	for i, f := range facts {
		events = append(events, nexus.Event{Seq: int64(i + 1), Run: "r", At: Start().Add(time.Duration(i) * 7 * time.Second), Fact: f})
	}
	return events
}

// Start returns the start time of the runs.
func Start() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// LargeRun generates a run with so many tasks, each landed in one attempt with so many turns, and
// passes its events one by one.
func LargeRun(tasks, turns int, give func(nexus.Event)) int {
	seq := int64(0)
	put := func(f nexus.Fact) {
		seq++
		give(nexus.Event{Seq: seq, Run: "r", At: Start().Add(time.Duration(seq) * time.Second), Fact: f})
	}
	put(nexus.GoalAccepted{
		Goal: nexus.Goal{Text: "a large goal"}, Base: "b0", Target: "main", Gates: []string{"build", "lint", "test"},
		Limits: nexus.Limits{Parallel: 4, RunMoney: 1_000_000 * nexus.Dollar},
	})
	put(nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}})
	put(nexus.PlanningStarted{Attempt: "plan.1"})
	put(nexus.PlanProposed{Plan: "blob", Tasks: tasks})
	for n := range tasks {
		put(planNumberedTask(n))
	}
	put(nexus.PlanApproved{By: "policy"})
	tip := "b0"
	for n := range tasks {
		tip = landTask(n, turns, tip, put)
	}
	return int(seq)
}

func numberedTaskID(n int) nexus.TaskID { return nexus.TaskID(fmt.Sprintf("T%d", n)) }

func fakeHash(kind string, n int) string { return fmt.Sprintf("%s%010d%050d", kind, n, 0) }

// planNumberedTask returns one of many tasks.
func planNumberedTask(n int) nexus.Fact {
	t := nexus.Task{
		ID: numberedTaskID(n), Title: fmt.Sprintf("Task number %d of many", n), Minutes: 10,
		Brief:    fmt.Sprintf("Do what number %d asks for, as the others did.", n),
		Files:    []string{fmt.Sprintf("dir%d/file%d.go", n%97, n)},
		Criteria: []nexus.Criterion{{Text: "It passes", Check: "test"}},
	}
	if n > 4 {
		t.Needs = []nexus.TaskID{numberedTaskID(n - 5)}
	}
	return nexus.TaskPlanned{Task: t}
}

// landTask returns the work on a task based on a commit, and the commit that it landed.
func landTask(n, turns int, tip string, put func(nexus.Fact)) string {
	id := numberedTaskID(n)
	a := nexus.AttemptID(id + ".1")
	s := nexus.SessionID(string(a) + "/coder.1")
	put(nexus.AttemptStarted{Attempt: a, Task: id, Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: tip})
	put(nexus.SessionStarted{Session: s, Attempt: a, Role: nexus.Coder, Model: "p/small", Prompt: fakeHash("9", n)})
	put(nexus.RoundStarted{Attempt: a, Round: 1, Role: nexus.Coder, Session: s})
	put(nexus.PromptSent{Session: s, Message: fakeHash("a", n), Why: "brief"})
	for k := range turns {
		r, call := fmt.Sprintf("%s/%d", s, k), fmt.Sprintf("c%d", k)
		put(nexus.BudgetReserved{ID: r, Task: id, Session: s, Role: nexus.Coder, Model: "p/small", Tier: nexus.Fast, Money: nexus.Dollar})
		put(nexus.BudgetSettled{ID: r, Money: nexus.Dollar / 100, Usage: nexus.Usage{Input: 1000, Output: 100, CacheRead: 9000}})
		says := fmt.Sprintf("I look at part %d of task %d", k, n)
		put(nexus.ModelTurnRecorded{Session: s, Turn: k + 1, Message: fakeHash("b", n*100+k), Stop: "tools", Says: says})
		put(nexus.ToolCallStarted{Session: s, Call: call, Tool: "read_file", About: fmt.Sprintf("dir%d/file%d.go:%d", n%97, n, k)})
		put(nexus.ToolCallEnded{Session: s, Call: call, Duration: time.Millisecond, About: "package x"})
		put(nexus.ToolResultsSent{Session: s, Message: fakeHash("c", n*100+k)})
	}
	put(nexus.TreeSnapshotted{Attempt: a, Commit: fakeHash("d", n)[:40], Tree: fakeHash("e", n)[:40]})
	put(nexus.SessionEnded{Session: s, Outcome: nexus.Accepted, Result: fakeHash("f", n)})
	for _, g := range []string{"build", "lint", "test"} {
		put(nexus.GateStarted{Attempt: a, Gate: g})
		put(nexus.GateJudged{Attempt: a, Evidence: nexus.GateEvidence{
			Gate: g, State: nexus.Pass, Tree: fakeHash("e", n)[:40], Command: "go " + g + " ./...", Duration: time.Second, Output: fakeHash("0", n),
		}})
	}
	put(nexus.GatesVerdictGiven{Attempt: a, Tree: fakeHash("e", n)[:40], State: nexus.Pass})
	put(nexus.AttemptEnded{Attempt: a, Outcome: nexus.Accepted, Commit: fakeHash("d", n)[:40], Tree: fakeHash("e", n)[:40]})
	put(nexus.LandingQueued{Task: id, Attempt: a})
	put(nexus.LandingStarted{Task: id, Attempt: a, Onto: tip})
	put(nexus.LandingCompleted{Task: id, Attempt: a, Commit: fakeHash("1", n)[:40], Tree: fakeHash("e", n)[:40], Parent: tip})
	return fakeHash("1", n)[:40]
}
