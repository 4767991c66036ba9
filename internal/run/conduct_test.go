package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// acting is a world in which one function does all work, on the clock of its
// bubble.
type acting func(ctx context.Context, task nexus.TaskID, d worker.AttemptFactRecorder) ([]nexus.Fact, error)

func (acting) Now() time.Time                        { return time.Now() }
func (acting) TimerAt(at time.Time) <-chan time.Time { return time.After(time.Until(at)) }
func (a acting) ExecuteIntent(ctx context.Context, _ nexus.Fact, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	return a(ctx, v.Task.ID, d)
}

// request appends what somebody asks, and hands it on as the journal's
// follower does.
func (m *memory) request(t *testing.T, to chan<- nexus.Event, r nexus.Request) {
	t.Helper()
	events, err := m.Append(t.Context(), nexus.RequestMade{Request: r})
	if err != nil {
		t.Fatal(err)
	}
	to <- events[0]
}

// ends says how attempts of a task ended, as far as is known.
func (m *memory) ends(task nexus.TaskID) string {
	var all []string
	for _, e := range m.events {
		switch f := e.Fact.(type) {
		case nexus.AttemptLost:
			if strings.HasPrefix(string(f.Attempt), string(task)+".") {
				all = append(all, "lost: "+f.Why)
			}
		case nexus.AttemptInfrastructureFailed:
			if strings.HasPrefix(string(f.Attempt), string(task)+".") {
				all = append(all, "broken: "+f.Why)
			}
		default:
		}
	}
	return strings.Join(all, "; ")
}

// opening is the first session of a task's first attempt.
func opening(task nexus.TaskID) nexus.SessionStarted {
	a := nexus.AttemptID(task + ".1")
	return nexus.SessionStarted{Session: nexus.SessionID(a + "/coder.1"), Attempt: a, Role: nexus.Coder, Model: "m"}
}

// TestConductEnds takes a run to its end when all that is tried fails, and
// tells the purse in the end what was spent.
func TestConductEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := planned(t, 2), &purse{}
		m.now = time.Now
		requests := make(chan nexus.Event)
		close(requests) // a follower that ended is no request
		var tried atomic.Int32
		s, err := ConductRun(t.Context(), m, acting(func(context.Context, nexus.TaskID, worker.AttemptFactRecorder) ([]nexus.Fact, error) {
			tried.Add(1)
			return nil, errors.New("the machine is broken")
		}), "r", StartOptions{Fence: 1, DailyBudget: p}, RunSignals{Requests: requests})
		if err != nil || s == nil || !s.Status.HasEnded() {
			t.Fatalf("%v", err)
		}
		if tried.Load() < 2 || !strings.HasPrefix(m.ends("T1"), "broken: the machine is broken") {
			t.Errorf("%d tried: %s", tried.Load(), m.ends("T1"))
		}
		if len(p.claims) != 1 || p.claims[0] != "0 of 0" {
			t.Errorf("the purse heard %v", p.claims)
		}
		again, err := ConductRun(t.Context(), m, acting(nil), "r", StartOptions{Fence: 2}, RunSignals{})
		if err != nil || again.Seq != s.Seq {
			t.Errorf("a run that is over was taken on: %v", err)
		}
	})
}

func TestConductOfNoRun(t *testing.T) {
	s, err := ConductRun(t.Context(), &memory{}, nil, "r", StartOptions{}, RunSignals{})
	if s != nil || !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		t.Errorf("%v, %v", s, err)
	}
}

