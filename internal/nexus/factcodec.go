package nexus

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// zeroFacts returns the zero value of every fact, in the order of a run's life. A new fact must
// be added here and to its own fact method below, and nowhere else.
func zeroFacts() []Fact {
	return append([]Fact(nil), // a call, which is formatted in few lines
		GoalAccepted{}, RunChecked{}, RunStarted{}, RunRecovered{}, StartSought{}, StartJudged{}, HookRan{}, PluginAnswered{}, RunPaused{}, RunResumed{}, RunReopened{}, RunDrained{},
		ResultGated{}, ResultReviewed{}, FaultsSought{}, FaultsFound{}, FixesPlanned{}, ResultOffered{}, LandingAsked{}, TargetMoved{}, LandingSought{}, LandingMerged{}, LandingRefused{}, ResultPublished{}, RunEnded{}, AlertRaised{}, AlertCleared{}, ReplanAsked{}, ReplanDecided{}, RequestMade{},
		RequestSettled{}, QuestionAsked{}, QuestionLeft{}, QuestionAnswered{}, InterviewSought{}, InterviewHeard{}, InterviewFailed{}, SpecSought{}, SpecWritten{}, SpecFailed{},
		RequirementCaptured{}, RequirementWithdrawn{}, PartWithdrawn{}, InterviewCorrected{}, AssumptionStated{}, AssumptionLocked{}, PlanSought{}, CheckTried{}, PlanLooked{}, PlanProposed{}, PlanFailed{},
		TaskPlanned{}, PlanApproved{}, PlanRefused{}, PlanRevised{}, TaskParked{}, SplitSought{}, TaskSplit{}, SplitFailed{}, TaskSkipped{}, TaskPaused{}, TaskResumed{}, TaskRetried{}, CriterionRevised{}, RoutesSought{},
		RoutesTold{}, TaskRouted{}, RoleRouted{}, TaskEscalated{}, LaneFormed{}, AttemptStarted{}, AttemptResumed{},
		AttemptInterrupted{}, AttemptLost{}, AttemptBroken{}, AttemptEnded{}, StartForgone{}, RoundStarted{}, TestsProved{}, ChecksProved{}, ChecksReproduced{}, RedSeen{}, CriteriaWeighed{}, IsolationBroken{}, TamperSuspected{},
		GateStarted{}, GateJudged{}, VerdictGiven{}, WorkVerified{}, ReviewGiven{}, TreeSnapshotted{}, SessionStarted{},
		PromptSent{}, TurnTaken{}, ToolCalled{}, ToolAnswered{}, NetworkJudged{}, ToolsAnswered{}, SessionCompacted{},
		SessionEnded{}, AgentOpened{}, AgentLimited{}, AgentRenewed{}, AgentEnded{}, BudgetReserved{}, BudgetSpent{}, CallDelayed{}, QuotaHit{}, QuotaHeld{}, QuotaReset{},
		ModelSwitched{}, BudgetRefused{}, BudgetShared{}, BudgetPressed{}, TrainBoarded{}, TrainDeparted{},
		TrainLanded{}, TrainRefused{}, EnvironmentPrepared{},
		AdditionSought{}, AdditionProposed{}, AdditionFailed{}, TasksAdded{},
		CheckpointMade{}, CheckpointDropped{}, RunRewound{}, TaskInherited{}, UndoSought{}, UndoLanded{}, UndoRefused{},
		LoopOpened{}, CycleStarted{}, CycleLooked{}, CycleFailed{}, LoopRested{},
		ItemTaken{}, ItemWorked{}, ItemKept{}, ItemOffered{}, ItemLanded{},
		LandingWatched{}, LandingWeighed{}, RevertSought{}, ItemReverted{}, RevertFailed{}, ResultSettled{},
		PullSought{}, PullTold{}, PullFailed{}, PullClosed{},
		WorkReturned{}, CommentsApplied{}, CommentsAnswered{}, ChangeWeighed{},
	)
}

var types = factTypes(zeroFacts()) //nolint:gochecknoglobals // never written again

func factTypes(facts []Fact) map[string]reflect.Type {
	all := make(map[string]reflect.Type, len(facts))
	for _, f := range facts {
		all[f.fact()] = reflect.TypeOf(f)
	}
	return all
}

// FactKinds returns the kind of every fact, in the order of a run's life.
func FactKinds() []string {
	var all []string
	for _, f := range zeroFacts() {
		all = append(all, f.fact())
	}
	return all
}

// FactKind returns a fact's name on the wire: "noun.verb", in the past tense.
func FactKind(f Fact) string { return f.fact() }

// EncodeFact returns a fact's kind and its JSON.
func EncodeFact(f Fact) (kind string, data []byte, err error) {
	data, err = json.Marshal(f)
	if err != nil {
		return "", nil, fmt.Errorf("encode %s: %w", f.fact(), err)
	}
	return f.fact(), data, nil
}

