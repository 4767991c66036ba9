// Package sim plays runs in a virtual world, many of them and fast: the real decisions and the
// real [playToEnd.RunCore], with workers, a repository and a provider that are made up from a seed, with
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

	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/audit"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// Limits of one run. A run that exceeds them does not end.
const (
	maxSteps  = 20_000
	maxEvents = 20_000
	maxTime   = 90 * 24 * time.Hour
)

// SeedRunResult is the result of one seed.
type SeedRunResult struct {
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

// runSimulator is one run in its virtual world.
type runSimulator struct {
	scenario toyworld.RunScenario
	dice     *rand.Rand // of the driver; the world has its own
	backs    *rand.Rand // decides when and to which point a person rewinds
	world    *toyworld.SimulatedWorld
	journal  *memoryJournal
	purse    auditedDailyBudget
	audit    *audit.FactAudit
	notes    []eventTapeNote

	now         time.Time
	queue       eventQueue
	count       int
	core        *run.RunCore
	life        int // of the present process; an event of another never happens
	lives       int
	interrupted bool // the present process was told to stop
	dead        bool // the process dies at the end of this step
	workers     map[run.WorkKey]*workerCoroutine
	alarm       time.Time
	delivered   time.Time // when the last request reaches a process
	deaths      int
	reopened    int
	steps       int
	before      monotonicCounters
	over        bool
	status      nexus.RunStatus // when a process last ended
	violation   string
}

// playSeed plays a seed to its end.
func playSeed(seed uint64) SeedRunResult { return newSeedSim(seed).playRun(seed) }

// newSeedSim returns the run of a seed before it is opened.
func newSeedSim(seed uint64) *runSimulator {
	dice := rand.New(rand.NewPCG(seed, 1))                                                    //nolint:gosec // a seed must give the same dice
	s := newRunSimulator(toyworld.RandomScenario(dice), dice, rand.New(rand.NewPCG(seed, 2))) //nolint:gosec // as above
	s.useDailyBudget(&simulatedDailyBudget{now: func() time.Time { return s.now }, pick: dice.IntN})
	return s
}

// playRun plays the run of a seed.
func (s *runSimulator) playRun(seed uint64) SeedRunResult {
	s.runGuarded(func() {
		s.acceptGoal()
		for !s.hasEnded() {
			s.playNextEvent()
		}
	})
	s.killWorkers()
	return s.resultOf(seed)
}

// newRunSimulator returns a run before it is opened.
func newRunSimulator(scenario toyworld.RunScenario, dice, worlds *rand.Rand) *runSimulator {
	s := &runSimulator{scenario: scenario, dice: dice, now: eventtapetest.TapeStartTime(), workers: map[run.WorkKey]*workerCoroutine{}}
	s.backs = rand.New(rand.NewPCG(uint64(len(scenario.Tasks)), uint64(scenario.Limits.Turns))) //nolint:gosec // a seed must give the same dice
	s.world = toyworld.NewWorld(s.scenario, worlds, s.drawProcessDeath, s.reportViolation)
	s.audit = audit.NewFactAudit(s.world, func(day string) nexus.Money { return s.purse.Others(day) }, s.reportViolation)
	s.journal = &memoryJournal{run: "sim", now: func() time.Time { return s.now }, booked: s.observeEvent, fault: s.injectFault, other: s.appendBetween}
	return s
}

// useDailyBudget gives the run its part of the day's money.
func (s *runSimulator) useDailyBudget(p auditedDailyBudget) { s.purse = p }

func (s *runSimulator) resultOf(seed uint64) SeedRunResult {
	books := s.world.Snapshot()
	r := SeedRunResult{
		Seed: seed, Tasks: len(s.scenario.Tasks), Landed: len(books.Landed), Steps: s.steps, Events: len(s.journal.events),
		Calls: books.Calls, Repeated: books.Repeated, Deaths: s.deaths, Lives: s.lives, Virtual: s.now.Sub(eventtapetest.TapeStartTime()), Violation: s.violation, Status: s.status,
	}
	if s.violation != "" {
		r.Tape = fmt.Sprintf("# seed %d: %s\n%s", seed, s.violation, s.formatTape())
	}
	return r
}

// acceptGoal accepts the goal and plans the actions of people on the run.
func (s *runSimulator) acceptGoal() {
	goal := nexus.GoalAccepted{
		Goal: nexus.Goal{Text: "a goal"}, Base: s.world.Snapshot().Tip, Target: "main", Land: s.scenario.Land,
		Limits: s.scenario.Limits, Routing: s.scenario.Routing, Consent: s.scenario.Consent,
	}
	s.journal.appendForeign(goal)
	if s.scenario.Given {
		s.journal.appendForeign(toyworld.PlanFacts(s.scenario.Tasks)...)
	}
	s.scheduleAt(s.now, 0, s.startProcess)
	for range s.scenario.Requests {
		s.scheduleAt(s.now.Add(s.drawDuration(2*time.Hour)), 0, s.makeRequest)
	}
	for range s.scenario.Interrupt {
		s.scheduleAt(s.now.Add(s.drawDuration(time.Hour)), 0, s.interruptProcess)
	}
}

// drawDuration draws a duration, short ones more often.
func (s *runSimulator) drawDuration(most time.Duration) time.Duration {
	return time.Duration(s.dice.Float64() * s.dice.Float64() * float64(most))
}

// startProcess lets a new process start or resume the run.
func (s *runSimulator) startProcess() {
	s.maybeRewind()
	s.life++
	s.lives++
	o := run.StartOptions{Process: nexus.RunProcess{PID: s.lives, Host: "sim"}, Fence: int64(s.lives), Reopen: s.audit.HasEnded(), DailyBudget: s.purse}
	if s.dice.IntN(3) == 0 {
		more := s.audit.CurrentLimits()
		more.RunMoney *= 2
		more.DayMoney *= 2
		more.RunTime *= 2
		o.Limits = &more
	}
	if s.scenario.Consent.Wanted {
		o.Alone, o.Patience = s.dice.IntN(4) == 0, time.Duration(s.dice.IntN(3))*time.Hour
	}
	s.addTapeNote("process %d begins, reopen %v", s.lives, o.Reopen)
	core, err := run.BeginRun(context.Background(), s.journal, "sim", o)
	if s.dead {
		return
	}
	if err != nil {
		s.handleError(err)
		return
	}
	s.core, s.alarm, s.interrupted = core, time.Time{}, false
}

// decideAndCheck lets the process decide, and checks the invariants.
func (s *runSimulator) decideAndCheck() {
	if s.core != nil && !s.dead {
		start, cancel, err := s.core.DecideUntilDone(context.Background(), s.now)
		if s.handleError(err) {
			for _, w := range start {
				s.startWorker(w)
			}
			s.stopRepeatable(context.Background())
			for _, key := range cancel {
				s.cancelWaitingWorker(context.Background(), s.workers[key])
			}
			s.checkInvariants()
			s.setAlarm()
			if s.core.IsOver() {
				s.endProcess()
			}
		}
	}
	if s.dead {
		s.killProcess()
	}
}

// setAlarm sets the alarm that the process asks for.
func (s *runSimulator) setAlarm() {
	at := s.core.NextWakeTime()
	if at.IsZero() || at.Equal(s.alarm) {
		return
	}
	s.alarm = at
	if at.Before(s.now) {
		s.reportViolation("the process asks to be woken %s ago", s.now.Sub(at))
	}
	s.scheduleAt(at, s.life, func() { s.alarm = time.Time{} })
}

// endProcess ends a process that has nothing left to wait for.
func (s *runSimulator) endProcess() {
	s.checkReplay()
	if len(s.workers) > 0 {
		s.reportViolation("the process leaves %d workers", len(s.workers))
	}
	ended, status := s.core.State.Status.HasEnded(), s.core.State.Status
	s.status = status
	if ended {
		s.checkFinishedRun()
	}
	s.addTapeNote("process %d leaves, the run is %s", s.lives, status)
	s.killWorkers()
	s.core = nil
	switch {
	case !ended:
		s.scheduleWithoutProcess(s.drawDuration(10*time.Hour), s.startProcess)
	case status != nexus.StatusDone && s.reopened < s.scenario.Reopen:
		s.reopened++
		for _, t := range s.scenario.Tasks {
			if s.dice.IntN(2) == 0 {
				s.journal.appendForeign(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbRetry, Task: t.ID}})
			}
		}
		s.scheduleWithoutProcess(s.drawDuration(10*time.Hour), s.startProcess)
	case s.willRewind():
		s.scheduleWithoutProcess(s.drawDuration(10*time.Hour), s.startProcess)
	default:
		s.over = true
	}
}

