package state

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applySideEffects applies an event's effects on the status, the clock and open questions.
func (s *State) applySideEffects(e nexus.Event) {
	if to, err := s.nextRunStatus(e.Fact); err == nil {
		s.setStatus(to)
	}
	s.updateClock(e.Fact, e.At)
	s.trackGates(e.Fact, e.At)
	s.applyStart(e.Fact)
	s.applyConsent(e)
	s.recordAdditionQuestion(e.Fact)
	s.Interview.Apply(e.Fact)
}

// applyEvent applies an admitted event.
func (s *State) applyEvent(e nexus.Event) {
	pondering := s.waitsForPerson()
	s.applySideEffects(e)
	s.foldFact(e)
	if _, back := e.Fact.(nexus.RunRewound); !back {
		s.updateClockForPerson(pondering, e.At)
	}
}

// foldFact applies the content of a fact. Each group of cases has its own function. The linter
// checks that the switch is complete.
func (s *State) foldFact(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted, nexus.RunStarted, nexus.RunRecovered, nexus.RunReopened, nexus.RunDrainStarted,
		nexus.RunEnded, nexus.FinalGatesJudged, nexus.ResultPublished:
		s.applyRun(f, e.At)
	case nexus.AlertRaised, nexus.AlertCleared, nexus.RunPrechecked, nexus.DependenciesInstalled, nexus.GateStarted, nexus.RunPaused, nexus.RunResumed, nexus.FinalGatesStarted, nexus.ResultPublishingStarted,
		nexus.StartHooksAsked, nexus.StartHooksAnswered, nexus.HookRan, nexus.PluginAnswered, nexus.AgentLoginRenewed,
		nexus.LoopRulesSet, nexus.ImproveCycleStarted, nexus.ImproveCycleSearched, nexus.ImproveCycleFailed, nexus.LoopPauseStarted, nexus.LoopItemWorkStarted,
		nexus.LoopItemWorkEnded, nexus.LoopItemLandingConfirmed, nexus.LoopItemLandingStarted, nexus.LoopItemLanded, nexus.CheckAfterLandingStarted, nexus.LandingCheckEnded, nexus.LoopItemRevertStarted, nexus.LoopItemReverted,
		nexus.LoopItemRevertFailed, nexus.WaitingResultDecided, nexus.PullRequestUpdateStarted, nexus.PullRequestUpdated, nexus.PullRequestUpdateFailed, nexus.PullRequestClosed,
		nexus.RequirementCaptured, nexus.RequirementWithdrawn, nexus.SpecPartWithdrawn, nexus.SpecPartsCorrected, nexus.AssumptionConfirmed:
		// The other facts need no case here: Interview stores requirements, the status covers
		// the run's life, Alerts the alerts, Gating the running gates, and Start the hooks.
		// The consequences of a plugin's answer are facts of their own. Package
		// decide/improveloop folds a loop.
	case nexus.RequestMade:
		s.queueRequest(e.Seq, f.Request)
	case nexus.RequestSettled:
		s.settleRequest(f, e.At)
	case nexus.QuestionAsked, nexus.QuestionExpired, nexus.QuestionAnswered:
		s.applyQuestion(f, e.At)
	case nexus.PlanningStarted, nexus.PlanProposed, nexus.PlanningFailed, nexus.PlanApproved, nexus.PlanRejected, nexus.PlanRevised, nexus.TaskPlanned:
		s.applyPlan(f, e.At)
	case nexus.InterviewRoundStarted, nexus.InterviewRoundEnded, nexus.InterviewRoundFailed:
		s.applyInterview(f, e.At)
	case nexus.SpecWritingStarted, nexus.SpecWritten, nexus.SpecWritingFailed:
		s.applySpec(f, e.At)
	case nexus.AssumptionStated:
		s.recordAssumption(f)
	case nexus.ComplexityRatingStarted, nexus.ComplexityRatingEnded:
		s.applyRoutes(f, e.At)
	case nexus.CriterionDiagnosisStarted, nexus.CriterionFaultsFound, nexus.FixTasksPlanned:
		s.applyCriterionFixes(f, e.At)
	case nexus.AdditionPlanningStarted, nexus.AdditionTasksProposed, nexus.AdditionPlanningFailed, nexus.TasksAdded:
		s.applyAddition(f, e.At)
	case nexus.TaskParked, nexus.TaskSkipped, nexus.TaskPaused, nexus.TaskResumed, nexus.AgentTurnInterrupted, nexus.TaskRetried, nexus.StartTierChosen, nexus.TaskEscalated, nexus.ReplanRequested, nexus.ReplanDecided, nexus.CriterionRevised,
		nexus.TaskSplitStarted, nexus.TaskSplitCompleted, nexus.TaskSplitFailed:
		s.applyTask(f, e.At)
	case nexus.ReviewModelChosen, nexus.SharedSessionGroupFormed:
		s.applySharedSessions(f)
	case nexus.AttemptStarted, nexus.AttemptResumed, nexus.AttemptLost, nexus.AttemptInfrastructureFailed,
		nexus.AttemptEnded, nexus.StartingTreeRejected, nexus.RoundStarted, nexus.GatesVerdictGiven, nexus.ReviewerVerdictGiven, nexus.TreeSnapshotted,
		nexus.TestsRunWithoutWork, nexus.CriterionTestsFound, nexus.IndependentChecksRun, nexus.BaseFailuresCompared, nexus.CriterionCommandTried, nexus.PlanCoverageChecked, nexus.CriteriaEvidenceRecorded, nexus.RoleIsolationViolated, nexus.TamperSuspected, nexus.VerifierVerdictGiven:
		s.applyAttempt(f, e.At)
	case nexus.TargetLandingRequested, nexus.TargetBranchMoved, nexus.TargetMergeStarted, nexus.TargetMergeCommitted, nexus.TargetMergeRefused:
		s.applyTargetMerge(f, e.At)
	case nexus.WorkReturnedToAuthor, nexus.SuggestionsApplied, nexus.CommentsAnswered, nexus.ChangeRiskRated:
		s.applyComments(f, e.At)
	case nexus.GateJudged:
		s.applyGate(f, e.At)
	case nexus.NetworkRequestsRecorded:
		if a := s.attempts[cmp.Or(f.Attempt, attemptOfSession(f.Session))]; a != nil {
			a.Network = append(a.Network, f)
		}
	case nexus.SessionStarted, nexus.PromptSent, nexus.ModelTurnRecorded, nexus.ToolCallStarted, nexus.ToolCallEnded,
		nexus.ToolResultsSent, nexus.SessionCompacted, nexus.SessionEnded, nexus.AgentConversationOpened, nexus.AgentProgramEnded:
		s.applySession(f, e.At)
	case nexus.BudgetReserved, nexus.BudgetSettled, nexus.ModelCallDelayed, nexus.BudgetRefused, nexus.OtherRunsSpendingRecorded, nexus.BudgetPercentReached:
		s.applyBudget(f, e.At)
	case nexus.AgentQuotaReported, nexus.QuotaExhausted, nexus.QuotaNearlyExhausted, nexus.QuotaReset, nexus.SessionModelSwitched:
		s.applyQuota(f, e.At)
	case nexus.LandingQueued, nexus.LandingStarted, nexus.LandingCompleted, nexus.LandingRejected:
		s.applyLandingQueue(f, e)
	case nexus.CheckpointMade, nexus.CheckpointDropped, nexus.RunRewound, nexus.TaskStateInherited, nexus.UndoStarted, nexus.UndoLanded,
		nexus.UndoRefused:
		s.applyRunPoint(e)
	}
}

