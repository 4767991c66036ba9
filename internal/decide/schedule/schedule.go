// Package schedule decides the next steps of a run: starting, resuming, landing, escalating
// and parking tasks, and pausing and ending the run.
//
// It uses only the state and the time, and returns facts that must be recorded before they
// are carried out. So the decisions are the same on a laptop, after a crash, and in a
// simulator.
package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// NextFacts returns the next decisions, to be recorded together and folded before the next call.
// None means that there is nothing to do until an event occurs or [NextWakeTime] is reached.
func NextFacts(s *state.State, now time.Time) []nexus.Fact {
	return addCheckpointBefore(s, decideNext(s, now))
}

// decideNext returns the decisions without the checkpoints before them.
func decideNext(s *state.State, now time.Time) []nexus.Fact {
	switch {
	case s.Status.HasEnded(), s.Status == "", s.Status == nexus.StatusIdle, s.Status == nexus.StatusRecovering:
		return nil
	case len(s.Requests) > 0:
		return settleRequest(s, s.Requests[0])
	}
	if facts := applyDeadlines(s, now); facts != nil {
		return facts
	}
	if fs := decideAlerts(s, now); fs != nil {
		return fs
	}
	if p := s.Ledger.SpendingPressure(); p > s.Pressed {
		return factList(nexus.BudgetPercentReached{Percent: p})
	}
	if s.Drain != nil {
		return decideDrain(s)
	}
	if s.Status == nexus.StatusPaused {
		return nil
	}
	if s.Start.Stage != state.StartFree {
		return decideStartHooks(s)
	}
	if fs := checkpointWhenTimerDue(s, now); fs != nil {
		return fs
	}
	if s.OverCap != nil && !s.IsDelivering() {
		return factList(nexus.RunDrainStarted{To: nexus.StatusLimit, Why: ReachedCapText(*s.OverCap)})
	}
	switch s.Status {
	case nexus.StatusPlanning:
		switch s.Goal.Goal.Mode {
		case nexus.Interview:
			return decideInterview(s, now)
		case nexus.Specify:
			return decideSpec(s)
		default:
		}
		return decidePlan(s, now)
	case nexus.StatusExecuting:
		return decideExecution(s, now)
	default:
		return decidePublishing(s)
	}
}

// NextWakeTime returns the time of the next decision if nothing happens, or zero for never.
func NextWakeTime(s *state.State) time.Time {
	var at time.Time
	if s.Status.HasEnded() {
		return at
	}
	if hasRunTimeLimit(s) && !s.Started.IsZero() {
		at = s.WorkedTimeReachedAt(s.Limits.RunTime)
	}
	if due := nextTimerCheckpoint(s); !due.IsZero() && (at.IsZero() || due.Before(at)) {
		at = due
	}
	for _, q := range s.Questions {
		if q.By == "" && !q.Left && !q.Deadline.IsZero() && (at.IsZero() || q.Deadline.Before(at)) {
			at = q.Deadline
		}
	}
	for _, p := range s.Parked {
		if at.IsZero() || p.Until.Before(at) {
			at = p.Until
		}
	}
	if due := s.Alerts.NextStuckTime(s.Limits, isIdle(s)); !due.IsZero() && (at.IsZero() || due.Before(at)) {
		at = due
	}
	if due := s.Alerts.NextClearTime(s.Limits); !due.IsZero() && (at.IsZero() || due.Before(at)) {
		at = due
	}
	return at
}

// applyDeadlines applies expired deadlines.
func applyDeadlines(s *state.State, now time.Time) []nexus.Fact {
	for _, q := range s.Questions {
		switch due := q.By == "" && !q.Left && !q.Deadline.IsZero() && !now.Before(q.Deadline); {
		case due && humaninput.StaysOpenAfterDeadline(q.Trigger):
			return factList(nexus.QuestionExpired{ID: q.ID})
		case due:
			return factList(nexus.QuestionAnswered{ID: q.ID, Text: humaninput.DefaultAnswerOf(q.QuestionAsked), By: "fallback"})
		}
	}
	if fs := decideQuota(s, now); fs != nil {
		return fs
	}
	if hasRunTimeLimit(s) && s.WorkedTime(now) >= s.Limits.RunTime {
		return factList(nexus.RunDrainStarted{To: nexus.StatusLimit, Why: fmt.Sprintf("the run's time limit of %s is reached", s.Limits.RunTime)})
	}
	return nil
}

// hasRunTimeLimit reports whether the run's time limit applies. People may take days for an interview,
// whose sessions have their own limits.
func hasRunTimeLimit(s *state.State) bool {
	return s.Drain == nil && s.Limits.RunTime > 0 && s.Goal.Goal.Mode != nexus.Interview
}

