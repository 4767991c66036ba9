package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// StartOptions describes the process that starts or resumes a run, and the conditions.
type StartOptions struct {
	Process     nexus.RunProcess
	Fence       int64
	Spent       nexus.Money   // by other runs on this day
	Limits      *nexus.Limits // new caps, nil to keep the run's
	Reopen      bool          // resume a run that has ended
	Deliver     bool          // the same, only to publish and land the landed work, if a person asked for that
	Stop        string        // why the run stops as soon as it is resumed; empty: it continues
	DailyBudget DailyBudget   // nil when no other run shares the day's money
	Sandbox     string        // the sandbox of the work
	Hooks       bool          // hooks are asked before the work starts

	Alone    bool          // no person is available to answer the run's own questions
	Patience time.Duration // how long its questions wait; 0: for ever
}

// WorkKey identifies a piece of work: an attempt's ID, "start" or "result".
type WorkKey string

const (
	resultKey WorkKey = "result"
	startKey  WorkKey = "start"
)

// RecordedIntent is a recorded intent that must be executed.
type RecordedIntent struct {
	Key    WorkKey
	Intent nexus.Fact
	View   state.WorkerView
}

// RunCore is the deciding half of [ConductRun]. One goroutine owns it.
type RunCore struct {
	State   *state.State
	journal Journal
	purse   DailyBudget
	working map[WorkKey]bool
	cancel  []WorkKey       // work to cancel
	held    []waitingWorker // workers that wait for permission or for an answer, oldest first
	drained bool            // an interrupt came: start nothing, stop at the next turn
	read    int64           // the last event up to which the journal contains no unread request
}

// BeginRun replays a run and resumes it: it writes off the work that a dead process was doing, and
// counts its unpaid calls at their worst case.
func BeginRun(ctx context.Context, j Journal, run nexus.RunID, o StartOptions) (*RunCore, error) {
	s, err := state.ReplayRun(run, j.Events(ctx, 0))
	if err != nil {
		return nil, fmt.Errorf("replay run %s: %w", run, err)
	}
	c := &RunCore{State: s, journal: j, purse: o.DailyBudget, working: map[WorkKey]bool{}, read: s.Seq}
	switch {
	case s.Status == "":
		return nil, &nexus.Error{Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no run %s", run), Hint: "nexus runs lists them."}
	case s.Status.HasEnded() && !o.Reopen && (!o.Deliver || len(s.Requests) == 0):
		return c, nil
	case s.Status.HasEnded():
		f := nexus.RunReopened{Why: "resumed"}
		if o.Deliver && len(s.Landings) > 0 {
			f = nexus.RunReopened{Why: "the landed work is to be published", Deliver: true}
		}
		if err := c.record(ctx, f); err != nil {
			return nil, err
		}
	}
	if s.Status == nexus.StatusIdle {
		facts := []nexus.Fact{nexus.RunStarted{
			Process: o.Process, Fence: o.Fence, Spent: o.Spent, Sandbox: o.Sandbox, Hooks: o.Hooks, Alone: o.Alone, Patience: o.Patience,
		}}
		facts = append(facts, c.unpaidCallFacts()...) // of a run that went back to before it began
		err = c.record(ctx, append(facts, c.staleRequestFacts()...)...)
	} else {
		err = c.recoverRun(ctx, o)
	}
	if err == nil && o.Stop != "" && s.Drain == nil {
		err = c.record(ctx, nexus.RunDrainStarted{To: nexus.StatusStopped, Why: o.Stop})
	}
	return c, err
}

// recoverRun writes off the unfinished work of the last process.
func (c *RunCore) recoverRun(ctx context.Context, o StartOptions) error {
	s := c.State
	facts := []nexus.Fact{nexus.RunRecovered{
		Process: o.Process, Fence: o.Fence, Spent: o.Spent, Limits: o.Limits, Sandbox: o.Sandbox, Hooks: o.Hooks, Alone: o.Alone, Patience: o.Patience,
	}}
	for _, a := range s.ActiveAttempts() {
		facts = append(facts, nexus.AttemptLost{Attempt: a.ID, Why: "its process died", Counted: true})
	}
	if p := s.Planning; p != nil && p.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: p.ID, Why: "its process died", Counted: true})
	}
	if r := s.Judging; r != nil && r.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: r.ID, Why: "its process died", Counted: true})
	}
	if m := s.Mending; m != nil && m.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: m.ID, Why: "its process died", Counted: true})
	}
	if w := s.TargetMerge.Work; w != nil && w.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: w.ID, Why: "its process died", Counted: true})
	}
	if w := s.Undo.Work; w != nil && w.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: w.ID, Why: "its process died", Counted: true})
	}
	for _, a := range s.Additions {
		if at := s.AttemptByID(a.Attempt); at != nil && at.Stage == state.Working {
			facts = append(facts, nexus.AttemptLost{Attempt: at.ID, Why: "its process died", Counted: true})
		}
	}
	for _, e := range s.Splits.All {
		if s.IsSplitting(e.Task) {
			facts = append(facts, nexus.AttemptLost{Attempt: e.Attempt, Why: "its process died", Counted: true})
		}
	}
	if b := s.CurrentLanding; b != nil && b.Merge.Stage == state.Working {
		facts = append(facts, nexus.AttemptLost{Attempt: b.Merge.ID, Why: "its process died", Counted: true})
	}
	facts = append(facts, c.unpaidCallFacts()...)
	facts = append(facts, c.staleRequestFacts()...)
	facts = append(facts, c.orphanAnswers()...)
	return c.record(ctx, append(facts, nexus.RunResumed{})...)
}

