// Package toyworld is a world for tests of a conductor: a repository whose commits are strings, a
// provider that charges and answers at once, gates that know the truth, and workers that act in
// it like the real ones. Its events are drawn from dice, with every fault of the real world.
package toyworld

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Probability is the probability of an event, from 0 to 1.
type Probability float64

// RunScenario is the run that a seed produces: its plan, its caps, and its faults. Each fault is
// absent from many seeds, so that the others show.
type RunScenario struct {
	Limits   nexus.Limits
	Tasks    []nexus.Task
	Routing  nexus.StartTierRules
	Given    bool // the plan comes with the goal
	Consent  nexus.PlanApprovalRule
	stubborn map[nexus.TaskID]bool
	know     *coderKnowledge // the facts that coders need; nil: failures are up to chance

	Crashes   int // times that a process may die
	Crash     Probability
	Storage   Probability // the journal fails, and the process gives up
	broken    Probability // a worker's machinery fails
	provider  Probability // a call fails
	quota     Probability // the failure is that the account is out of quota
	spare     bool        // another provider may be asked meanwhile
	windows   Probability // a call reports how much of a window is used
	auth      Probability // a failure until a person fixes it
	overshoot bool        // calls may cost up to half more than their worst case
	loose     int         // of ten calls, those that exceed their worst case if overshoot is set
	Tariff    *SimulatedCallPrices
	bad       Probability // an agent's change is red
	same      Probability // an agent writes nothing new
	stray     Probability // it changes a file that its task did not declare
	giveUp    Probability
	ask       Probability
	blind     Probability
	reject    Probability
	odd       Probability // a gate has no result
	slow      Probability
	noPlan    Probability
	Requests  int  // of people and programs
	Interrupt int  // times that a process is told to stop
	Land      bool // the target branch moves, too
	Reopen    int  // times that a run that ended is resumed
	Rewinds   int  // times that a person takes the run back to an earlier point while it is not running
}

// RandomScenario returns a seed's scenario.
func RandomScenario(r *rand.Rand) RunScenario {
	sometimes := func(p, most float64) Probability {
		if r.Float64() > p {
			return 0
		}
		return Probability(r.Float64() * most)
	}
	s := RunScenario{
		Limits: randomLimits(r), Tasks: randomTasks(r), Given: r.IntN(3) > 0, stubborn: map[nexus.TaskID]bool{},
		Crash: sometimes(0.6, 0.06), Storage: sometimes(0.1, 0.02), broken: sometimes(0.4, 0.1),
		provider: sometimes(0.4, 0.3), auth: sometimes(0.1, 0.02), overshoot: r.IntN(4) == 0,
		bad: 0.1 + sometimes(0.7, 0.5), same: sometimes(0.3, 0.4), stray: sometimes(0.6, 1),
		giveUp: sometimes(0.2, 0.1), ask: sometimes(0.3, 0.2),
		blind: sometimes(0.3, 0.3), reject: sometimes(0.6, 0.5), odd: sometimes(0.3, 0.1), slow: sometimes(0.3, 0.3),
		noPlan: sometimes(0.1, 0.5), Reopen: r.IntN(3),
	}
	s.loose = 1
	s.quota, s.spare = sometimes(0.3, 0.2), r.IntN(2) == 0
	s.Routing = randomRouting(r)
	if s.Crash > 0 || s.Storage > 0 {
		s.Crashes = 1 + r.IntN(8)
	}
	if r.IntN(2) == 0 {
		s.Requests = r.IntN(12)
	}
	if r.IntN(4) == 0 {
		s.Interrupt = 1 + r.IntN(3)
	}
	s.Land = r.IntN(2) == 0
	for _, t := range s.Tasks {
		if r.IntN(10) == 0 {
			s.stubborn[t.ID] = true
		}
	}
	randomCriteria(&s)
	return s
}

// randomCriteria gives some tasks a criterion with a check of its own, and draws how often it is
// fixed, the parts that a stuck task may be split into, the thresholds at which the
// continuation of tasks is decided again, how often windows are reported, and whether the plan
// requires consent. It does not use the scenario's dice.
func randomCriteria(s *RunScenario) {
	minutes := uint64(0)
	for _, t := range s.Tasks {
		minutes = minutes*31 + uint64(t.Minutes) //nolint:gosec // minutes are not below 0
	}
	r := rand.New(rand.NewPCG(minutes, uint64(s.Limits.Turns))) //nolint:gosec // a seed must give the same dice
	s.Limits.Fixes, s.Limits.Parts, s.Limits.Depth = r.IntN(4), r.IntN(3), r.IntN(4)
	if r.IntN(3) > 0 {
		s.Limits.Replan = nexus.ReplanLimits{
			Time: 100 + r.IntN(200), Least: time.Duration(r.IntN(30)) * time.Minute, Rounds: r.IntN(80), Files: r.IntN(3), Failures: r.IntN(4),
		}
	}
	if r.IntN(3) == 0 {
		s.windows = Probability(r.Float64() * 0.3)
	}
	s.Limits.Refusals, s.Consent.Wanted = r.IntN(4), r.IntN(2) == 0
	randomCheckpoints(s)
	randomSoftNeedsAndPriorities(r, s.Tasks)
	for i := range s.Tasks {
		if r.IntN(3) == 0 {
			s.Tasks[i].Criteria = []nexus.Criterion{{Text: "it holds", Check: "./" + string(s.Tasks[i].ID)}}
		}
	}
}