// decideStartHooks asks the hooks whether work may start, before any other decision. A refusal
// ends the run, which can be resumed: then they are asked again.
func decideStartHooks(s *state.State) []nexus.Fact {
	switch s.Start.Stage {
	case state.StartUnasked:
		return factList(nexus.StartHooksAsked{})
	case state.StartRefused:
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: "not started: " + s.Start.Why})
	default:
		return nil
	}
}

// decidePlan makes a plan, and starts it once it has the necessary approval.
func decidePlan(s *state.State, now time.Time) []nexus.Fact {
	p := s.Planning
	switch {
	case s.Proposed > 0 && len(s.Tasks) != s.Proposed:
		return factList(nexus.RunEnded{Status: nexus.StatusFailed, Why: fmt.Sprintf("the plan has %d tasks, and %d were recorded", s.Proposed, len(s.Tasks))})
	case s.Proposed > 0 && s.Goal.Goal.Mode == nexus.Draft:
		return factList(nexus.RunEnded{Status: nexus.StatusDone, Why: "the plan is made"})
	case s.Proposed > 0 && s.NeedsPlanApproval():
		return decideConsent(s, now)
	case s.Proposed > 0:
		return approvePlan(s, cmp.Or(s.Goal.Consent.Given, "policy"))
	case s.PlanError != "":
		to := nexus.StatusFailed
		if s.PlanOutcome == nexus.Refused {
			to = nexus.StatusLimit
		}
		return factList(nexus.RunEnded{Status: to, Why: "no plan: " + s.PlanError})
	case s.Goal.Goal.Mode == nexus.Backlog:
		return approvePlan(s, "policy")
	case p == nil:
		return factList(planningStartFact(s.CountPlanRefusals() + 1)) // a run may begin with refused plans
	case p.Stage == state.Waiting && isLostTooOften(s, p):
		return factList(nexus.RunEnded{Status: nexus.StatusFailed, Why: fmt.Sprintf("planning was interrupted %d times", p.Losses)})
	case p.Stage == state.Waiting:
		return factList(nexus.PlanningStarted{Attempt: p.ID})
	case p.Stage == state.Over:
		return factList(planningStartFact(max(s.PlanTries, s.CountPlanRefusals()) + 1))
	}
	return nil
}

func planningStartFact(n int) nexus.PlanningStarted {
	return nexus.PlanningStarted{Attempt: nexus.AttemptID(fmt.Sprintf("plan.%d", n))}
}

func isLostTooOften(s *state.State, a *state.AttemptState) bool {
	return s.Limits.Losses > 0 && a.Losses > s.Limits.Losses
}

// decideExecution works on the tasks until each has ended.
func decideExecution(s *state.State, now time.Time) []nexus.Fact {
	for _, t := range s.Tasks {
		if t.IsPaused() {
			continue
		}
		if fs := decideAfterAttempt(s, t, now); fs != nil {
			return fs
		}
		if d := replan.DecideBlocked(s, t); d != nil {
			return factList(*d)
		}
	}
	if fs := returnQueuedWork(s); fs != nil {
		return fs
	}
	if fs := landNext(s); fs != nil {
		return fs
	}
	if fs := checkpointAfterWave(s); fs != nil {
		return fs
	}
	if fs := decideAdditions(s, now); fs != nil {
		return fs
	}
	if fs := decideStartTiers(s); fs != nil {
		return fs
	}
	if fs := lowerTiersUnderPressure(s); fs != nil {
		return fs
	}
	if fs := formSharedSessionGroup(s); fs != nil {
		return fs
	}
	if fs := startTasks(s, now); fs != nil {
		return fs
	}
	if hasUnfinishedWork(s) {
		return nil
	}
	if len(s.Landings) > 0 {
		return factList(nexus.FinalGatesStarted{})
	}
	return endRun(s)
}

// ReachedCapText names the reached cap, for people.
func ReachedCapText(r nexus.BudgetRefused) string {
	name := r.Cap + " budget"
	if r.Of != "" {
		name = fmt.Sprintf("budget of the %s %s", r.Cap, r.Of)
	}
	if t := r.Tokens; t != nil {
		return fmt.Sprintf("the budget of %d tokens for models without a known price is used up: %d used or reserved, the next call may take %d", t.Limit, t.Spent, t.Asked)
	}
	return fmt.Sprintf("the %s of %s is used up: %s spent or reserved, the next call may cost %s", name, r.Limit, r.Spent, r.Asked)
}

// decidePublishing publishes the landed commits.
func decidePublishing(s *state.State) []nexus.Fact {
	switch {
	case s.Status == nexus.StatusReviewing && isWorking(s.Mending):
		return nil
	case s.Undo.IsOpen():
		return resumeUndo(s)
	case s.Status == nexus.StatusReviewing && s.Result != nil:
		if fs := fixUnmetCriteria(s); fs != nil {
			return fs
		}
		return factList(nexus.ResultPublishingStarted{Commit: s.Tip})
	case s.Status == nexus.StatusLanding && s.Published != nil:
		return endRun(s)
	case s.Status == nexus.StatusLanding && s.TargetMerge.NeedsMerge():
		return mergeOntoTarget(s)
	}
	return nil
}

