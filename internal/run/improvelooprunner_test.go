package run_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func newLedger(t *testing.T) *ledger {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &ledger{run: "loop", file: f, left: -1}
}

// open folds what a ledger has, and begins the loop where nothing is there.
func open(t *testing.T, j *ledger, rules nexus.ImproveRules) *improveloop.ImproveLoop {
	t.Helper()
	l := &improveloop.ImproveLoop{}
	for e, err := range j.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		l.Apply(e)
	}
	var facts []nexus.Fact
	if l.Run == "" {
		facts = append(facts, nexus.GoalAccepted{Goal: nexus.Goal{Text: "improve", Mode: nexus.Improve}, Target: "main"})
	}
	events, err := j.Append(t.Context(), append(facts, nexus.LoopRulesSet{Rules: rules})...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		l.Apply(e)
	}
	return l
}

func modest() nexus.ImproveRules {
	return nexus.ImproveRules{
		Direct: true, Budget: 1000 * nexus.Dollar, Item: nexus.Dollar, Parallel: 2, Open: 3, Waiting: 5, Lines: 200,
		Rest: time.Minute, MostRest: 15 * time.Minute,
	}
}

// tend tends a loop until it ends, however often its process is killed on the way: after
// so many facts each time.
func tend(t *testing.T, y *yard, j *ledger, rules nexus.ImproveRules, lives func() int) (l *improveloop.ImproveLoop, kills int) {
	t.Helper()
	for {
		j.left = -1
		l = open(t, j, rules)
		j.left = lives()
		err := run.RunLoop(t.Context(), j, y, l, run.LoopSignals{})
		if err == nil {
			return l, kills
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		kills++
	}
}

func forever() int { return -1 }

// TestOscillation lets a model that never agrees with itself work for more than 1,000
// cycles of virtual time: it touches no line twice for the same reason within a week.
func TestOscillation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y, j := newYard(1, 400), newLedger(t)
		y.blind = 0.3
		rules := modest()
		rules.Cycles = 1300 // more than a week
		begun := time.Now()
		l, _ := tend(t, y, j, rules, forever)
		if all := y.again(); len(all) > 0 {
			t.Errorf("%d lines were touched again:\n%s", len(all), head(all))
		}
		if l.Cycle != 1300 || l.Totals.Landed < 400 {
			t.Errorf("%d cycles, %+v", l.Cycle, l.Totals)
		}
		if all, _ := y.account(j.Events(t.Context(), 0)); len(all) > 0 {
			t.Error(head(all))
		}
		t.Logf("%d cycles in %s: %+v, %d lines changed", l.Cycle, time.Since(begun), l.Totals, len(y.log))
	})
}

// TestThemesOscillate does so in the way that is the default: results wait on branches, people commit meanwhile, and
// merge a branch, take it over as one commit, or delete it. What is paid for begins from what was found, also where the
// branch that it is done on is older; and nothing waits for ever because of that.
func TestThemesOscillate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y, j := newYard(11, 400), newLedger(t)
		y.blind, y.people, y.faults, y.spoils = 0.3, 0.4, 0.01, 0.1
		rules := modest()
		rules.Direct, rules.MostRest, rules.Cycles = false, 2*time.Minute, 1300
		left := 10
		rnd := rand.New(rand.NewPCG(12, 12))
		l, kills := tend(t, y, j, rules, func() int {
			if left--; left < 0 {
				return -1
			}
			return 1 + rnd.IntN(600)
		})
		if all := y.again(); len(all) > 0 {
			t.Errorf("%d lines were touched again:\n%s", len(all), head(all))
		}
		if all, _ := y.account(j.Events(t.Context(), 0)); len(all) > 0 {
			t.Error(head(all))
		}
		if l.Cycle != 1300 || l.Totals.Landed < 100 || y.seen < 50 || l.Totals.Reverted < 5 || kills != 10 {
			t.Errorf("%d cycles, %+v, %d results merged, killed %d times", l.Cycle, l.Totals, y.seen, kills)
		}
		t.Logf("%d cycles: %+v, %d results merged, %d lines changed", l.Cycle, l.Totals, y.seen, len(y.log))
	})
}

