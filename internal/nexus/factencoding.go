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
		GoalAccepted{}, RunPrechecked{}, RunStarted{}, RunRecovered{}, StartHooksAsked{}, StartHooksAnswered{}, HookRan{}, PluginAnswered{}, RunPaused{}, RunResumed{}, RunReopened{}, RunDrainStarted{},
		FinalGatesJudged{}, FinalGatesStarted{}, CriterionDiagnosisStarted{}, CriterionFaultsFound{}, FixTasksPlanned{}, ResultPublishingStarted{}, TargetLandingRequested{}, TargetBranchMoved{}, TargetMergeStarted{}, TargetMergeCommitted{}, TargetMergeRefused{}, ResultPublished{}, RunEnded{}, AlertRaised{}, AlertCleared{}, ReplanRequested{}, ReplanDecided{}, RequestMade{},
		RequestSettled{}, QuestionAsked{}, QuestionExpired{}, QuestionAnswered{}, InterviewRoundStarted{}, InterviewRoundEnded{}, InterviewRoundFailed{}, SpecWritingStarted{}, SpecWritten{}, SpecWritingFailed{},
		RequirementCaptured{}, RequirementWithdrawn{}, SpecPartWithdrawn{}, SpecPartsCorrected{}, AssumptionStated{}, AssumptionConfirmed{}, PlanningStarted{}, CriterionCommandTried{}, PlanCoverageChecked{}, PlanProposed{}, PlanningFailed{},
		TaskPlanned{}, PlanApproved{}, PlanRejected{}, PlanRevised{}, TaskParked{}, TaskSplitStarted{}, TaskSplitCompleted{}, TaskSplitFailed{}, TaskSkipped{}, TaskPaused{}, TaskResumed{}, TaskRetried{}, CriterionRevised{}, ComplexityRatingStarted{},
		ComplexityRatingEnded{}, StartTierChosen{}, ReviewModelChosen{}, TaskEscalated{}, SharedSessionGroupFormed{}, AttemptStarted{}, AttemptResumed{},
		AgentTurnInterrupted{}, AttemptLost{}, AttemptInfrastructureFailed{}, AttemptEnded{}, StartingTreeRejected{}, RoundStarted{}, TestsRunWithoutWork{}, CriterionTestsFound{}, IndependentChecksRun{}, BaseFailuresCompared{}, CriteriaEvidenceRecorded{}, RoleIsolationViolated{}, TamperSuspected{},
		GateStarted{}, GateJudged{}, GatesVerdictGiven{}, VerifierVerdictGiven{}, ReviewerVerdictGiven{}, TreeSnapshotted{}, SessionStarted{},
		PromptSent{}, ModelTurnRecorded{}, ToolCallStarted{}, ToolCallEnded{}, NetworkRequestsRecorded{}, ToolResultsSent{}, SessionCompacted{},
		SessionEnded{}, AgentConversationOpened{}, AgentQuotaReported{}, AgentLoginRenewed{}, AgentProgramEnded{}, BudgetReserved{}, BudgetSettled{}, ModelCallDelayed{}, QuotaExhausted{}, QuotaNearlyExhausted{}, QuotaReset{},
		SessionModelSwitched{}, BudgetRefused{}, OtherRunsSpendingRecorded{}, BudgetPercentReached{}, LandingQueued{}, LandingStarted{},
		LandingCompleted{}, LandingRejected{}, DependenciesInstalled{},
		AdditionPlanningStarted{}, AdditionTasksProposed{}, AdditionPlanningFailed{}, TasksAdded{},
		CheckpointMade{}, CheckpointDropped{}, RunRewound{}, TaskStateInherited{}, UndoStarted{}, UndoLanded{}, UndoRefused{},
		LoopRulesSet{}, ImproveCycleStarted{}, ImproveCycleSearched{}, ImproveCycleFailed{}, LoopPauseStarted{},
		LoopItemWorkStarted{}, LoopItemWorkEnded{}, LoopItemLandingConfirmed{}, LoopItemLandingStarted{}, LoopItemLanded{},
		CheckAfterLandingStarted{}, LandingCheckEnded{}, LoopItemRevertStarted{}, LoopItemReverted{}, LoopItemRevertFailed{}, WaitingResultDecided{},
		PullRequestUpdateStarted{}, PullRequestUpdated{}, PullRequestUpdateFailed{}, PullRequestClosed{},
		WorkReturnedToAuthor{}, SuggestionsApplied{}, CommentsAnswered{}, ChangeRiskRated{},
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