// decideDrain ends the run once nothing is in progress. Landed commits are still delivered.
func decideDrain(s *state.State) []nexus.Fact {
	if s.Status == nexus.StatusPaused {
		return factList(nexus.RunResumed{}) // no worker may spend any more
	}
	if len(s.ActiveAttempts()) > 0 || s.CurrentLanding != nil && s.CurrentLanding.Merge.Stage == state.Working {
		return nil
	}
	if s.Start.Stage == state.StartAsked || isWorking(s.Planning) || isWorking(s.Judging) || isWorking(s.Mending) || isWorking(s.TargetMerge.Work) || isWorking(s.Undo.Work) || isSplitting(s) || s.IsAddingTasks() {
		return nil
	}
	if s.Drain.To == nexus.StatusLimit && s.Status == nexus.StatusExecuting {
		if fs := landAtLimit(s); fs != nil {
			return fs
		}
	}
	switch {
	case s.Undo.IsOpen():
		return resumeUndo(s)
	case s.Status == nexus.StatusReviewing, s.Status == nexus.StatusExecuting && len(s.Landings) > 0:
		return factList(nexus.ResultPublishingStarted{Commit: s.Tip})
	case s.Status == nexus.StatusLanding && s.TargetMerge.NeedsMerge():
		return mergeOntoTarget(s)
	case s.Status == nexus.StatusLanding && s.Published == nil:
		return nil
	}
	return factList(nexus.RunEnded{Status: s.Drain.To, Why: s.Drain.Why})
}

// landAtLimit lands work that was accepted before a limit was reached: that work is paid for.
func landAtLimit(s *state.State) []nexus.Fact {
	for _, t := range s.Tasks {
		if a := t.CurrentAttempt(); a != nil && landsAtLimit(s, t, a) {
			return factList(nexus.LandingQueued{Task: t.ID, Attempt: a.ID})
		}
	}
	return landNext(s)
}

// landsAtLimit reports whether an attempt may still land once a limit is reached. Work that a
// landing refused does not land, because it can no longer be repaired; work that was repaired
// and accepted again does.
func landsAtLimit(s *state.State, t *state.TaskState, a *state.AttemptState) bool {
	waits := !t.Status.HasEnded() && t.Status != nexus.Boarding && len(t.Attempts) > t.Mercy
	return waits && canLand(s, t, a) && !a.Unlanded && s.LandingHoldReason(t, a) == ""
}

// canLand reports whether an attempt was accepted, by the verifier too, and was not refused
// at the landing too often.
func canLand(s *state.State, t *state.TaskState, a *state.AttemptState) bool {
	return a.Outcome == nexus.Accepted && a.Refusals < max(1, s.Limits.LandTries) && len(t.Refused) == 0
}

func isWorking(a *state.AttemptState) bool { return a != nil && a.Stage == state.Working }

// hasUnfinishedWork reports whether anything is in progress, waits for its turn, or is paused while a
// person is available to resume it.
func hasUnfinishedWork(s *state.State) bool {
	if s.Alone && s.OnlyPausedLeft() {
		return waitsForPerson(s)
	}
	return s.HasWorkUnderway() || waitsForPerson(s) || s.WaitsForPausedTask()
}

// waitsForPerson reports whether a person must decide about further work in the run, and
// still can.
func waitsForPerson(s *state.State) bool {
	open := func(q *state.RunQuestion) bool { return q != nil && q.By == "" && !q.Left }
	return open(s.OpenStepQuestion()) || s.HasOpenLandingQuestion() || slices.ContainsFunc(s.Additions, func(a *state.RunAddition) bool {
		return !a.IsDone() && a.Question != "" && open(s.QuestionByID(a.Question))
	})
}

