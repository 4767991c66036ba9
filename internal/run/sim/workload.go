package sim

import (
	"container/heap"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/lessons"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// RunSeriesWorkload is a series of runs of one repository.
type RunSeriesWorkload struct {
	Runs  int
	Tasks int // of each run
	// Works returns the probability that an attempt at a tier lands a task of a sort, 0 or 1,
	// the n-th of all.
	Works func(n, sort int, tier nexus.Tier) float64
}

// WorkloadResult is the result of a workload.
type WorkloadResult struct {
	Landed int
	Money  nexus.Money
	Tries  int
	Took   time.Duration // virtual, of all runs together
	Cost   []nexus.Money // of each task, in order
}

// PerLanded returns the cost per landed task, including that of tasks that did not land.
func (t WorkloadResult) PerLanded() float64 { return t.Money.Dollars() / float64(max(1, t.Landed)) }

// PlayWorkload lets the real scheduler play a workload, one run after the other. With learns, each run
// learns from those before it. Whether an attempt succeeds, its cost, and the red gate depend
// only on the seed, the task, the tier and the number of the attempt, so that both ways have
// the same luck.
func PlayWorkload(seed uint64, w RunSeriesWorkload, learns bool) (WorkloadResult, error) {
	var out WorkloadResult
	var past []runhistory.RunRecord
	now := eventtapetest.TapeStartTime()
	for r := range w.Runs {
		l := &nexus.RunLessons{}
		usual := nexus.StartTierRules{Order: []string{route.Manual, route.Adaptive, route.Keyword}}
		if learns {
			l = lessons.LearnLessons(past, lessons.Options{
				Sample: 5,
				Usual:  func(c nexus.Complexity) nexus.Tier { return route.StartTierOf(usual, c) },
			})
		}
		usual.Lessons = l
		p := &workloadRunSimulation{
			timedRunSimulation: timedRunSimulation{now: now, takes: map[nexus.TaskID]time.Duration{}}, load: w, seed: seed,
			first: r * w.Tasks, gates: gatesInOrder(l),
		}
		p.journal = &memoryJournal{
			run: nexus.RunID(fmt.Sprintf("r%d", r)), now: func() time.Time { return p.now },
			booked: func(nexus.Event) {}, fault: func() error { return nil }, other: func() {},
		}
		began := p.now
		s, err := p.playRun(usual)
		if err != nil {
			return out, fmt.Errorf("run %d: %w", r, err)
		}
		past = append(past, s)
		now = p.now.Add(time.Hour)
		out.Took += p.now.Sub(began)
		for _, t := range s.Tasks {
			out.Money += t.Money
			out.Tries += len(t.Tries)
			out.Cost = append(out.Cost, t.Money)
			if t.Status == nexus.Landed {
				out.Landed++
			}
		}
	}
	return out, nil
}

// usualGates returns the gates of the repository in their usual order, with the duration of
// each and its share of the failures.
func usualGates() []workloadGate {
	return []workloadGate{
		{"build", 40 * time.Second, 1},
		{"lint", 20 * time.Second, 1},
		{"test", 2 * time.Minute, 4},
		{"own", 2 * time.Second, 4},
	}
}

type workloadGate struct {
	name  string
	takes time.Duration
	share int
}

// gatesInOrder returns the gates in the learned order.
func gatesInOrder(l *nexus.RunLessons) []workloadGate {
	all := usualGates()
	if l.Gates == nil {
		return all
	}
	var out []workloadGate
	for _, name := range l.Gates.Order {
		for i, g := range all {
			if g.name == name {
				out = append(out, g)
				all[i].name = ""
			}
		}
	}
	for _, g := range all {
		if g.name != "" {
			out = append(out, g)
		}
	}
	return out
}

// workloadRunSimulation executes a run of a workload.
type workloadRunSimulation struct {
	timedRunSimulation
	load  RunSeriesWorkload
	seed  uint64
	first int // number of its first task, of all runs
	gates []workloadGate
}

// makePlan returns the tasks of the run: two sorts by turns, in two languages.
func (p *workloadRunSimulation) makePlan() []nexus.Task {
	plan := make([]nexus.Task, p.load.Tasks)
	for i := range plan {
		file := fmt.Sprintf("f%d.%s", i, []string{"go", "py"}[i%2])
		plan[i] = nexus.Task{
			ID: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Title: "A task", Files: []string{file},
			Strategy: nexus.NoTest, Reason: "its tests are there",
		}
	}
	return plan
}

func (p *workloadRunSimulation) playRun(r nexus.StartTierRules) (runhistory.RunRecord, error) {
	limits := nexus.DefaultLimits()
	limits.RunMoney, limits.Parallel, limits.Parts = 1_000_000*nexus.Dollar, 2, 0
	p.journal.appendForeign(nexus.GoalAccepted{Goal: nexus.Goal{Text: "teach"}, Base: "c0", Limits: limits, Routing: r})
	p.journal.appendForeign(toyworld.PlanFacts(p.makePlan())...)
	ctx := context.Background()
	core, err := run.BeginRun(ctx, p.journal, p.journal.run, run.StartOptions{})
	if err != nil {
		return runhistory.RunRecord{}, err
	}
	for step := 0; ; step++ {
		start, _, err := core.DecideUntilDone(ctx, p.now)
		if err != nil || step > maxSteps {
			return runhistory.RunRecord{}, fmt.Errorf("after %d steps: %w", step, err)
		}
		for _, w := range start {
			took, facts := p.attemptResult(w)
			heap.Push(&p.queue, scheduledSimulationEvent{at: p.now.Add(took), seq: p.queue.Len(), do: func() { p.failed = core.FinishWork(ctx, w, facts, nil) }})
		}
		if core.IsOver() {
			return runhistory.SummarizeRun(core.State), nil
		}
		e, ok := heap.Pop(&p.queue).(scheduledSimulationEvent)
		if !ok {
			return runhistory.RunRecord{}, fmt.Errorf("nothing happens any more")
		}
		p.now = e.at
		if e.do(); p.failed != nil {
			return runhistory.RunRecord{}, p.failed
		}
	}
}

// attemptResult returns the duration of a work item and its facts.
func (p *workloadRunSimulation) attemptResult(w run.RecordedIntent) (time.Duration, []nexus.Fact) {
	f, ok := w.Intent.(nexus.AttemptStarted)
	if !ok {
		return p.workResult(w)
	}
	number := 0
	if n, _ := fmt.Sscanf(string(f.Task), "T%d", &number); n != 1 {
		return 0, []nexus.Fact{nexus.AttemptInfrastructureFailed{Attempt: f.Attempt, Why: "it is no task of the plan"}}
	}
	tries := 0
	for _, a := range w.View.Past {
		if a.Tier == f.Tier {
			tries++
		}
	}
	h := fnv.New64a()
	_, _ = h.Write(fmt.Appendf(nil, "%d/%d/%s/%d", p.seed, p.first+number, f.Tier, tries)) // a hash accepts all
	dice := rand.New(rand.NewPCG(h.Sum64(), p.seed))                                       //nolint:gosec // a seed must give the same dice
	works := dice.Float64() < p.load.Works(p.first+number-1, (number-1)%2, f.Tier)
	money := nexus.Money(float64(attemptPrice(f.Tier)) * (0.7 + 0.6*dice.Float64()))
	red := ""
	if !works {
		red = drawRedGate(dice)
	}
	took, judged := p.judgeGates(f, red)
	session := nexus.SessionID(string(f.Attempt) + "/coder.1")
	facts := []nexus.Fact{
		nexus.SessionStarted{Session: session, Attempt: f.Attempt, Role: nexus.Coder, Model: "toy/" + string(f.Tier)},
		nexus.RoundStarted{Attempt: f.Attempt, Round: 1, Role: nexus.Coder, Session: session},
		nexus.BudgetReserved{
			ID: string(session), Task: f.Task, Session: session, Role: nexus.Coder,
			Model: "toy/" + string(f.Tier), Tier: f.Tier, Money: 2 * money,
		},
		nexus.BudgetSettled{ID: string(session), Money: money},
	}
	facts = append(facts, judged...)
	end := nexus.AttemptEnded{Attempt: f.Attempt, Outcome: nexus.Accepted, Commit: string(f.Attempt), Tree: string(f.Attempt)}
	if red != "" {
		end = nexus.AttemptEnded{Attempt: f.Attempt, Outcome: nexus.NoProgress, Why: red + " is red"}
	}
	return 5*time.Minute + took, append(facts, end)
}

// attemptPrice returns the cost of an attempt at a tier.
func attemptPrice(t nexus.Tier) nexus.Money {
	switch t {
	case nexus.Strong:
		return nexus.Dollar * 8 / 100
	case nexus.Balanced:
		return nexus.Dollar * 2 / 100
	default:
		return nexus.Dollar / 200
	}
}

// drawRedGate returns the red gate, by the shares, whatever their order.
func drawRedGate(dice *rand.Rand) string {
	all, sum := usualGates(), 0
	for _, g := range all {
		sum += g.share
	}
	n := dice.IntN(sum)
	for _, g := range all {
		if n -= g.share; n < 0 {
			return g.name
		}
	}
	return ""
}

// judgeGates runs the gates in their order, up to the first that is red.
func (p *workloadRunSimulation) judgeGates(f nexus.AttemptStarted, red string) (took time.Duration, facts []nexus.Fact) {
	verdict := nexus.GatesVerdictGiven{Attempt: f.Attempt, Tree: string(f.Attempt), State: nexus.Pass}
	for _, g := range p.gates {
		took += g.takes
		e := nexus.GateEvidence{Gate: g.name, State: nexus.Pass, Tree: string(f.Attempt), Duration: g.takes}
		if g.name == red {
			e.State, e.Findings = nexus.Fail, []nexus.Finding{{Gate: g.name, File: string(f.Task), Message: "it is wrong"}}
			verdict.State, verdict.Gate, verdict.Why = nexus.Fail, g.name, "it is wrong"
		}
		facts = append(facts, nexus.GateJudged{Attempt: f.Attempt, Evidence: e})
		if e.State == nexus.Fail {
			break
		}
	}
	return took, append(facts, verdict)
}