// applyRunPoint applies facts about checkpoints and rewinds.
func (s *State) applyRunPoint(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.CheckpointMade, nexus.CheckpointDropped:
		s.applyCheckpoint(e)
	case nexus.RunRewound: // see [State.Apply]
	case nexus.TaskStateInherited:
		s.applyInherited(f, e)
	default:
		s.applyUndo(f, e.At)
	}
}

// setStatus sets the status and remembers the status that a pause or a recovery interrupts.
func (s *State) setStatus(to nexus.RunStatus) {
	held := to == nexus.StatusPaused || to == nexus.StatusRecovering
	if !held && !to.HasEnded() {
		s.phase = to
	}
	s.Status = to
}

// updateClock stops the run's clock while the run is paused, and while it is not running.
func (s *State) updateClock(f nexus.Fact, at time.Time) {
	switch f.(type) {
	case nexus.RunPaused, nexus.RunEnded:
		s.stopClock(at)
	case nexus.RunRecovered:
		s.stopClock(s.heard)
	case nexus.RunResumed:
		if !s.waitsForConsent() && !s.waitsForPerson() {
			s.resumeClock(at)
		}
	default:
		s.updateClockForConsent(f, at)
	}
}

// updateClockForConsent stops the run's clock while it waits for consent to its plan.
func (s *State) updateClockForConsent(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.QuestionAsked:
		if f.Trigger == nexus.PlanTrigger {
			s.stopClock(at)
		}
	case nexus.QuestionAnswered:
		s.resumeClockAfterConsent(f.ID, at)
	case nexus.QuestionExpired:
		s.resumeClockAfterConsent(f.ID, at)
	default:
	}
}