// endRun returns the fact that ends the run.
func endRun(s *state.State) []nexus.Fact {
	if s.Drain != nil {
		return factList(nexus.RunEnded{Status: s.Drain.To, Why: s.Drain.Why})
	}
	if asks := s.OpenQuestions(); len(asks) > 0 {
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: waitingReason(s, asks)})
	}
	if s.WaitsForPausedTask() {
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: pausedReason(s)})
	}
	if p := s.Published; p != nil && p.Hook != "" && p.Branch != "" {
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: "the landed work is on " + p.Branch + ", and no branch was moved: " + p.Why})
	} else if p != nil && p.Hook != "" {
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: "landed work is kept, and not published: " + p.Why})
	}
	c := s.CountTasksByStatus()
	open := len(s.Tasks) - c[nexus.Landed] - c[nexus.Split]
	switch {
	case len(s.Tasks) == 0:
		return factList(nexus.RunEnded{Status: nexus.StatusFailed, Why: "the addition led to no task" + rejectedAdditions(s)})
	case open == 0 && rejectedAdditions(s) != "" && s.Result != nil && s.Result.Verdict.Passed:
		return factList(nexus.RunEnded{Status: nexus.StatusPartial, Why: unlandedSummary(s, nil)})
	case open == 0 && s.Result != nil && s.Result.Verdict.Passed && s.Published != nil && s.Published.Branch != "":
		return factList(nexus.RunEnded{Status: nexus.StatusDone, Why: s.Published.Why})
	case open == 0 && (s.Published == nil || s.Published.Branch == ""):
		return factList(nexus.RunEnded{Status: nexus.StatusPartial, Why: "everything landed, but could not be published: " + publishedState(s)})
	case open == 0 && s.Result == nil:
		return factList(nexus.RunEnded{Status: nexus.StatusPartial, Why: "everything landed, but the final tree was not judged"})
	case open == 0:
		return factList(nexus.RunEnded{Status: nexus.StatusPartial, Why: "everything landed, but the final tree does not pass: " + failedResultReason(s)})
	case c[nexus.Landed] == 0 && c[nexus.Parked] == 0 && c[nexus.Failed] > 0:
		return factList(nexus.RunEnded{Status: nexus.StatusFailed, Why: unlandedSummary(s, nil)})
	}
	return factList(nexus.RunEnded{Status: nexus.StatusPartial, Why: unlandedSummary(s, nil)})
}

// pausedReason names the paused tasks, and other tasks that did not land.
func pausedReason(s *state.State) string {
	text, of := "", map[nexus.TaskID]bool{}
	for _, t := range s.Tasks {
		if t.IsPaused() {
			text += fmt.Sprintf("%s is paused by %s: nexus resume %s, then nexus resume; ", t.ID, t.Paused.By, t.ID)
			of[t.ID] = true
		}
	}
	return text + unlandedSummary(s, of)
}

// waitingReason names the questions that the run waits for, and tasks that did not land.
func waitingReason(s *state.State, asks []*state.RunQuestion) string {
	text, of := "", map[nexus.TaskID]bool{}
	for _, q := range asks {
		who := ""
		if t := cmp.Or(s.AskingTask(q), s.TaskOfLandingQuestion(q)); t != nil {
			who, of[t.ID] = " of "+string(t.ID), true
		}
		text += fmt.Sprintf("%s%s waits for a person: %s; ", q.ID, who, q.Text)
	}
	if c := s.CountTasksByStatus(); c[nexus.Landed] == len(s.Tasks)-c[nexus.Split] {
		return strings.TrimSuffix(text, "; ")
	}
	return text + unlandedSummary(s, of)
}

// failedResultReason returns why the last tree does not pass, and the tasks that were to fix
// it.
func failedResultReason(s *state.State) string {
	if tried := accept.FailedFixes(s); tried != "" {
		return s.Result.Verdict.Why + "; " + tried
	}
	return s.Result.Verdict.Why
}

func publishedState(s *state.State) string {
	if s.Published == nil {
		return "not tried"
	}
	return cmp.Or(s.Published.Why, "no branch was made")
}

// unlandedSummary counts and names the tasks that did not land, with reasons, except for the given
// tasks.
func unlandedSummary(s *state.State, but map[nexus.TaskID]bool) string {
	c := s.CountTasksByStatus()
	text := fmt.Sprintf("%d of %d tasks landed", c[nexus.Landed], len(s.Tasks)-c[nexus.Split])
	for _, t := range s.Tasks {
		if but[t.ID] {
			continue
		}
		switch status := s.StatusOf(t); status {
		case nexus.Blocked:
			by, _ := s.BlockerOf(t)
			text += fmt.Sprintf("; %s is blocked by %s", t.ID, by)
		case nexus.Skipped:
			text += fmt.Sprintf("; %s is %s", t.ID, t.Why)
		case nexus.Parked, nexus.Failed:
			text += fmt.Sprintf("; %s is %s: %s", t.ID, status, t.Why)
		default:
		}
	}
	return text + rejectedAdditions(s)
}

// rejectedAdditions lists the additions that failed, or returns "".
func rejectedAdditions(s *state.State) string {
	text := ""
	for _, a := range s.Additions {
		if a.Why != "" && !a.Back {
			text += fmt.Sprintf("; the addition %q led to no task: %s", sanitize.TruncateText(cmp.Or(a.Item, a.Task.Title), 60), a.Why)
		}
	}
	return text
}

func factList(f ...nexus.Fact) []nexus.Fact { return f }
