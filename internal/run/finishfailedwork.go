package run

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FinishWork removes a worker, and records the facts that confirm its work or the error that
// ended it.
func (c *RunCore) FinishWork(ctx context.Context, w RecordedIntent, facts []nexus.Fact, err error) error {
	delete(c.working, w.Key)
	if isFatal(err) {
		return err
	}
	if bad := c.State.CheckFacts(facts...); bad != nil {
		facts, err = nil, errors.Join(err, bad)
	}
	if err := c.record(ctx, facts...); err != nil {
		return err
	}
	if err == nil {
		err = errors.New("its worker ended without a result")
	}
	return c.record(ctx, append(c.errorFacts(w, err), c.endedWorkerFacts(w)...)...)
}

// endedWorkerFacts settles the open items of a worker that has ended: calls without a response at
// their worst case, questions by their default.
func (c *RunCore) endedWorkerFacts(w RecordedIntent) []nexus.Fact {
	facts := c.orphanAnswers()
	for _, id := range c.State.Ledger.UnsettledIDs() {
		r, _ := c.State.Ledger.ReservationByID(id)
		if attempt, _, _ := strings.Cut(string(r.Session), "/"); WorkKey(attempt) == w.Key {
			facts = append(facts, nexus.BudgetSettled{ID: id, Money: r.Money, Estimated: true})
		}
	}
	return facts
}

// isUnconfirmed reports whether nothing has confirmed a piece of work yet.
func (c *RunCore) isUnconfirmed(w RecordedIntent) bool {
	s := c.State
	switch w.Intent.(type) {
	case nexus.StartHooksAsked:
		return s.Start.Stage == state.StartAsked
	case nexus.FinalGatesStarted:
		return s.Result == nil
	case nexus.ResultPublishingStarted:
		return s.Published == nil && !s.TargetMerge.NeedsMerge()
	default:
		a := s.AttemptByID(nexus.AttemptID(w.Key))
		return a != nil && a.Stage == state.Working
	}
}