// resumeClockAfterConsent starts the clock again once no answer about the plan is awaited.
func (s *State) resumeClockAfterConsent(id string, at time.Time) {
	if id == s.Consent.Question && s.waitsForConsent() && s.Status != nexus.StatusPaused {
		s.resumeClock(at)
	}
}

func (s *State) applyRun(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.GoalAccepted:
		s.Goal, s.Limits, s.Accepted, s.Tip = f, f.Limits, at, f.Base
		s.Ledger.SetCaps(s.Limits, 0)
	case nexus.RunStarted:
		s.Started, s.Alone, s.Patience = at, f.Alone, f.Patience
		s.Ledger.SetCaps(s.Limits, f.Spent)
	case nexus.RunRecovered:
		s.OverCap, s.Alone, s.Patience = nil, f.Alone, f.Patience
		for _, t := range s.Tasks {
			t.OverCap = nil
		}
		if q := s.QuestionByID(s.Interview.OpenQuestionID()); q != nil {
			q.Deadline = time.Time{} // no process was running to enforce it
		}
		if f.Limits != nil {
			s.Limits = *f.Limits
		}
		s.Ledger.SetCaps(s.Limits, f.Spent)
		s.Pressed = min(s.Pressed, s.Ledger.SpendingPressure())
	case nexus.RunReopened:
		s.Drain, s.Published, s.Why, s.Ended = nil, nil, "", time.Time{}
		if s.deliver = f.Deliver; !f.Deliver {
			s.Result = nil
		}
		s.PlanError, s.PlanOutcome = "", ""
		s.TargetMerge.resetMerge()
		for _, a := range []*AttemptState{s.Planning, s.Mending} {
			if a != nil {
				a.Losses = 0
			}
		}
		if s.CurrentLanding != nil {
			s.CurrentLanding.Merge.Losses = 0
		}
		for _, e := range s.Splits.All {
			s.attempts[e.Attempt].Losses = 0
		}
	case nexus.RunDrainStarted:
		if s.Drain == nil {
			s.Drain = &f
		}
	case nexus.RunEnded:
		s.Why, s.Ended = f.Why, at
	case nexus.FinalGatesJudged:
		s.Result = &f
	case nexus.ResultPublished:
		s.Published, s.out = &f, s.out || f.Branch != ""
	default:
	}
}

// queueRequest queues a request. Guidance, and the text of a retry, also wait for the task's
// agent.
func (s *State) queueRequest(seq int64, r nexus.Request) {
	s.Requests = append(s.Requests, PendingRequest{seq, r})
	s.Requested = max(s.Requested, seq)
	s.recordAddition(seq, r)
	if seq < s.Consent.Aside {
		return // it is about a plan that is gone: the sender's guidance was discarded with it
	}
	s.recordWaiver(r)
	if r.Verb == nexus.VerbTell || r.Verb == nexus.VerbRetry && r.Text != "" {
		s.Guidance = append(s.Guidance, Guidance{Seq: seq, Task: r.Task, Text: r.Text})
	}
	if r.Verb == nexus.VerbInterrupt {
		text := cmp.Or(r.Text, LookAgain)
		s.Guidance = append(s.Guidance, Guidance{Seq: seq, Task: r.Task, Text: text, Cut: true})
	}
}

