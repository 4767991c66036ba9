package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Opening says who takes a run up, and how.
type Opening struct {
	Process nexus.Process
	Fence   int64
	Spent   nexus.Money   // by other runs on this day
	Limits  *nexus.Limits // new caps, nil to keep the run's
	Reopen  bool          // take a run on that has ended
}

// Key names a piece of work: an attempt's ID, or "result".
type Key string

const resultKey Key = "result"

// Work is an intent that was recorded and is to be acted on.
type Work struct {
	Key    Key
	Intent nexus.Fact
	View   state.View
}

// Core is the deciding half of [Conduct]. One goroutine owns it.
type Core struct {
	State   *state.State
	journal Journal
	working map[Key]bool
	cancel  []Key    // work that is to be cancelled
	held    []waiter // who waits for leave or for an answer, oldest first
	drained bool     // an interrupt came: start nothing, let go at the next turn
}

// waiter is a worker that waits for an answer.
type waiter struct {
	reserve  nexus.BudgetReserved
	question string      // ID, when it waits for a person
	gone     func() bool // the worker does not wait any more
	answer   func(Answer)
}

// Answer is what a waiting worker is told.
type Answer struct {
	Guidance []state.Guidance
	Text     string
	Err      error
}

// Begin replays a run and takes it up: what a dead process left running is
// written off, and what it left unpaid is counted at its worst.
func Begin(ctx context.Context, j Journal, run nexus.RunID, o Opening) (*Core, error) {
	s, err := state.Replay(run, j.Events(ctx, 0))
	if err != nil {
		return nil, fmt.Errorf("replay run %s: %w", run, err)
	}
	c := &Core{State: s, journal: j, working: map[Key]bool{}}
	switch {
	case s.Status == "":
		return nil, &nexus.Error{Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no run %s", run), Hint: "nexus runs lists them."}
	case s.Status.Ended() && !o.Reopen:
		return c, nil
	case s.Status.Ended():
		if err := c.record(ctx, nexus.RunReopened{Why: "taken up again"}); err != nil {
			return nil, err
		}
	}
	if s.Status == nexus.StatusIdle {
		return c, c.record(ctx, nexus.RunStarted{Process: o.Process, Fence: o.Fence, Spent: o.Spent})
	}
	return c, c.recover(ctx, o)
}

// recover writes off what the last process left behind.
func (c *Core) recover(ctx context.Context, o Opening) error {
	s := c.State
	facts := []nexus.Fact{nexus.RunRecovered{Process: o.Process, Fence: o.Fence, Spent: o.Spent, Limits: o.Limits}}
	for _, a := range s.Active() {
		facts = append(facts, nexus.AttemptLost{Attempt: a.ID, Why: "its process died", Counted: true})
	}
	if p := s.Planning; p != nil && p.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: p.ID, Why: "its process died", Counted: true})
	}
	if b := s.Aboard; b != nil && b.Merge.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: b.Merge.ID, Why: "its process died", Counted: true})
	}
	for _, id := range s.Ledger.Unsettled() {
		r, _ := s.Ledger.Open(id)
		facts = append(facts, nexus.BudgetSpent{ID: id, Money: r.Money, Estimated: true})
	}
	for _, r := range s.Requests {
		if r.Verb == nexus.VerbPause || r.Verb == nexus.VerbStop || r.Verb == nexus.VerbResume {
			facts = append(facts, nexus.RequestSettled{Seq: r.Seq, Why: "the run was taken up again since"})
		}
	}
	for _, q := range s.Questions {
		if q.By == "" {
			facts = append(facts, nexus.QuestionAnswered{ID: q.ID, Text: q.Fallback, By: "fallback"})
		}
	}
	return c.record(ctx, append(facts, nexus.RunResumed{})...)
}

// Pass decides until nothing more follows, records each decision, and returns
// the work to start and the work to cancel.
func (c *Core) Pass(ctx context.Context, now time.Time) (start []Work, cancel []Key, err error) {
	for !c.drained {
		facts := schedule.Next(c.State, now)
		if len(facts) == 0 {
			break
		}
		if err := c.record(ctx, facts...); err != nil {
			return nil, nil, err
		}
		for _, f := range facts {
			start = c.intend(start, f)
		}
	}
	if !c.drained {
		start = c.outstanding(start)
	}
	if err := c.release(ctx); err != nil {
		return nil, nil, err
	}
	cancel, c.cancel = c.cancel, nil
	return start, cancel, nil
}

