package nexus

import (
	"encoding/json"
	"fmt"
)

// Kind returns a fact's name on the wire: "noun.verb", past tense.
func Kind(f Fact) string { return f.fact() }

// EncodeFact returns a fact's kind and its JSON.
func EncodeFact(f Fact) (kind string, data []byte, err error) {
	data, err = json.Marshal(f)
	if err != nil {
		return "", nil, fmt.Errorf("encode %s: %w", f.fact(), err)
	}
	return f.fact(), data, nil
}

// DecodeFact reads what [EncodeFact] wrote. A kind it does not know is an
// error: the journal was written by a newer version.
func DecodeFact(kind string, data []byte) (Fact, error) {
	decode := decoderOf(kind)
	if decode == nil {
		return nil, &Error{
			Code: CodeJournalNewer, Message: fmt.Sprintf("unknown fact %q", kind),
			Hint: "The journal was written by a newer nexus; use that one, or a newer one.",
		}
	}
	return decode(data)
}

// Kinds returns the kind of every fact, in the order of a run's life.
func Kinds() []string {
	all := []Fact{
		GoalAccepted{},
		RunStarted{},
		RunRecovered{},
		RunPaused{},
		RunResumed{},
		RunReopened{},
		RunDrained{},
		ResultGated{},
		ResultReviewed{},
		ResultOffered{},
		ResultPublished{},
		RunEnded{},
		RequestMade{},
		RequestSettled{},
		QuestionAsked{},
		QuestionAnswered{},
		PlanSought{},
		PlanProposed{},
		PlanFailed{},
		TaskPlanned{},
		PlanApproved{},
		TaskParked{},
		TaskSkipped{},
		TaskRetried{},
		RoutesSought{},
		RoutesTold{},
		TaskRouted{},
		RoleRouted{},
		TaskEscalated{},
		AttemptStarted{},
		AttemptResumed{},
		AttemptLost{},
		AttemptBroken{},
		AttemptEnded{},
		RoundStarted{},
		GateJudged{},
		VerdictGiven{},
		ReviewGiven{},
		TreeSnapshotted{},
		SessionStarted{},
		PromptSent{},
		TurnTaken{},
		ToolCalled{},
		ToolAnswered{},
		ToolsAnswered{},
		SessionCompacted{},
		SessionEnded{},
		BudgetReserved{},
		BudgetSpent{},
		CallDelayed{},
		QuotaHit{},
		QuotaReset{},
		ModelSwitched{},
		BudgetRefused{},
		BudgetShared{},
		BudgetPressed{},
		TrainBoarded{},
		TrainDeparted{},
		TrainLanded{},
		TrainRefused{},
	}
	kinds := make([]string, len(all))
	for i, f := range all {
		kinds[i] = f.fact()
	}
	return kinds
}

func decodeAs[F Fact](data []byte) (Fact, error) {
	var f F
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("decode %s: %w", f.fact(), err)
	}
	return f, nil
}

// decoderOf returns what reads a kind's JSON, nil for an unknown kind.
func decoderOf(kind string) func([]byte) (Fact, error) { //nolint:funlen // two lines a fact
	switch kind {
	case "goal.accepted":
		return decodeAs[GoalAccepted]
	case "run.started":
		return decodeAs[RunStarted]
	case "run.recovered":
		return decodeAs[RunRecovered]
	case "run.paused":
		return decodeAs[RunPaused]
	case "run.resumed":
		return decodeAs[RunResumed]
	case "run.reopened":
		return decodeAs[RunReopened]
	case "run.drained":
		return decodeAs[RunDrained]
	case "result.gated":
		return decodeAs[ResultGated]
	case "result.reviewed":
		return decodeAs[ResultReviewed]
	case "result.offered":
		return decodeAs[ResultOffered]
	case "result.published":
		return decodeAs[ResultPublished]
	case "run.ended":
		return decodeAs[RunEnded]
	case "request.made":
		return decodeAs[RequestMade]
	case "request.settled":
		return decodeAs[RequestSettled]
	case "question.asked":
		return decodeAs[QuestionAsked]
	case "question.answered":
		return decodeAs[QuestionAnswered]
	case "plan.sought":
		return decodeAs[PlanSought]
	case "plan.proposed":
		return decodeAs[PlanProposed]
	case "plan.failed":
		return decodeAs[PlanFailed]
	case "task.planned":
		return decodeAs[TaskPlanned]
	case "plan.approved":
		return decodeAs[PlanApproved]
	case "task.parked":
		return decodeAs[TaskParked]
	case "task.skipped":
		return decodeAs[TaskSkipped]
	case "task.retried":
		return decodeAs[TaskRetried]
	case "routes.sought":
		return decodeAs[RoutesSought]
	case "routes.told":
		return decodeAs[RoutesTold]
	case "task.routed":
		return decodeAs[TaskRouted]
	case "role.routed":
		return decodeAs[RoleRouted]
	case "task.escalated":
		return decodeAs[TaskEscalated]
	case "attempt.started":
		return decodeAs[AttemptStarted]
	case "attempt.resumed":
		return decodeAs[AttemptResumed]
	case "attempt.lost":
		return decodeAs[AttemptLost]
	case "attempt.broken":
		return decodeAs[AttemptBroken]
	case "attempt.ended":
		return decodeAs[AttemptEnded]
	case "round.started":
		return decodeAs[RoundStarted]
	case "gate.judged":
		return decodeAs[GateJudged]
	case "verdict.given":
		return decodeAs[VerdictGiven]
	case "review.given":
		return decodeAs[ReviewGiven]
	case "tree.snapshotted":
		return decodeAs[TreeSnapshotted]
	case "session.started":
		return decodeAs[SessionStarted]
	case "prompt.sent":
		return decodeAs[PromptSent]
	case "turn.taken":
		return decodeAs[TurnTaken]
	case "tool.called":
		return decodeAs[ToolCalled]
	case "tool.answered":
		return decodeAs[ToolAnswered]
	case "tools.answered":
		return decodeAs[ToolsAnswered]
	case "session.compacted":
		return decodeAs[SessionCompacted]
	case "session.ended":
		return decodeAs[SessionEnded]
	case "budget.reserved":
		return decodeAs[BudgetReserved]
	case "budget.spent":
		return decodeAs[BudgetSpent]
	case "call.delayed":
		return decodeAs[CallDelayed]
	case "quota.hit":
		return decodeAs[QuotaHit]
	case "quota.reset":
		return decodeAs[QuotaReset]
	case "model.switched":
		return decodeAs[ModelSwitched]
	case "budget.shared":
		return decodeAs[BudgetShared]
	case "budget.pressed":
		return decodeAs[BudgetPressed]
	case "budget.refused":
		return decodeAs[BudgetRefused]
	case "train.boarded":
		return decodeAs[TrainBoarded]
	case "train.departed":
		return decodeAs[TrainDeparted]
	case "train.landed":
		return decodeAs[TrainLanded]
	case "train.refused":
		return decodeAs[TrainRefused]
	default:
		return nil
	}
}