// settleRequest removes a request from the list.
func (s *State) settleRequest(f nexus.RequestSettled, at time.Time) {
	if i := slices.IndexFunc(s.Requests, func(r PendingRequest) bool { return r.Seq == f.Seq }); i >= 0 && f.Granted {
		s.markTaskHelped(s.Requests[i].Request)
		s.recordGuidance(f.Seq, s.Requests[i].Request)
		switch r := s.Requests[i]; r.Verb {
		case nexus.VerbReview:
			s.applyReview(r, at)
		case nexus.VerbAnswer:
			s.addObjectionComment(r, at)
		default:
		}
	}
	s.Requests = slices.DeleteFunc(s.Requests, func(r PendingRequest) bool { return r.Seq == f.Seq })
	if !f.Granted {
		s.removeGuidance(f.Seq)
		s.Additions = slices.DeleteFunc(s.Additions, func(a *RunAddition) bool { return a.Seq == f.Seq })
	}
}

// removeGuidance removes guidance that an agent received, or that was refused. Readers of the
// old list still see it.
func (s *State) removeGuidance(seq int64) {
	s.Guidance = slices.DeleteFunc(slices.Clone(s.Guidance), func(g Guidance) bool { return g.Seq == seq })
}

// markTaskHelped marks the task that a person helped: with guidance, a retry, a changed or
// approved criterion, or an answer to a question. A model's answer does not count as help.
func (s *State) markTaskHelped(r nexus.Request) {
	id := r.Task
	switch r.Verb {
	case nexus.VerbTell, nexus.VerbRetry, nexus.VerbInterrupt:
	case nexus.VerbRevise, nexus.VerbApprove, nexus.VerbReject:
		task, _, _ := strings.Cut(r.ID, "/AC-")
		id = nexus.TaskID(task)
	case nexus.VerbAnswer:
		if q := s.QuestionByID(r.ID); q != nil {
			if t := s.AskingTask(q); t != nil {
				id = t.ID
			}
		}
	default:
		return
	}
	if t := s.tasks[id]; t != nil && r.By != "auto" {
		t.Helped = true
	}
}

// recordGuidance stores a person's delivered guidance about a task. Answers are stored when
// they are given, and a revised criterion contains its own new text.
func (s *State) recordGuidance(seq int64, r nexus.Request) {
	id, about := r.Task, ""
	switch r.Verb {
	case nexus.VerbTell, nexus.VerbRetry, nexus.VerbInterrupt:
	case nexus.VerbReject:
		task, number, _ := strings.Cut(r.ID, "/AC-")
		id, about = nexus.TaskID(task), "criterion "+number+" is not met"
	default:
		return
	}
	if t := s.tasks[id]; t != nil && r.By != "auto" && strings.TrimSpace(r.Text) != "" {
		t.Said = append(slices.Clip(t.Said), DeliveredGuidance{seq, about, r.Text})
	}
}

// recordWaiver records people's last decision about a criterion.
func (s *State) recordWaiver(r nexus.Request) {
	if r.Verb != nexus.VerbApprove && r.Verb != nexus.VerbReject && r.Verb != nexus.VerbRevise || !strings.Contains(r.ID, "/AC-") {
		return
	}
	s.waived = slices.DeleteFunc(s.waived, func(id string) bool { return id == r.ID })
	if r.Verb == nexus.VerbApprove {
		s.waived = append(s.waived, r.ID)
	}
}

func (s *State) applyPlan(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.PlanningStarted:
		s.PlanTries++
		s.PlanError, s.PlanOutcome = "", ""
		if s.attempts[f.Attempt] == nil {
			s.Planning = &AttemptState{ID: f.Attempt, Base: s.Goal.Base, Began: at, Active: at, Tried: s.evidenceOfRefusedPlan()}
			s.attempts[f.Attempt] = s.Planning
		}
		s.Planning.Stage = Working
	case nexus.PlanProposed:
		s.Proposed, s.Cover, s.Assumed, s.Foreseen = f.Tasks, f.Cover, f.Assumptions, f.Foreseen
		if f.Tasks == 0 {
			s.PlanError = "it has no tasks"
		}
		s.endPlanning(at)
	case nexus.PlanningFailed:
		s.PlanError, s.PlanOutcome = cmp.Or(f.Why, "no reason given"), f.Outcome
		s.endPlanning(at)
	case nexus.PlanApproved:
		s.Planned = true
		s.orderTasks()
	case nexus.TaskPlanned:
		t := &TaskState{Task: f.Task, Status: nexus.Pending, Tier: cmp.Or(f.Task.Tier, nexus.Fast)}
		if t.Attempts = s.void[t.ID]; len(t.Attempts) > 0 { // names that were used before a rewind
			s.countAttempts(t)
			t.Mercy, t.MercyWorked = len(t.Attempts), t.Worked
			delete(s.void, t.ID)
		}
		s.Tasks = append(s.Tasks, t)
		s.tasks[t.ID] = t
	default:
	}
}

