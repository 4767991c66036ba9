// Package sim plays runs in a virtual world, many of them and fast: the real decisions and the
// real [run.Core], with workers, a repository and a provider that are made up from a seed, with
// faults of every kind.
//
//	seed --> scenario --> queue of events --> Core --> journal --> audit
//	              |             ^              |  (outlives a process)
//	              +--> world <--+-- workers <--+
//
// A process may die at any append and at any effect; another one then resumes the run from the
// data that outlived it. There is no goroutine and no clock: the order of events depends only
// on the seed, so a seed that fails fails again. The invariants are checked at every step, by
// records that are separate from the code under test.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state/statetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/audit"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toy"
)

// Limits of one run. A run that exceeds them does not end.
const (
	maxSteps  = 20_000
	maxEvents = 20_000
	maxTime   = 90 * 24 * time.Hour
)

// Result is the result of one seed.
type Result struct {
	Seed      uint64          `json:"seed"`
	Status    nexus.RunStatus `json:"status"`
	Tasks     int             `json:"tasks"`
	Landed    int             `json:"landed"`
	Steps     int             `json:"steps"`
	Events    int             `json:"events"`
	Calls     int             `json:"calls"`      // of models
	Repeated  int             `json:"repeated"`   // calls in flight when a process died
	Deaths    int             `json:"deaths"`     // of processes
	Lives     int             `json:"lives"`      // processes that started or resumed the run
	Virtual   time.Duration   `json:"virtual_ns"` // time that passed in the world
	Violation string          `json:"violation,omitzero"`
	Tape      string          `json:"tape,omitzero"` // the whole run, if there is a violation
}

// sim is one run in its virtual world.
type sim struct {
	scenario toy.Scenario
	dice     *rand.Rand // of the driver; the world has its own
	backs    *rand.Rand // decides when and to which point a person rewinds
	world    *toy.Environment
	journal  *journal
	purse    dayPurse
	audit    *audit.Audit
	notes    []note

	now         time.Time
	queue       queue
	count       int
	core        *run.Core
	life        int // of the present process; an event of another never happens
	lives       int
	interrupted bool // the present process was told to stop
	dead        bool // the process dies at the end of this step
	workers     map[run.WorkKey]*coroutine
	alarm       time.Time
	delivered   time.Time // when the last request reaches a process
	deaths      int
	reopened    int
	steps       int
	before      counters
	over        bool
	status      nexus.RunStatus // when a process last ended
	violation   string
}

// play plays a seed to its end.
func play(seed uint64) Result {
	dice := rand.New(rand.NewPCG(seed, 1))                           //nolint:gosec // a seed must give the same dice
	s := fresh(toy.Draw(dice), dice, rand.New(rand.NewPCG(seed, 2))) //nolint:gosec // as above
	s.use(&purse{now: func() time.Time { return s.now }, pick: dice.IntN})
	return s.play(seed)
}

// play plays the run of a seed.
func (s *sim) play(seed uint64) Result {
	s.guard(func() {
		s.open()
		for !s.ended() {
			s.step()
		}
	})
	s.kill()
	return s.result(seed)
}

// fresh returns a run before it is opened.
func fresh(scenario toy.Scenario, dice, worlds *rand.Rand) *sim {
	s := &sim{scenario: scenario, dice: dice, now: statetest.Start(), workers: map[run.WorkKey]*coroutine{}}
	s.backs = rand.New(rand.NewPCG(uint64(len(scenario.Tasks)), uint64(scenario.Limits.Turns))) //nolint:gosec // a seed must give the same dice
	s.world = toy.New(s.scenario, worlds, s.dies, s.wrong)
	s.audit = audit.New(s.world, func(day string) nexus.Money { return s.purse.Others(day) }, s.wrong)
	s.journal = &journal{run: "sim", now: func() time.Time { return s.now }, booked: s.booked, fault: s.fault, other: s.other}
	return s
}