// TestConductLetsGo ends runs from outside at a moment at which one worker
// waits for a person, one does what can be done again, and one works on.
func TestConductLetsGo(t *testing.T) {
	killed := fmt.Errorf("%w: the switch", ErrInterrupted)
	full := &nexus.Error{Code: nexus.CodeDiskFull, Message: "full"}
	const soon = 10 * time.Minute
	for name, c := range map[string]struct {
		how  func(m *memory, drain chan struct{}, kill context.CancelCauseFunc)
		err  error // that Conduct returns
		told error // that those hear who wait
		took time.Duration
		ends string // of each attempt
	}{
		"interrupted": {
			func(_ *memory, drain chan struct{}, _ context.CancelCauseFunc) { close(drain) }, ErrInterrupted, ErrInterrupted, 30 * time.Minute,
			"lost: interrupted; the run can be resumed",
		},
		"killed": {
			func(_ *memory, _ chan struct{}, kill context.CancelCauseFunc) { kill(killed) }, killed, killed, soon,
			"lost: interrupted; the run can be resumed: the switch",
		},
		"the disk is full": {
			func(m *memory, _ chan struct{}, _ context.CancelCauseFunc) {
				m.mu.Lock()
				m.broken = full
				m.mu.Unlock()
			}, full, context.Canceled, 30 * time.Minute, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, p, told := planned(t, 3), &purse{}, map[nexus.TaskID]error{}
				m.now = time.Now
				ctx, kill := context.WithCancelCause(t.Context())
				defer kill(nil)
				drain := make(chan struct{})
				time.AfterFunc(soon, func() { c.how(m, drain, kill) })
				start := time.Now()
				s, err := ConductRun(ctx, m, acting(func(ctx context.Context, task nexus.TaskID, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
					if err := d.Record(ctx, opening(task)); err != nil {
						return nil, err
					}
					var err error
					switch task {
					case "T1":
						_, err = d.Ask(ctx, nexus.QuestionAsked{ID: "m", Attempt: "T1.1", Text: "which", Fallback: "this"})
					case "T2":
						spare, done := d.Spare(ctx, false)
						<-spare.Done()
						err = context.Cause(spare)
						done()
					default:
						select {
						case <-ctx.Done():
							err = context.Cause(ctx)
						case <-time.After(30 * time.Minute): // its next turn
							if err = d.Record(ctx, nexus.ToolCallEnded{Session: "T3.1/coder.1", Call: "c"}); err == nil {
								_, err = d.Reserve(ctx, nexus.BudgetReserved{ID: "R1", Task: task, Session: "T3.1/coder.1", Money: 1})
							}
						}
					}
					m.mu.Lock()
					told[task] = err
					m.mu.Unlock()
					return nil, err
				}), "r", StartOptions{Fence: 1, DailyBudget: p}, RunSignals{Drain: drain})
				if !errors.Is(err, c.err) || s == nil || s.Status.HasEnded() {
					t.Errorf("%v, %v", s.Status, err)
				}
				if took := time.Since(start); name != "the disk is full" && took != c.took {
					t.Errorf("it took %s", took)
				}
				for _, task := range []nexus.TaskID{"T1", "T2", "T3"} {
					if err := told[task]; !errors.Is(err, c.told) && !errors.Is(err, c.err) {
						t.Errorf("%s heard %v", task, err)
					}
					if got := m.ends(task); got != c.ends {
						t.Errorf("%s is %q", task, got)
					}
				}
				if len(p.claims) == 0 {
					t.Error("the purse heard nothing")
				}
			})
		})
	}
}

// TestConductCancelsWhatIsSkipped cancels the worker of the task that somebody
// skips, and all of them at once where somebody stops the run at once.
func TestConductCancelsWhatIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, told := planned(t, 2), map[nexus.TaskID]time.Duration{}
		m.now = time.Now
		requests := make(chan nexus.Event)
		start := time.Now()
		time.AfterFunc(time.Minute, func() { m.request(t, requests, nexus.Request{Verb: nexus.VerbSkip, Task: "T1"}) })
		time.AfterFunc(2*time.Minute, func() { m.request(t, requests, nexus.Request{Verb: nexus.VerbTell, Task: "T2", Text: "x", Now: true}) })
		time.AfterFunc(3*time.Minute, func() { m.request(t, requests, nexus.Request{Verb: nexus.VerbStop}) })
		time.AfterFunc(4*time.Minute, func() { m.request(t, requests, nexus.Request{Verb: nexus.VerbStop, Now: true}) })
		s, err := ConductRun(t.Context(), m, acting(func(ctx context.Context, task nexus.TaskID, _ worker.AttemptFactRecorder) ([]nexus.Fact, error) {
			<-ctx.Done()
			m.mu.Lock()
			told[task] = time.Since(start)
			m.mu.Unlock()
			return nil, ctx.Err()
		}), "r", StartOptions{Fence: 1}, RunSignals{Requests: requests})
		if err != nil || s.Status != nexus.StatusStopped {
			t.Errorf("%s, %v", s.Status, err)
		}
		if told["T1"] != time.Minute || told["T2"] != 4*time.Minute || m.ends("T2") != "lost: stopped: somebody asked" {
			t.Errorf("cancelled after %v: %s", told, m.ends("T2"))
		}
	})
}

// TestAWorkerThatCancelsItself is a failure like any other, unless it was to go:
// then whatever it was in the middle of was cancelled.
func TestAWorkerThatCancelsItself(t *testing.T) {
	for name, want := range map[string]string{"by itself": "broken: context canceled", "in a gate": "lost: interrupted; the run can be resumed"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, drain := planned(t, 1), make(chan struct{})
				m.now = time.Now
				time.AfterFunc(time.Minute, func() { close(drain) })
				_, err := ConductRun(t.Context(), m, acting(func(ctx context.Context, _ nexus.TaskID, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
					if name == "in a gate" {
						spare, done := d.Spare(ctx, true)
						defer done()
						<-spare.Done()
						return nil, spare.Err()
					}
					time.Sleep(40 * time.Second)
					return nil, context.Canceled
				}), "r", StartOptions{Fence: 1}, RunSignals{Drain: drain})
				if !errors.Is(err, ErrInterrupted) || !strings.HasPrefix(m.ends("T1"), want) {
					t.Errorf("%v: %s", err, m.ends("T1"))
				}
			})
		})
	}
}