func (s *State) applyRoutes(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.ComplexityRatingStarted:
		if s.attempts[f.Attempt] == nil {
			s.Judging = &AttemptState{ID: f.Attempt, Base: s.Goal.Base, Began: at, Active: at}
			s.attempts[f.Attempt] = s.Judging
			s.Judged++
		}
		s.Judging.Stage = Working
		for _, id := range f.Tasks {
			s.asked[id] = true
		}
	case nexus.ComplexityRatingEnded:
		for _, r := range f.Routes {
			s.told[r.Task] = r
		}
		s.Judging.Stage, s.Judging.Finished, s.Judging.Why = Over, at, f.Why
	default:
	}
}

// applyCriterionFixes applies facts about criteria that are not met.
func (s *State) applyCriterionFixes(f nexus.Fact, at time.Time) {
	s.Fixes.Apply(f)
	switch f := f.(type) {
	case nexus.CriterionDiagnosisStarted:
		if s.attempts[f.Attempt] == nil {
			s.Mending = &AttemptState{ID: f.Attempt, Base: s.Tip, Began: at, Active: at}
			s.attempts[f.Attempt] = s.Mending
		}
		s.Mending.Stage = Working
	case nexus.CriterionFaultsFound:
		s.Mending.Stage, s.Mending.Finished = Over, at
	case nexus.FixTasksPlanned:
		s.Result = nil
		s.orderTasks()
	default:
	}
}

// orderTasks orders the planned tasks.
func (s *State) orderTasks() {
	s.Graph, _ = s.taskGraph() // admitted, so it has no cycle
	s.rank, s.urgency = s.Graph.LongestPathMinutes(), nil
	if slices.ContainsFunc(s.Tasks, func(t *TaskState) bool { return t.Priority != "" }) {
		s.urgency = s.Graph.TaskUrgency()
	}
}

// taskGraph orders the planned tasks.
func (s *State) taskGraph() (*taskgraph.TaskGraph, error) {
	tasks := make([]nexus.Task, len(s.Tasks))
	for i, t := range s.Tasks {
		tasks[i] = t.Task
	}
	return taskgraph.NewTaskGraph(tasks)
}

func (s *State) endPlanning(at time.Time) {
	if s.Planning != nil {
		s.Planning.Stage, s.Planning.Finished = Over, at
	}
}

func (s *State) applyTask(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.TaskParked:
		t := s.tasks[f.Task]
		t.Status, t.Why, t.Report, t.Ended = nexus.Parked, f.Why, f.Report, at
		if f.Failed {
			t.Status = nexus.Failed
		}
		s.dequeueLanding(f.Task)
	case nexus.TaskSkipped:
		t := s.tasks[f.Task]
		t.Status, t.Why, t.Ended = nexus.Skipped, "skipped by "+cmp.Or(f.By, "a person"), at
		s.dequeueLanding(f.Task)
	case nexus.TaskRetried:
		s.retryTask(s.tasks[f.Task], f, at)
		s.Splits.Apply(f)
	case nexus.TaskPaused, nexus.TaskResumed, nexus.AgentTurnInterrupted:
		s.applyPause(f, at)
	case nexus.StartTierChosen:
		t := s.tasks[f.Task]
		t.Route, t.Tier, t.Course = &f, f.Tier, f.Strategy
	case nexus.CriterionRevised:
		t := s.tasks[f.Task]
		t.Criteria = slices.Clone(t.Criteria) // workers share the old slice
		t.Criteria[f.Number-1] = f.Criterion
		if f.By != "nexus" { // a useless check was dropped, and the required work is unchanged
			t.Refused, t.Revised = nil, len(t.Attempts) // refusals of work for the old criteria
		}
	case nexus.ReplanRequested:
		if t := s.tasks[f.Task]; t != nil {
			t.Replan = &f
		}
	case nexus.ReplanDecided:
		t := s.tasks[f.Task]
		if t.Replans = append(slices.Clip(t.Replans), f); f.Anew {
			t.MercyWorked = t.Worked
		}
	case nexus.TaskEscalated:
		t := s.tasks[f.Task]
		if t.Tier = f.To; f.Strategy != "" {
			t.Course, t.Turned = f.Strategy, len(t.Attempts)
		}
	case nexus.TaskSplitStarted, nexus.TaskSplitCompleted, nexus.TaskSplitFailed:
		s.applySplit(f, at)
	default:
	}
}