// use gives the run its part of the day's money.
func (s *sim) use(p dayPurse) { s.purse = p }

func (s *sim) result(seed uint64) Result {
	books := s.world.Books()
	r := Result{
		Seed: seed, Tasks: len(s.scenario.Tasks), Landed: len(books.Landed), Steps: s.steps, Events: len(s.journal.events),
		Calls: books.Calls, Repeated: books.Repeated, Deaths: s.deaths, Lives: s.lives, Virtual: s.now.Sub(statetest.Start()), Violation: s.violation, Status: s.status,
	}
	if s.violation != "" {
		r.Tape = fmt.Sprintf("# seed %d: %s\n%s", seed, s.violation, s.tape())
	}
	return r
}

// open accepts the goal and plans the actions of people on the run.
func (s *sim) open() {
	goal := nexus.GoalAccepted{
		Goal: nexus.Goal{Text: "a goal"}, Base: s.world.Books().Tip, Target: "main", Land: s.scenario.Land,
		Limits: s.scenario.Limits, Routing: s.scenario.Routing, Consent: s.scenario.Consent,
	}
	s.journal.put(goal)
	if s.scenario.Given {
		s.journal.put(toy.Planned(s.scenario.Tasks)...)
	}
	s.at(s.now, 0, s.begin)
	for range s.scenario.Requests {
		s.at(s.now.Add(s.span(2*time.Hour)), 0, s.request)
	}
	for range s.scenario.Interrupt {
		s.at(s.now.Add(s.span(time.Hour)), 0, s.interrupt)
	}
}

// span draws a duration, short ones more often.
func (s *sim) span(most time.Duration) time.Duration {
	return time.Duration(s.dice.Float64() * s.dice.Float64() * float64(most))
}

// begin lets a new process start or resume the run.
func (s *sim) begin() {
	s.rewind()
	s.life++
	s.lives++
	o := run.StartOptions{Process: nexus.Process{PID: s.lives, Host: "sim"}, Fence: int64(s.lives), Reopen: s.audit.Ended(), DailyBudget: s.purse}
	if s.dice.IntN(3) == 0 {
		more := s.audit.Limits()
		more.RunMoney *= 2
		more.DayMoney *= 2
		more.RunTime *= 2
		o.Limits = &more
	}
	if s.scenario.Consent.Wanted {
		o.Alone, o.Patience = s.dice.IntN(4) == 0, time.Duration(s.dice.IntN(3))*time.Hour
	}
	s.note("process %d begins, reopen %v", s.lives, o.Reopen)
	core, err := run.Begin(context.Background(), s.journal, "sim", o)
	if s.dead {
		return
	}
	if err != nil {
		s.check(err)
		return
	}
	s.core, s.alarm, s.interrupted = core, time.Time{}, false
}

// after lets the process decide, and checks the invariants.
func (s *sim) after() {
	if s.core != nil && !s.dead {
		start, cancel, err := s.core.Decide(context.Background(), s.now)
		if s.check(err) {
			for _, w := range start {
				s.hire(w)
			}
			s.ease(context.Background())
			for _, key := range cancel {
				s.cancel(context.Background(), s.workers[key])
			}
			s.inspect()
			s.set()
			if s.core.IsOver() {
				s.leave()
			}
		}
	}
	if s.dead {
		s.die()
	}
}

// set sets the alarm that the process asks for.
func (s *sim) set() {
	at := s.core.Wake()
	if at.IsZero() || at.Equal(s.alarm) {
		return
	}
	s.alarm = at
	if at.Before(s.now) {
		s.wrong("the process asks to be woken %s ago", s.now.Sub(at))
	}
	s.at(at, s.life, func() { s.alarm = time.Time{} })
}