// unpaidCallFacts counts a dead process's unpaid calls at their worst case.
func (c *RunCore) unpaidCallFacts() []nexus.Fact {
	var facts []nexus.Fact
	for _, id := range c.State.Ledger.UnsettledIDs() {
		r, _ := c.State.Ledger.ReservationByID(id)
		facts = append(facts, nexus.BudgetSettled{ID: id, Money: r.Money, Estimated: true})
	}
	return facts
}

// staleRequestFacts settles the requests to a process that has ended: resuming the run means that
// it continues.
func (c *RunCore) staleRequestFacts() []nexus.Fact {
	var facts []nexus.Fact
	for _, r := range c.State.Requests {
		if r.Task == "" && (r.Verb == nexus.VerbPause || r.Verb == nexus.VerbResume) || r.Verb == nexus.VerbStop {
			facts = append(facts, nexus.RequestSettled{Seq: r.Seq, Why: "the run was resumed since"})
		}
	}
	return facts
}

// DecideUntilDone decides until nothing more follows, records each decision, and returns the work to
// startIntent and the work to cancel.
func (c *RunCore) DecideUntilDone(ctx context.Context, now time.Time) (start []RecordedIntent, cancel []WorkKey, err error) {
	for !c.drained {
		facts := schedule.NextFacts(c.State, now)
		if len(facts) == 0 {
			break
		}
		if slices.ContainsFunc(facts, startsLanding) {
			heard, err := c.readPendingRequests(ctx)
			if err != nil {
				return nil, nil, err
			}
			if heard {
				continue
			}
		}
		if err := c.record(ctx, facts...); err != nil {
			return nil, nil, err
		}
		for _, f := range facts {
			start = c.addWork(start, f)
		}
	}
	if !c.drained {
		start = c.addResultWork(start)
	}
	if err := c.answerWaiters(ctx); err != nil {
		return nil, nil, err
	}
	cancel, c.cancel = c.cancel, nil
	return start, cancel, nil
}

// startsLanding reports whether a decision lets work land, after which it can no longer be
// paused.
func startsLanding(f nexus.Fact) bool {
	switch f.(type) {
	case nexus.LandingStarted, nexus.TargetMergeStarted:
		return true
	default:
		return false
	}
}

// readPendingRequests folds the requests that are in the journal and have not arrived yet, and
// reports whether there were any. They arrive a moment after they were recorded, and a person
// who was told that a review is recorded may rely on it.
func (c *RunCore) readPendingRequests(ctx context.Context) (heard bool, err error) {
	before := c.State.Requested
	for e, err := range c.journal.Events(ctx, c.read) {
		if err != nil {
			return false, fmt.Errorf("look for requests: %w", err)
		}
		c.read = e.Seq
		if err := c.ApplyRequest(e); err != nil {
			return false, err
		}
	}
	return c.State.Requested > before, nil
}

// NextWakeTime returns the time of the next pass if nothing happens.
func (c *RunCore) NextWakeTime() time.Time {
	if c.drained {
		return time.Time{}
	}
	return schedule.NextWakeTime(c.State)
}

// isIdle reports whether no worker is active.
func (c *RunCore) isIdle() bool { return len(c.working) == 0 }

// IsOver reports whether there is nothing left to wait for.
func (c *RunCore) IsOver() bool {
	return c.isIdle() && (c.drained || c.State.Status.HasEnded())
}

// DrainWorkers stops the workers at their next turn and starts no others.
func (c *RunCore) DrainWorkers() { c.drained = true }

// StopReason returns why a worker must stop work that can be repeated, or nil if it may
// continue. Paid is true if paid work depends on it.
func (c *RunCore) StopReason(paid bool) error {
	switch d := c.State.Drain; {
	case c.drained:
		return ErrInterrupted
	case d == nil, paid && d.To != nexus.StatusStopped:
		return nil
	default:
		return workerStoppedError{d.Why}
	}
}