func (GoalAccepted) fact() string                { return "goal.accepted" }
func (AlertRaised) fact() string                 { return "alert.raised" }
func (AlertCleared) fact() string                { return "alert.cleared" }
func (ReplanRequested) fact() string             { return "replan.asked" }
func (ReplanDecided) fact() string               { return "replan.decided" }
func (RunPrechecked) fact() string               { return "run.checked" }
func (RunStarted) fact() string                  { return "run.started" }
func (RunRecovered) fact() string                { return "run.recovered" }
func (StartHooksAsked) fact() string             { return "start.sought" }
func (StartHooksAnswered) fact() string          { return "start.judged" }
func (HookRan) fact() string                     { return "hook.ran" }
func (PluginAnswered) fact() string              { return "plugin.answered" }
func (RunPaused) fact() string                   { return "run.paused" }
func (RunResumed) fact() string                  { return "run.resumed" }
func (RunReopened) fact() string                 { return "run.reopened" }
func (RunDrainStarted) fact() string             { return "run.drained" }
func (FinalGatesJudged) fact() string            { return "result.gated" }
func (FinalGatesStarted) fact() string           { return "result.reviewed" }
func (CriterionDiagnosisStarted) fact() string   { return "faults.sought" }
func (CriterionFaultsFound) fact() string        { return "faults.found" }
func (FixTasksPlanned) fact() string             { return "fixes.planned" }
func (ResultPublishingStarted) fact() string     { return "result.offered" }
func (TargetLandingRequested) fact() string      { return "landing.asked" }
func (TargetBranchMoved) fact() string           { return "target.moved" }
func (TargetMergeStarted) fact() string          { return "landing.sought" }
func (TargetMergeCommitted) fact() string        { return "landing.merged" }
func (TargetMergeRefused) fact() string          { return "landing.refused" }
func (ResultPublished) fact() string             { return "result.published" }
func (RunEnded) fact() string                    { return "run.ended" }
func (RequestMade) fact() string                 { return "request.made" }
func (RequestSettled) fact() string              { return "request.settled" }
func (QuestionAsked) fact() string               { return "question.asked" }
func (QuestionExpired) fact() string             { return "question.left" }
func (QuestionAnswered) fact() string            { return "question.answered" }
func (PlanningStarted) fact() string             { return "plan.sought" }
func (CriterionCommandTried) fact() string       { return "check.tried" }
func (PlanCoverageChecked) fact() string         { return "plan.looked" }
func (PlanProposed) fact() string                { return "plan.proposed" }
func (PlanningFailed) fact() string              { return "plan.failed" }
func (TaskPlanned) fact() string                 { return "task.planned" }
func (PlanApproved) fact() string                { return "plan.approved" }
func (PlanRejected) fact() string                { return "plan.refused" }
func (PlanRevised) fact() string                 { return "plan.revised" }
func (TaskParked) fact() string                  { return "task.parked" }
func (TaskSplitStarted) fact() string            { return "split.sought" }
func (TaskSplitCompleted) fact() string          { return "task.split" }
func (TaskSplitFailed) fact() string             { return "split.failed" }
func (TaskSkipped) fact() string                 { return "task.skipped" }
func (TaskPaused) fact() string                  { return "task.paused" }
func (TaskResumed) fact() string                 { return "task.resumed" }
func (TaskRetried) fact() string                 { return "task.retried" }
func (ComplexityRatingStarted) fact() string     { return "routes.sought" }
func (ComplexityRatingEnded) fact() string       { return "routes.told" }
func (StartTierChosen) fact() string             { return "task.routed" }
func (ReviewModelChosen) fact() string           { return "role.routed" }
func (CriterionRevised) fact() string            { return "criterion.revised" }
func (TaskEscalated) fact() string               { return "task.escalated" }
func (SharedSessionGroupFormed) fact() string    { return "lane.formed" }
func (AttemptStarted) fact() string              { return "attempt.started" }
func (AttemptResumed) fact() string              { return "attempt.resumed" }
func (AgentTurnInterrupted) fact() string        { return "attempt.interrupted" }
func (AttemptLost) fact() string                 { return "attempt.lost" }
func (AttemptInfrastructureFailed) fact() string { return "attempt.broken" }
func (AttemptEnded) fact() string                { return "attempt.ended" }
func (RoundStarted) fact() string                { return "round.started" }
func (TestsRunWithoutWork) fact() string         { return "tests.proved" }
func (CriterionTestsFound) fact() string         { return "checks.proved" }
func (IndependentChecksRun) fact() string        { return "checks.reproduced" }
func (StartingTreeRejected) fact() string        { return "start.forgone" }
func (BaseFailuresCompared) fact() string        { return "red.seen" }
func (CriteriaEvidenceRecorded) fact() string    { return "criteria.weighed" }
func (RoleIsolationViolated) fact() string       { return "isolation.broken" }
func (TamperSuspected) fact() string             { return "tamper.suspected" }
func (VerifierVerdictGiven) fact() string        { return "work.verified" }
func (GateStarted) fact() string                 { return "gate.started" }
func (GateJudged) fact() string                  { return "gate.judged" }
func (GatesVerdictGiven) fact() string           { return "verdict.given" }
func (ReviewerVerdictGiven) fact() string        { return "review.given" }
func (TreeSnapshotted) fact() string             { return "tree.snapshotted" }
func (SessionStarted) fact() string              { return "session.started" }
func (PromptSent) fact() string                  { return "prompt.sent" }
func (ModelTurnRecorded) fact() string           { return "turn.taken" }
func (ToolCallStarted) fact() string             { return "tool.called" }
func (ToolCallEnded) fact() string               { return "tool.answered" }
func (NetworkRequestsRecorded) fact() string     { return "network.judged" }
func (ToolResultsSent) fact() string             { return "tools.answered" }
func (SessionCompacted) fact() string            { return "session.compacted" }
func (SessionEnded) fact() string                { return "session.ended" }
func (AgentConversationOpened) fact() string     { return "agent.opened" }
func (AgentQuotaReported) fact() string          { return "agent.limited" }
func (AgentLoginRenewed) fact() string           { return "agent.renewed" }
func (AgentProgramEnded) fact() string           { return "agent.ended" }
func (BudgetReserved) fact() string              { return "budget.reserved" }
func (BudgetSettled) fact() string               { return "budget.spent" }
func (ModelCallDelayed) fact() string            { return "call.delayed" }
func (QuotaExhausted) fact() string              { return "quota.hit" }
func (QuotaNearlyExhausted) fact() string        { return "quota.held" }
func (QuotaReset) fact() string                  { return "quota.reset" }
func (SessionModelSwitched) fact() string        { return "model.switched" }
func (OtherRunsSpendingRecorded) fact() string   { return "budget.shared" }
func (BudgetPercentReached) fact() string        { return "budget.pressed" }
func (BudgetRefused) fact() string               { return "budget.refused" }
func (LandingQueued) fact() string               { return "train.boarded" }
func (LandingStarted) fact() string              { return "train.departed" }
func (LandingCompleted) fact() string            { return "train.landed" }
func (LandingRejected) fact() string             { return "train.refused" }
func (DependenciesInstalled) fact() string       { return "environment.prepared" }
func (InterviewRoundStarted) fact() string       { return "interview.sought" }
func (InterviewRoundEnded) fact() string         { return "interview.heard" }
func (InterviewRoundFailed) fact() string        { return "interview.failed" }
func (SpecWritingStarted) fact() string          { return "spec.sought" }
func (SpecWritten) fact() string                 { return "spec.written" }
func (SpecWritingFailed) fact() string           { return "spec.failed" }
func (RequirementCaptured) fact() string         { return "requirement.captured" }
func (RequirementWithdrawn) fact() string        { return "requirement.withdrawn" }
func (SpecPartWithdrawn) fact() string           { return "part.withdrawn" }
func (SpecPartsCorrected) fact() string          { return "interview.corrected" }
func (AssumptionStated) fact() string            { return "assumption.stated" }
func (AssumptionConfirmed) fact() string         { return "assumption.locked" }
func (AdditionPlanningStarted) fact() string     { return "addition.sought" }
func (AdditionTasksProposed) fact() string       { return "addition.proposed" }
func (AdditionPlanningFailed) fact() string      { return "addition.failed" }
func (TasksAdded) fact() string                  { return "tasks.added" }
func (CheckpointMade) fact() string              { return "checkpoint.made" }
func (CheckpointDropped) fact() string           { return "checkpoint.dropped" }
func (RunRewound) fact() string                  { return "run.rewound" }
func (TaskStateInherited) fact() string          { return "task.inherited" }
func (UndoStarted) fact() string                 { return "undo.sought" }
func (UndoLanded) fact() string                  { return "undo.landed" }
func (UndoRefused) fact() string                 { return "undo.refused" }
func (LoopRulesSet) fact() string                { return "loop.opened" }
func (ImproveCycleStarted) fact() string         { return "cycle.started" }
func (ImproveCycleSearched) fact() string        { return "cycle.looked" }
func (ImproveCycleFailed) fact() string          { return "cycle.failed" }
func (LoopPauseStarted) fact() string            { return "loop.rested" }
func (LoopItemWorkStarted) fact() string         { return "item.taken" }
func (LoopItemWorkEnded) fact() string           { return "item.worked" }
func (LoopItemLandingConfirmed) fact() string    { return "item.kept" }
func (LoopItemLandingStarted) fact() string      { return "item.offered" }
func (LoopItemLanded) fact() string              { return "item.landed" }
func (CheckAfterLandingStarted) fact() string    { return "landing.watched" }
func (LandingCheckEnded) fact() string           { return "landing.weighed" }
func (LoopItemRevertStarted) fact() string       { return "revert.sought" }
func (LoopItemReverted) fact() string            { return "item.reverted" }
func (LoopItemRevertFailed) fact() string        { return "revert.failed" }
func (WaitingResultDecided) fact() string        { return "result.settled" }
func (PullRequestUpdateStarted) fact() string    { return "pull.sought" }
func (PullRequestUpdated) fact() string          { return "pull.told" }
func (PullRequestUpdateFailed) fact() string     { return "pull.failed" }
func (PullRequestClosed) fact() string           { return "pull.closed" }
func (WorkReturnedToAuthor) fact() string        { return "work.returned" }
func (SuggestionsApplied) fact() string          { return "comments.applied" }
func (CommentsAnswered) fact() string            { return "comments.answered" }
func (ChangeRiskRated) fact() string             { return "change.weighed" }
