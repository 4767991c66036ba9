package projection

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// large makes up a run with so many tasks, each landed in one attempt with so
// many turns, and gives its events one by one.
func large(tasks, turns int, give func(nexus.Event)) int {
	seq := int64(0)
	put := func(f nexus.Fact) {
		seq++
		give(nexus.Event{Seq: seq, Run: "r", At: start.Add(time.Duration(seq) * time.Second), Fact: f})
	}
	hash := func(kind string, n int) string { return fmt.Sprintf("%s%010d%050d", kind, n, 0) }
	put(nexus.GoalAccepted{Goal: nexus.Goal{Text: "a large goal"}, Base: "b0", Target: "main", Limits: nexus.Limits{Parallel: 4, RunMoney: 1_000_000 * nexus.Dollar}, Gates: []string{"build", "lint", "test"}})
	put(nexus.RunStarted{Process: nexus.Process{PID: 7, Host: "h"}})
	put(nexus.PlanSought{Attempt: "plan.1"})
	put(nexus.PlanProposed{Plan: "blob", Tasks: tasks})
	id := func(n int) nexus.TaskID { return nexus.TaskID(fmt.Sprintf("T%d", n)) }
	for n := range tasks {
		t := nexus.Task{
			ID: id(n), Title: fmt.Sprintf("Task number %d of many", n), Brief: fmt.Sprintf("Do what number %d asks for, as the others did.", n),
			Files: []string{fmt.Sprintf("dir%d/file%d.go", n%97, n)}, Minutes: 10, Criteria: []nexus.Criterion{{Text: "It passes", Check: "test"}},
		}
		if n > 4 {
			t.Needs = []nexus.TaskID{id(n - 5)}
		}
		put(nexus.TaskPlanned{Task: t})
	}
	put(nexus.PlanApproved{By: "policy"})
	tip := "b0"
	for n := range tasks {
		a := nexus.AttemptID(fmt.Sprintf("T%d.1", n))
		s := nexus.SessionID(string(a) + "/coder.1")
		put(nexus.AttemptStarted{Attempt: a, Task: id(n), Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: tip})
		put(nexus.SessionStarted{Session: s, Attempt: a, Role: nexus.Coder, Model: "p/small", Prompt: hash("9", n)})
		put(nexus.RoundStarted{Attempt: a, Round: 1, Role: nexus.Coder, Session: s})
		put(nexus.PromptSent{Session: s, Message: hash("a", n), Why: "brief"})
		for k := range turns {
			r := fmt.Sprintf("%s/%d", s, k)
			put(nexus.BudgetReserved{ID: r, Task: id(n), Session: s, Role: nexus.Coder, Model: "p/small", Tier: nexus.Fast, Money: nexus.Dollar})
			put(nexus.BudgetSpent{ID: r, Money: nexus.Dollar / 100, Usage: nexus.Usage{Input: 1000, Output: 100, CacheRead: 9000}})
			put(nexus.TurnTaken{Session: s, Turn: k + 1, Message: hash("b", n*100+k), Stop: "tools", Says: fmt.Sprintf("I look at part %d of task %d", k, n)})
			put(nexus.ToolCalled{Session: s, Call: fmt.Sprintf("c%d", k), Tool: "read_file", About: fmt.Sprintf("dir%d/file%d.go:%d", n%97, n, k)})
			put(nexus.ToolAnswered{Session: s, Call: fmt.Sprintf("c%d", k), Duration: time.Millisecond, About: "package x"})
			put(nexus.ToolsAnswered{Session: s, Message: hash("c", n*100+k)})
		}
		put(nexus.TreeSnapshotted{Attempt: a, Commit: hash("d", n)[:40], Tree: hash("e", n)[:40]})
		put(nexus.SessionEnded{Session: s, Outcome: nexus.Accepted, Result: hash("f", n)})
		for _, g := range []string{"build", "lint", "test"} {
			put(nexus.GateStarted{Attempt: a, Gate: g})
			put(nexus.GateJudged{Attempt: a, Evidence: nexus.Evidence{Gate: g, State: nexus.Pass, Tree: hash("e", n)[:40], Command: "go " + g + " ./...", Duration: time.Second, Output: hash("0", n)}})
		}
		put(nexus.VerdictGiven{Attempt: a, Tree: hash("e", n)[:40], State: nexus.Pass})
		put(nexus.AttemptEnded{Attempt: a, Outcome: nexus.Accepted, Commit: hash("d", n)[:40], Tree: hash("e", n)[:40]})
		put(nexus.TrainBoarded{Task: id(n), Attempt: a})
		put(nexus.TrainDeparted{Task: id(n), Attempt: a, Onto: tip})
		put(nexus.TrainLanded{Task: id(n), Attempt: a, Commit: hash("1", n)[:40], Tree: hash("e", n)[:40], Parent: tip})
		tip = hash("1", n)[:40]
	}
	return int(seq)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkApply folds a run of 10,000 tasks and a million facts. It prints the
// time for a fact, and what the projection holds in the end.
func BenchmarkApply(b *testing.B) {
	for b.Loop() {
		before := heap()
		p := New("r", Options{Past: nothing})
		var took time.Duration
		n := large(10_000, 13, func(e nexus.Event) {
			t := time.Now()
			if err := p.Apply(e); err != nil {
				b.Fatal(err)
			}
			took += time.Since(t)
		})
		held := heap() - before
		b.ReportMetric(float64(n), "facts")
		b.ReportMetric(float64(took.Nanoseconds())/float64(n), "ns/fact")
		b.ReportMetric(float64(held)/(1<<20), "MiB")
		now := start.Add(time.Hour)
		for name, f := range map[string]func(){
			"cards": func() { p.Cards(now) }, "run": func() { p.Run(now) }, "graph": func() { p.Graph(now) }, "timeline": func() { p.Timeline(now) },
			"cost": func() { p.Cost(now) }, "checks": func() { p.Checks() }, "inbox": func() { p.Inbox(now) }, "task": func() { p.Task("T9", now) },
		} {
			t := time.Now()
			f()
			b.ReportMetric(float64(time.Since(t).Microseconds())/1000, name+"-ms")
		}
		runtime.KeepAlive(p)
	}
}
