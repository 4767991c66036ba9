package state

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/graph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applySideEffects applies an event's effects on the status, the clock and open questions.
func (s *State) applySideEffects(e nexus.Event) {
	if to, err := s.nextRunStatus(e.Fact); err == nil {
		s.moveTo(to)
	}
	s.updateClock(e.Fact, e.At)
	s.trackGates(e.Fact, e.At)
	s.applyStart(e.Fact)
	s.applyConsent(e)
	s.asksAddition(e.Fact)
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
	case nexus.GoalAccepted, nexus.RunStarted, nexus.RunRecovered, nexus.RunReopened, nexus.RunDrained,
		nexus.RunEnded, nexus.ResultGated, nexus.ResultPublished:
		s.applyRun(f, e.At)
	case nexus.AlertRaised, nexus.AlertCleared, nexus.RunChecked, nexus.EnvironmentPrepared, nexus.GateStarted, nexus.RunPaused, nexus.RunResumed, nexus.ResultReviewed, nexus.ResultOffered,
		nexus.StartSought, nexus.StartJudged, nexus.HookRan, nexus.PluginAnswered, nexus.AgentRenewed,
		nexus.LoopOpened, nexus.CycleStarted, nexus.CycleLooked, nexus.CycleFailed, nexus.LoopRested, nexus.ItemTaken,
		nexus.ItemWorked, nexus.ItemKept, nexus.ItemOffered, nexus.ItemLanded, nexus.LandingWatched, nexus.LandingWeighed, nexus.RevertSought, nexus.ItemReverted,
		nexus.RevertFailed, nexus.ResultSettled, nexus.PullSought, nexus.PullTold, nexus.PullFailed, nexus.PullClosed,
		nexus.RequirementCaptured, nexus.RequirementWithdrawn, nexus.PartWithdrawn, nexus.InterviewCorrected, nexus.AssumptionLocked:
		// The other facts need no case here: Interview stores requirements, the status covers
		// the run's life, Alerts the alerts, Gating the running gates, and Start the hooks.
		// The consequences of a plugin's answer are facts of their own. Package
		// decide/improve folds a loop.
	case nexus.RequestMade:
		s.queueRequest(e.Seq, f.Request)
	case nexus.RequestSettled:
		s.settleRequest(f, e.At)
	case nexus.QuestionAsked, nexus.QuestionLeft, nexus.QuestionAnswered:
		s.applyQuestion(f, e.At)
	case nexus.PlanSought, nexus.PlanProposed, nexus.PlanFailed, nexus.PlanApproved, nexus.PlanRefused, nexus.PlanRevised, nexus.TaskPlanned:
		s.applyPlan(f, e.At)
	case nexus.InterviewSought, nexus.InterviewHeard, nexus.InterviewFailed:
		s.applyInterview(f, e.At)
	case nexus.SpecSought, nexus.SpecWritten, nexus.SpecFailed:
		s.applySpec(f, e.At)
	case nexus.AssumptionStated:
		s.recordAssumption(f)
	case nexus.RoutesSought, nexus.RoutesTold:
		s.applyRoutes(f, e.At)
	case nexus.FaultsSought, nexus.FaultsFound, nexus.FixesPlanned:
		s.applyFixes(f, e.At)
	case nexus.AdditionSought, nexus.AdditionProposed, nexus.AdditionFailed, nexus.TasksAdded:
		s.applyAddition(f, e.At)
	case nexus.TaskParked, nexus.TaskSkipped, nexus.TaskPaused, nexus.TaskResumed, nexus.AttemptInterrupted, nexus.TaskRetried, nexus.TaskRouted, nexus.TaskEscalated, nexus.ReplanAsked, nexus.ReplanDecided, nexus.CriterionRevised,
		nexus.SplitSought, nexus.TaskSplit, nexus.SplitFailed:
		s.applyTask(f, e.At)
	case nexus.RoleRouted, nexus.LaneFormed:
		s.applyShares(f)
	case nexus.AttemptStarted, nexus.AttemptResumed, nexus.AttemptLost, nexus.AttemptBroken,
		nexus.AttemptEnded, nexus.StartForgone, nexus.RoundStarted, nexus.VerdictGiven, nexus.ReviewGiven, nexus.TreeSnapshotted,
		nexus.TestsProved, nexus.ChecksProved, nexus.ChecksReproduced, nexus.RedSeen, nexus.CheckTried, nexus.PlanLooked, nexus.CriteriaWeighed, nexus.IsolationBroken, nexus.TamperSuspected, nexus.WorkVerified:
		s.applyAttempt(f, e.At)
	case nexus.LandingAsked, nexus.TargetMoved, nexus.LandingSought, nexus.LandingMerged, nexus.LandingRefused:
		s.applyTargetMerge(f, e.At)
	case nexus.WorkReturned, nexus.CommentsApplied, nexus.CommentsAnswered, nexus.ChangeWeighed:
		s.applyComments(f, e.At)
	case nexus.GateJudged:
		s.applyGate(f, e.At)
	case nexus.NetworkJudged:
		if a := s.attempts[cmp.Or(f.Attempt, attemptOfSession(f.Session))]; a != nil {
			a.Network = append(a.Network, f)
		}
	case nexus.SessionStarted, nexus.PromptSent, nexus.TurnTaken, nexus.ToolCalled, nexus.ToolAnswered,
		nexus.ToolsAnswered, nexus.SessionCompacted, nexus.SessionEnded, nexus.AgentOpened, nexus.AgentEnded:
		s.applySession(f, e.At)
	case nexus.BudgetReserved, nexus.BudgetSpent, nexus.CallDelayed, nexus.BudgetRefused, nexus.BudgetShared, nexus.BudgetPressed:
		s.applyBudget(f, e.At)
	case nexus.AgentLimited, nexus.QuotaHit, nexus.QuotaHeld, nexus.QuotaReset, nexus.ModelSwitched:
		s.applyQuota(f, e.At)
	case nexus.TrainBoarded, nexus.TrainDeparted, nexus.TrainLanded, nexus.TrainRefused:
		s.applyTrain(f, e)
	case nexus.CheckpointMade, nexus.CheckpointDropped, nexus.RunRewound, nexus.TaskInherited, nexus.UndoSought, nexus.UndoLanded,
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
	case nexus.TaskInherited:
		s.applyInherited(f, e)
	default:
		s.applyUndo(f, e.At)
	}
}

