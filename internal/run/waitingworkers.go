package run

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/landingupdates"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// waitingWorker is a worker that waits for an answer.
type waitingWorker struct {
	reserve  nexus.BudgetReserved
	question string      // ID, when it waits for a person
	gone     func() bool // the worker no longer waits
	answer   func(WaitingWorkerReply)
}

// WaitingWorkerReply is the reply to a waiting worker.
type WaitingWorkerReply struct {
	Guidance []state.Guidance
	Text     string
	Err      error
}

// Reserve records a worker's results and queues it for permission to call a model. It calls
// answer during this call or a later one, and never once gone returns true. If permission can
// be given at once, all of it is one append.
func (c *RunCore) Reserve(ctx context.Context, r nexus.BudgetReserved, done []nexus.Fact, gone func() bool, answer func(WaitingWorkerReply)) error {
	w := waitingWorker{reserve: r, gone: gone, answer: answer}
	leave := schedule.CallPermission{}
	if !gone() && len(c.held) == 0 && areSessionNotes(done) && !hasSpending(done) && !c.drained {
		var err error
		if leave, err = c.requestPermission(ctx, r); err != nil {
			return err
		}
	}
	if leave.Granted {
		a, err := c.recordReservation(ctx, r, done...)
		if err == nil {
			answer(a)
		}
		return err
	}
	if err := c.record(ctx, done...); err != nil {
		return err
	}
	c.held = append(c.held, w)
	return c.answerWaiters(ctx)
}

// areSessionNotes reports whether facts are notes of a session about itself, on which no facts
// of others depend.
func areSessionNotes(facts []nexus.Fact) bool {
	for _, f := range facts {
		switch f.(type) {
		case nexus.SessionStarted, nexus.PromptSent, nexus.ModelTurnRecorded, nexus.ToolCallStarted, nexus.ToolCallEnded, nexus.ToolResultsSent, nexus.TreeSnapshotted,
			nexus.NetworkRequestsRecorded, nexus.BudgetSettled, nexus.SessionCompacted, nexus.SessionEnded, nexus.AgentConversationOpened, nexus.AgentProgramEnded:
		default:
			return false
		}
	}
	return true
}

// hasSpending reports whether facts affect the permission to spend.
func hasSpending(facts []nexus.Fact) bool {
	return slices.ContainsFunc(facts, func(f nexus.Fact) bool {
		_, ok := f.(nexus.BudgetSettled)
		return ok
	})
}

// Ask records a question and queues the worker until it is answered. A question that the
// attempt asked before its process died is not asked twice: the answer is the one that a person
// gave meanwhile.
func (c *RunCore) Ask(ctx context.Context, q nexus.QuestionAsked, gone func() bool, answer func(WaitingWorkerReply)) error {
	old := c.sameQuestion(q)
	q.Mark, q.ID = q.ID, c.State.NextQuestionID()
	if old != nil {
		q.ID = old.ID
	}
	if old == nil || old.By == "" && old.Left { // a person may be available now
		if err := c.record(ctx, q); err != nil {
			return err
		}
	}
	c.held = append(c.held, waitingWorker{question: q.ID, gone: gone, answer: answer})
	return c.answerWaiters(ctx)
}

// sameQuestion returns the same question of the same attempt if it is open or has an answer
// other than its default.
func (c *RunCore) sameQuestion(q nexus.QuestionAsked) *state.RunQuestion {
	for _, old := range c.State.Questions {
		if old.Mark == q.ID || old.Attempt == q.Attempt && old.Text == q.Text && old.By != "fallback" {
			return old
		}
	}
	return nil
}