// Wake returns when to pass again though nothing happened.
func (c *Core) Wake() time.Time { return schedule.Wake(c.State) }

// Idle reports whether nothing works.
func (c *Core) Idle() bool { return len(c.working) == 0 }

// Over reports whether there is nothing left to wait for.
func (c *Core) Over() bool {
	return c.Idle() && (c.drained || c.State.Status.Ended())
}

// Interrupt lets the workers go at their next turn and starts no others.
func (c *Core) Interrupt() { c.drained = true }

// intend turns a recorded decision into work.
func (c *Core) intend(start []Work, f nexus.Fact) []Work {
	add := func(key Key, task nexus.TaskID) []Work {
		c.working[key] = true
		return append(start, Work{key, f, c.State.View(task)})
	}
	switch f := f.(type) {
	case nexus.PlanSought:
		return add(Key(f.Attempt), "")
	case nexus.AttemptStarted:
		return add(Key(f.Attempt), f.Task)
	case nexus.TrainDeparted:
		return add(Key(state.MergeID(f.Attempt)), f.Task)
	case nexus.AttemptResumed:
		task := c.State.Attempt(f.Attempt).Task
		if b := c.State.Aboard; b != nil && b.Merge.ID == f.Attempt {
			task = b.Task
		}
		return add(Key(f.Attempt), task)
	case nexus.TaskSkipped:
		if a := c.State.Task(f.Task).Current(); a != nil && c.working[Key(a.ID)] {
			c.cancel = append(c.cancel, Key(a.ID))
		}
	case nexus.RequestSettled, nexus.RunDrained:
		// The workers hear of a stop when they next ask for leave.
	default:
	}
	return start
}

// outstanding starts the delivery of the result, which has no attempt of its
// own that could be resumed.
func (c *Core) outstanding(start []Work) []Work {
	s := c.State
	var f nexus.Fact
	switch {
	case c.working[resultKey]:
		return start
	case s.Status == nexus.StatusReviewing && s.Result == nil:
		f = nexus.ResultReviewed{}
	case s.Status == nexus.StatusLanding && s.Published == nil:
		f = nexus.ResultOffered{Commit: s.Tip}
	default:
		return start
	}
	c.working[resultKey] = true
	return append(start, Work{resultKey, f, s.View("")})
}

// Record appends a worker's facts.
func (c *Core) Record(ctx context.Context, facts ...nexus.Fact) error {
	for _, f := range facts {
		if err := c.State.Admits(f); err != nil {
			return fmt.Errorf("record %s: %w", nexus.Kind(f), err)
		}
	}
	return c.record(ctx, facts...)
}

// Reserve queues a worker that wants to call a model. The answer comes during
// this call or a later one, and never once gone reports that nobody waits.
func (c *Core) Reserve(ctx context.Context, r nexus.BudgetReserved, gone func() bool, answer func(Answer)) error {
	c.held = append(c.held, waiter{reserve: r, gone: gone, answer: answer})
	return c.release(ctx)
}

// Ask records a question and queues the worker until it is answered.
func (c *Core) Ask(ctx context.Context, q nexus.QuestionAsked, gone func() bool, answer func(Answer)) error {
	if err := c.record(ctx, q); err != nil {
		return err
	}
	c.held = append(c.held, waiter{question: q.ID, gone: gone, answer: answer})
	return c.release(ctx)
}

// Request folds a request that some process appended. One that was seen
// before changes nothing.
func (c *Core) Request(e nexus.Event) error {
	if r, ok := e.Fact.(nexus.RequestMade); ok && e.Run == c.State.Run && !c.seen(e.Seq) {
		if r.Request.Verb == nexus.VerbStop && r.Request.Now {
			for key := range c.working {
				c.cancel = append(c.cancel, key)
			}
		}
		return c.State.Apply(e)
	}
	return nil
}

func (c *Core) seen(seq int64) bool { return seq <= c.State.Requested }

// Return takes a worker back, with the facts that confirm its work or the
// error that ended it.
func (c *Core) Return(ctx context.Context, w Work, facts []nexus.Fact, err error) error {
	delete(c.working, w.Key)
	if err == nil {
		return c.Record(ctx, facts...)
	}
	if fatal(err) {
		return err
	}
	return c.record(ctx, append(facts, c.verdict(w, err)...)...)
}