// TestSoak lets a loop run for days of virtual time among people who commit, machinery
// that fails and processes that die. At night it is a week and more than 10,000 cycles.
func TestSoak(t *testing.T) {
	days, kills, lines := 1, 15, 2000
	if testenv.RunsNightly() || os.Getenv("NEXUS_SOAK_WEEK") != "" {
		days, kills, lines = 7, 30, 20_000
	}
	synctest.Test(t, func(t *testing.T) {
		y, j := newYard(2, lines), newLedger(t)
		y.faults, y.people, y.blind, y.spoils = 0.01, 0.2, 0.3, 0.02
		rules := modest()
		rules.MostRest = 2 * time.Minute
		rules.Until = time.Now().UTC().Add(time.Duration(days) * 24 * time.Hour)
		rnd := rand.New(rand.NewPCG(3, 3))
		left, mean := kills, days*20_000/kills
		var early, late measured
		lives := func() int {
			switch left--; {
			case left < 0:
				return -1
			case left == kills*3/4:
				early = measure()
			case left == 0:
				late = measure()
			}
			return 1 + rnd.IntN(mean)
		}
		begun := time.Now()
		l, killed := tend(t, y, j, rules, lives)
		late = late.or(measure())
		if all := y.again(); len(all) > 0 {
			t.Errorf("%d lines were touched again:\n%s", len(all), head(all))
		}
		all, facts := y.account(j.Events(t.Context(), 0))
		if len(all) > 0 {
			t.Errorf("%d things are not as the journal has them:\n%s", len(all), head(all))
		}
		if l.Spent > rules.Budget || y.spent > l.Spent {
			t.Errorf("%s of %s are known to be spent, and %s were", l.Spent, rules.Budget, y.spent)
		}
		if days == 7 && l.Cycle < 10_000 || l.Cycle < 1000 || killed < kills {
			t.Errorf("%d cycles, killed %d times", l.Cycle, killed)
		}
		if late.heap > early.heap+32<<20 || late.files > early.files || late.routines > early.routines+2 {
			t.Errorf("it was %+v, and became %+v", early, late)
		}
		t.Logf("%s: %d cycles, killed %d times, %d facts, %+v, %s spent, %d commits of people and the loop; at first %+v, in the end %+v",
			time.Since(begun), l.Cycle, killed, facts, l.Totals, l.Spent, y.tip, early, late)
	})
}

// measured is what a process holds.
type measured struct {
	heap            uint64
	files, routines int
}

func measure() measured {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // elsewhere there are none to count
	return measured{m.HeapAlloc, len(files), runtime.NumGoroutine()}
}

func (m measured) or(o measured) measured {
	if m.heap == 0 {
		return o
	}
	return m
}

// TestBudgetOfAllCycles holds that a loop never sets aside more than it may spend.
func TestBudgetOfAllCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y, j := newYard(4, 200), newLedger(t)
		y.price = nexus.Dollar
		rules := modest()
		rules.Budget, rules.Item = 7*nexus.Dollar+nexus.Dollar/2, 2*nexus.Dollar
		l, _ := tend(t, y, j, rules, forever)
		if l.Status != nexus.StatusLimit || y.spent > rules.Budget || l.Spent != y.spent || y.spent < 7*nexus.Dollar {
			t.Errorf("%s: %s, %s spent", l.Status, l.Why, y.spent)
		}
	})
}