// leave ends a process that has nothing left to wait for.
func (s *sim) leave() {
	s.same()
	if len(s.workers) > 0 {
		s.wrong("the process leaves %d workers", len(s.workers))
	}
	ended, status := s.core.State.Status.Ended(), s.core.State.Status
	s.status = status
	if ended {
		s.finish()
	}
	s.note("process %d leaves, the run is %s", s.lives, status)
	s.kill()
	s.core = nil
	switch {
	case !ended:
		s.in0(s.span(10*time.Hour), s.begin)
	case status != nexus.StatusDone && s.reopened < s.scenario.Reopen:
		s.reopened++
		for _, t := range s.scenario.Tasks {
			if s.dice.IntN(2) == 0 {
				s.journal.put(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbRetry, Task: t.ID}})
			}
		}
		s.in0(s.span(10*time.Hour), s.begin)
	case s.rewinds():
		s.in0(s.span(10*time.Hour), s.begin)
	default:
		s.over = true
	}
}

// die ends a process as kill -9 does.
func (s *sim) die() {
	s.note("process %d dies", s.lives)
	if s.core != nil {
		s.same()
	}
	s.world.Die()
	s.kill()
	s.core, s.dead = nil, false
	s.deaths++
	s.in0(s.span(10*time.Hour), s.begin)
}

// kill ends all workers at once, in the middle of their work.
func (s *sim) kill() {
	s.life++ // the remaining events of this life never happen
	for key, k := range s.workers {
		k.gone = toy.ErrDead
		k.stop()
		delete(s.workers, key)
	}
}

// dies reports whether the process dies here. Once it does, it is dead for the rest of the
// step.
func (s *sim) dies() bool {
	if !s.dead && s.deaths < s.scenario.Crashes && toy.Chance(s.dice.Float64()) < s.scenario.Crash {
		s.dead = true
	}
	return s.dead
}

// fault fails an append now and then.
func (s *sim) fault() error {
	switch {
	case s.dies():
		return toy.ErrDead
	case len(s.journal.events) > maxEvents:
		s.wrong("the journal grows without end")
		s.dead = true
		return toy.ErrDead
	case s.deaths < s.scenario.Crashes && toy.Chance(s.dice.Float64()) < s.scenario.Storage:
		return &nexus.Error{Code: nexus.CodeStorage, Message: "the disk is tired"}
	}
	return nil
}

// check handles an error that ends a process, and reports whether there is none. Only a journal
// that fails is a reason to end.
func (s *sim) check(err error) bool {
	switch {
	case s.dead:
		return false
	case err == nil:
		return true
	case errors.Is(err, &nexus.Error{Code: nexus.CodeStorage}):
		s.dead = true
	default:
		s.wrong("%v", err)
	}
	return false
}

// booked receives each event that became durable.
func (s *sim) booked(e nexus.Event) {
	s.audit.Event(e)
	if q, ok := e.Fact.(nexus.QuestionAsked); ok && q.Trigger == nexus.PlanTrigger {
		s.in0(s.span(3*time.Hour), func() { s.consent(q.ID) })
	}
}

// note is a line between the events of a tape.
type note struct {
	after int // number of events before it
	text  string
}

// tape returns the run as a tape, with the events of its processes.
func (s *sim) tape() string {
	var b strings.Builder
	notes := s.notes
	for i := range len(s.journal.events) + 1 {
		for len(notes) > 0 && notes[0].after <= i {
			b.WriteString(notes[0].text)
			notes = notes[1:]
		}
		if i < len(s.journal.events) {
			fmt.Fprintln(&b, statetest.FormatEvent(s.journal.events[i]))
		}
	}
	return b.String()
}

// note writes an event outside of the journal to the tape.
func (s *sim) note(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n# ")
	s.notes = append(s.notes, note{len(s.journal.events), fmt.Sprintf("# @%s %s\n", s.now.Sub(statetest.Start()), text)})
}

// wrong records a violation. The first one counts.
func (s *sim) wrong(format string, args ...any) {
	if s.violation == "" {
		s.violation = fmt.Sprintf(format, args...)
		s.note("VIOLATION: %s", s.violation)
	}
}