// randomCheckpoints draws the checkpoints that the run makes, and the number of rewinds. It has dice
// of its own.
func randomCheckpoints(s *RunScenario) {
	r := rand.New(rand.NewPCG(uint64(len(s.Tasks)), uint64(s.Limits.RunMoney))) //nolint:gosec // a seed must give the same dice
	if r.IntN(2) == 0 {
		s.Limits.Points = nexus.CheckpointPolicy{On: nexus.CheckpointReasons(), Keep: r.IntN(4)}
	}
	if r.IntN(3) == 0 {
		s.Limits.Points.Every = time.Duration(1+r.IntN(40)) * time.Minute
	}
	if r.IntN(3) == 0 {
		s.Rewinds = 1 + r.IntN(3)
	}
}

// randomSoftNeedsAndPriorities turns some needs into soft ones, and gives some tasks a priority.
func randomSoftNeedsAndPriorities(r *rand.Rand, tasks []nexus.Task) {
	soft, rated := r.IntN(3) == 0, r.IntN(3) == 0
	for i := range tasks {
		t := &tasks[i]
		if soft && len(t.Needs) > 0 && r.IntN(2) == 0 {
			last := len(t.Needs) - 1
			t.Needs, t.Wants = t.Needs[:last], t.Needs[last:]
		}
		if rated && r.IntN(2) == 0 {
			t.Priority = nexus.Priorities()[r.IntN(5)]
		}
	}
}

// randomTasks makes a plan of tasks that need earlier ones and share files.
func randomTasks(r *rand.Rand) []nexus.Task {
	tasks := make([]nexus.Task, 1+r.IntN(7))
	for i := range tasks {
		t := nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Title: "a task", Minutes: 1 + r.IntN(30)}
		for j := range i {
			if r.IntN(4) == 0 {
				t.Needs = append(t.Needs, tasks[j].ID)
			}
		}
		for range 1 + r.IntN(2) {
			t.Files = append(t.Files, fmt.Sprintf("f%d", r.IntN(2*len(tasks))))
		}
		switch r.IntN(8) {
		case 0:
			t.Kind = nexus.DocsTask
		case 1:
			t.Kind = nexus.TestTask
		case 2:
			t.Strategy = nexus.NoTest
		case 3:
			t.Tier = nexus.Strong
		case 4:
			t.Strategy = nexus.TDDStrict
		case 5:
			t.Strategy = []nexus.WritingStrategy{nexus.TDDLite, nexus.TDDSimple, nexus.TDDStrict}[i%3]
		}
		tasks[i] = t
	}
	return tasks
}

// Worst is the reservation of every call.
const Worst = 100 * nexus.Dollar / 1000

func randomLimits(r *rand.Rand) nexus.Limits {
	// maybe omits a cap from many seeds.
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	l := nexus.Limits{
		Parallel: r.IntN(5), Turns: 4 + r.IntN(6), Rounds: 3 + r.IntN(12), Same: 2 + r.IntN(2), ReviewRounds: 1 + r.IntN(3),
		Losses: 1 + r.IntN(6), LandTries: r.IntN(4), MajorsBlock: r.IntN(3), RunMoney: 1000 * nexus.Dollar,
		PerTier:    map[nexus.Tier]int{nexus.Fast: 1 + r.IntN(3), nexus.Balanced: 1 + r.IntN(2), nexus.Strong: 1},
		Dispatches: 500,
	}
	if l.Turns%2 == 0 { // half of the runs put small tasks into shared sessions
		l.Batch = 2 + l.Rounds%3
	}
	if maybe(3) {
		l.PerRole = map[nexus.Role]int{nexus.Coder: 1 + r.IntN(2)}
	}
	if maybe(8) {
		l.Dispatches = 1 + r.IntN(8)
	}
	if maybe(4) {
		l.RunMoney = Worst * nexus.Money(1+r.IntN(60))
	}
	if maybe(6) {
		l.TaskMoney = Worst * nexus.Money(2+r.IntN(20))
	}
	if maybe(8) {
		l.DayMoney = Worst * nexus.Money(5+r.IntN(100))
	}
	if maybe(5) {
		l.RunTime = time.Duration(20+r.IntN(400)) * time.Minute
	}
	if maybe(5) {
		l.TaskTime = time.Duration(20+r.IntN(120)) * time.Minute
	}
	return l
}

// randomRouting returns the way in which tiers are chosen: none in half of the runs.
func randomRouting(r *rand.Rand) nexus.StartTierRules {
	var o nexus.StartTierRules
	if r.IntN(2) == 0 {
		return o
	}
	for _, name := range route.StrategyNames() {
		if r.IntN(3) > 0 {
			o.Order = append(o.Order, name)
		}
	}
	for _, c := range []nexus.Complexity{nexus.Simple, nexus.Medium} {
		o.Past = append(o.Past, nexus.PastAttemptCounts{Complexity: c, Tier: nexus.Fast, Tries: 6 + r.IntN(10), Failed: r.IntN(6)})
	}
	return o
}