// addWork converts a recorded decision to work.
func (c *RunCore) addWork(start []RecordedIntent, f nexus.Fact) []RecordedIntent {
	add := func(key WorkKey, task nexus.TaskID) []RecordedIntent {
		c.working[key] = true
		return append(start, RecordedIntent{key, f, c.State.WorkerView(task)})
	}
	with := func(id nexus.AttemptID, task nexus.TaskID, a *state.AttemptState) []RecordedIntent {
		start := add(WorkKey(id), task)
		start[len(start)-1].View.Attempt = a.Clone()
		return start
	}
	switch f := f.(type) {
	case nexus.StartHooksAsked:
		return add(startKey, "")
	case nexus.PlanningStarted:
		return add(WorkKey(f.Attempt), "")
	case nexus.InterviewRoundStarted:
		return add(WorkKey(f.Attempt), "")
	case nexus.SpecWritingStarted:
		return add(WorkKey(f.Attempt), "")
	case nexus.ComplexityRatingStarted:
		return with(f.Attempt, "", c.State.Judging)
	case nexus.CriterionDiagnosisStarted:
		return with(f.Attempt, "", c.State.Mending)
	case nexus.TargetMergeStarted:
		start = add(WorkKey(f.Attempt), "")
		start[len(start)-1].View.Merge = c.State.TargetMerge.Work.Clone()
		return start
	case nexus.UndoStarted:
		return with(f.Attempt, "", c.State.Undo.Work)
	case nexus.AdditionPlanningStarted:
		start = add(WorkKey(f.Attempt), "")
		v := &start[len(start)-1].View
		v.Attempt, v.Added = c.State.AttemptByID(f.Attempt).Clone(), c.State.AdditionBySeq(f.Request).Task
		return start
	case nexus.TaskSplitStarted:
		return with(f.Attempt, f.Task, c.State.AttemptByID(f.Attempt))
	case nexus.AttemptStarted:
		return add(WorkKey(f.Attempt), f.Task)
	case nexus.LandingStarted:
		return add(WorkKey(state.MergerAttemptID(f.Attempt)), f.Task)
	case nexus.AttemptResumed:
		task := c.State.AttemptByID(f.Attempt).Task
		if b := c.State.CurrentLanding; b != nil && b.Merge.ID == f.Attempt {
			task = b.Task
		}
		return add(WorkKey(f.Attempt), task)
	case nexus.TaskSkipped:
		c.cancelTaskWork(f.Task)
	case nexus.AgentTurnInterrupted:
		c.cancelAttempt(f.Attempt)
	case nexus.RequestSettled, nexus.RunDrainStarted, nexus.TaskPaused:
		// The workers notice a stop when they next ask for permission.
	default:
	}
	return start
}

// cancelTaskWork cancels the worker of a task, or the one that splits it.
func (c *RunCore) cancelTaskWork(id nexus.TaskID) {
	if a := c.State.TaskByID(id).CurrentAttempt(); a != nil {
		c.cancelAttempt(a.ID)
	}
	if e := c.State.Splits.SplitOfTask(id); e != nil {
		c.cancelAttempt(e.Attempt)
	}
}

// cancelAttempt cancels the worker of an attempt, if it has one.
func (c *RunCore) cancelAttempt(id nexus.AttemptID) {
	if c.working[WorkKey(id)] {
		c.cancel = append(c.cancel, WorkKey(id))
	}
}

// addResultWork starts the delivery of the result. It has no attempt of its own that could be
// resumed.
func (c *RunCore) addResultWork(start []RecordedIntent) []RecordedIntent {
	s := c.State
	var f nexus.Fact
	switch {
	case c.working[resultKey]:
		return start
	case s.Status == nexus.StatusReviewing && s.Result == nil && !s.Undo.IsOpen():
		f = nexus.FinalGatesStarted{}
	case s.Status == nexus.StatusLanding && s.Published == nil && !s.TargetMerge.NeedsMerge():
		f = nexus.ResultPublishingStarted{Commit: s.Tip}
	default:
		return start
	}
	c.working[resultKey] = true
	return append(start, RecordedIntent{resultKey, f, s.WorkerView("")})
}

// Record appends a worker's facts.
func (c *RunCore) Record(ctx context.Context, facts ...nexus.Fact) error {
	return c.record(ctx, facts...)
}

// ApplyRequest folds a request that some process appended. A request that was applied before
// changes nothing.
func (c *RunCore) ApplyRequest(e nexus.Event) error {
	if r, ok := e.Fact.(nexus.RequestMade); ok && e.Run == c.State.Run && !c.isRequestRead(e.Seq) {
		if r.Request.Verb == nexus.VerbStop && r.Request.Now {
			for key := range c.working {
				c.cancel = append(c.cancel, key)
			}
		}
		c.advanceReadPosition(e)
		return c.State.Apply(e)
	}
	return nil
}

// advanceReadPosition advances the read position, as long as no other process appended in between.
func (c *RunCore) advanceReadPosition(e nexus.Event) {
	if e.Seq == c.read+1 {
		c.read = e.Seq
	}
}

func (c *RunCore) isRequestRead(seq int64) bool { return seq <= c.State.Requested }

// record appends facts and folds them, unless they are invalid in this state.
func (c *RunCore) record(ctx context.Context, facts ...nexus.Fact) error {
	if len(facts) == 0 {
		return nil
	}
	if err := c.State.CheckFacts(facts...); err != nil {
		return fmt.Errorf("record %s: %w", nexus.FactKind(facts[0]), err) // before it makes the journal unusable
	}
	events, err := c.journal.Append(ctx, facts...)
	if err != nil {
		return fmt.Errorf("record %s: %w", nexus.FactKind(facts[0]), err)
	}
	for _, e := range events {
		c.advanceReadPosition(e)
		if err := c.State.Apply(e); err != nil {
			return err
		}
	}
	return nil
}
