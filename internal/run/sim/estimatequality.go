package sim

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// EstimateQuality is the accuracy of the estimates over many runs. A share is 1 if all were right.
type EstimateQuality struct {
	Repositories int     `json:"repositories"`
	Runs         int     `json:"runs"`
	Asked        int     `json:"asked"`   // number of requests for the remaining time of a run
	Unknown      int     `json:"unknown"` // of them, requests with too few landed tasks for an answer
	Right        float64 `json:"right"`   // share of the answers whose range contained the actual time
	Early        float64 `json:"early"`   // share in which it took less
	Late         float64 `json:"late"`    // share in which it took more
	Wide         float64 `json:"wide"`    // upper end of a range divided by its lower end, in the middle case
	Tasks        int     `json:"tasks"`   // that landed, and that were estimated from history before
	Held         float64 `json:"held"`    // share of them whose time was within its range
	Problem      string  `json:"problem,omitzero"`
}

// runsEach is the number of consecutive runs of a made-up repository.
const runsEach = 6

// MeasureEstimates lets the real scheduler execute runs of made-up repositories, and asks at every event
// for the remaining time of the run. The duration of a task there, compared with the rule of
// thumb, depends on its stack, its tier, and chance. Attempts fail now and then, and landing
// and the last gates need time, too.
func MeasureEstimates(first uint64, repositories int) EstimateQuality {
	out := EstimateQuality{Repositories: repositories}
	var sum estimateResultTally
	for i := range repositories {
		seed := first + uint64(i)              //nolint:gosec // i is not below 0
		dice := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // a seed must give the same dice
		r := newSimulatedRepository(dice)
		for range runsEach {
			if err := r.playRun(&sum); err != nil {
				out.Problem = fmt.Sprintf("seed %d: %v", seed, err)
				return out
			}
			out.Runs++
		}
	}
	sum.addToQuality(&out)
	return out
}

// estimateResultTally counts the results of estimates.
type estimateResultTally struct {
	asked, unknown, early, late int
	wide                        []float64
	tasks, held                 int
}

func (t *estimateResultTally) addToQuality(out *EstimateQuality) {
	out.Asked, out.Unknown, out.Tasks = t.asked, t.unknown, t.tasks
	said := float64(max(1, t.asked-t.unknown))
	out.Early, out.Late = float64(t.early)/said, float64(t.late)/said
	out.Right = 1 - out.Early - out.Late
	out.Wide = medianOf(t.wide)
	out.Held = float64(t.held) / float64(max(1, t.tasks))
}

// simulatedTaskDurations is a made-up one, with the durations of its runs.
type simulatedTaskDurations struct {
	dice  *rand.Rand
	past  route.PastRunStatistics
	slow  map[string]float64     // by stack: duration of tasks compared with the rule of thumb
	tiers map[nexus.Tier]float64 // the same by tier
	wide  float64                // how much similar tasks differ
	lag   time.Duration          // of a landing
	rest  time.Duration          // of the last gates
	runs  int
}

func newSimulatedRepository(dice *rand.Rand) *simulatedTaskDurations {
	factor := func(wide float64) float64 { return math.Exp(wide * dice.NormFloat64()) }
	return &simulatedTaskDurations{
		dice: dice,
		slow: map[string]float64{"go": factor(0.7), "py": factor(0.7)},
		tiers: map[nexus.Tier]float64{
			nexus.Fast: factor(0.3), nexus.Balanced: factor(0.3), nexus.Strong: factor(0.3),
		},
		wide: 0.2 + 0.5*dice.Float64(),
		lag:  time.Duration(dice.IntN(180)) * time.Second,
		rest: time.Duration(dice.IntN(300)) * time.Second,
	}
}

// makePlan makes up the tasks of a run.
func (r *simulatedTaskDurations) makePlan() []nexus.Task {
	plan := make([]nexus.Task, 3+r.dice.IntN(14))
	for i := range plan {
		ending := []string{"go", "py"}[r.dice.IntN(2)]
		t := nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Files: []string{fmt.Sprintf("f%d.%s", i-r.dice.IntN(2), ending)}}
		t.Complexity = []nexus.Complexity{nexus.Simple, nexus.Simple, nexus.Medium, nexus.Complex}[r.dice.IntN(4)]
		if r.dice.IntN(2) == 0 {
			t.Minutes = 5 + r.dice.IntN(26)
		}
		for i > 0 && r.dice.IntN(3) == 0 {
			t.Needs = []nexus.TaskID{plan[r.dice.IntN(i)].ID}
			break
		}
		plan[i] = t
	}
	return plan
}

// drawAttemptTime draws the duration of an attempt at a task.
func (r *simulatedTaskDurations) drawAttemptTime(t *state.TaskState, tier nexus.Tier) time.Duration {
	e := route.EstimateTask(nil, t.Task, t.Route.Complexity, tier)
	times := r.slow[string(t.Files[0][len(t.Files[0])-2:])] * r.tiers[tier] * math.Exp(r.wide*r.dice.NormFloat64())
	return time.Duration(float64(e.Likely.Seconds) * times * float64(time.Second))
}