// retryTask gives a task new attempts. Its present attempt continues, in the landing queue if it
// was accepted, unless that is the part that failed, or the new attempt goes back to a round.
func (s *State) retryTask(t *TaskState, f nexus.TaskRetried, at time.Time) {
	t.Back, t.Mercy, t.MercyRounds, t.MercyWorked = &f, len(t.Attempts), t.Rounds, t.Worked
	if f.Fresh {
		t.Fresh = len(t.Attempts)
		t.forgetInheritedWork()
	}
	anew := f.Fresh || f.Round > 0
	switch a := t.CurrentAttempt(); {
	case a == nil:
	case a.Stage == Waiting && (t.Status == nexus.Failed || anew):
		a.Stage, a.Finished = Over, at
	case a.Stage == Waiting, t.Status == nexus.Skipped && a.Outcome == nexus.Accepted && !anew:
		t.Mercy--
	}
	s.resumeTask(t)
	t.Status, t.Why, t.Ended, t.OverCap, t.Replan, t.MercyReplans = nexus.Pending, "", time.Time{}, nil, nil, len(t.Replans)
	t.Retried++
}

// dequeueLanding removes a task from the landing queue.
func (s *State) dequeueLanding(id nexus.TaskID) {
	s.Queue = slices.DeleteFunc(s.Queue, func(t *QueuedLanding) bool { return t.Task == id })
}

func (s *State) applyAttempt(f nexus.Fact, at time.Time) {
	if f, ok := f.(nexus.AttemptStarted); ok {
		t := s.tasks[f.Task]
		a := &AttemptState{
			ID: f.Attempt, Task: f.Task, Tier: f.Tier, Strategy: f.Strategy, Base: f.Base, Start: f.Tree, Since: f.Since, From: f.From, FromRound: f.Round, Asked: f.Asked,
			Stage: Working, Began: at, Active: at, Clock: s.runClock(at),
		}
		a.Warm = s.sharedSession(f.Continues)
		t.Attempts = append(t.Attempts, a)
		s.attempts[a.ID] = a
		t.Status, t.RoundsOf = nexus.Running, 0
		s.Starts++
		if t.Began.IsZero() {
			t.Began = at
		}
		return
	}
	id, _ := requiredAttemptOf(f)
	a := s.attempts[id]
	before := a.Stage
	a.Apply(f, at)
	t := s.tasks[a.Task]
	if t == nil {
		return
	}
	switch {
	case before == Working && a.Stage != Working:
		worked := max(0, s.runClock(at).Sub(a.Clock)-a.WaitTime(at))
		t.Worked, a.Worked = t.Worked+worked, a.Worked+worked
	case before != Working && a.Stage == Working:
		a.Clock = s.runClock(at)
	}
	if f, ok := f.(nexus.VerifierVerdictGiven); ok {
		recordVerification(t, a, f)
	}
	s.updateTaskStatus(t, a, f)
}

// updateTaskStatus updates a task's status from its attempt.
func (s *State) updateTaskStatus(t *TaskState, a *AttemptState, f nexus.Fact) {
	if t.Status.HasEnded() {
		return
	}
	switch f := f.(type) {
	case nexus.RoundStarted:
		t.Rounds++
		t.RoundsOf = len(a.Rounds)
		t.Status = nexus.Running
	case nexus.AttemptResumed:
		t.Status = nexus.Running
	case nexus.GatesVerdictGiven:
		if f.State == nexus.Pass {
			t.Status = nexus.Reviewing
		}
	case nexus.AttemptEnded, nexus.AttemptInfrastructureFailed:
		if a.Outcome != nexus.Accepted {
			t.Status = nexus.Pending
		} else {
			s.resolveFixedComments(t, a)
		}
	default:
	}
}