// TestRests holds how long a loop waits where there is nothing to do: longer each time, up
// to a bound, and shorter again once there was work.
func TestRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y, j := newYard(5, 1), newLedger(t)
		y.lines[0] = "line 0 version 0 ok"
		rules := modest()
		rules.Until = time.Now().UTC().Add(3 * time.Hour)
		go func() {
			time.Sleep(2 * time.Hour)
			y.mu.Lock()
			defer y.mu.Unlock()
			y.set("", 0, "line 0 version 1 x")
		}()
		tend(t, y, j, rules, forever)
		var rests []string
		for e := range j.Events(t.Context(), 0) {
			switch f := e.Fact.(type) {
			case nexus.LoopPauseStarted:
				rests = append(rests, f.For.Round(time.Minute).String())
			case nexus.LoopItemWorkStarted:
				rests = append(rests, "work")
			default:
			}
		}
		got := strings.Join(rests, " ")
		if !strings.HasPrefix(got, "1m0s 2m0s 4m0s 8m0s 15m0s 15m0s") || !strings.Contains(got, "15m0s work 1m0s 2m0s") {
			t.Error(got)
		}
	})
}

// TestStopAndWake holds that a stop ends work that is under way, and that who rests hears
// what happens.
func TestStopAndWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y, j := newYard(8, 2), newLedger(t)
		y.fails = 0 // how often chance lets work fail is another test
		y.lines[0], y.lines[1] = "line 0 version 0 ok", "line 1 version 0 ok"
		rules := modest()
		rules.Watch = "commits"
		l := open(t, j, rules)
		woken, requests, drain := make(chan string), make(chan nexus.Event), make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- run.RunLoop(t.Context(), j, y, l, run.LoopSignals{Woken: woken, Requests: requests, Drain: drain})
		}()
		time.Sleep(24 * time.Hour) // nobody wakes it
		y.mu.Lock()
		if len(y.runs) != 0 {
			t.Error("it works on nothing")
		}
		y.set("", 0, "line 0 version 1 x")
		y.mu.Unlock()
		woken <- "new commits"
		time.Sleep(time.Hour)
		y.mu.Lock()
		if len(y.runs) != 1 {
			t.Errorf("it worked on %d things", len(y.runs))
		}
		y.stuck = true
		y.set("", 1, "line 1 version 2 x")
		y.mu.Unlock()
		woken <- "more commits"
		time.Sleep(time.Hour)
		requests <- nexus.Event{Seq: 1 << 40, Run: "loop", Fact: nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbPause, By: "ann"}}}
		requests <- nexus.Event{Seq: 1<<40 + 1, Run: "loop", Fact: nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbStop, By: "ann"}}}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if l.Status != nexus.StatusStopped || l.Why != "stopped by ann" || l.Totals.Landed != 1 || l.Cycle != 4 {
			t.Errorf("%s %q, cycle %d, %+v", l.Status, l.Why, l.Cycle, l.Totals)
		}
		if i := l.Items[len(l.Items)-1]; i.Result != improveloop.DoneFailed || i.Why != "the loop was stopped" {
			t.Errorf("what was under way: %+v", i)
		}
		var settled []bool
		for e := range j.Events(t.Context(), 0) {
			if f, ok := e.Fact.(nexus.RequestSettled); ok {
				settled = append(settled, f.Granted)
			}
		}
		if len(settled) != 2 || settled[0] || !settled[1] {
			t.Error(settled)
		}
	})
}

// TestDrainLetsGo holds that an interrupted loop is taken up where it was.
func TestDrainLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y, j := newYard(7, 10), newLedger(t)
		rules := modest()
		rules.Cycles = 3
		l := open(t, j, rules)
		drain := make(chan struct{})
		go func() {
			time.Sleep(7 * time.Second) // in the first cycle
			close(drain)
		}()
		if err := run.RunLoop(context.WithoutCancel(t.Context()), j, y, l, run.LoopSignals{Drain: drain}); !errors.Is(err, run.ErrInterrupted) {
			t.Fatal(err)
		}
		l, _ = tend(t, y, j, rules, forever)
		if l.Status != nexus.StatusDone || l.Cycle != 3 || l.Totals.Landed == 0 {
			t.Errorf("%s, cycle %d, %+v", l.Status, l.Cycle, l.Totals)
		}
		if all, _ := y.account(j.Events(t.Context(), 0)); len(all) > 0 {
			t.Error(head(all))
		}
	})
}