// pendingEstimate is an answer that cannot be checked yet.
type pendingEstimate struct {
	at   time.Time
	said route.RemainingTime
}

// playRun executes a run to its end, and adds the results of its estimates.
func (r *simulatedTaskDurations) playRun(sum *estimateResultTally) error {
	ctx := context.Background()
	r.runs++
	id := nexus.RunID(fmt.Sprint("r", r.runs))
	p := &timedRunSimulation{now: eventtapetest.TapeStartTime()}
	p.journal = &memoryJournal{run: id, now: func() time.Time { return p.now }, booked: func(nexus.Event) {}, fault: func() error { return nil }, other: func() {}}
	limits := nexus.DefaultLimits()
	limits.Parallel, limits.TaskTime, limits.RunTime, limits.Alerts = 1+r.dice.IntN(5), 0, 0, nexus.AlertThresholds{}
	x := r.past.EstimateBasis(func(nexus.Role, nexus.Task, nexus.Usage) (nexus.Money, bool) { return 0, false })
	p.journal.appendForeign(nexus.GoalAccepted{Goal: nexus.Goal{Text: "foresee"}, Base: "c0", Limits: limits, Routing: nexus.StartTierRules{Order: []string{route.Manual, route.Keyword}, Experience: x}})
	p.journal.appendForeign(toyworld.PlanFacts(r.makePlan())...)
	core, err := run.BeginRun(ctx, p.journal, id, run.StartOptions{})
	if err != nil {
		return err
	}
	var asked []pendingEstimate
	for p.failed == nil && !core.IsOver() {
		start, _, err := core.DecideUntilDone(ctx, p.now)
		if err != nil {
			return err
		}
		for _, w := range start {
			took, facts := r.workResult(p, core.State, w)
			heap.Push(&p.queue, scheduledSimulationEvent{at: p.now.Add(took), seq: p.queue.Len(), do: func() { p.failed = core.FinishWork(ctx, w, facts, nil) }})
		}
		if core.State.Status == nexus.StatusExecuting {
			said, _ := r.past.RemainingTimes(core.State, p.now)
			asked = append(asked, pendingEstimate{p.now, said})
		}
		if core.IsOver() {
			break
		}
		e, ok := heap.Pop(&p.queue).(scheduledSimulationEvent)
		if !ok {
			return fmt.Errorf("nothing happens any more")
		}
		p.now = e.at
		e.do()
	}
	r.countEstimates(sum, core.State, asked, p.now)
	r.past.AddRun(core.State)
	return p.failed
}

// countEstimates adds the results of the estimates of a run.
func (r *simulatedTaskDurations) countEstimates(sum *estimateResultTally, s *state.State, asked []pendingEstimate, end time.Time) {
	for _, a := range asked {
		took := end.Sub(a.at)
		switch sum.asked++; {
		case a.said == route.RemainingTime{}:
			sum.unknown++
			continue
		case took < a.said.Low:
			sum.early++
		case took > a.said.High:
			sum.late++
		}
		sum.wide = append(sum.wide, a.said.High.Seconds()/max(1, a.said.Low.Seconds()))
	}
	for _, t := range s.Tasks {
		if t.Landed == nil || t.Route == nil || t.Route.Estimate == nil || t.Route.Estimate.Samples == 0 {
			continue
		}
		sum.tasks++
		if took := int64(t.Worked / time.Second); took >= t.Route.Estimate.Low.Seconds && took <= t.Route.Estimate.High.Seconds {
			sum.held++
		}
	}
}

// workResult returns the duration of a work item and its facts.
func (r *simulatedTaskDurations) workResult(p *timedRunSimulation, s *state.State, w run.RecordedIntent) (time.Duration, []nexus.Fact) {
	switch f := w.Intent.(type) {
	case nexus.AttemptStarted:
		took := r.drawAttemptTime(s.TaskByID(f.Task), f.Tier)
		if r.dice.IntN(12) == 0 {
			return took / 2, []nexus.Fact{nexus.AttemptEnded{Attempt: f.Attempt, Outcome: nexus.NoProgress, Why: "chance"}}
		}
		return took, []nexus.Fact{nexus.AttemptEnded{Attempt: f.Attempt, Outcome: nexus.Accepted, Commit: string(f.Attempt), Tree: string(f.Attempt)}}
	case nexus.LandingStarted:
		_, facts := p.workResult(w)
		return r.lag/2 + time.Duration(r.dice.Int64N(int64(r.lag)+1)), facts
	case nexus.FinalGatesStarted:
		_, facts := p.workResult(w)
		return r.rest/2 + time.Duration(r.dice.Int64N(int64(r.rest)+1)), facts
	default:
		return p.workResult(w)
	}
}

// medianOf returns the middle value, 0 of none.
func medianOf(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