// killProcess ends a process as kill -9 does.
func (s *runSimulator) killProcess() {
	s.addTapeNote("process %d dies", s.lives)
	if s.core != nil {
		s.checkReplay()
	}
	s.world.LoseProcess()
	s.killWorkers()
	s.core, s.dead = nil, false
	s.deaths++
	s.scheduleWithoutProcess(s.drawDuration(10*time.Hour), s.startProcess)
}

// killWorkers ends all workers at once, in the middle of their work.
func (s *runSimulator) killWorkers() {
	s.life++ // the remaining events of this life never happen
	for key, k := range s.workers {
		k.gone = toyworld.ErrDead
		k.stop()
		delete(s.workers, key)
	}
}

// drawProcessDeath reports whether the process dies here. Once it does, it is dead for the rest of the
// step.
func (s *runSimulator) drawProcessDeath() bool {
	if !s.dead && s.deaths < s.scenario.Crashes && toyworld.Probability(s.dice.Float64()) < s.scenario.Crash {
		s.dead = true
	}
	return s.dead
}

// injectFault fails an append now and then.
func (s *runSimulator) injectFault() error {
	switch {
	case s.drawProcessDeath():
		return toyworld.ErrDead
	case len(s.journal.events) > maxEvents:
		s.reportViolation("the journal grows without end")
		s.dead = true
		return toyworld.ErrDead
	case s.deaths < s.scenario.Crashes && toyworld.Probability(s.dice.Float64()) < s.scenario.Storage:
		return &nexus.Error{Code: nexus.CodeStorage, Message: "the disk is tired"}
	}
	return nil
}