// moveTo sets the status and remembers the status that a pause or a recovery interrupts.
func (s *State) moveTo(to nexus.RunStatus) {
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
	case nexus.QuestionLeft:
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
		for _, a := range []*Attempt{s.Planning, s.Mending} {
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
	case nexus.RunDrained:
		if s.Drain == nil {
			s.Drain = &f
		}
	case nexus.RunEnded:
		s.Why, s.Ended = f.Why, at
	case nexus.ResultGated:
		s.Result = &f
	case nexus.ResultPublished:
		s.Published, s.out = &f, s.out || f.Branch != ""
	default:
	}
}

// queueRequest queues a request. Guidance, and the text of a retry, also wait for the task's
// agent.
func (s *State) queueRequest(seq int64, r nexus.Request) {
	s.Requests = append(s.Requests, Request{seq, r})
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
	if i := slices.IndexFunc(s.Requests, func(r Request) bool { return r.Seq == f.Seq }); i >= 0 && f.Granted {
		s.markHelped(s.Requests[i].Request)
		s.recordGuidance(f.Seq, s.Requests[i].Request)
		switch r := s.Requests[i]; r.Verb {
		case nexus.VerbReview:
			s.applyReview(r, at)
		case nexus.VerbAnswer:
			s.addObjectionComment(r, at)
		default:
		}
	}
	s.Requests = slices.DeleteFunc(s.Requests, func(r Request) bool { return r.Seq == f.Seq })
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

// markHelped marks the task that a person helped: with guidance, a retry, a changed or
// approved criterion, or an answer to a question. A model's answer does not count as help.
func (s *State) markHelped(r nexus.Request) {
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
	case nexus.PlanSought:
		s.PlanTries++
		s.PlanError, s.PlanOutcome = "", ""
		if s.attempts[f.Attempt] == nil {
			s.Planning = &Attempt{ID: f.Attempt, Base: s.Goal.Base, Began: at, Active: at, Tried: s.evidenceOfRefusedPlan()}
			s.attempts[f.Attempt] = s.Planning
		}
		s.Planning.Stage = Working
	case nexus.PlanProposed:
		s.Proposed, s.Cover, s.Assumed, s.Foreseen = f.Tasks, f.Cover, f.Assumptions, f.Foreseen
		if f.Tasks == 0 {
			s.PlanError = "it has no tasks"
		}
		s.endPlanning(at)
	case nexus.PlanFailed:
		s.PlanError, s.PlanOutcome = cmp.Or(f.Why, "no reason given"), f.Outcome
		s.endPlanning(at)
	case nexus.PlanApproved:
		s.Planned = true
		s.orderTasks()
	case nexus.TaskPlanned:
		t := &Task{Task: f.Task, Status: nexus.Pending, Tier: cmp.Or(f.Task.Tier, nexus.Fast)}
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
	case nexus.RoutesSought:
		if s.attempts[f.Attempt] == nil {
			s.Judging = &Attempt{ID: f.Attempt, Base: s.Goal.Base, Began: at, Active: at}
			s.attempts[f.Attempt] = s.Judging
			s.Judged++
		}
		s.Judging.Stage = Working
		for _, id := range f.Tasks {
			s.asked[id] = true
		}
	case nexus.RoutesTold:
		for _, r := range f.Routes {
			s.told[r.Task] = r
		}
		s.Judging.Stage, s.Judging.Finished, s.Judging.Why = Over, at, f.Why
	default:
	}
}

