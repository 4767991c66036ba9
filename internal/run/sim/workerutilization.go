package sim

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// WorkerUtilization describes how well a run used its workers.
type WorkerUtilization struct {
	Seed       uint64        `json:"seed"`
	Tasks      int           `json:"tasks"`
	Parallel   int           `json:"parallel"`
	Took       time.Duration `json:"took_ns"`  // virtual time from start to end
	Work       time.Duration `json:"work_ns"`  // of all tasks together
	Path       time.Duration `json:"path_ns"`  // the longest chain of tasks that need each other
	Bound      time.Duration `json:"bound_ns"` // no schedule is faster: max(path, work/parallel)
	Efficiency float64       `json:"efficiency"`
	Landed     int           `json:"landed"`
	Problem    string        `json:"problem,omitzero"`
}

// MeasureSchedule lets the real scheduler execute a made-up plan of that many tasks, that many at
// once. Tasks take about as long as estimated, and nothing else takes any time, so any loss is
// the scheduler's.
func MeasureSchedule(tasks, parallel int, seed uint64) WorkerUtilization {
	dice := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // a seed must give the same dice
	plan := widePlan(dice, tasks)
	p := &timedRunSimulation{now: eventtapetest.TapeStartTime(), takes: map[nexus.TaskID]time.Duration{}}
	p.journal = &memoryJournal{run: "pace", now: func() time.Time { return p.now }, booked: func(nexus.Event) {}, fault: func() error { return nil }, other: func() {}}
	out := WorkerUtilization{Seed: seed, Tasks: tasks, Parallel: parallel}
	ends := map[nexus.TaskID]time.Duration{}
	for _, t := range plan {
		took := time.Duration(t.Minutes) * time.Minute
		took += time.Duration((dice.Float64() - 0.5) * 0.4 * float64(took))
		p.takes[t.ID] = took
		out.Work += took
		for _, n := range t.Needs {
			ends[t.ID] = max(ends[t.ID], ends[n])
		}
		ends[t.ID] += took
		out.Path = max(out.Path, ends[t.ID])
	}
	limits := nexus.Limits{Parallel: parallel, RunMoney: 1, LandTries: 1}
	p.journal.appendForeign(nexus.GoalAccepted{Goal: nexus.Goal{Text: "pace"}, Base: "c0", Limits: limits})
	p.journal.appendForeign(toyworld.PlanFacts(plan)...)
	if err := p.playToEnd(); err != nil {
		out.Problem = err.Error()
	}
	out.Took, out.Landed = p.now.Sub(eventtapetest.TapeStartTime()), p.landed
	out.Bound = max(out.Path, out.Work/time.Duration(max(1, parallel)))
	if out.Took > 0 {
		out.Efficiency = float64(out.Bound) / float64(out.Took)
	}
	return out
}

// widePlan makes a plan with many tasks that can be done at once: each needs up to three of the
// hundred before it.
func widePlan(dice *rand.Rand, n int) []nexus.Task {
	plan := make([]nexus.Task, n)
	for i := range plan {
		plan[i] = nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Minutes: 5 + dice.IntN(26), Files: []string{fmt.Sprintf("f%d", i)}}
		if i < 64 {
			continue
		}
		for range dice.IntN(4) {
			need := plan[max(0, i-64-dice.IntN(100))].ID
			plan[i].Needs = append(plan[i].Needs, need)
		}
	}
	return plan
}

// timedRunSimulation executes a run whose workers only let time pass.
type timedRunSimulation struct {
	journal *memoryJournal
	now     time.Time
	queue   eventQueue
	takes   map[nexus.TaskID]time.Duration
	landed  int
	failed  error
}

func (p *timedRunSimulation) playToEnd() error {
	ctx := context.Background()
	core, err := run.BeginRun(ctx, p.journal, "pace", run.StartOptions{})
	if err != nil {
		return err
	}
	for p.failed == nil {
		start, _, err := core.DecideUntilDone(ctx, p.now)
		if err != nil {
			return err
		}
		for _, w := range start {
			took, facts := p.workResult(w)
			heap.Push(&p.queue, scheduledSimulationEvent{at: p.now.Add(took), seq: p.queue.Len(), do: func() { p.failed = core.FinishWork(ctx, w, facts, nil) }})
		}
		if core.IsOver() {
			return nil
		}
		e, ok := heap.Pop(&p.queue).(scheduledSimulationEvent)
		if !ok {
			return fmt.Errorf("nothing happens any more")
		}
		p.now = e.at
		e.do()
	}
	return p.failed
}

// workResult returns the duration of a work item and its facts.
func (p *timedRunSimulation) workResult(w run.RecordedIntent) (time.Duration, []nexus.Fact) {
	a := w.View.Attempt
	switch f := w.Intent.(type) {
	case nexus.AttemptStarted:
		return p.takes[f.Task], []nexus.Fact{nexus.AttemptEnded{Attempt: f.Attempt, Outcome: nexus.Accepted, Commit: string(f.Attempt), Tree: string(f.Attempt)}}
	case nexus.LandingStarted:
		p.landed++
		return 0, []nexus.Fact{nexus.LandingCompleted{Task: f.Task, Attempt: a.ID, Commit: fmt.Sprintf("c%d", p.landed), Parent: f.Onto, Tree: a.Tree}}
	case nexus.FinalGatesStarted:
		return 0, []nexus.Fact{nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Passed: true}}}
	case nexus.ResultPublishingStarted:
		return 0, []nexus.Fact{nexus.ResultPublished{Branch: "b", Commit: f.Commit}}
	default:
		return 0, nil
	}
}