// handleError handles an error that ends a process, and reports whether there is none. Only a journal
// that fails is a reason to end.
func (s *runSimulator) handleError(err error) bool {
	switch {
	case s.dead:
		return false
	case err == nil:
		return true
	case errors.Is(err, &nexus.Error{Code: nexus.CodeStorage}):
		s.dead = true
	default:
		s.reportViolation("%v", err)
	}
	return false
}

// observeEvent receives each event that became durable.
func (s *runSimulator) observeEvent(e nexus.Event) {
	s.audit.RecordEvent(e)
	if q, ok := e.Fact.(nexus.QuestionAsked); ok && q.Trigger == nexus.PlanTrigger {
		s.scheduleWithoutProcess(s.drawDuration(3*time.Hour), func() { s.answerPlanQuestion(q.ID) })
	}
}

// eventTapeNote is a line between the events of a tape.
type eventTapeNote struct {
	after int // number of events before it
	text  string
}

// formatTape returns the run as a tape, with the events of its processes.
func (s *runSimulator) formatTape() string {
	var b strings.Builder
	notes := s.notes
	for i := range len(s.journal.events) + 1 {
		for len(notes) > 0 && notes[0].after <= i {
			b.WriteString(notes[0].text)
			notes = notes[1:]
		}
		if i < len(s.journal.events) {
			fmt.Fprintln(&b, eventtapetest.FormatEvent(s.journal.events[i]))
		}
	}
	return b.String()
}

// addTapeNote writes an event outside of the journal to the tape.
func (s *runSimulator) addTapeNote(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n# ")
	s.notes = append(s.notes, eventTapeNote{len(s.journal.events), fmt.Sprintf("# @%s %s\n", s.now.Sub(eventtapetest.TapeStartTime()), text)})
}

// reportViolation records a violation. The first one counts.
func (s *runSimulator) reportViolation(format string, args ...any) {
	if s.violation == "" {
		s.violation = fmt.Sprintf(format, args...)
		s.addTapeNote("VIOLATION: %s", s.violation)
	}
}
