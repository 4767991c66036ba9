// Package toy is a world to test a conductor in: a repository whose commits
// are strings, a provider that charges and answers at once, gates that know
// the truth, and workers that do in it what the real ones do. What happens in
// it is drawn from dice, with every fault that the real world has.
package toy

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Chance is how often something happens, from 0 to 1.
type Chance float64

// Scenario is what a seed makes of a run: its plan, its caps, and what goes
// wrong. Each fault is absent from many seeds, so that the others show.
type Scenario struct {
	Limits   nexus.Limits
	Tasks    []nexus.Task
	Routing  nexus.Routing
	Given    bool // the plan comes with the goal
	Consent  nexus.Consent
	stubborn map[nexus.TaskID]bool
	know     *knowing // what coders need to know; nil: it is up to chance what is red

	Crashes   int // times a process may die
	Crash     Chance
	Storage   Chance // the journal fails, and the process gives up
	broken    Chance // a worker's machinery fails
	provider  Chance // a call fails
	quota     Chance // it says that the account is out of quota
	spare     bool   // another provider may be asked meanwhile
	windows   Chance // a call tells how much of a window is used
	auth      Chance // for good, until a person fixes it
	overshoot bool   // calls may cost up to half more than their worst case
	loose     int    // of ten calls, that many do where some may
	Tariff    *Tariff
	bad       Chance // what an agent writes is red
	same      Chance // an agent writes nothing new
	stray     Chance // it touches a file that its task did not declare
	giveUp    Chance
	ask       Chance
	blind     Chance
	reject    Chance
	odd       Chance // a gate cannot tell
	slow      Chance
	noPlan    Chance
	Requests  int  // of people and programs
	Interrupt int  // times a process is told to let go
	Land      bool // the target moves along
	Reopen    int  // times a run that ended is taken up again
	Rewinds   int  // times somebody takes the run back to an earlier point, while nobody conducts it
}

// Draw makes a seed's scenario.
func Draw(r *rand.Rand) Scenario {
	sometimes := func(p, most float64) Chance {
		if r.Float64() > p {
			return 0
		}
		return Chance(r.Float64() * most)
	}
	s := Scenario{
		Limits: drawLimits(r), Tasks: drawTasks(r), Given: r.IntN(3) > 0, stubborn: map[nexus.TaskID]bool{},
		Crash: sometimes(0.6, 0.06), Storage: sometimes(0.1, 0.02), broken: sometimes(0.4, 0.1),
		provider: sometimes(0.4, 0.3), auth: sometimes(0.1, 0.02), overshoot: r.IntN(4) == 0,
		bad: 0.1 + sometimes(0.7, 0.5), same: sometimes(0.3, 0.4), stray: sometimes(0.6, 1),
		giveUp: sometimes(0.2, 0.1), ask: sometimes(0.3, 0.2),
		blind: sometimes(0.3, 0.3), reject: sometimes(0.6, 0.5), odd: sometimes(0.3, 0.1), slow: sometimes(0.3, 0.3),
		noPlan: sometimes(0.1, 0.5), Reopen: r.IntN(3),
	}
	s.loose = 1
	s.quota, s.spare = sometimes(0.3, 0.2), r.IntN(2) == 0
	s.Routing = drawRouting(r)
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
	drawCriteria(&s)
	return s
}

// drawCriteria gives some tasks a criterion with a check of its own, and says
// how often it is fixed, what a task that is stuck may be split into, at which thresholds it is decided
// anew how tasks continue, how often windows are told of, and whether the plan wants consent. It takes nothing
// from the scenario's dice.
func drawCriteria(s *Scenario) {
	minutes := uint64(0)
	for _, t := range s.Tasks {
		minutes = minutes*31 + uint64(t.Minutes) //nolint:gosec // minutes are not below 0
	}
	r := rand.New(rand.NewPCG(minutes, uint64(s.Limits.Turns))) //nolint:gosec // a seed must give the same dice
	s.Limits.Fixes, s.Limits.Parts, s.Limits.Depth = r.IntN(4), r.IntN(3), r.IntN(4)
	if r.IntN(3) > 0 {
		s.Limits.Replan = nexus.Replan{
			Time: 100 + r.IntN(200), Least: time.Duration(r.IntN(30)) * time.Minute, Rounds: r.IntN(80), Files: r.IntN(3), Failures: r.IntN(4),
		}
	}
	if r.IntN(3) == 0 {
		s.windows = Chance(r.Float64() * 0.3)
	}
	s.Limits.Refusals, s.Consent.Wanted = r.IntN(4), r.IntN(2) == 0
	drawPoints(s)
	drawWants(r, s.Tasks)
	for i := range s.Tasks {
		if r.IntN(3) == 0 {
			s.Tasks[i].Criteria = []nexus.Criterion{{Text: "it holds", Check: "./" + string(s.Tasks[i].ID)}}
		}
	}
}

// drawPoints says which checkpoints the run makes, and how often somebody goes back. It has dice of
// its own.
func drawPoints(s *Scenario) {
	r := rand.New(rand.NewPCG(uint64(len(s.Tasks)), uint64(s.Limits.RunMoney))) //nolint:gosec // a seed must give the same dice
	if r.IntN(2) == 0 {
		s.Limits.Points = nexus.Points{On: nexus.Reasons(), Keep: r.IntN(4)}
	}
	if r.IntN(3) == 0 {
		s.Limits.Points.Every = time.Duration(1+r.IntN(40)) * time.Minute
	}
	if r.IntN(3) == 0 {
		s.Rewinds = 1 + r.IntN(3)
	}
}

// drawWants turns some needs into soft ones, and gives some tasks a priority.
func drawWants(r *rand.Rand, tasks []nexus.Task) {
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

// drawTasks makes a plan of tasks that need earlier ones and share files.
func drawTasks(r *rand.Rand) []nexus.Task {
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
			t.Strategy = []nexus.Strategy{nexus.TDDLite, nexus.TDDSimple, nexus.TDDStrict}[i%3]
		}
		tasks[i] = t
	}
	return tasks
}

// Worst is the reservation of every call.
const Worst = 100 * nexus.Dollar / 1000

func drawLimits(r *rand.Rand) nexus.Limits {
	// maybe keeps a cap away from many seeds.
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	l := nexus.Limits{
		Parallel: r.IntN(5), Turns: 4 + r.IntN(6), Rounds: 3 + r.IntN(12), Same: 2 + r.IntN(2), ReviewRounds: 1 + r.IntN(3),
		Losses: 1 + r.IntN(6), LandTries: r.IntN(4), MajorsBlock: r.IntN(3), RunMoney: 1000 * nexus.Dollar,
		PerTier:    map[nexus.Tier]int{nexus.Fast: 1 + r.IntN(3), nexus.Balanced: 1 + r.IntN(2), nexus.Strong: 1},
		Dispatches: 500,
	}
	if l.Turns%2 == 0 { // half of the runs put small tasks into lanes
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

// drawRouting makes the way in which tiers are chosen: none in half of the
// runs.
func drawRouting(r *rand.Rand) nexus.Routing {
	var o nexus.Routing
	if r.IntN(2) == 0 {
		return o
	}
	for _, name := range route.Orders() {
		if r.IntN(3) > 0 {
			o.Order = append(o.Order, name)
		}
	}
	for _, c := range []nexus.Complexity{nexus.Simple, nexus.Medium} {
		o.Past = append(o.Past, nexus.Past{Complexity: c, Tier: nexus.Fast, Tries: 6 + r.IntN(10), Failed: r.IntN(6)})
	}
	return o
}
