package sim

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/audit"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// CapOvershootReport is the amount by which many runs exceeded their caps.
type CapOvershootReport struct {
	First      uint64         `json:"first_seed"`
	Runs       int            `json:"runs"`
	Calls      int            `json:"calls"`
	Deaths     int            `json:"deaths"`
	Lost       int            `json:"lost"`         // calls in flight when a process died
	Most       int            `json:"most"`         // calls in flight at once, in one run
	Crowded    int            `json:"crowded"`      // runs that had 32 in flight at once
	DiedFull   int            `json:"died_crowded"` // runs whose process died with 16 or more in flight
	Caps       []CapOvershoot `json:"caps"`
	Violations int            `json:"violations"`
	Worst      *SeedRunResult `json:"worst,omitempty"` // the first run with a violation
}

// CapOvershoot is the amount by which runs exceeded one of the caps, in calls: the provider's charge
// beyond it, divided by the reservation of the call that exceeded it; for the day, which runs
// share, by the largest call then in flight.
type CapOvershoot struct {
	Name   string      `json:"name"`
	Held   int         `json:"held"`   // runs that had such a cap
	Passed int         `json:"passed"` // runs that exceeded it by anything
	P99    float64     `json:"p99"`    // of the runs that had it
	Max    float64     `json:"max"`
	Money  nexus.Money `json:"max_money"`
	calls  []float64   // of each run, sorted in the end
}

// table is the number of runs of each size in a round of crowds: ten runs, in crowds of one to
// four that share a day.
const table = 4

// MeasureOvershoot plays n runs with 32 workers each, up to four of them side by side with one day's
// money, and compares the provider's charges with every cap.
func MeasureOvershoot(seed uint64, n int) (CapOvershootReport, error) {
	tariff, err := toyworld.NewCallPrices(eventtapetest.TapeStartTime())
	if err != nil {
		return CapOvershootReport{}, err
	}
	defer relaxGC()()
	out := CapOvershootReport{First: seed, Runs: n}
	caps := map[string]*CapOvershoot{}
	var sizes []int
	for left := n; left > 0; left -= sizes[len(sizes)-1] {
		sizes = append(sizes, min(left, 1+len(sizes)%table))
	}
	results := make([][]overshootRunResult, len(sizes))
	var next atomic.Int64
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(sizes)); i = next.Add(1) - 1 {
				results[i] = playRunsConcurrently(seed+uint64(i), sizes[i], tariff) //nolint:gosec // i is not below 0
			}
		})
	}
	players.Wait()
	for _, r := range slices.Concat(results...) {
		out.addRun(r, caps)
	}
	for _, c := range caps {
		slices.Sort(c.calls)
		c.Max, c.P99, c.calls = c.calls[len(c.calls)-1], c.calls[(len(c.calls)*99-1)/100], nil
		out.Caps = append(out.Caps, *c)
	}
	slices.SortStableFunc(out.Caps, func(a, b CapOvershoot) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// overshootRunResult is the result of a run of a crowd.
type overshootRunResult struct {
	SeedRunResult

	most, lost int
	over       map[string]audit.CapExcess
}

func (o *CapOvershootReport) addRun(r overshootRunResult, caps map[string]*CapOvershoot) {
	o.Calls += r.Calls
	o.Deaths += r.Deaths
	o.Lost += r.Repeated
	o.Most = max(o.Most, r.most)
	if r.most >= 32 {
		o.Crowded++
	}
	if r.lost >= 16 {
		o.DiedFull++
	}
	for name, over := range r.over {
		c := caps[name]
		if c == nil {
			c = &CapOvershoot{Name: name}
			caps[name] = c
		}
		c.Held++
		c.calls = append(c.calls, over.InCalls())
		if over.Money > 0 {
			c.Passed++
			c.Money = max(c.Money, over.Money)
		}
		if over.InCalls() > 1 && r.Violation == "" {
			r.Violation = fmt.Sprintf("the %s's cap is exceeded by %s, which is %.2f reserved calls", name, over.Money, over.InCalls())
		}
	}
	if r.Violation != "" {
		o.Violations++
		if o.Worst == nil {
			o.Worst = &r.SeedRunResult
		}
	}
}

// playRunsConcurrently plays runs side by side in one virtual time, in the order of their events.
func playRunsConcurrently(seed uint64, n int, t *toyworld.SimulatedCallPrices) []overshootRunResult {
	dice := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // a seed must give the same dice
	day := nexus.Money(0)
	if dice.IntN(3) > 0 {
		day = nexus.Dollar * nexus.Money(2+dice.IntN(60*n))
	}
	days, shared := &audit.DayCharges{}, sharedDailySpending{}
	runs, meters := make([]*runSimulator, n), make([]*audit.ChargeMeter, n)
	for i := range runs {
		s := newRunSimulator(toyworld.RandomConcurrentRuns(dice, t, day), rand.New(rand.NewPCG(seed, uint64(8+2*i))), rand.New(rand.NewPCG(seed, uint64(9+2*i)))) //nolint:gosec // as above
		s.now = eventtapetest.TapeStartTime().Add(time.Duration(dice.IntN(int(20 * time.Hour))))
		m := audit.NewChargeMeter(fmt.Sprint(i), days)
		s.world.Charges = m.RecordCharge
		books := s.journal.booked
		s.journal.booked = func(e nexus.Event) { m.RecordEvent(e); books(e) }
		s.useDailyBudget(runDailyBudgetShare{shared, fmt.Sprint(i), func() time.Time { return s.now }})
		runs[i], meters[i] = s, m
		s.runGuarded(s.acceptGoal)
	}
	for {
		var first *runSimulator
		for _, s := range runs {
			if !s.hasEnded() && (first == nil || s.queue[0].at.Before(first.queue[0].at)) {
				first = s
			}
		}
		if first == nil {
			break
		}
		first.runGuarded(first.playNextEvent)
	}
	out := make([]overshootRunResult, n)
	for i, s := range runs {
		s.killWorkers()
		out[i] = overshootRunResult{s.resultOf(seed), s.world.Most, s.world.Lost, meters[i].Worst}
	}
	return out
}

// hasEnded reports whether no further event will happen in the run.
func (s *runSimulator) hasEnded() bool {
	return s.over || s.violation != "" || s.queue.Len() == 0 && !s.unblockRun()
}

// playNextEvent executes the next event.
func (s *runSimulator) playNextEvent() {
	e, _ := heap.Pop(&s.queue).(scheduledSimulationEvent)
	s.now = e.at
	if s.steps++; s.steps > maxSteps || s.now.Sub(eventtapetest.TapeStartTime()) > maxTime {
		s.reportViolation("the run does not end")
	}
	if e.life == 0 || e.life == s.life {
		e.do()
		s.decideAndCheck()
	}
}

// runGuarded calls do. A panic of the code under test is another violation.
func (s *runSimulator) runGuarded(do func()) {
	defer func() {
		if r := recover(); r != nil {
			s.reportViolation("panic: %v", r)
		}
	}()
	do()
}
