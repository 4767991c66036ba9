package sim

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/audit"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// shared is a journal that many goroutines use, and that can fail for good,
// as it does for a process that lost its lease.
type shared struct {
	mu sync.Mutex // guards what is below
	*memoryJournal
	lost bool
}

func (j *shared) Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lost {
		return nil, &nexus.Error{Code: nexus.CodeLeaseLost, Message: "somebody else has the run"}
	}
	return j.memoryJournal.Append(ctx, facts...)
}

func (j *shared) Events(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
	j.mu.Lock()
	defer j.mu.Unlock()
	return (&memoryJournal{events: j.events[:len(j.events):len(j.events)]}).Events(ctx, after)
}

func (j *shared) ask(r nexus.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appendForeign(nexus.RequestMade{Request: r})
}

// stage is the toy world as [playToEnd.ConductRun] wants it, on the bubble's clock.
type stage struct {
	*toyworld.SimulatedWorld
	open func(nexus.AttemptID, string)
}

func (stage) Now() time.Time                        { return time.Now() }
func (stage) TimerAt(at time.Time) <-chan time.Time { return time.After(time.Until(at)) }

func (s stage) ExecuteIntent(ctx context.Context, intent nexus.Fact, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	nap := func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return (&toyworld.SimulatedWorker{SimulatedWorld: s.SimulatedWorld, Desk: d, Nap: nap, Now: time.Now, View: v, Open: s.open}).ExecuteIntent(ctx, intent)
}

// TestConduct lets the real Conduct, with goroutines and all, conduct runs in
// the toy world: interrupted, cancelled and robbed of its lease at any time,
// then taken up again, until the run has ended.
func TestConduct(t *testing.T) {
	for seed := range uint64(number(t, "NEXUS_SIM_CONDUCT", 200)) {
		synctest.Test(t, func(t *testing.T) { conduct(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func conduct(t *testing.T, seed uint64) {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 4))
	scenario := toyworld.RandomScenario(dice)
	world := toyworld.NewWorld(scenario, rand.New(rand.NewPCG(seed, 5)), nil, t.Errorf)
	books := audit.NewFactAudit(world, func(string) nexus.Money { return 0 }, t.Errorf)
	j := &shared{memoryJournal: &memoryJournal{run: "r", now: time.Now, booked: books.RecordEvent, fault: func() error { return nil }, other: func() {}}}
	j.appendForeign(nexus.GoalAccepted{Base: world.Snapshot().Tip, Limits: scenario.Limits})
	w := stage{world, func(id nexus.AttemptID, rev string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		books.CheckWorktree(id, rev)
	}}
	over, leave := context.WithCancelCause(t.Context())
	var crowd sync.WaitGroup
	crowd.Go(func() { people(over, j, rand.New(rand.NewPCG(seed, 6)), scenario) })
	for life := 1; ; life++ {
		if life > 40 {
			t.Error("the run does not end")
			break
		}
		s, err := live(t, j, w, dice, life)
		if t.Failed() {
			break
		}
		replayed, _ := state.ReplayRun("r", j.Events(t.Context(), 0))
		a, _ := s.DumpJSON()
		b, _ := replayed.DumpJSON()
		if a != b && s.Requested == replayed.Requested {
			t.Errorf("the replayed state differs:\n%s", firstDifference(a, b))
		}
		if err == nil && s.Status.HasEnded() {
			t.Logf("%s after %d lives and %d events: %d of %d landed, %d calls", s.Status, life, s.Seq, len(s.Landings), len(s.Tasks), world.Snapshot().Calls)
			break
		}
		time.Sleep(time.Duration(dice.IntN(int(time.Hour))))
	}
	leave(errors.New("the test is over"))
	crowd.Wait()
}

// live conducts the run once. The first lives are cut short.
func live(t *testing.T, j *shared, w stage, dice *rand.Rand, life int) (*state.State, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	drain, requests := make(chan struct{}), make(chan nexus.Event)
	cut := time.Duration(dice.Float64() * dice.Float64() * float64(40*time.Minute))
	how := dice.IntN(4)
	var crowd sync.WaitGroup
	crowd.Go(func() { follow(ctx, j, requests) })
	crowd.Go(func() {
		if life > 6 {
			return
		}
		select {
		case <-time.After(cut):
		case <-ctx.Done():
			return
		}
		switch how {
		case 0:
			cancel(errors.New("killed"))
		case 1:
			close(drain)
		case 2:
			close(drain)
			time.Sleep(time.Second)
			cancel(errors.New("killed"))
		case 3:
			j.mu.Lock()
			j.lost = true
			j.mu.Unlock()
		}
	})
	s, err := run.ConductRun(ctx, j, w, "r", run.StartOptions{Fence: int64(life)}, run.RunSignals{Requests: requests, Drain: drain})
	cancel(errors.New("it is over"))
	crowd.Wait()
	w.LoseProcess()
	j.mu.Lock()
	j.lost = false
	j.mu.Unlock()
	if s == nil {
		t.Errorf("life %d: %v", life, err)
	}
	if cause := errors.Is(err, run.ErrInterrupted) || errors.Is(err, &nexus.Error{Code: nexus.CodeLeaseLost}); err != nil && !cause && how != 0 && how != 2 {
		t.Errorf("life %d: %v", life, err)
	}
	return s, err
}

// idle is a world whose workers do what can be done again, for ever.
type idle struct{ stage }

func (idle) ExecuteIntent(ctx context.Context, intent nexus.Fact, _ state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	_, landing := intent.(nexus.LandingStarted)
	if _, ok := intent.(nexus.AttemptStarted); !ok && !landing {
		return nil, errors.New("it has nothing else to do")
	}
	ctx, stop := d.Spare(ctx, landing)
	defer stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(90 * time.Minute):
		return nil, errors.New("it went on to its end")
	}
}

// TestDrainEndsWhatCanBeDoneAgain lets a run go while its worker runs a gate
// or waits: that ends at once, unless accepted work hangs on it and only a
// limit was reached.
func TestDrainEndsWhatCanBeDoneAgain(t *testing.T) {
	const soon, never = 10 * time.Minute, 90 * time.Minute
	for name, c := range map[string]struct {
		landing bool
		limits  nexus.Limits
		stop    *nexus.Request
		drain   bool
		took    time.Duration
	}{
		"interrupt":          {drain: true, took: soon},
		"stop":               {stop: &nexus.Request{Verb: nexus.VerbStop}, took: soon},
		"limit":              {limits: nexus.Limits{RunTime: soon}, took: soon},
		"interrupt, landing": {landing: true, drain: true, took: soon},
		"stop, landing":      {landing: true, stop: &nexus.Request{Verb: nexus.VerbStop}, took: soon},
		"limit, landing":     {landing: true, limits: nexus.Limits{RunTime: soon}, took: never},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &shared{memoryJournal: &memoryJournal{run: "r", now: time.Now, booked: func(nexus.Event) {}, fault: func() error { return nil }, other: func() {}}}
				c.limits.RunMoney, c.limits.Losses = nexus.Dollar, 1
				j.appendForeign(nexus.GoalAccepted{Base: "c0", Limits: c.limits})
				j.appendForeign(toyworld.PlanFacts([]nexus.Task{{ID: "T1", Title: "a task"}})...)
				if c.landing {
					j.appendForeign(nexus.RunStarted{}, nexus.PlanApproved{By: "policy"}, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"},
						nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1", Tree: "t1"})
				}
				drain, requests := make(chan struct{}), make(chan nexus.Event, 1)
				time.AfterFunc(soon, func() {
					if c.drain {
						close(drain)
					}
					if c.stop != nil {
						j.ask(*c.stop)
						requests <- j.events[len(j.events)-1]
					}
				})
				start := time.Now()
				s, err := run.ConductRun(t.Context(), j, idle{}, "r", run.StartOptions{Fence: 1}, run.RunSignals{Requests: requests, Drain: drain})
				if took := time.Since(start); took < c.took || took > c.took+time.Minute && c.took == soon {
					t.Errorf("%s after %s: %v", s.Status, took, err)
				}
				for e := range j.Events(t.Context(), 0) {
					switch f := e.Fact.(type) {
					case nexus.AttemptInfrastructureFailed:
						t.Errorf("%+v", f)
					case nexus.AttemptLost:
						if f.Counted != (c.took == never) {
							t.Errorf("%+v", f)
						}
					default:
					}
				}
			})
		})
	}
}