// applyFixes applies facts about criteria that are not met.
func (s *State) applyFixes(f nexus.Fact, at time.Time) {
	s.Fixes.Apply(f)
	switch f := f.(type) {
	case nexus.FaultsSought:
		if s.attempts[f.Attempt] == nil {
			s.Mending = &Attempt{ID: f.Attempt, Base: s.Tip, Began: at, Active: at}
			s.attempts[f.Attempt] = s.Mending
		}
		s.Mending.Stage = Working
	case nexus.FaultsFound:
		s.Mending.Stage, s.Mending.Finished = Over, at
	case nexus.FixesPlanned:
		s.Result = nil
		s.orderTasks()
	default:
	}
}

// orderTasks orders the planned tasks.
func (s *State) orderTasks() {
	s.Graph, _ = s.taskGraph() // admitted, so it has no cycle
	s.rank, s.urgency = s.Graph.TaskRanks(), nil
	if slices.ContainsFunc(s.Tasks, func(t *Task) bool { return t.Priority != "" }) {
		s.urgency = s.Graph.TaskUrgency()
	}
}

// taskGraph orders the planned tasks.
func (s *State) taskGraph() (*graph.TaskGraph, error) {
	tasks := make([]nexus.Task, len(s.Tasks))
	for i, t := range s.Tasks {
		tasks[i] = t.Task
	}
	return graph.New(tasks)
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
	case nexus.TaskPaused, nexus.TaskResumed, nexus.AttemptInterrupted:
		s.applyPause(f, at)
	case nexus.TaskRouted:
		t := s.tasks[f.Task]
		t.Route, t.Tier, t.Course = &f, f.Tier, f.Strategy
	case nexus.CriterionRevised:
		t := s.tasks[f.Task]
		t.Criteria = slices.Clone(t.Criteria) // workers share the old slice
		t.Criteria[f.Number-1] = f.Criterion
		if f.By != "nexus" { // a useless check was dropped, and the required work is unchanged
			t.Refused, t.Revised = nil, len(t.Attempts) // refusals of work for the old criteria
		}
	case nexus.ReplanAsked:
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
	case nexus.SplitSought, nexus.TaskSplit, nexus.SplitFailed:
		s.applySplit(f, at)
	default:
	}
}

// retryTask gives a task new attempts. Its present attempt continues, in the landing queue if it
// was accepted, unless that is the part that failed, or the new attempt goes back to a round.
func (s *State) retryTask(t *Task, f nexus.TaskRetried, at time.Time) {
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
		a := &Attempt{
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
	if f, ok := f.(nexus.WorkVerified); ok {
		recordVerification(t, a, f)
	}
	s.updateTaskStatus(t, a, f)
}

// updateTaskStatus updates a task's status from its attempt.
func (s *State) updateTaskStatus(t *Task, a *Attempt, f nexus.Fact) {
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
	case nexus.VerdictGiven:
		if f.State == nexus.Pass {
			t.Status = nexus.Reviewing
		}
	case nexus.AttemptEnded, nexus.AttemptBroken:
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
func recordVerification(t *Task, a *Attempt, f nexus.WorkVerified) {
	switch {
	case !f.Read:
	case f.Category == "":
		t.Refused = nil
	default:
		t.Refused = append(slices.Clip(t.Refused), Refusal{a.ID, len(a.Rounds), a.Tier, a.Strategy, f.Why})
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
		s.restForParkedAccount(f, at)
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
	case nexus.TurnTaken:
		id = f.Session
	case nexus.ToolCalled:
		id = f.Session
	case nexus.ToolAnswered:
		id = f.Session
	case nexus.ToolsAnswered:
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
	case nexus.BudgetSpent:
		s.settleSpending(f, at)
	case nexus.CallDelayed:
		if a := s.attempts[attemptOfSession(f.Session)]; a != nil {
			a.Apply(f, at)
		}
	case nexus.BudgetRefused:
		s.recordBudgetRefusal(f)
	case nexus.BudgetShared:
		s.Ledger.SetOthersSpent(f)
	case nexus.BudgetPressed:
		s.Pressed = f.Percent
	default:
	}
}

// settleSpending settles a reservation and adds it to the totals of the run, the task and the session,
// and to the cost tables.
func (s *State) settleSpending(f nexus.BudgetSpent, at time.Time) {
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