// answerWaiters answers every waiter that can be answered now.
func (c *RunCore) answerWaiters(ctx context.Context) error {
	waiting := c.held
	c.held = nil
	for _, w := range waiting {
		if w.gone() {
			continue
		}
		a, done, err := c.tryAnswer(ctx, w)
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

func (c *RunCore) tryAnswer(ctx context.Context, w waitingWorker) (a WaitingWorkerReply, done bool, err error) {
	if c.drained {
		return WaitingWorkerReply{Err: ErrInterrupted}, true, nil
	}
	if w.question != "" {
		for _, q := range c.State.Questions {
			switch {
			case q.ID != w.question:
			case q.By != "":
				return WaitingWorkerReply{Text: q.Answer}, true, nil
			case q.Left:
				return WaitingWorkerReply{Text: nexus.Unapproved}, true, nil
			case q.Attempt != "" && c.State.Drain != nil: // the work after the answer may not spend
				return WaitingWorkerReply{Err: workerStoppedError{c.State.Drain.Why}}, true, nil
			}
		}
		return a, false, nil
	}
	leave, err := c.requestPermission(ctx, w.reserve)
	if err != nil {
		return a, false, err
	}
	switch {
	case leave.Stop != "":
		return WaitingWorkerReply{Err: workerStoppedError{leave.Stop}}, true, nil
	case leave.Refused != nil:
		refusal := &nexus.Error{Code: nexus.CodeBudget, Message: schedule.ReachedCapText(*leave.Refused), Hint: "Raise the budget and run nexus resume."}
		return WaitingWorkerReply{Err: refusal}, true, c.record(ctx, *leave.Refused)
	case leave.Instead != "":
		return WaitingWorkerReply{Err: &schedule.SwitchModelError{Model: leave.Instead, Why: schedule.OtherModelReason(c.State, w.reserve)}}, true, nil
	case !leave.Granted:
		return a, false, nil
	}
	a, err = c.recordReservation(ctx, w.reserve)
	return a, err == nil, err
}

// recordReservation records a reservation after the results before it, and returns people's
// guidance for the task.
func (c *RunCore) recordReservation(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) (a WaitingWorkerReply, err error) {
	if err := c.record(ctx, append(slices.Clip(done), r)...); err != nil {
		return a, err
	}
	a.Guidance = landingupdates.PendingUpdates(c.State, r)
	return a, nil
}

// requestPermission returns whether a call may be made: by the state of this run, and then by
// the money that all runs together have left of the day.
func (c *RunCore) requestPermission(ctx context.Context, r nexus.BudgetReserved) (schedule.CallPermission, error) {
	for range 10 { // the spending of the others, or the day, may change meanwhile
		leave := schedule.MaySpend(c.State, r)
		most, no := c.State.Limits.DayMoney, isDayCap(leave)
		if c.purse == nil || most <= 0 || !leave.Granted && !no {
			return leave, nil
		}
		own, grace := c.State.Ledger.DayBudgetClaim(r)
		most += grace
		if no { // by the last known spending of the others, perhaps of yesterday
			own, _ = c.State.Ledger.DayBudgetClaim(nexus.BudgetReserved{})
			most = 0
		}
		shared, granted, err := c.purse.Claim(ctx, own, most)
		if err != nil {
			return schedule.CallPermission{}, err
		}
		day, others := c.State.Ledger.OthersSpent()
		changed := shared.Day != day || shared.Others != others
		if changed {
			if err := c.record(ctx, shared); err != nil {
				return schedule.CallPermission{}, err
			}
		}
		if granted && !no || no && !changed {
			return leave, nil
		}
	}
	return schedule.CallPermission{}, nil // the next pass asks again
}

// isDayCap reports whether the day's cap refused the call.
func isDayCap(l schedule.CallPermission) bool { return l.Refused != nil && l.Refused.Cap == "day" }

// reportFinalSpending records the final spending of the run in the daily budget.
func (c *RunCore) reportFinalSpending(ctx context.Context) error {
	if c.purse == nil {
		return nil
	}
	own, _ := c.State.Ledger.DayBudgetClaim(nexus.BudgetReserved{})
	_, _, err := c.purse.Claim(ctx, own, 0)
	return err
}