// fatal reports whether an error must stop the run, because what is recorded
// from now on might be lost.
func fatal(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok {
		return false
	}
	switch e.Code {
	case nexus.CodeStorage, nexus.CodeDiskFull, nexus.CodeReadOnly, nexus.CodeLeaseLost, nexus.CodeJournalCorrupt:
		return true
	default:
		return false
	}
}

// verdict says what an error of a worker means for its work.
func (c *Core) verdict(w Work, err error) []nexus.Fact {
	var facts []nexus.Fact
	clean := Stops(err)
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		clean = clean || e.Code == nexus.CodeBudget || hopeless(e.Code)
		if hopeless(e.Code) && c.State.Drain == nil {
			facts = append(facts, nexus.RunDrained{To: nexus.StatusFailed, Why: e.Error()})
		}
	}
	why := err.Error()
	lost := nexus.AttemptLost{Attempt: nexus.AttemptID(w.Key), Why: why}
	switch f := w.Intent.(type) {
	case nexus.ResultReviewed:
		return append(facts, nexus.ResultGated{Verdict: nexus.Verdict{Why: why}})
	case nexus.ResultOffered:
		return append(facts, nexus.ResultPublished{Why: why})
	case nexus.PlanSought:
		if clean {
			return append(facts, lost)
		}
		return append(facts, nexus.PlanFailed{Why: why})
	case nexus.TrainDeparted, nexus.AttemptResumed:
		if b := c.State.Aboard; b != nil && Key(b.Merge.ID) == w.Key {
			if clean {
				return append(facts, lost)
			}
			return append(facts, nexus.TrainRefused{Task: b.Task, Attempt: b.Attempt, Onto: b.Onto, Why: why, Broken: true})
		}
	case nexus.AttemptStarted:
		if c.State.Task(f.Task).Status == nexus.Skipped {
			return append(facts, nexus.AttemptEnded{Attempt: f.Attempt, Outcome: nexus.Stopped, Why: why})
		}
	default:
	}
	if clean {
		return append(facts, lost)
	}
	return append(facts, nexus.AttemptBroken{Attempt: nexus.AttemptID(w.Key), Why: why})
}

// hopeless reports whether no other attempt can do better before a person
// has mended something.
func hopeless(code nexus.Code) bool {
	switch code {
	case nexus.CodeAuth, nexus.CodeNoKey, nexus.CodeModelUnknown, nexus.CodeNoProvider, nexus.CodeSandbox:
		return true
	default:
		return false
	}
}

// release answers every waiter that can be answered now.
func (c *Core) release(ctx context.Context) error {
	waiting := c.held
	c.held = nil
	for _, w := range waiting {
		if w.gone() {
			continue
		}
		a, done, err := c.answer(ctx, w)
		if err != nil {
			return err
		}
		if !done {
			c.held = append(c.held, w)
			continue
		}
		w.answer(a)
	}
	return nil
}

func (c *Core) answer(ctx context.Context, w waiter) (a Answer, done bool, err error) {
	if c.drained {
		return Answer{Err: ErrInterrupted}, true, nil
	}
	if w.question != "" {
		for _, q := range c.State.Questions {
			if q.ID == w.question && q.By != "" {
				return Answer{Text: q.Answer}, true, nil
			}
		}
		return a, false, nil
	}
	leave := schedule.MaySpend(c.State, w.reserve)
	switch {
	case leave.Stop != "":
		return Answer{Err: stopped{leave.Stop}}, true, nil
	case leave.Refused != nil:
		refusal := &nexus.Error{Code: nexus.CodeBudget, Message: schedule.OverCap(*leave.Refused), Hint: "Raise the budget and run nexus resume."}
		return Answer{Err: refusal}, true, c.record(ctx, *leave.Refused)
	case !leave.Granted:
		return a, false, nil
	}
	if err := c.record(ctx, w.reserve); err != nil {
		return a, false, err
	}
	for _, g := range c.State.Guidance {
		if g.Task == w.reserve.Task && (w.reserve.Role == nexus.Coder || w.reserve.Role == nexus.Tester) {
			a.Guidance = append(a.Guidance, g)
		}
	}
	return a, true, nil
}

// record appends facts and folds them.
func (c *Core) record(ctx context.Context, facts ...nexus.Fact) error {
	if len(facts) == 0 {
		return nil
	}
	events, err := c.journal.Append(ctx, facts...)
	if err != nil {
		return fmt.Errorf("record %s: %w", nexus.Kind(facts[0]), err)
	}
	for _, e := range events {
		if err := c.State.Apply(e); err != nil {
			return err
		}
	}
	return nil
}
