package sim

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestChaos plays many seeds. NEXUS_SIM_SEEDS says how many, NEXUS_SIM_FIRST
// which one is the first; a seed that fails is played again by
//
//	NEXUS_SIM_FIRST=<seed> NEXUS_SIM_SEEDS=1 go test ./internal/run/sim -run TestChaos
func TestChaos(t *testing.T) {
	seeds := 1500
	switch {
	case testenv.RunsNightly():
		seeds = 20_000
	case testenv.IsRaceEnabled():
		seeds = 100 // without it, all are
	}
	first, n := number(t, "NEXUS_SIM_FIRST", 1), number(t, "NEXUS_SIM_SEEDS", seeds)
	var r ChaosTestReport
	for done := 0; done < n; done += 1000 {
		some := PlayChaos(uint64(first+done), min(1000, n-done), nil)
		if some.Worst != nil {
			t.Fatalf("%d of %d seeds violate something; the first:\n%s", some.Violations, some.Seeds, some.Worst.Tape)
		}
		r.join(some)
	}
	t.Logf("%+v", r)
	if n < 1000 {
		return
	}
	for _, end := range []nexus.RunStatus{nexus.StatusDone, nexus.StatusPartial, nexus.StatusFailed, nexus.StatusStopped, nexus.StatusLimit, nexus.StatusPaused} {
		if r.Ends[end] == 0 {
			t.Errorf("no run of %d is %s: the scenarios miss a way to end", n, end)
		}
	}
	if r.Deaths < n/4 || r.Repeated == 0 || r.Landed < n {
		t.Errorf("the scenarios are too tame: %d deaths, %d calls cut off, %d landings in %d runs", r.Deaths, r.Repeated, r.Landed, n)
	}
}

func (r *ChaosTestReport) join(more ChaosTestReport) {
	if r.Ends == nil {
		*r = more
		return
	}
	for end, n := range more.Ends {
		r.Ends[end] += n
	}
	r.Seeds += more.Seeds
	r.Landed += more.Landed
	r.Deaths += more.Deaths
	r.Repeated += more.Repeated
}

// TestSameSeedSameRun plays a seed twice: a report of a failure is of no use
// unless it can be played again.
func TestSameSeedSameRun(t *testing.T) {
	for seed := range uint64(30) {
		if a, b := playSeed(seed), playSeed(seed); a != b {
			t.Fatalf("seed %d: %+v, then %+v", seed, a, b)
		}
	}
}

func TestSchedule(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "it counts what one goroutine decides")
	p := MeasureSchedule(1000, 64, 1)
	t.Logf("%+v", p)
	if p.Problem != "" || p.Landed != p.Tasks || p.Efficiency < 0.95 || p.Efficiency > 1 {
		t.Errorf("%+v", p)
	}
}

// TestTakenUpGoesOn holds that who takes a run up wants it to continue, though
// somebody stopped it before while nobody conducted it, even before it began.
func TestTakenUpGoesOn(t *testing.T) {
	for _, begun := range []bool{false, true} {
		now := eventtapetest.TapeStartTime()
		j := &memoryJournal{run: "r", now: func() time.Time { return now }, booked: func(nexus.Event) {}, fault: func() error { return nil }, other: func() {}}
		j.appendForeign(nexus.GoalAccepted{Base: "c0", Limits: nexus.Limits{RunMoney: nexus.Dollar}})
		if begun {
			j.appendForeign(nexus.RunStarted{})
		}
		j.appendForeign(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbStop}})
		core, err := run.BeginRun(t.Context(), j, "r", run.StartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := core.DecideUntilDone(t.Context(), now); err != nil || core.State.Drain != nil || len(core.State.Requests) > 0 {
			t.Errorf("begun %v: %+v %v", begun, core.State.Drain, err)
		}
	}
}