// DecodeFact decodes the output of [EncodeFact]. An unknown kind is an error: a newer version
// wrote the journal.
func DecodeFact(kind string, data []byte) (Fact, error) {
	t, ok := types[kind]
	if !ok {
		return nil, &Error{
			Code: CodeJournalNewer, Message: fmt.Sprintf("unknown fact %q", kind),
			Hint: "A newer nexus wrote the journal; use that version or a newer one.",
		}
	}
	v := reflect.New(t)
	if err := json.Unmarshal(data, v.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	f, _ := v.Elem().Interface().(Fact) // types holds facts only
	return f, nil
}

func (GoalAccepted) fact() string         { return "goal.accepted" }
func (AlertRaised) fact() string          { return "alert.raised" }
func (AlertCleared) fact() string         { return "alert.cleared" }
func (ReplanAsked) fact() string          { return "replan.asked" }
func (ReplanDecided) fact() string        { return "replan.decided" }
func (RunChecked) fact() string           { return "run.checked" }
func (RunStarted) fact() string           { return "run.started" }
func (RunRecovered) fact() string         { return "run.recovered" }
func (StartSought) fact() string          { return "start.sought" }
func (StartJudged) fact() string          { return "start.judged" }
func (HookRan) fact() string              { return "hook.ran" }
func (PluginAnswered) fact() string       { return "plugin.answered" }
func (RunPaused) fact() string            { return "run.paused" }
func (RunResumed) fact() string           { return "run.resumed" }
func (RunReopened) fact() string          { return "run.reopened" }
func (RunDrained) fact() string           { return "run.drained" }
func (ResultGated) fact() string          { return "result.gated" }
func (ResultReviewed) fact() string       { return "result.reviewed" }
func (FaultsSought) fact() string         { return "faults.sought" }
func (FaultsFound) fact() string          { return "faults.found" }
func (FixesPlanned) fact() string         { return "fixes.planned" }
func (ResultOffered) fact() string        { return "result.offered" }
func (LandingAsked) fact() string         { return "landing.asked" }
func (TargetMoved) fact() string          { return "target.moved" }
func (LandingSought) fact() string        { return "landing.sought" }
func (LandingMerged) fact() string        { return "landing.merged" }
func (LandingRefused) fact() string       { return "landing.refused" }
func (ResultPublished) fact() string      { return "result.published" }
func (RunEnded) fact() string             { return "run.ended" }
func (RequestMade) fact() string          { return "request.made" }
func (RequestSettled) fact() string       { return "request.settled" }
func (QuestionAsked) fact() string        { return "question.asked" }
func (QuestionLeft) fact() string         { return "question.left" }
func (QuestionAnswered) fact() string     { return "question.answered" }
func (PlanSought) fact() string           { return "plan.sought" }
func (CheckTried) fact() string           { return "check.tried" }
func (PlanLooked) fact() string           { return "plan.looked" }
func (PlanProposed) fact() string         { return "plan.proposed" }
func (PlanFailed) fact() string           { return "plan.failed" }
func (TaskPlanned) fact() string          { return "task.planned" }
func (PlanApproved) fact() string         { return "plan.approved" }
func (PlanRefused) fact() string          { return "plan.refused" }
func (PlanRevised) fact() string          { return "plan.revised" }
func (TaskParked) fact() string           { return "task.parked" }
func (SplitSought) fact() string          { return "split.sought" }
func (TaskSplit) fact() string            { return "task.split" }
func (SplitFailed) fact() string          { return "split.failed" }
func (TaskSkipped) fact() string          { return "task.skipped" }
func (TaskPaused) fact() string           { return "task.paused" }
func (TaskResumed) fact() string          { return "task.resumed" }
func (TaskRetried) fact() string          { return "task.retried" }
func (RoutesSought) fact() string         { return "routes.sought" }
func (RoutesTold) fact() string           { return "routes.told" }
func (TaskRouted) fact() string           { return "task.routed" }
func (RoleRouted) fact() string           { return "role.routed" }
func (CriterionRevised) fact() string     { return "criterion.revised" }
func (TaskEscalated) fact() string        { return "task.escalated" }
func (LaneFormed) fact() string           { return "lane.formed" }
func (AttemptStarted) fact() string       { return "attempt.started" }
func (AttemptResumed) fact() string       { return "attempt.resumed" }
func (AttemptInterrupted) fact() string   { return "attempt.interrupted" }
func (AttemptLost) fact() string          { return "attempt.lost" }
func (AttemptBroken) fact() string        { return "attempt.broken" }
func (AttemptEnded) fact() string         { return "attempt.ended" }
func (RoundStarted) fact() string         { return "round.started" }
func (TestsProved) fact() string          { return "tests.proved" }
func (ChecksProved) fact() string         { return "checks.proved" }
func (ChecksReproduced) fact() string     { return "checks.reproduced" }
func (StartForgone) fact() string         { return "start.forgone" }
func (RedSeen) fact() string              { return "red.seen" }
func (CriteriaWeighed) fact() string      { return "criteria.weighed" }
func (IsolationBroken) fact() string      { return "isolation.broken" }
func (TamperSuspected) fact() string      { return "tamper.suspected" }
func (WorkVerified) fact() string         { return "work.verified" }
func (GateStarted) fact() string          { return "gate.started" }
func (GateJudged) fact() string           { return "gate.judged" }
func (VerdictGiven) fact() string         { return "verdict.given" }
func (ReviewGiven) fact() string          { return "review.given" }
func (TreeSnapshotted) fact() string      { return "tree.snapshotted" }
func (SessionStarted) fact() string       { return "session.started" }
func (PromptSent) fact() string           { return "prompt.sent" }
func (TurnTaken) fact() string            { return "turn.taken" }
func (ToolCalled) fact() string           { return "tool.called" }
func (ToolAnswered) fact() string         { return "tool.answered" }
func (NetworkJudged) fact() string        { return "network.judged" }
func (ToolsAnswered) fact() string        { return "tools.answered" }
func (SessionCompacted) fact() string     { return "session.compacted" }
func (SessionEnded) fact() string         { return "session.ended" }
func (AgentOpened) fact() string          { return "agent.opened" }
func (AgentLimited) fact() string         { return "agent.limited" }
func (AgentRenewed) fact() string         { return "agent.renewed" }
func (AgentEnded) fact() string           { return "agent.ended" }
func (BudgetReserved) fact() string       { return "budget.reserved" }
func (BudgetSpent) fact() string          { return "budget.spent" }
func (CallDelayed) fact() string          { return "call.delayed" }
func (QuotaHit) fact() string             { return "quota.hit" }
func (QuotaHeld) fact() string            { return "quota.held" }
func (QuotaReset) fact() string           { return "quota.reset" }
func (ModelSwitched) fact() string        { return "model.switched" }
func (BudgetShared) fact() string         { return "budget.shared" }
func (BudgetPressed) fact() string        { return "budget.pressed" }
func (BudgetRefused) fact() string        { return "budget.refused" }
func (TrainBoarded) fact() string         { return "train.boarded" }
func (TrainDeparted) fact() string        { return "train.departed" }
func (TrainLanded) fact() string          { return "train.landed" }
func (TrainRefused) fact() string         { return "train.refused" }
func (EnvironmentPrepared) fact() string  { return "environment.prepared" }
func (InterviewSought) fact() string      { return "interview.sought" }
func (InterviewHeard) fact() string       { return "interview.heard" }
func (InterviewFailed) fact() string      { return "interview.failed" }
func (SpecSought) fact() string           { return "spec.sought" }
func (SpecWritten) fact() string          { return "spec.written" }
func (SpecFailed) fact() string           { return "spec.failed" }
func (RequirementCaptured) fact() string  { return "requirement.captured" }
func (RequirementWithdrawn) fact() string { return "requirement.withdrawn" }
func (PartWithdrawn) fact() string        { return "part.withdrawn" }
func (InterviewCorrected) fact() string   { return "interview.corrected" }
func (AssumptionStated) fact() string     { return "assumption.stated" }
func (AssumptionLocked) fact() string     { return "assumption.locked" }
func (AdditionSought) fact() string       { return "addition.sought" }
func (AdditionProposed) fact() string     { return "addition.proposed" }
func (AdditionFailed) fact() string       { return "addition.failed" }
func (TasksAdded) fact() string           { return "tasks.added" }
func (CheckpointMade) fact() string       { return "checkpoint.made" }
func (CheckpointDropped) fact() string    { return "checkpoint.dropped" }
func (RunRewound) fact() string           { return "run.rewound" }
func (TaskInherited) fact() string        { return "task.inherited" }
func (UndoSought) fact() string           { return "undo.sought" }
func (UndoLanded) fact() string           { return "undo.landed" }
func (UndoRefused) fact() string          { return "undo.refused" }
func (LoopOpened) fact() string           { return "loop.opened" }
func (CycleStarted) fact() string         { return "cycle.started" }
func (CycleLooked) fact() string          { return "cycle.looked" }
func (CycleFailed) fact() string          { return "cycle.failed" }
func (LoopRested) fact() string           { return "loop.rested" }
func (ItemTaken) fact() string            { return "item.taken" }
func (ItemWorked) fact() string           { return "item.worked" }
func (ItemKept) fact() string             { return "item.kept" }
func (ItemOffered) fact() string          { return "item.offered" }
func (ItemLanded) fact() string           { return "item.landed" }
func (LandingWatched) fact() string       { return "landing.watched" }
func (LandingWeighed) fact() string       { return "landing.weighed" }
func (RevertSought) fact() string         { return "revert.sought" }
func (ItemReverted) fact() string         { return "item.reverted" }
func (RevertFailed) fact() string         { return "revert.failed" }
func (ResultSettled) fact() string        { return "result.settled" }
func (PullSought) fact() string           { return "pull.sought" }
func (PullTold) fact() string             { return "pull.told" }
func (PullFailed) fact() string           { return "pull.failed" }
func (PullClosed) fact() string           { return "pull.closed" }
func (WorkReturned) fact() string         { return "work.returned" }
func (CommentsApplied) fact() string      { return "comments.applied" }
func (CommentsAnswered) fact() string     { return "comments.answered" }
func (ChangeWeighed) fact() string        { return "change.weighed" }