func (GoalAccepted) fact() string     { return "goal.accepted" }
func (RunStarted) fact() string       { return "run.started" }
func (RunRecovered) fact() string     { return "run.recovered" }
func (RunPaused) fact() string        { return "run.paused" }
func (RunResumed) fact() string       { return "run.resumed" }
func (RunReopened) fact() string      { return "run.reopened" }
func (RunDrained) fact() string       { return "run.drained" }
func (ResultGated) fact() string      { return "result.gated" }
func (ResultReviewed) fact() string   { return "result.reviewed" }
func (ResultOffered) fact() string    { return "result.offered" }
func (ResultPublished) fact() string  { return "result.published" }
func (RunEnded) fact() string         { return "run.ended" }
func (RequestMade) fact() string      { return "request.made" }
func (RequestSettled) fact() string   { return "request.settled" }
func (QuestionAsked) fact() string    { return "question.asked" }
func (QuestionAnswered) fact() string { return "question.answered" }
func (PlanSought) fact() string       { return "plan.sought" }
func (PlanProposed) fact() string     { return "plan.proposed" }
func (PlanFailed) fact() string       { return "plan.failed" }
func (TaskPlanned) fact() string      { return "task.planned" }
func (PlanApproved) fact() string     { return "plan.approved" }
func (TaskParked) fact() string       { return "task.parked" }
func (TaskSkipped) fact() string      { return "task.skipped" }
func (TaskRetried) fact() string      { return "task.retried" }
func (RoutesSought) fact() string     { return "routes.sought" }
func (RoutesTold) fact() string       { return "routes.told" }
func (TaskRouted) fact() string       { return "task.routed" }
func (RoleRouted) fact() string       { return "role.routed" }
func (TaskEscalated) fact() string    { return "task.escalated" }
func (AttemptStarted) fact() string   { return "attempt.started" }
func (AttemptResumed) fact() string   { return "attempt.resumed" }
func (AttemptLost) fact() string      { return "attempt.lost" }
func (AttemptBroken) fact() string    { return "attempt.broken" }
func (AttemptEnded) fact() string     { return "attempt.ended" }
func (RoundStarted) fact() string     { return "round.started" }
func (GateJudged) fact() string       { return "gate.judged" }
func (VerdictGiven) fact() string     { return "verdict.given" }
func (ReviewGiven) fact() string      { return "review.given" }
func (TreeSnapshotted) fact() string  { return "tree.snapshotted" }
func (SessionStarted) fact() string   { return "session.started" }
func (PromptSent) fact() string       { return "prompt.sent" }
func (TurnTaken) fact() string        { return "turn.taken" }
func (ToolCalled) fact() string       { return "tool.called" }
func (ToolAnswered) fact() string     { return "tool.answered" }
func (ToolsAnswered) fact() string    { return "tools.answered" }
func (SessionCompacted) fact() string { return "session.compacted" }
func (SessionEnded) fact() string     { return "session.ended" }
func (BudgetReserved) fact() string   { return "budget.reserved" }
func (BudgetSpent) fact() string      { return "budget.spent" }
func (CallDelayed) fact() string      { return "call.delayed" }
func (QuotaHit) fact() string         { return "quota.hit" }
func (QuotaReset) fact() string       { return "quota.reset" }
func (ModelSwitched) fact() string    { return "model.switched" }
func (BudgetShared) fact() string     { return "budget.shared" }
func (BudgetPressed) fact() string    { return "budget.pressed" }
func (BudgetRefused) fact() string    { return "budget.refused" }
func (TrainBoarded) fact() string     { return "train.boarded" }
func (TrainDeparted) fact() string    { return "train.departed" }
func (TrainLanded) fact() string      { return "train.landed" }
func (TrainRefused) fact() string     { return "train.refused" }