// isFatal reports whether an error must stop the run, because facts recorded from now on might
// be lost.
func isFatal(err error) bool {
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

// errorFacts returns the facts about a worker's error: none if the work was confirmed before, a
// clean stop if it was told to stop, and a failure of the machinery otherwise.
func (c *RunCore) errorFacts(w RecordedIntent, err error) []nexus.Fact {
	var facts []nexus.Fact
	clean, why := IsWorkerStop(err), err.Error()
	e, known := errors.AsType[*nexus.Error](err)
	switch {
	case known && isUnrecoverable(e.Code):
		clean = true
		if e.Hint != "" {
			why += ". " + e.Hint // the only remedy
		}
		if c.State.Drain == nil && !c.State.Status.HasEnded() {
			facts = append(facts, nexus.RunDrainStarted{To: nexus.StatusFailed, Why: why, Code: e.Code})
		}
	case known && e.Code == nexus.CodeNeedsPerson && w.View.Task.ID != "":
		return c.parkedFacts(w, why)
	case known && e.Code == nexus.CodeBudget:
		clean = clean || c.isOverCap(w)
	}
	if !c.isUnconfirmed(w) {
		return facts
	}
	if w.Key == resultKey && IsWorkerStop(err) {
		return facts // the next pass, or the next process, tries again
	}
	if clean && w.Key != resultKey && w.Key != startKey {
		return append(facts, nexus.AttemptLost{Attempt: nexus.AttemptID(w.Key), Why: why})
	}
	return append(facts, c.failureFact(w, why))
}

// parkedFacts returns the facts that leave a piece of work to a person: no person was available to
// allow its action. Its attempt continues from there when the task is retried.
func (c *RunCore) parkedFacts(w RecordedIntent, why string) []nexus.Fact {
	task := w.View.Task.ID
	if b := c.State.CurrentLanding; b != nil && WorkKey(b.Merge.ID) == w.Key {
		return []nexus.Fact{nexus.LandingRejected{Task: task, Attempt: b.Attempt, Onto: b.Onto, Conflict: true, Why: why}}
	}
	if !c.isUnconfirmed(w) {
		return nil
	}
	facts := []nexus.Fact{nexus.AttemptLost{Attempt: nexus.AttemptID(w.Key), Why: why}}
	if t := c.State.TaskByID(task); t != nil && !t.Status.HasEnded() {
		facts = append(facts, nexus.TaskParked{Task: task, Why: why})
	}
	return facts
}

// failureFact returns the fact that the machinery failed a piece of work.
func (c *RunCore) failureFact(w RecordedIntent, why string) nexus.Fact {
	switch f := w.Intent.(type) {
	case nexus.StartHooksAsked:
		return nexus.StartHooksAnswered{Why: why} // a hook that failed did not agree
	case nexus.FinalGatesStarted:
		return nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Why: why}}
	case nexus.ResultPublishingStarted:
		return nexus.ResultPublished{Why: why}
	case nexus.PlanningStarted:
		return nexus.PlanningFailed{Why: why}
	case nexus.AdditionPlanningStarted:
		return nexus.AdditionPlanningFailed{Request: f.Request, Attempt: f.Attempt, Why: why}
	case nexus.InterviewRoundStarted:
		return nexus.InterviewRoundFailed{Attempt: nexus.AttemptID(w.Key), Why: why}
	case nexus.SpecWritingStarted:
		return nexus.SpecWritingFailed{Attempt: nexus.AttemptID(w.Key), Why: why}
	case nexus.ComplexityRatingStarted:
		return nexus.ComplexityRatingEnded{Attempt: nexus.AttemptID(w.Key), Why: why}
	default:
	}
	if b := c.State.CurrentLanding; b != nil && WorkKey(b.Merge.ID) == w.Key {
		// Whether it is on the branch is unknown, so it must not be given up.
		return nexus.AttemptLost{Attempt: b.Merge.ID, Why: why, Counted: true}
	}
	return nexus.AttemptInfrastructureFailed{Attempt: nexus.AttemptID(w.Key), Why: why}
}

// isOverCap reports whether the journal contains that a cap stopped a piece of work.
func (c *RunCore) isOverCap(w RecordedIntent) bool {
	t := c.State.TaskByID(w.View.Task.ID)
	return c.State.OverCap != nil || t != nil && t.OverCap != nil
}

// isUnrecoverable reports whether a new attempt is useless until a person has fixed something.
func isUnrecoverable(code nexus.ErrorCode) bool {
	switch code {
	case nexus.CodeAuth, nexus.CodeNoKey, nexus.CodeModelUnknown, nexus.CodeNoProvider, nexus.CodeInvalidConfig, nexus.CodeSandbox, nexus.CodeEnvironment, nexus.CodeNotRecorded, nexus.CodePlugin, nexus.CodeUntrusted:
		return true
	default:
		return false
	}
}

// orphanAnswers answers the questions whose attempt will not ask again, unless a person's
// answer is on its way.
func (c *RunCore) orphanAnswers() []nexus.Fact {
	var facts []nexus.Fact
	for _, q := range c.State.Questions {
		if q.By != "" || c.canContinue(q.Attempt) || humaninput.StaysOpenAfterDeadline(q.Trigger) && slices.Contains(c.State.OpenQuestions(), q) || slices.ContainsFunc(c.State.Requests, func(r state.PendingRequest) bool {
			return r.Verb == nexus.VerbAnswer && r.ID == q.ID
		}) {
			continue
		}
		facts = append(facts, nexus.QuestionAnswered{ID: q.ID, Text: humaninput.DefaultAnswerOf(q.QuestionAsked), By: "fallback"})
	}
	return facts
}

// canContinue reports whether an attempt has a worker or will have one again.
func (c *RunCore) canContinue(id nexus.AttemptID) bool {
	a := c.State.AttemptByID(id)
	if a == nil || a.Stage == state.Over {
		return false
	}
	t := c.State.TaskByID(a.Task)
	return t == nil || t.IsUnderway()
}