// TestSpareOfPaidWork: a limit that is reached ends what can be done again, and
// leaves alone what paid work hangs on. What is over ends nothing.
func TestSpareOfPaidWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, took := planned(t, 2), map[nexus.TaskID]time.Duration{}
		var mu sync.Mutex // guards took
		m.now = time.Now
		goal := m.events[0].Fact.(nexus.GoalAccepted)
		goal.Limits.RunTime = 10 * time.Minute
		m.events[0].Fact = goal
		for i := range m.events {
			m.events[i].At = time.Now()
		}
		start := time.Now()
		s, err := ConductRun(t.Context(), m, acting(func(ctx context.Context, task nexus.TaskID, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
			over, done := d.Spare(ctx, false)
			done()
			if !errors.Is(context.Cause(over), context.Canceled) {
				t.Errorf("what is over ended with %v", context.Cause(over))
			}
			spare, done := d.Spare(ctx, task == "T2")
			defer done()
			select {
			case <-spare.Done():
			case <-time.After(30 * time.Minute):
			}
			mu.Lock()
			took[task] = time.Since(start)
			mu.Unlock()
			return nil, context.Cause(spare)
		}), "r", StartOptions{Fence: 1}, RunSignals{})
		if err != nil || s.Status != nexus.StatusLimit || took["T1"] != 10*time.Minute || took["T2"] != 30*time.Minute {
			t.Errorf("%s after %v: %v", s.Status, took, err)
		}
	})
}

// TestDeskAnswers lets a worker use all of its desk.
func TestDeskAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, requests := planned(t, 1), make(chan nexus.Event)
		m.now = time.Now
		time.AfterFunc(time.Minute, func() { m.request(t, requests, nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "use tabs"}) })
		time.AfterFunc(3*time.Minute, func() {
			m.request(t, requests, nexus.Request{Verb: nexus.VerbAnswer, ID: "q1", Text: "the second", By: "ann"})
		})
		var said []string
		say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		stop := errors.New("that is all")
		_, _ = ConductRun(t.Context(), m, acting(func(ctx context.Context, task nexus.TaskID, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
			if len(said) > 0 {
				return nil, stop
			}
			session := opening(task)
			say("recorded %v", d.Record(ctx, session))
			say("recorded %v", d.Record(ctx, nexus.RoundStarted{Attempt: session.Attempt, Round: 1, Role: nexus.Coder}, nexus.GateJudged{Attempt: session.Attempt, Evidence: nexus.GateEvidence{Gate: "test", Tree: "t1", State: nexus.Pass}}))
			say("nonsense is refused %v", d.Record(ctx, nexus.AttemptEnded{Attempt: "T9.1"}) != nil)
			e, ok := d.Known(ctx, "t1", "test")
			say("known %s %v", e.State, ok)
			e, ok = d.Known(ctx, "t2", "test")
			say("known %q %v", e.State, ok)
			time.Sleep(2 * time.Minute)
			r := nexus.BudgetReserved{ID: "R1", Task: task, Session: session.Session, Role: nexus.Coder, Money: 1}
			guidance, err := d.Reserve(ctx, r)
			say("reserved with %d, %v", len(guidance), err)
			r.ID, r.Money = "R2", 1000
			_, err = d.Reserve(ctx, r)
			say("refused %v", errors.Is(err, &nexus.Error{Code: nexus.CodeBudget}))
			text, err := d.Ask(ctx, nexus.QuestionAsked{ID: "m", Attempt: session.Attempt, Text: "which", Fallback: "this"})
			say("answered %s, %v", text, err)
			gone, leave := context.WithCancelCause(ctx)
			leave(stop)
			say("left %v", errors.Is(d.Record(gone, nexus.ToolCallEnded{Session: session.Session, Call: "c"}), stop))
			_, ok = d.Known(gone, "t1", "test")
			say("known %v", ok)
			gone, leave = context.WithCancelCause(ctx)
			time.AfterFunc(time.Minute, func() { leave(stop) })
			text, err = d.Ask(gone, nexus.QuestionAsked{ID: "n", Attempt: session.Attempt, Text: "when", Fallback: "now"})
			say("nobody answered %q, %v", text, err)
			return nil, stop
		}), "r", StartOptions{Fence: 1}, RunSignals{Requests: requests})
		want := []string{
			"recorded <nil>", "recorded <nil>", "nonsense is refused true", "known pass true", `known "" false`, "reserved with 1, <nil>", "refused true",
			"answered the second, <nil>", "left true", "known false", `nobody answered "", that is all`,
		}
		if !slices.Equal(said, want) {
			t.Errorf("%q", said)
		}
	})
}