// follow hands all requests of the journal to a process.
func follow(ctx context.Context, j *shared, requests chan<- nexus.Event) {
	for next := 0; ; {
		j.mu.Lock()
		var found *nexus.Event
		for ; next < len(j.events) && found == nil; next++ {
			if _, ok := j.events[next].Fact.(nexus.RequestMade); ok {
				found = &j.events[next]
			}
		}
		j.mu.Unlock()
		if found == nil {
			select {
			case <-time.After(10 * time.Second):
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case requests <- *found:
		case <-ctx.Done():
			return
		}
	}
}

// people ask for this and that, and do not let a run wait for ever.
func people(ctx context.Context, j *shared, dice *rand.Rand, s toyworld.RunScenario) {
	for n := 0; ; n++ {
		select {
		case <-time.After(time.Duration(dice.IntN(int(20 * time.Minute)))):
		case <-ctx.Done():
			return
		}
		r := nexus.Request{Verb: nexus.VerbResume, Task: s.Tasks[dice.IntN(len(s.Tasks))].ID}
		if n < s.Requests {
			verbs := []nexus.RequestKind{nexus.VerbPause, nexus.VerbSkip, nexus.VerbRetry, nexus.VerbTell, nexus.VerbStop}
			r.Verb, r.Now = verbs[dice.IntN(len(verbs))], dice.IntN(2) == 0
		}
		j.ask(r)
		for e := range j.Events(ctx, 0) {
			if q, ok := e.Fact.(nexus.QuestionAsked); ok && dice.IntN(2) == 0 {
				j.ask(nexus.Request{Verb: nexus.VerbAnswer, ID: q.ID, Text: "yes"})
			}
		}
	}
}