// recordVerification records the refusals of a task's work. A verdict that could not be read changes
// nothing.
func recordVerification(t *TaskState, a *AttemptState, f nexus.VerifierVerdictGiven) {
	switch {
	case !f.Read:
	case f.Category == "":
		t.Refused = nil
	default:
		t.Refused = append(slices.Clip(t.Refused), VerifierRejection{a.ID, len(a.Rounds), a.Tier, a.Strategy, f.Why})
	}
}

func (s *State) applyGate(f nexus.GateJudged, at time.Time) {
	e := f.Evidence
	if e.State == nexus.Pass || e.State == nexus.Fail {
		s.evidence[evidenceKey{e.Tree, e.Gate}] = e
	}
	if a := s.attempts[f.Attempt]; a != nil {
		a.Apply(f, at)
	}
}

func (s *State) applySession(f nexus.Fact, at time.Time) {
	if f, ok := f.(nexus.SessionStarted); ok {
		a := s.attempts[f.Attempt]
		a.Apply(f, at)
		s.sessions[f.Session] = a.Sessions[len(a.Sessions)-1]
		s.waitForPausedAccount(f, at)
		return
	}
	if f, ok := f.(nexus.PromptSent); ok && f.Request != 0 {
		s.removeGuidance(f.Request)
	}
	if f, ok := f.(nexus.PromptSent); ok && len(f.Comments) > 0 {
		if a := s.attempts[attemptOfSession(f.Session)]; a != nil && s.tasks[a.Task] != nil {
			s.tasks[a.Task].markCommentsDelivered(f)
		}
	}
	if a := s.attempts[cmp.Or(attemptOfSessionFact(f), attemptOfAgentFact(f))]; a != nil {
		a.Apply(f, at)
	}
}

// attemptOfSessionFact returns the attempt of a session's fact.
func attemptOfSessionFact(f nexus.Fact) nexus.AttemptID {
	var id nexus.SessionID
	switch f := f.(type) {
	case nexus.PromptSent:
		id = f.Session
	case nexus.ModelTurnRecorded:
		id = f.Session
	case nexus.ToolCallStarted:
		id = f.Session
	case nexus.ToolCallEnded:
		id = f.Session
	case nexus.ToolResultsSent:
		id = f.Session
	case nexus.SessionCompacted:
		id = f.Session
	case nexus.SessionEnded:
		id = f.Session
	default:
	}
	return attemptOfSession(id)
}

func attemptOfSession(id nexus.SessionID) nexus.AttemptID {
	attempt, _, _ := strings.Cut(string(id), "/")
	return nexus.AttemptID(attempt)
}

func (s *State) applyBudget(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.BudgetReserved:
		s.Ledger.Reserve(f)
		if a := s.attempts[attemptOfSession(f.Session)]; a != nil {
			a.Apply(f, at)
		}
	case nexus.BudgetSettled:
		s.settleSpending(f, at)
	case nexus.ModelCallDelayed:
		if a := s.attempts[attemptOfSession(f.Session)]; a != nil {
			a.Apply(f, at)
		}
	case nexus.BudgetRefused:
		s.recordBudgetRefusal(f)
	case nexus.OtherRunsSpendingRecorded:
		s.Ledger.SetOthersSpent(f)
	case nexus.BudgetPercentReached:
		s.Pressed = f.Percent
	default:
	}
}

// settleSpending settles a reservation and adds it to the totals of the run, the task and the session,
// and to the cost tables.
func (s *State) settleSpending(f nexus.BudgetSettled, at time.Time) {
	r, ok := s.Ledger.SettleCall(f)
	if !ok {
		return
	}
	s.recordCost(r, f)
	if t := s.tasks[r.Task]; t != nil {
		t.Spent += f.Money
		t.Usage = t.Usage.Add(f.Usage)
	}
	if c := s.sessionByID(r.Session); c != nil {
		c.Spent += f.Money
		c.Usage = c.Usage.Add(f.Usage)
		c.endCall(f.ID, at)
	}
}

// recordBudgetRefusal records the cap that refused a call, until the cap is raised.
func (s *State) recordBudgetRefusal(f nexus.BudgetRefused) {
	if t := s.tasks[f.Task]; t != nil && f.Cap == "task" {
		t.OverCap = &f
		return
	}
	s.OverCap = &f
}