// purse is the day's money in memory.
type purse struct {
	claims []string
	shared nexus.OtherRunsSpendingRecorded
	refuse bool
	broken error
}

func (p *purse) Claim(_ context.Context, own, limit nexus.Money) (nexus.OtherRunsSpendingRecorded, bool, error) {
	p.claims = append(p.claims, fmt.Sprintf("%d of %d", own, limit))
	return p.shared, !p.refuse, p.broken
}

// TestTheDaysMoneyIsShared asks the purse for leave where a day has a cap, and
// hears from it what others spent: also when this run knows of a refusal only
// by what they spent on another day.
func TestTheDaysMoneyIsShared(t *testing.T) {
	full := errors.New("no purse")
	for name, c := range map[string]struct {
		day    nexus.Money // its cap
		known  nexus.OtherRunsSpendingRecorded
		purse  purse
		asked  nexus.Money
		claims []string
		told   string // the answer: none, leave, or why not
		facts  []string
		err    error
	}{
		"within it":            {day: 100, asked: 10, claims: []string{"15 of 105"}, told: "leave", facts: []string{"budget.reserved"}},
		"no cap":               {asked: 10, told: "leave", facts: []string{"budget.reserved"}},
		"others are new":       {day: 100, asked: 10, purse: purse{shared: nexus.OtherRunsSpendingRecorded{Day: "d", Others: 20}}, claims: []string{"15 of 105"}, told: "leave", facts: []string{"budget.shared", "budget.reserved"}},
		"others took the rest": {day: 100, asked: 10, purse: purse{shared: nexus.OtherRunsSpendingRecorded{Day: "d", Others: 95}, refuse: true}, claims: []string{"15 of 105", "0 of 0"}, told: "over", facts: []string{"budget.shared", "budget.refused"}},
		"others may give back": {day: 100, asked: 10, purse: purse{refuse: true}, claims: slices.Repeat([]string{"15 of 105"}, 20)},
		"a new day":            {day: 100, asked: 10, known: nexus.OtherRunsSpendingRecorded{Day: "c", Others: 95}, purse: purse{shared: nexus.OtherRunsSpendingRecorded{Day: "d", Others: 5}}, claims: []string{"0 of 0", "15 of 105"}, told: "leave", facts: []string{"budget.shared", "budget.reserved"}},
		"the same day":         {day: 100, asked: 10, known: nexus.OtherRunsSpendingRecorded{Day: "d", Others: 95}, purse: purse{shared: nexus.OtherRunsSpendingRecorded{Day: "d", Others: 95}}, claims: []string{"0 of 0"}, told: "over", facts: []string{"budget.refused"}},
		"another cap":          {day: 100, asked: 99, known: nexus.OtherRunsSpendingRecorded{Day: "d", Others: 0}, told: "over", facts: []string{"budget.refused"}},
		"no purse":             {day: 100, asked: 10, purse: purse{broken: full}, claims: []string{"15 of 105"}, err: full},
	} {
		t.Run(name, func(t *testing.T) {
			m, p := planned(t, 1), c.purse
			goal := m.events[0].Fact.(nexus.GoalAccepted)
			goal.Limits.DayMoney, goal.Limits.TaskMoney = c.day, 50
			m.events[0].Fact = goal
			core, err := BeginRun(t.Context(), m, "r", StartOptions{Fence: 1, DailyBudget: &p})
			if err != nil {
				t.Fatal(err)
			}
			if c.known.Day != "" {
				if err := core.Record(t.Context(), c.known); err != nil {
					t.Fatal(err)
				}
			}
			m.appends = nil
			told := ""
			r := nexus.BudgetReserved{ID: "R1", Task: "T1", Role: nexus.Coder, Money: c.asked}
			err = core.Reserve(t.Context(), r, nil, func() bool { return false }, func(a WaitingWorkerReply) {
				if told = "leave"; errors.Is(a.Err, &nexus.Error{Code: nexus.CodeBudget}) {
					told = "over"
				}
			})
			if !errors.Is(err, c.err) || err != nil && c.err == nil || told != c.told || !slices.Equal(m.appends, c.facts) {
				t.Errorf("%q, %v; recorded %q", told, err, m.appends)
			}
			if got := p.claims; name != "others took the rest" && name != "the same day" && !slices.Equal(got, c.claims) || len(c.claims) > 0 && (len(got) == 0 || got[0] != c.claims[0]) {
				t.Errorf("claimed %q", got)
			}
		})
	}
}
